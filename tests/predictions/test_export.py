"""Exported files are all that an external system needs."""

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import isogloss
from isogloss.errors import IsoglossError
from isogloss.predictions.export import export
from predictions.made import tatoeba, wikiann_dev, write_jsonl, xquad


def rows(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_one_file_per_language_without_gold(tmp_path: Path) -> None:
    xquad(tmp_path, "en")
    xquad(tmp_path, "zh")
    written = export("xquad", tmp_path / "out", "test", ["en", "zh"], tmp_path)
    assert [(path.relative_to(tmp_path).as_posix(), count) for path, count in written] == [
        ("out/xquad/en.jsonl", 1190),
        ("out/xquad/zh.jsonl", 1190),
    ]
    first = rows(tmp_path / "out/xquad/en.jsonl")[0]
    assert first == {"id": "q0", "language": "en", "question": "What?", "context": "Here is word0 thing0."}


def test_all_languages_in_one_parquet_file(tmp_path: Path) -> None:
    wikiann_dev(tmp_path, "qu")
    wikiann_dev(tmp_path, "yo")
    export("wikiann", tmp_path / "ner.parquet", "dev", ["qu", "yo"], tmp_path)
    table = pq.read_table(tmp_path / "ner.parquet")
    assert table.num_rows == 200
    assert table.column_names == ["id", "language", "tokens", "text", "offsets"]
    assert "tags" not in table.column_names


def test_candidates_are_exported_with_the_queries(tmp_path: Path) -> None:
    tatoeba(tmp_path)
    written = export("tatoeba", tmp_path / "out", "test", ["jv"], tmp_path)
    assert [path.name for path, _ in written] == ["jv.jsonl", "candidates-jv.jsonl"]
    assert rows(tmp_path / "out/tatoeba/candidates-jv.jsonl")[4] == {"id": "4", "language": "jv", "text": "jawa 4"}


def test_unknown_suffix_raises(tmp_path: Path) -> None:
    xquad(tmp_path)
    with pytest.raises(IsoglossError, match="expected a folder or a"):
        export("xquad", tmp_path / "out.xlsx", "test", ["en"], tmp_path)


def test_exported_inputs_are_sufficient_for_scoring(tmp_path: Path) -> None:
    xquad(tmp_path)
    export("xquad", tmp_path / "inputs", "test", ["en"], tmp_path)
    answers = {str(row["id"]): str(row["context"])[8:-1] for row in rows(tmp_path / "inputs/xquad/en.jsonl")}
    write_jsonl(tmp_path / "pred/xquad/en.jsonl", dict(answers))
    results = isogloss.score(tmp_path / "pred", data=tmp_path, tasks=["xquad"], languages=["en"])
    assert results["xquad", "en"].metrics["em"].value == 100


def test_every_language_has_its_own_candidates(tmp_path: Path) -> None:
    """Freed pools can be replaced by others at the same memory address."""
    codes = ["de", "fi", "fr", "hi", "sw", "ta", "th", "tr"]
    written = export("mini-tatoeba", str(tmp_path / "out"), languages=codes)
    names = [path.name for path, _ in written]
    assert names == [name for code in codes for name in (f"{code}.jsonl", f"candidates-{code}.jsonl")]
