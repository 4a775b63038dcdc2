"""Stored translations as a translator."""

import gzip
import json
from pathlib import Path

import pytest

from isogloss.errors import DataError, IsoglossError
from isogloss.translation.cached_translator import CachedTranslator
from isogloss.translation.translators import Translator, UntranslatedError, open_translator

PAIRS = {"one": "uno", "two": "dos"}


def replay(path: Path, source: str = "en", target: str = "es") -> Translator:
    return open_translator(f"replay:{path}", source, target)


def test_formats(tmp_path: Path) -> None:
    rows = "".join(json.dumps({"source": source, "target": target}) + "\n" for source, target in PAIRS.items())
    (tmp_path / "pairs.jsonl.gz").write_bytes(gzip.compress(rows.encode()))
    (tmp_path / "pairs.tsv").write_text("one\tuno\ntwo\tdos\n")
    (tmp_path / "xtreme.tsv").write_text("one\ttwo\tuno\tdos\tneutral\nthree\tdamaged\n")
    (tmp_path / "text.en").write_text("one\ntwo\n")
    (tmp_path / "text.es").write_text("uno\ndos\n")
    for name in ("pairs.jsonl", "pairs.jsonl.gz", "pairs.tsv", "xtreme.tsv", "text"):
        translator = replay(tmp_path / name)
        assert translator.translate(["two", " one ", ""]) == ["dos", "uno", ""], name
    assert replay(tmp_path / "text", "es", "en").translate(["uno"]) == ["one"]


def test_folder_has_the_first_translation(tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_text("one\tuno\ntwo\tdos\n")
    (tmp_path / "b.tsv").write_text("one\tUNO\nthree\ttres\n")
    assert replay(tmp_path).translate(["one", "three"]) == ["uno", "tres"]
    before = replay(tmp_path).version
    assert replay(tmp_path).version == before
    (tmp_path / "b.tsv").write_text("three\ttres\n")
    assert replay(tmp_path).version != before


def test_cache_can_be_replayed(tmp_path: Path) -> None:
    class Upper(Translator):
        name, source, target = "upper", "en", "es"

        def batches(self, texts):  # type: ignore[no-untyped-def]
            yield {text: text.upper() for text in texts}

    CachedTranslator(Upper(), tmp_path).translate(["one", "two"])
    [folder] = (tmp_path / "en-es").iterdir()
    assert replay(folder).translate(["two"]) == ["TWO"]


def test_missing_texts_are_listed(tmp_path: Path) -> None:
    (tmp_path / "pairs.tsv").write_text("one\tuno\n")
    translator = CachedTranslator(replay(tmp_path / "pairs.tsv"), tmp_path / "cache")
    with pytest.raises(UntranslatedError, match="2 of 3 texts have no translation") as caught:
        translator.translate(["one", "two", "three"])
    assert list(caught.value.reasons) == ["two", "three"]
    assert not (tmp_path / "cache").exists()  # stored already


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("pairs.tsv", "one\n", "expected source and target, got 1 columns"),
        ("pairs.tsv", "one\tuno\nx\ty\tz\n", "pairs.tsv:2: expected source and target, got 3 columns"),
        ("pairs.tsv", "", "no stored translations"),
        ("pairs.jsonl", '{"source": "one"}\n', "pairs.jsonl:1"),
        ("other", "", "no such file, folder or pair of parallel texts"),
    ],
)
def test_unusable_files_are_reported(tmp_path: Path, name: str, content: str, message: str) -> None:
    if name != "other":
        (tmp_path / name).write_text(content)
    with pytest.raises(IsoglossError) as caught:
        replay(tmp_path / name)
    assert message in str(caught.value)


def test_parallel_texts_of_different_length_are_reported(tmp_path: Path) -> None:
    (tmp_path / "text.en").write_text("one\ntwo\n")
    (tmp_path / "text.es").write_text("uno\n")
    with pytest.raises(DataError, match=r"2 lines, but .*text\.es has 1"):
        replay(tmp_path / "text")
