"""Scores from answers to a subset: the whole way, the same as all answers if all are drawn, marked everywhere."""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from msgspec import UNSET

import isogloss
from isogloss.errors import PredictionError
from isogloss.results.readers import read_results, system_of_record
from isogloss.scoring.results import CellScore, Results
from isogloss.tables.paper_tables import paper_tables
from isogloss.tables.score_tables import score_tables
from isogloss.tasks.suites import suite
from predictions.drawn import Answers, answers, only_drawn
from predictions.made import write_jsonl

TASKS = {"mini-xnli": ["de", "fi"], "mini-wikiann": ["de", "fi"], "mini-xquad": ["af", "ar"]}


def both(task: str) -> tuple[Answers, Answers]:
    return answers(task, TASKS[task], 0.65, 1), answers(task, TASKS[task], 0.6, 2)


def scored(task: str, root: Path, size: int, **options: Any) -> tuple[Results, Results]:
    """Return the results of all answers, and of those to a subset with a guide."""
    system, guide = both(task)
    isogloss.export(task, root, languages=TASKS[task], subset=size, guide=guide)
    part = only_drawn(system, root)
    return isogloss.score(system, suite="mini"), isogloss.score(part, suite="mini", subset=root, guide=guide, **options)


@pytest.mark.parametrize("task", TASKS)
def test_a_subset_of_everything_is_plain_scoring(task: str, tmp_path: Path) -> None:
    whole, same = scored(task, tmp_path, 60)
    assert (same.cells, same.tasks, same.overall) == (whole.cells, whole.tasks, whole.overall)


@pytest.mark.parametrize("task", TASKS)
def test_scores_of_a_subset_state_both_intervals(task: str, tmp_path: Path) -> None:
    whole, part = scored(task, tmp_path, 40)
    for exact, cell in zip(whole.cells, part.cells, strict=True):
        assert cell.subset and (cell.subset.answered, cell.subset.examples) == (40, 60)
        assert f"|n:60|data:{cell.signature.split('data:')[1][:12]}|subset:40@" in cell.signature
        for metric, number in cell.metrics.items():
            assert number.on_all is not None and number.low is not None and number.high is not None
            low, high = number.on_all
            assert number.low < low < number.value < high < number.high
            assert low <= exact.metrics[metric].value <= high
            assert number.n == 60
    for each in (part.tasks[0].score, *part.tasks[0].metrics.values(), part.overall.score):
        assert each is not None and each.on_all is not None
        assert each.low < each.on_all[0] < each.value < each.on_all[1] < each.high


def test_accuracy_by_hand(tmp_path: Path) -> None:
    """With right and wrong answers of the guide as strata, the score is the mean of the strata by size."""
    _, part = scored("mini-xnli", tmp_path, 40)
    system, guide = both("mini-xnli")
    for cell in part.cells:
        examples = isogloss.load("mini-xnli", cell.language)
        gold = dict(zip(examples.ids, examples["label"], strict=True))
        said = only_drawn(system, tmp_path)["mini-xnli"][cell.language]
        right = {key: guide["mini-xnli"][cell.language][key] == gold[key] for key in gold}
        total = 0.0
        for stratum in (True, False):
            drawn = [said[key] == gold[key] for key in said if right[key] is stratum]
            total += float(np.mean(drawn)) * sum(value is stratum for value in right.values())
        assert cell.metrics["accuracy"].value == pytest.approx(100 * total / 60)


def test_without_a_guide_strata_are_expanded(tmp_path: Path) -> None:
    system, _ = both("mini-xnli")
    isogloss.export("mini-xnli", tmp_path, languages=["de"], subset=30)
    part = isogloss.score(
        only_drawn({"mini-xnli": {"de": system["mini-xnli"]["de"]}}, tmp_path), suite="mini", subset=tmp_path
    )
    examples = isogloss.load("mini-xnli", "de")
    gold = dict(zip(examples.ids, examples["label"], strict=True))
    said = only_drawn({"mini-xnli": {"de": system["mini-xnli"]["de"]}}, tmp_path)["mini-xnli"]["de"]
    total = sum(
        np.mean([said[key] == label for key in said if gold[key] == label]) * list(gold.values()).count(label)
        for label in set(gold.values())
    )
    assert part["mini-xnli", "de"].metrics["accuracy"].value == pytest.approx(100 * total / 60)


def test_missing_and_further_answers(tmp_path: Path) -> None:
    system, guide = both("mini-xnli")
    isogloss.export("mini-xnli", tmp_path, languages=["de", "fi"], subset=30, guide=guide)
    part = only_drawn(system, tmp_path)
    with pytest.raises(PredictionError, match="no answer for 30 of 60"):
        isogloss.score(part, suite="mini")
    exact = isogloss.score(part, suite="mini", subset=tmp_path)
    ignored = isogloss.score(system, suite="mini", subset=tmp_path)
    assert [cell.metrics for cell in ignored.cells] == [cell.metrics for cell in exact.cells]
    assert "30 of 60 answers are outside the subset" in ignored.cells[0].notes[0]
    part["mini-xnli"]["de"].popitem()
    with pytest.raises(PredictionError, match="no answer for 1 of 30"):
        isogloss.score(part, suite="mini", subset=tmp_path)


def test_cells_outside_of_the_file_need_all_answers(tmp_path: Path) -> None:
    system, guide = both("mini-xnli")
    isogloss.export("mini-xnli", tmp_path, languages=["de"], subset=30, guide=guide)
    part = only_drawn({"mini-xnli": {"de": system["mini-xnli"]["de"]}}, tmp_path)
    part["mini-xnli"]["fi"] = system["mini-xnli"]["fi"]
    results = isogloss.score(part, suite="mini", subset=tmp_path, guide=guide)
    assert [bool(cell.subset) for cell in results.cells] == [True, False]
    assert results.tasks[0].members == ["de", "fi"]
    text = score_tables({"mine": system_of_record(results, "mine")})[0].plain()
    assert "90 of 120" in text and "~*" in text


@pytest.mark.parametrize(
    ("guide", "problem"),
    [
        ({"mini-xnli": {}}, "the guide has no answers for mini-xnli/de test"),
        ({"mini-xnli": {"de": {}}}, "no answer for 60 of 60"),
        ({"mini-xnli": {"de": {"test-0": 0.5}}}, "Expected `int | str`, got `float`"),
    ],
)
def test_guides_without_answers(guide: Answers, problem: str, tmp_path: Path) -> None:
    system, _ = both("mini-xnli")
    isogloss.export("mini-xnli", tmp_path, languages=["de"], subset=30)
    part = only_drawn({"mini-xnli": {"de": system["mini-xnli"]["de"]}}, tmp_path)
    with pytest.raises(PredictionError, match=re.escape(problem)):
        isogloss.score(part, suite="mini", subset=tmp_path, guide=guide)
    with pytest.raises(PredictionError, match="a guide is for answers to a subset"):
        isogloss.score(part, suite="mini", guide=guide)


def test_a_guide_of_another_kind(tmp_path: Path) -> None:
    tags, _ = both("mini-wikiann")
    isogloss.export("mini-wikiann", tmp_path, languages=["de", "fi"], subset=30)
    spans = {"mini-wikiann": {code: {key: [] for key in said} for code, said in tags["mini-wikiann"].items()}}
    with pytest.raises(PredictionError, match="of another kind than the system's"):
        isogloss.score(only_drawn(tags, tmp_path), suite="mini", subset=tmp_path, guide=spans)
    with pytest.raises(PredictionError, match="the guides' answers are of different kinds"):
        isogloss.score(only_drawn(tags, tmp_path), suite="mini", subset=tmp_path, guide=[tags, spans])


def test_records_are_written_read_and_marked(tmp_path: Path) -> None:
    _, part = scored("mini-xnli", tmp_path, 40)
    part.to_json(tmp_path / "results.json")
    record = json.loads((tmp_path / "results.json").read_text())
    assert record["cells"][0]["subset"] == {
        "answered": 40, "examples": 60, "equivalent": part.cells[0].subset.equivalent, "seed": 0, "guide": "predictions"
    }  # fmt: skip
    assert Results.from_json(tmp_path / "results.json") == part
    assert all("estimated from 40 of 60 answers" in row.note for row in part.rows() if row.level == "cell")
    tables = score_tables({"mine": system_of_record(part, "mine")})
    text = "\n".join(table.plain() for table in tables)
    assert "80 of 120" in text and "~ mini-xnli: estimated from a subset (seed 0, guide predictions)" in text
    assert all("~" in table.plain() for table in tables)
    [paper] = paper_tables({"mine": part}, "systems-by-language")
    assert paper.plain().count("~") == 4  # two languages, their average, the legend
    [system] = read_results([part])
    assert system.cells["mini-xnli", "de"].notes[0] == "estimated from 40 of 60 answers"


def test_boards_leave_estimates_out(tmp_path: Path) -> None:
    whole, part = scored("mini-xnli", tmp_path, 40)
    members = suite("mini")
    assert read_results([whole], members)[0].cells
    [system] = read_results([part], members)
    assert not system.cells and not system.averages


def test_plain_records_have_no_new_fields() -> None:
    system, _ = both("mini-xnli")
    results = isogloss.score(system, suite="mini", guide=None)
    [cell, *_] = results.cells
    assert isinstance(cell, CellScore) and cell.subset is UNSET and cell.subset_note == ""
    assert cell.metrics["accuracy"].on_all is None


def test_runs_are_averaged(tmp_path: Path) -> None:
    _, guide = both("mini-xnli")
    isogloss.export("mini-xnli", tmp_path / "in", languages=["de", "fi"], subset=40, guide=guide)
    for seed in (0, 1, 2):
        part = only_drawn(answers("mini-xnli", ["de", "fi"], 0.65, 10 + seed), tmp_path / "in")
        for code, said in part["mini-xnli"].items():
            write_jsonl(tmp_path / f"runs/seed-{seed}/mini-xnli/{code}.jsonl", said)
    options: dict[str, Any] = {"suite": "mini", "subset": tmp_path / "in", "guide": guide}
    results = isogloss.score(tmp_path / "runs", **options)
    single = [isogloss.score(tmp_path / f"runs/seed-{seed}", **options).tasks[0].score.value for seed in (0, 1, 2)]
    assert results.tasks[0].score.value == pytest.approx(np.mean(single))
    assert results.tasks[0].score.on_all is not None
    assert results.tasks[0].score.spread["seed"].values == pytest.approx(single)


def test_two_systems_are_compared_on_their_subset(tmp_path: Path) -> None:
    system, guide = both("mini-xquad")
    isogloss.export("mini-xquad", tmp_path, languages=TASKS["mini-xquad"], subset=40, guide=guide)
    parts = [only_drawn(each, tmp_path) for each in (system, guide)]
    comparison = isogloss.compare(*parts, suite="mini", subset=tmp_path, guide=guide)
    scores = [isogloss.score(each, suite="mini", subset=tmp_path, guide=guide).tasks[0].score.value for each in parts]
    assert comparison.tasks[0].difference == pytest.approx(scores[0] - scores[1])
    assert {contrast.test for contrast in comparison.cells} == {"t"}
    assert comparison.estimated == ["mini-xquad"]
    assert comparison.cells[0].low is not None and comparison.cells[0].low < comparison.cells[0].difference


def test_processes_share_the_cells(tmp_path: Path) -> None:
    system, guide = both("mini-xnli")
    isogloss.export("mini-xnli", tmp_path, languages=["de", "fi"], subset=40, guide=guide)
    part = only_drawn(system, tmp_path)
    options: dict[str, Any] = {"suite": "mini", "subset": tmp_path, "guide": guide}
    assert isogloss.score(part, jobs=2, **options).cells == isogloss.score(part, **options).cells
