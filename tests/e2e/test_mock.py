"""The reference scorer's mock submission, scored with `--gold`: every cell matches its rules."""

import json
from collections.abc import Callable
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest

from e2e.command import XTREME_FOLDERS, cell, scored, values
from e2e.independent import accuracy, pair_scores, qa_scores, ranking_scores, tagging_scores

XTREME = ("xnli", "pawsx", "udpos", "wikiann", "xquad", "mlqa", "tydiqa", "tatoeba", "bucc")


def _stripped(path: Path) -> list[str]:
    return [line.strip() for line in path.read_text(encoding="utf-8").removesuffix("\n").split("\n")]


def _labels(gold: Path, given: Path) -> dict[str, float]:
    return {"accuracy": accuracy(_stripped(gold), _stripped(given))}


def _tags(gold: Path, given: Path) -> dict[str, float]:
    def sentences(path: Path) -> list[list[str]]:
        return [block.split("\n") for block in "\n".join(_stripped(path)).removesuffix("\n").split("\n\n")]

    return tagging_scores(sentences(gold), sentences(given))


def _pairs(gold: Path, given: Path) -> dict[str, float]:
    def pairs(path: Path) -> set[tuple[str, str]]:
        return {(line.split("\t")[0], line.split("\t")[1]) for line in _stripped(path)}

    return pair_scores(pairs(gold), pairs(given))


def _entities(gold: Path, given: Path) -> dict[str, float]:
    wanted: dict[str, list[str]] = json.loads(gold.read_text())
    found: dict[str, list[str]] = json.loads(given.read_text())
    return ranking_scores([found.get(name, []) for name in wanted], [[e[0].strip()] for e in wanted.values()])


def _answers(gold: Path, given: Path) -> dict[str, float]:
    file = json.loads(gold.read_text(encoding="utf-8"))
    questions = [q for article in file["data"] for paragraph in article["paragraphs"] for q in paragraph["qas"]]
    wanted = {q["id"]: [answer["text"] for answer in q["answers"]] for q in questions}
    language = gold.stem.removeprefix("test-") if gold.parent.name == "mlqa" else None
    return qa_scores(wanted, json.loads(given.read_text(encoding="utf-8")), language)


RULES: dict[str, Callable[[Path, Path], dict[str, float]]] = {
    **dict.fromkeys(("xnli", "pawsx", "tatoeba"), _labels),
    **dict.fromkeys(("udpos", "wikiann"), _tags),
    **dict.fromkeys(("xquad", "mlqa", "tydiqa"), _answers),
    "bucc": _pairs,
    "mewslix": _entities,
}


def expected_cells(mock: Path, task: str) -> dict[str, dict[str, float]]:
    folder = XTREME_FOLDERS.get(task, task)
    paths = sorted((mock / "labels" / folder).iterdir())
    given = mock / "predictions" / folder
    return {path.stem.removeprefix("test-"): RULES[task](path, given / path.name) for path in paths}


def score_mock(mock: Path, tmp_path: Path, *words: object) -> dict[str, Any]:
    run = tmp_path / "mock"
    run.symlink_to(mock / "predictions", target_is_directory=True)
    return scored(run, "--gold", mock / "labels", *words)


@pytest.fixture(scope="module")
def mock(data_dir: Path) -> Path:
    return data_dir / "xtreme_mock"


def test_xtreme(mock: Path, tmp_path: Path) -> None:
    record = score_mock(mock, tmp_path, "--suite", "xtreme")
    averages = {average["name"]: average for average in record["tasks"]}
    assert set(averages) == set(XTREME)
    for task in XTREME:
        expected = expected_cells(mock, task)
        assert set(averages[task]["members"]) == set(expected)
        assert averages[task]["missing"] == []
        for language, scores in expected.items():
            assert values(cell(record, task, language)["metrics"]) == pytest.approx(scores, abs=1e-9)
        for metric in next(iter(expected.values())):
            mean = fmean(scores[metric] for scores in expected.values())
            assert averages[task]["metrics"][metric]["value"] == pytest.approx(mean, abs=1e-9)
    assert record["overall"]["rule"] == "flat"
    assert record["overall"]["missing"] == []
    task_scores = [average["score"]["value"] for average in averages.values()]
    assert record["overall"]["score"]["value"] == pytest.approx(fmean(task_scores), abs=1e-9)


def test_values_in_the_references_own_test(mock: Path, tmp_path: Path) -> None:
    record = score_mock(mock, tmp_path, "--suite", "xtreme", "--tasks", "udpos,panx")
    f1 = {average["name"]: average["metrics"]["f1"]["value"] for average in record["tasks"]}
    assert f1 == {"udpos": pytest.approx(70.217, abs=5e-4), "wikiann": pytest.approx(57.508, abs=5e-4)}


def test_mewslix(mock: Path, tmp_path: Path) -> None:
    record = score_mock(mock, tmp_path, "--tasks", "mewslix")
    for language, scores in expected_cells(mock, "mewslix").items():
        assert values(cell(record, "mewslix", language)["metrics"]) == pytest.approx(scores, abs=1e-9)
    assert record["tasks"][0]["missing"] == []


def test_gold_against_itself_is_perfect(mock: Path, tmp_path: Path) -> None:
    """All tasks except QA, where labels and predictions differ in format."""
    run = tmp_path / "gold"
    run.symlink_to(mock / "labels", target_is_directory=True)
    tasks = "xnli,pawsx,udpos,wikiann,tatoeba,bucc,mewslix"
    record = scored(run, "--gold", mock / "labels", "--suite", "xtreme", "--tasks", tasks)
    assert {number["value"] for c in record["cells"] for number in c["metrics"].values()} == {100.0}
