"""Scores on pseudo test sets: a split of their own, marked, and in no average over human test sets."""

import csv
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest

import isogloss
from e2e.command import isogloss as command
from isogloss.analysis.finding import AnalysisError
from isogloss.analysis.registry import ANALYSES
from isogloss.board.build import make_board
from isogloss.errors import DataError, IsoglossError, UnknownNameError
from isogloss.results.readers import read_record, read_results, system_of_record
from isogloss.runs.fit import FitJob
from isogloss.runs.plan import Plan
from isogloss.scoring.request import Request
from isogloss.scoring.results import Results
from isogloss.site.sections import pseudo_strip
from isogloss.systems import system
from isogloss.tables import vega
from isogloss.tables.paper_tables import paper_tables
from isogloss.tables.score_tables import PSEUDO_NOTE, language_table, overview_table
from isogloss.tasks.loading import load
from isogloss.tasks.registry import task
from isogloss.tasks.suites import suite
from isogloss.training.regimes import Fit, regime
from predictions.made import write_jsonl

TASKS = ("mini-xnli", "mini-xquad")
# Swedish is not a language of the mini suite, German is.
HUMAN, PSEUDO = ("en", "de", "sw"), ("de", "sv")


def shouted(lines: Sequence[str]) -> list[str]:
    return [line.upper() for line in lines]


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Data folder with pseudo sets in German and Swedish."""
    folder = tmp_path_factory.mktemp("data")
    for name in TASKS:
        isogloss.translate(name, PSEUDO, shouted, pseudo=True, limits={}, data=folder)
    return folder


def answers(name: str, code: str, split: str, data: Path, every: int) -> dict[str, Any]:
    """Return right answers, with every n-th one wrong."""
    examples = load(name, code, split, data)
    gold = [item if name == "mini-xnli" else item[0] for item in examples[examples.gold]]
    wrong = {"entailment": "neutral", "neutral": "entailment", "contradiction": "neutral"}
    return {
        identifier: wrong.get(right, "?") if row % every == 0 else right
        for row, (identifier, right) in enumerate(zip(examples.ids, gold, strict=True))
    }


def write_system(root: Path, data: Path, every: int, pseudo: Sequence[str] = PSEUDO) -> Path:
    for name in TASKS:
        for code in HUMAN:
            write_jsonl(root / name / f"{code}.jsonl", answers(name, code, "test", data, every))
        for code in pseudo:
            write_jsonl(root / name / f"pseudo-{code}.jsonl", answers(name, code, "pseudo", data, every + 1))
    return root


@pytest.fixture(scope="module")
def folder(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_system(tmp_path_factory.mktemp("systems") / "mine", data, 3)


@pytest.fixture(scope="module")
def both(folder: Path, data: Path) -> Results:
    return isogloss.score(folder, "mini", data, pseudo=True, tasks=TASKS)


@pytest.fixture(scope="module")
def human(folder: Path, data: Path) -> Results:
    return isogloss.score(folder, "mini", data, tasks=TASKS)


def averages(results: Results) -> Any:
    return msgspec.to_builtins([results.tasks, results.categories, results.overall, results.pairs])


def test_pseudo_cells_stand_beside_the_human_ones_and_change_no_average(human: Results, both: Results) -> None:
    assert [cell.split for cell in human.cells] == ["test"] * 6
    apart = [cell for cell in both.cells if both.is_apart(cell)]
    assert [(cell.task, cell.language, cell.split) for cell in apart] == [(name, "sv", "pseudo") for name in TASKS]
    assert [cell for cell in both.cells if not both.is_apart(cell)] == human.cells
    assert averages(both) == averages(human)
    assert not any(map(both.in_average, apart))
    assert "split:pseudo" in apart[0].signature


def test_a_pseudo_cell_has_the_score_of_its_answers(both: Results, data: Path) -> None:
    examples = load("mini-xnli", "sv", "pseudo", data)
    right = sum(row % 4 != 0 for row in range(len(examples)))
    cell = both["mini-xnli", "sv"]
    assert cell.metrics["accuracy"].value == pytest.approx(100 * right / len(examples))
    assert cell.metrics["accuracy"].n == len(examples)


def test_the_split_pseudo_is_averaged_among_itself(folder: Path, data: Path) -> None:
    results = isogloss.score(folder, "mini", data, split="pseudo", tasks=TASKS)
    assert {(cell.language, cell.split) for cell in results.cells} == {("de", "pseudo"), ("sv", "pseudo")}
    scores = [cell.score for cell in results.cells if cell.task == "mini-xnli"]
    assert results["mini-xnli"].score.value == pytest.approx(sum(scores) / 2)  # type: ignore[union-attr]
    assert results["mini-xnli"].missing == []  # type: ignore[union-attr]
    assert not any(map(results.is_apart, results.cells))
    one = isogloss.score(folder, "mini", data, split="pseudo", tasks=TASKS, languages=["sv"])
    assert one["mini-xnli"].missing == ["de"]  # type: ignore[union-attr]


def test_answers_in_memory(data: Path) -> None:
    given = {"mini-xnli": {"en": answers("mini-xnli", "en", "test", data, 3), "sv": {}}}
    given["mini-xnli"]["sv"] = answers("mini-xnli", "sv", "pseudo", data, 4)
    results = isogloss.score(given, "mini", data, pseudo=True, tasks=["mini-xnli"])
    assert [(cell.language, cell.split) for cell in results.cells] == [("en", "test"), ("sv", "pseudo")]
    with pytest.raises(UnknownNameError, match="mini-xnli has no sv"):
        isogloss.score(given, "mini", data, tasks=["mini-xnli"])


def test_answers_without_a_set_are_reported(folder: Path, data: Path, tmp_path: Path) -> None:
    write_jsonl(tmp_path / "mini-xnli/en.jsonl", answers("mini-xnli", "en", "test", data, 3))
    write_jsonl(tmp_path / "mini-xnli/pseudo-nb.jsonl", {"test-0": "neutral"})
    results = isogloss.score(tmp_path, "mini", data, pseudo=True, tasks=["mini-xnli"])
    [left_out] = results.left_out
    assert (left_out.language, left_out.split) == ("nb", "pseudo")
    assert "no pseudo test set" in left_out.reason
    with pytest.raises(IsoglossError, match="no pseudo test set of mini-xnli/nb"):
        isogloss.score(tmp_path, "mini", data, pseudo=True, tasks=["mini-xnli"], strict=True)
    report = isogloss.validate(folder, data)
    assert not report.errors
    assert {(cell.language, cell.split) for cell in report.cells if cell.split == "pseudo"} == {
        ("de", "pseudo"),
        ("sv", "pseudo"),
    }


def test_wrong_ids_are_an_error(data: Path, tmp_path: Path) -> None:
    write_jsonl(tmp_path / "mini-xnli/pseudo-sv.jsonl", {"else": "neutral"})
    with pytest.raises(IsoglossError, match=r"not in mini-xnli/sv pseudo|unanswered|not answered"):
        isogloss.score(tmp_path, "mini", data, split="pseudo", tasks=["mini-xnli"])
    with pytest.raises(UnknownNameError, match="mini-xnli has no sv"):
        isogloss.score(tmp_path, "mini", data, tasks=["mini-xnli"], languages=["sv"])


def test_scores_from_different_splits_are_not_compared(folder: Path, data: Path, tmp_path: Path) -> None:
    from isogloss.board.site import read_systems

    records = []
    for split in ("test", "pseudo"):
        path = tmp_path / f"{split}.json"
        isogloss.score(folder, "mini", data, split=split, tasks=TASKS).to_json(path)
        records.append(path)
    with pytest.raises(DataError, match="cannot compare scores from different splits: test, pseudo"):
        read_systems(records, suite("mini"))
    comparison = isogloss.compare(folder, folder, data=data, suite="mini", split="pseudo", tasks=["mini-xnli"])
    assert [row.name for row in comparison.cells] == ["mini-xnli/de", "mini-xnli/sv"]


def test_tables_mark_pseudo_cells(both: Results, human: Results, tmp_path: Path) -> None:
    shown = {"mine": system_of_record(both, "mine")}
    text = language_table(shown).plain()
    assert f"{both['mini-xnli', 'sv'].metrics['accuracy'].value:.1f}°" in text
    assert PSEUDO_NOTE in text
    notes = overview_table(shown).notes
    assert any("not averaged: mini-xnli/sv  mini-xquad/sv" in note for note in notes)
    assert overview_table(shown).rows == overview_table({"mine": system_of_record(human, "mine")}).rows
    for table in paper_tables({"mine": both}, "systems-by-language"):
        latex = table.latex()
        assert latex.count("°") == (3 if "EM" in latex else 2)  # the cell's numbers, and the legend
    both.to_csv(tmp_path / "scores.csv")
    with (tmp_path / "scores.csv").open(encoding="utf-8") as stream:
        rows = [row for row in csv.DictReader(stream) if row["split"] == "pseudo"]
    assert {row["note"] for row in rows} == {"pseudo test set, not averaged"}
    [read] = read_results([tmp_path / "scores.csv"])
    assert {*read.pseudo} == {(name, "sv") for name in TASKS}
    assert {*read.cells} == {(name, code) for name in TASKS for code in HUMAN}
    both.to_json(tmp_path / "results.json")
    assert averages(Results.from_json(tmp_path / "results.json")) == averages(both)


def test_charts_draw_pseudo_cells_hollow(both: Results, human: Results) -> None:
    [chart] = pseudo_strip({"mine": system_of_record(both, "mine")})
    assert (chart.kind, chart.hollow) == ("strip", "pseudo")
    assert {(record["language"], record["pseudo"]) for record in chart.records} == {
        *((code, False) for code in HUMAN),
        ("sv", True),
    }
    assert list(pseudo_strip({"mine": system_of_record(human, "mine")})) == []
    assert "datum.pseudo" in json.dumps(vega.vega_spec(chart))


@pytest.fixture(scope="module")
def several(data: Path, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    root = tmp_path_factory.mktemp("several")
    return [write_system(root / f"system-{every}", data, every) for every in (2, 3, 5)]


@pytest.mark.parametrize("name", [name for name, entry in ANALYSES.items() if entry.takes == "scores"])
def test_pseudo_cells_change_no_analysis_of_scores(name: str, several: list[Path], data: Path) -> None:
    findings = []
    for pseudo in (False, True):
        records = [isogloss.score(path, "mini", data, pseudo=pseudo, tasks=TASKS) for path in several]
        try:
            found = isogloss.analyze(name, *records)
        except AnalysisError as error:
            findings.append(str(error))
        else:
            findings.append(msgspec.to_builtins(msgspec.structs.replace(found, command="")))
    assert findings[0] == findings[1]


@pytest.mark.parametrize("name", ["consistency", "unseen"])
def test_pseudo_answers_change_no_analysis_of_predictions(name: str, data: Path, tmp_path: Path) -> None:
    findings = []
    for pseudo in ((), PSEUDO):
        path = write_system(tmp_path / str(len(pseudo)) / "mine", data, 3, pseudo)
        try:
            found = isogloss.analyze(name, path, suite="mini", tasks=TASKS, data=data)
        except AnalysisError as error:
            findings.append(type(error).__name__)
        else:
            findings.append(msgspec.to_builtins(msgspec.structs.replace(found, command="")))
    assert findings[0] == findings[1]


def test_a_board_shows_pseudo_cells_and_ranks_without_them(several: list[Path], data: Path) -> None:
    mini = suite("mini")
    boards = []
    for pseudo in (False, True):
        records = [isogloss.score(path, "mini", data, pseudo=pseudo, tasks=TASKS) for path in several]
        entries = [system_of_record(record, record.system["name"], mini) for record in records]
        boards.append(make_board(entries, mini).data)
    human, both = boards
    assert human.pseudo == []
    assert [(each.task, each.language, each.name) for each in both.pseudo] == [
        (name, "sv", "Swedish") for name in TASKS
    ]
    accuracy = [isogloss.score(path, "mini", data, pseudo=True, tasks=TASKS)["mini-xnli", "sv"] for path in several]
    expected = [(at, pytest.approx(cell.score, abs=1e-3)) for at, cell in enumerate(accuracy)]  # type: ignore[union-attr]
    assert both.pseudo[0].scores == expected
    same = {"made": "", "pseudo": [], "data_hash": ""}
    assert msgspec.structs.replace(human, **same) == msgspec.structs.replace(both, **same)


def test_a_run_predicts_pseudo_sets_and_its_folder_has_both(data: Path, tmp_path: Path) -> None:
    arguments = ["--suite", "mini", "--tasks", "mini-xnli", "--languages", "en,de,sv", "--data", str(data)]
    result = command("run", "ngram", *arguments, "--pseudo", "--seeds", "1", "--out", str(tmp_path))
    assert result.code == 0, result.err
    seed = tmp_path / "ngram/zero-shot/seed-0"
    names = {path.name for path in (seed / "mini-xnli").iterdir()}
    assert names == {"en.jsonl", "de.jsonl", "pseudo-de.jsonl", "pseudo-sv.jsonl"}
    record = read_record(seed)
    splits = {(cell.language, cell.split) for cell in record.cells}
    assert splits == {("en", "test"), ("de", "test"), ("sv", "pseudo")}
    scored = command("score", str(seed), *arguments[:4], "--data", str(data), "--pseudo", "--json", str(tmp_path / "r"))
    assert scored.code == 0, scored.err
    assert PSEUDO_NOTE in scored.out
    assert "left out" not in scored.out
    cells = Results.from_json(tmp_path / "r").cells
    assert {(cell.language, cell.score) for cell in cells} == {(cell.language, cell.score) for cell in record.cells}
    missing = command("run", "ngram", *arguments[:4], "--pseudo", "--data", str(tmp_path), "--out", str(tmp_path / "x"))
    assert missing.code == 1
    assert "no pseudo test set of mini-xnli in any language" in missing.err
    exported = isogloss.export("mini-xnli", tmp_path / "inputs", "pseudo", data=data)
    assert [path.name for path, _ in exported] == ["pseudo-de.jsonl", "pseudo-sv.jsonl"]


def test_languages_of_pseudo_sets_choose_no_checkpoint(tmp_path: Path) -> None:
    """A fit for human test sets then serves pseudo sets too: further languages would start another one."""
    job = FitJob(
        regime=regime("zero-shot"),
        task=task("mini-xnli"),
        fit=Fit(("de", "sv")),
        seed=0,
        data=None,
        folder=tmp_path,
    )
    assert job.context(system("ngram")).languages == ("de",)


def test_both_ways_to_name_pseudo_sets_agree(folder: Path, data: Path) -> None:
    once, twice = (
        isogloss.score(folder, "mini", data, split="pseudo", pseudo=pseudo, tasks=TASKS) for pseudo in (False, True)
    )
    assert once == twice
    request = Request.of("mini", tasks=TASKS, split="pseudo", pseudo=True, data=data)
    [plan] = Plan.with_pseudo("ngram", data / "runs", request, seeds=1)
    assert {cell.language for cell in plan.cells} == {*PSEUDO}
