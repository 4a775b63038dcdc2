"""Translate-test of questions and tags: projected back to the original, and on translated gold as XTREME does."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from e2e.command import isogloss
from isogloss.runs.grid import run_plan
from isogloss.runs.plan import CellKey, Plan
from isogloss.runs.records import CellRecord, read_record
from isogloss.scoring.request import Request
from isogloss.scoring.results import Results
from isogloss.systems.base import System
from isogloss.tasks.examples import Examples
from isogloss.tasks.loading import load
from isogloss.tasks.registry import task
from isogloss.tasks.task import Task
from isogloss.translation.translate import translate
from runs.grid_fake import mini_cache, mini_data

__all__ = ["mini_cache", "mini_data"]


def backwards(lines: Sequence[str]) -> list[str]:
    """Translate every word to its reverse."""
    return [re.sub(r"\w+", lambda word: word[0][::-1], line) for line in lines]


@dataclass
class Oracle(System):
    """Answers every translated question with the translation of its gold answer; English ones wrongly."""

    name = "oracle"

    def needs_training(self, task: Task) -> bool:
        return False

    def fit(self, task: Task, train: Examples | None, seed: int) -> "Oracle":
        return self

    def predict(self, examples: Examples) -> list[Any]:
        for column in ("translated_answers", "answers"):
            if column in examples.columns:
                return [answers[0] if answers else "none" for answers in examples[column]]
        return [["O"] * len(tokens) for tokens in examples["tokens"]]


@pytest.fixture
def translations(mini_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ISOGLOSS_TRANSLATIONS", str(tmp_path / "translations"))
    return tmp_path / "translations"


def plan_of(out: Path, regime: str, name: str = "mini-xquad", languages: Sequence[str] = ("en", "sw")) -> Plan:
    return Plan.of(Oracle(), out, Request.of("mini", tasks=[name], languages=languages), seeds=1, regime=regime)


def record(plan: Plan, language: str = "sw", name: str = "mini-xquad") -> CellRecord:
    found = read_record(plan.record_path(CellKey(0, name, language)))
    assert found is not None
    return found


def test_answers_return_to_the_original_and_are_comparable(translations: Path, tmp_path: Path) -> None:
    translate(task("mini-xquad"), "sw", "test", None, backwards)
    plan = plan_of(tmp_path / "runs", "translate-test")
    summary = run_plan(plan)
    assert summary.cells["done"] == 2
    score = record(plan).score
    assert score is not None
    assert "dialect:squad|" in score.signature
    assert not score.partial
    assert score.metrics["f1"].n == len(load("mini-xquad", "sw"))
    assert score.metrics["f1"].value > 95
    [note] = score.notes
    assert note.startswith("answers projected back to the original: ")
    assert "alignment" in note
    assert note in record(plan).provenance.data.notes  # type: ignore[union-attr]
    # The stored answers are those on the original text, so they can be scored again.
    again = isogloss("score", plan.seed_folder(0), "--suite", "mini", "--tasks", "mini-xquad", "--languages", "en,sw")
    assert again.code == 0, again.err


def test_translated_gold_is_marked_and_in_no_average(translations: Path, tmp_path: Path) -> None:
    translate(task("mini-xquad"), "sw", "test", None, backwards)
    lines = (translations / "mini-xquad/translate-test/sw.jsonl").read_text().splitlines()
    # One answer cannot be located.
    first = re.sub(r'"answer_starts":\[[^]]*\]', '"answer_starts":[null]', lines[0])
    (translations / "mini-xquad/translate-test/sw.jsonl").write_text("\n".join([first, *lines[1:]]) + "\n")
    plan = plan_of(tmp_path / "runs", "translate-test-xtreme")
    summary = run_plan(plan)
    assert "has no English cell" in summary.skipped["seed-0 mini-xquad/en"]
    count = len(load("mini-xquad", "sw"))
    score = record(plan).score
    assert score is not None
    assert score.partial
    assert "dialect:squad-translated-gold|" in score.signature
    assert {name: (number.value, number.n) for name, number in score.metrics.items()} == {
        "f1": (100, count - 1),
        "em": (100, count - 1),
    }
    assert f"answers located in the translation: {count - 1} of {count} questions" in score.notes
    assert any("not comparable" in note for note in score.notes)
    assert summary.tasks == {}
    results = Results.from_json(plan.results_path(0))
    assert (results.tasks, len(results.cells)) == ([], 1)


def test_answers_to_translations_are_not_scored_on_the_original(translations: Path, tmp_path: Path) -> None:
    translate(task("mini-xquad"), "sw", "test", None, backwards)
    plan = plan_of(tmp_path / "runs", "translate-test-xtreme", languages=["sw"])
    run_plan(plan)
    refused = isogloss("score", plan.seed_folder(0), "--suite", "mini")
    assert refused.code == 1
    assert "These answer translated questions" in refused.err
    # Without its statistics, the cell is judged on translated gold again.
    cell = CellKey(0, "mini-xquad", "sw")
    before = Results.from_json(plan.results_path(0))
    plan.statistics_path(cell).write_bytes(b"damaged")
    with pytest.warns(UserWarning, match="statistics differ"):
        run_plan(plan)
    assert Results.from_json(plan.results_path(0)).cells == before.cells


def test_translation_without_answers_has_no_translated_gold(translations: Path, tmp_path: Path) -> None:
    path = translate(task("mini-xquad"), "sw", "test", None, backwards)
    fields = r',"(answers|answer_starts|projection)":\[[^]]*\]'
    path.write_text(re.sub(fields, "", path.read_text()))
    summary = run_plan(plan_of(tmp_path / "runs", "translate-test-xtreme", languages=["sw"]))
    assert "has no answers" in summary.skipped["seed-0 mini-xquad/sw"]
    plan = plan_of(tmp_path / "runs", "translate-test", languages=["sw"])
    assert run_plan(plan).cells["done"] == 1


def test_tags_return_to_the_original(translations: Path, tmp_path: Path) -> None:
    translate(task("mini-udpos"), "sw", "test", None, backwards)
    plan = plan_of(tmp_path / "runs", "translate-test", "mini-udpos", ["sw"])
    assert run_plan(plan).cells["done"] == 1
    score = record(plan, name="mini-udpos").score
    assert score is not None
    assert any(note.startswith("tags projected back to the original: ") for note in score.notes)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["mini-xquad", "mini-udpos"])
def test_checkpoints_are_not_evaluated_on_translations(
    translations: Path, tmp_path: Path, tiny_bert: Path, name: str
) -> None:
    """Their predictions are not projected, so they could not be scored."""
    translate(task(name), "sw", "test", None, backwards)
    request = Request.of("mini", tasks=[name], languages=["sw"])
    settings = {"steps": 2, "checkpoints": 50.0, "quiet": True}
    plan = Plan.of(
        f"encoder:{tiny_bert}", tmp_path / "runs", request, seeds=1, regime="translate-test", settings=settings
    )
    summary = run_plan(plan)
    assert summary.cells["done"] == 1, summary.failed
    assert any("projected back" in note for note in record(plan, name=name).score.notes)  # type: ignore[union-attr]
