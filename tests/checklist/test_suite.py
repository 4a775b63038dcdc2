"""The checklist as a suite: readers with known errors, through every verb."""

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import isogloss
from isogloss.checklist.kind import UNANSWERED, UNREACHABLE, UNREVIEWED, case_of
from isogloss.checklist.paper_rule import is_reachable
from isogloss.checklist.shipped import suite_cases
from isogloss.cli.main import main
from isogloss.errors import PredictionError, UnknownNameError
from isogloss.grammar.cases import ChecklistCase, examples
from isogloss.grammar.file import CODES, grammar
from isogloss.grammar.schema import TESTS
from isogloss.metrics.estimate import wilson_interval
from isogloss.metrics.student import t_quantile
from isogloss.scoring.compare import compare
from isogloss.scoring.results import Results
from isogloss.systems.base import system
from isogloss.tables.checklist import _rule_note, checklist_tables
from isogloss.tasks.kinds import judge
from isogloss.tasks.registry import CHECKLIST_TASKS, INVARIANCE_TASKS, task

Reader = Callable[[dict[str, Any]], str | None]
COMPARISONS, PROPERTIES = "checklist-comparisons", "checklist-properties"


def gold(row: dict[str, Any]) -> str:
    return str(row["answers"][0])


def first_word(row: dict[str, Any]) -> str:
    """Answer every question with the first word of the context."""
    return str(row["context"].split()[0])


def last_word(row: dict[str, Any]) -> str:
    """Answer with the last word before the full stop: often wrong, but consistent under renaming."""
    return str(row["context"].rstrip(".").split()[-1])


def answered(root: Path, reader: Reader, tasks: tuple[str, ...] = CHECKLIST_TASKS, languages: str = "en") -> Path:
    """Write a prediction folder with a reader's answers."""
    for name in tasks:
        for code in languages.split(","):
            rows = [{"id": row["id"], "prediction": reader(row)} for row in isogloss.load(name, code)]
            path = root / name / f"{code}.jsonl"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return root


def rates(root: Path, metric: str = "error", suite: str = "checklist") -> dict[str, float]:
    results = isogloss.score(root, suite=suite, languages=["en"])
    return {cell.task: cell.metrics[metric].value for cell in results.cells}


def run(*words: object) -> int:
    with pytest.raises(SystemExit) as stop:
        main([str(word) for word in words])
    return stop.value.code if isinstance(stop.value.code, int) else 0


def test_gold_has_no_errors_and_silence_only_errors(tmp_path: Path) -> None:
    assert rates(answered(tmp_path / "gold", gold)) == dict.fromkeys(CHECKLIST_TASKS, 0.0)
    assert rates(answered(tmp_path / "mute", lambda row: "")) == dict.fromkeys(CHECKLIST_TASKS, 100.0)


def test_case_fails_if_any_of_its_examples_fails(tmp_path: Path) -> None:
    # The first word answers "who is more?" but never "who is less?": every comparison fails by one of two examples.
    examples = isogloss.load(COMPARISONS, "en")
    said = [first_word(row) for row in examples]
    assert sum(said[row] == gold(examples[row]) for row in range(len(examples))) == len(examples) // 2
    judged = judge(task(COMPARISONS), examples, said)
    assert judged.metrics["error"].score == 1
    assert len(judged.metrics["error"]) == 200


def test_rows_are_cases_with_their_first_example() -> None:
    examples = isogloss.load("checklist-intensifiers", "tr")
    said = [gold(row) for row in examples]
    said[14] = "—"  # the third example of the second case
    judged = judge(task("checklist-intensifiers"), examples, said)
    assert set(judged.metrics["error"].rows.ravel().tolist()) <= {0.0, 1.0}
    assert np.flatnonzero(judged.metrics["error"].rows).tolist() == [1]
    assert judged.row_example is not None
    firsts = [examples.ids[row] for row in judged.row_example]
    assert firsts == [f"intensifiers-{number:04d}-00" for number in range(200)]
    assert [examples.units[row] for row in judged.row_example] == list(map(case_of, firsts))  # type: ignore[index]


def test_both_rules_are_reported(tmp_path: Path) -> None:
    root = answered(tmp_path, lambda row: gold(row).upper())
    assert rates(root) == dict.fromkeys(CHECKLIST_TASKS, 0.0)
    assert rates(root, "error_paper") == dict.fromkeys(CHECKLIST_TASKS, 100.0)
    [cell] = isogloss.score(root, suite="checklist", tasks=[COMPARISONS]).cells
    low, high = wilson_interval(1.0, 200, t_quantile(0.975, 199))
    number = cell.metrics["error_paper"]
    assert (number.low, number.high, number.n) == (100 * low, 100 * high, 200)


def test_invariance_forgives_wrong_but_steady_answers(tmp_path: Path) -> None:
    names = tuple(name for name in INVARIANCE_TASKS if name.endswith("-names"))
    unrelated = tuple(name for name in INVARIANCE_TASKS if name.endswith("-unrelated"))
    assert "checklist-properties-names" not in names
    steady = rates(answered(tmp_path / "last", last_word, names), suite="checklist-invariance")
    assert steady == dict.fromkeys(names, 0.0)
    shaken = rates(answered(tmp_path / "first", first_word, unrelated), suite="checklist-invariance")
    # "The box …" and "The river is long. The box …" begin alike.
    assert {rate for name, rate in shaken.items() if "properties" not in name} == {100.0}


def test_silence_and_long_texts_are_steady_if_they_do_not_change() -> None:
    name = "checklist-comparisons-names"
    examples = isogloss.load(name, "en")
    for said in ("", "?", "word " * 10_000):
        assert judge(task(name), examples, [said] * len(examples)).metrics["error"].score == 0.0


def test_answer_that_is_missing_before_or_after_a_change_is_not_steady() -> None:
    name = "checklist-comparisons-names"
    examples = isogloss.load(name, "en")
    said: list[str | None] = [last_word(row) for row in examples]
    said[examples.ids.index("comparisons-0003-01")] = None
    said[examples.ids.index("comparisons-0005-00-inv-names")] = None
    failed = judge(task(name), examples, said).metrics["error"].rows
    assert np.flatnonzero(failed).tolist() == [3, 5]


def test_wrong_files_are_refused(tmp_path: Path) -> None:
    def scored(*ids: str) -> None:
        (tmp_path / COMPARISONS).mkdir(exist_ok=True)
        lines = [json.dumps({"id": each, "prediction": "x"}) + "\n" for each in ids]
        (tmp_path / COMPARISONS / "en.jsonl").write_text("".join(lines))
        isogloss.score(tmp_path, suite="checklist")

    with pytest.raises(PredictionError, match="no test predictions"):
        isogloss.score(tmp_path, suite="checklist")
    with pytest.raises(PredictionError, match="1 id is not in checklist-comparisons/en"):
        scored("nobody")
    with pytest.raises(PredictionError, match=r"en\.jsonl:2: duplicate id 'comparisons-0000-00'"):
        scored("comparisons-0000-00", "comparisons-0000-00")


def test_tables_note_problems_with_published_scores(tmp_path: Path) -> None:
    root = answered(tmp_path, gold, (COMPARISONS, PROPERTIES), "en,tr")
    path = root / COMPARISONS / "en.jsonl"
    path.write_text("".join(path.read_text().splitlines(keepends=True)[2:]))  # the examples of the first case
    results = isogloss.score(root, suite="checklist")
    [cell] = [cell for cell in results.cells if UNANSWERED in cell.notes]
    assert (cell.task, cell.language, cell.metrics["error"].value) == (COMPARISONS, "en", 0.5)
    assert all(UNREVIEWED in cell.notes for cell in results.cells)
    summary, fair, paper = checklist_tables(results)
    assert "both rules give the same error rate" in summary.notes
    assert f"1 of 4 language × test cells: {UNANSWERED}" in summary.notes
    assert f"4 of 4 language × test cells: {UNREVIEWED}" in summary.notes
    assert summary.rows[0] == ("rule: fair", "0.2*", "·", "0.0*", "·", "·", "·", "0.1*")
    assert any(note.startswith("* partial, missing: checklist-comparisons/") for note in summary.notes)
    assert [row[0] for row in summary.rows[2:]] == ["XLM-R Large (published)", "mBERT (published)"]
    assert fair.rows[0][:3] == paper.rows[0][:3] == ("en", "English", "0.5  ")
    assert [row[1] for row in fair.rows] == ["English", "Turkish"]
    # In Turkish, the ablative of the name is a word of its own: no span of the context equals the name.
    assert [(cell.task, cell.language) for cell in results.cells if UNREACHABLE in cell.notes] == [(COMPARISONS, "tr")]
    assert (fair.rows[1][2], paper.rows[1][2]) == ("0.0  ", "0.0†  ")
    assert (fair.notes, paper.notes) == ([], [f"† {UNREACHABLE}"])


def test_gap_between_the_rules_is_computed_in_both_directions() -> None:
    assert _rule_note({"a": 60.0, "b": 40.0}, {"a": 50.0, "b": 45.0}) == (
        "the same answers have 2.5 points more error under the paper rule than under the fair one"
    )
    assert "1.0 points less error" in _rule_note({"a": 1.0}, {"a": 2.0})
    assert _rule_note({"a": 100.0}, {"a": 100.0}) == "both rules give the same error rate"


def test_paper_rule_cannot_be_passed_in_55_cells() -> None:
    """Count as the tasks do, but without building cases after the first that can be passed."""

    def can_pass(case: ChecklistCase, code: str) -> bool:
        return all(is_reachable(each.context, each.answer, code) for each in examples(case, grammar(code)))

    unreachable = Counter(
        code for code in CODES for test in TESTS if not any(can_pass(case, code) for case in suite_cases(test))
    )
    assert sum(unreachable.values()) == 55
    assert {code for code, tests in unreachable.items() if tests == 6} == {"zh", "ja", "ko", "th", "qu"}
    assert (unreachable["he"], unreachable["ar"], unreachable["tr"], unreachable["en"]) == (3, 2, 1, 0)


def test_records_without_the_tests_have_no_tables() -> None:
    overall = isogloss.scoring.results.Overall("flat", None, [])
    assert (
        checklist_tables(
            Results(
                suite="mini",
                system={"name": "x"},
                split="test",
                cells=[],
                tasks=[],
                categories=[],
                overall=overall,
                pairs=[],
                isogloss="0",
            )
        )
        == []
    )


@pytest.mark.slow
def test_baseline_runs_offline_and_works_with_every_verb(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ISOGLOSS_CACHE", str(tmp_path / "cache"))
    words = ("--suite", "checklist", "--tasks", f"{COMPARISONS},{PROPERTIES}", "--languages", "en,tr")
    assert run("run", "ngram#train_on=mini-xquad", *words, "--seeds", 1, "--out", tmp_path / "runs") == 0
    floor = tmp_path / "runs" / "ngram-on-mini-xquad" / "zero-shot" / "seed-0"
    perfect = answered(tmp_path / "perfect", gold, (COMPARISONS, PROPERTIES), "en,tr")
    (perfect / "system.toml").write_text('name = "perfect"\n')
    capsys.readouterr()
    assert run("validate", floor, *words[2:]) == 0
    assert run("score", floor, *words, "--json", tmp_path / "floor.json") == 0
    assert run("compare", floor, perfect, *words) == 0
    assert run("explain", floor, *words) == 0
    assert run("report", tmp_path / "floor.json", "--no-pictures", "--out", tmp_path / "report") == 0
    assert run("export", COMPARISONS, "--languages", "en", "--out", tmp_path / "inputs") == 0
    text = capsys.readouterr().out
    assert "error" in text
    record = Results.from_json(tmp_path / "floor.json")
    assert {cell.metrics["error"].n for cell in record.cells} == {200}
    assert all(0 < average.score.value <= 100 for average in record.tasks)
    assert "checklist-properties" in (tmp_path / "report" / "index.html").read_text(encoding="utf-8")
    rows = [json.loads(line) for line in (tmp_path / "inputs" / COMPARISONS / "en.jsonl").read_text().splitlines()]
    assert [row["id"] for row in rows[:3]] == ["comparisons-0000-00", "comparisons-0000-01", "comparisons-0001-00"]
    assert set(rows[0]) == {"id", "language", "question", "context"}


def test_two_systems_are_compared_over_cases(tmp_path: Path) -> None:
    bad = answered(tmp_path / "bad", first_word, languages="en,tr")
    good = answered(tmp_path / "good", gold, languages="en,tr")
    found = compare(bad, good, suite="checklist", languages=["en,tr"])
    assert {contrast.test for contrast in found.cells} == {"McNemar"}
    assert all(contrast.p < 0.05 for contrast in (*found.cells, *found.tasks))
    same = compare(good, good, suite="checklist", languages=["en,tr"])
    assert {contrast.p for contrast in same.cells} == {1.0}


def test_system_with_fewer_errors_is_better(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bad = answered(tmp_path / "bad", first_word, (COMPARISONS,), "en,tr")
    good = answered(tmp_path / "good", gold, (COMPARISONS,), "en,tr")
    assert run("compare", bad, good, "--suite", "checklist", "--languages", "en,tr") == 0
    assert "good is the better checkpoint: " in " ".join(capsys.readouterr().out.split())


def test_buckets_hold_cases(tmp_path: Path) -> None:
    root = answered(tmp_path / "first", first_word, (PROPERTIES,), "en,tr")
    words = ("--suite", "checklist", "--tasks", PROPERTIES, "--languages", "en,tr")
    assert run("explain", root, *words, "--json", tmp_path / "explain.json") == 0
    [found] = json.loads((tmp_path / "explain.json").read_text(encoding="utf-8"))["explanations"]
    assert {facet["metric"] for facet in found["facets"]} == {"error"}
    [asked] = [facet for facet in found["facets"] if (facet["attribute"], facet["language"]) == ("qLen", "tr")]
    assert sum(bucket["bucket"]["n"] for bucket in asked["buckets"]) == 200


def test_training_task() -> None:
    assert system("ngram").learns_from(task(COMPARISONS)) is task("xquad")
    assert system("ngram").learns_from(task("xnli")) is task("xnli")
    chosen = system("ngram#train_on=mini-xquad")
    assert chosen.learns_from(task(COMPARISONS)) is task("mini-xquad")
    assert chosen.metadata["train_on"] == "mini-xquad"
    assert "cannot learn checklist-comparisons from mini-xnli" in system("ngram#train_on=mini-xnli").refusal(
        task(COMPARISONS)
    )
    with pytest.raises(UnknownNameError, match="Did you mean mini-xquad"):
        system("ngram#train_on=mini-xqad")
