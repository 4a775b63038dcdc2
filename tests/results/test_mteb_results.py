"""Results of mteb, read and written."""

import json
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from isogloss.errors import DataError
from isogloss.results.interchange import write_as
from isogloss.results.published_scores import published_scores
from isogloss.results.readers import read_records, read_results
from isogloss.tasks.readers.split_files import corpus_iso3
from report.made_records import results


def row(subset: str, accuracy: Any) -> dict[str, Any]:
    """Return the scores of a subset, with a main score that is not the accuracy."""
    languages = [f"{side}-Latn" for side in subset.split("-")]
    return {"hf_subset": subset, "languages": languages, "main_score": 0.01, "f1": 0.01, "accuracy": accuracy}


def written(folder: Path, name: str, rows: list[dict[str, Any]], split: str = "test") -> Path:
    path = folder / f"{name}.json"
    folder.mkdir(parents=True, exist_ok=True)
    decoded = {"task_name": name, "dataset_revision": "a", "mteb_version": "1.12", "scores": {split: rows}}
    path.write_text(json.dumps(decoded), encoding="utf-8")
    return path


def test_accuracy_of_the_languages_that_are_ours(tmp_path: Path) -> None:
    """Egyptian Arabic and Kotava are in the corpus, but not ours."""
    rows = [row("ara-eng", 0.911), row("arz-eng", 0.8), row("pes-eng", 0.95), row("avk-eng", 0.1), row("swh-eng", 0.87)]
    path = written(tmp_path / "owner__model" / "abc", "Tatoeba", rows)
    (record,) = read_records(path)
    assert {cell.language: cell.metrics["accuracy"].value for cell in record.cells} == {"ar": 91.1, "fa": 95, "sw": 87}
    assert record["tatoeba", "sw"].metrics["accuracy"].n == 390
    (system,) = read_results([path])
    assert (system.name, system.regime, system.reported) == ("owner/model", "embedding", True)
    assert system.metadata["revision"] == "abc"
    (path.parent / "model_meta.json").write_text('{"name": "owner/other", "revision": "def"}', encoding="utf-8")
    (system,) = read_results([path])
    assert (system.name, system.metadata["revision"]) == ("owner/other", "def")


def test_tasks_with_other_metrics_are_refused(tmp_path: Path) -> None:
    for name, reason in {"XNLI": "average precision", "BUCC.v2": "mines pairs", "STS12": "not a task of ours"}.items():
        with pytest.raises(DataError, match=rf"mteb's {name} .*{reason}"):
            read_results([written(tmp_path, name, [row("deu-eng", 0.9)])])


def test_invalid_scores(tmp_path: Path) -> None:
    for value in (float("nan"), 91.1, "high"):
        with pytest.raises(DataError, match=r"accuracy of deu-eng is .*, expected a number from 0 to 1"):
            read_results([written(tmp_path, "Tatoeba", [row("deu-eng", value)])])
    with pytest.raises(DataError, match="no scores of the test split"):
        read_results([written(tmp_path, "Tatoeba", [row("deu-eng", 0.9)], split="dev")])
    with pytest.raises(DataError, match="duplicate scores of tatoeba/de"):
        read_results([written(tmp_path, "Tatoeba", [row("deu-eng", 0.9)] * 2)])
    with pytest.raises(DataError, match="no scores that can be compared"):
        read_results([written(tmp_path, "Tatoeba", [row("avk-eng", 0.9), "a row"])])  # type: ignore[list-item]


def test_written_results_have_all_languages(tmp_path: Path) -> None:
    """LaBSE's accuracies, as published by mteb, survive writing and reading."""
    published = {score.language: score.value for score in published_scores("published:sentence-transformers/LaBSE")}
    rows = [row(f"{corpus_iso3(code)}-eng", value / 100) for code, value in published.items()]
    (record,) = read_records(written(tmp_path / "sentence-transformers__LaBSE" / "x", "Tatoeba", rows))
    assert not record["tatoeba"].missing  # type: ignore[union-attr]
    out = write_as("mteb", [record], tmp_path / "out")
    path = out / "sentence-transformers__LaBSE" / "x" / "Tatoeba.json"
    decoded = json.loads(path.read_text(encoding="utf-8"))
    first = decoded["scores"]["test"][0]
    assert first["hf_subset"] == "afr-eng"
    assert (first["main_score"], "f1" in first, first["languages"]) == (None, False, ["afr-Latn", "eng-Latn"])
    (again,) = read_records(path)
    assert again.cells == record.cells
    assert {cell.language: pytest.approx(cell.score) for cell in again.cells} == published


def test_systems_of_one_model_do_not_replace_each_other(tmp_path: Path) -> None:
    (record,) = read_records(written(tmp_path, "Tatoeba", [row("deu-eng", 0.9)]))
    both = [replace(record, system={"name": "mine", "regime": regime}) for regime in ("zero-shot", "in-language")]
    with pytest.raises(DataError, match="mteb has one result per model and revision, but 2 systems are mine"):
        write_as("mteb", both, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_names_stay_inside_the_folder(tmp_path: Path) -> None:
    (record,) = read_records(written(tmp_path, "Tatoeba", [row("deu-eng", 0.9)]))
    for name in ("../../up", "..", "/etc/x", "a\\b"):
        write_as("mteb", [replace(record, system={"name": name, "revision": "../.."})], tmp_path / "out" / "in")
    files = [path for path in tmp_path.rglob("Tatoeba.json") if path.parent != tmp_path]
    assert len(files) == 4
    assert all(path.parents[2] == tmp_path / "out" / "in" for path in files)


def test_results_without_tatoeba(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="mteb has none of the tasks of mine: xnli, xquad, wikiann"):
        write_as("mteb", [results("mine")], tmp_path / "out")
