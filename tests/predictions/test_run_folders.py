"""Folders of runs: every run is read, named and checked, and nothing beside them is ignored."""

import json
import shutil
from pathlib import Path

import pytest

import isogloss
from e2e.command import isogloss as command
from isogloss.errors import PredictionError
from isogloss.predictions.problems import ProblemCode
from isogloss.predictions.run_folders import run_folders
from isogloss.predictions.validate import validate
from predictions.drawn import answers
from predictions.made import write_jsonl

TASK = "mini-xnli"


def write_runs(root: Path, *names: str) -> Path:
    """Write a folder of runs with answers in two languages, without `system.toml`."""
    for seed, name in enumerate(names):
        for code, by_id in answers(TASK, ["de", "fi"], 0.6, seed)[TASK].items():
            write_jsonl(root / name / TASK / f"{code}.jsonl", by_id)
    return root


def test_any_prompt_name_is_a_run(tmp_path: Path) -> None:
    names = ["prompt-short one", "prompt-é", "prompt-a(b)=c"]
    write_runs(tmp_path / "llm", *names)
    assert set(run_folders(tmp_path / "llm")) == set(names)
    results = isogloss.score(tmp_path / "llm", suite="mini")
    assert set(results.runs) == set(names)
    assert set(results.tasks[0].score.spread["prompt"].levels) == {"short one", "é", "a(b)=c"}
    results.to_json(tmp_path / "results.json")
    assert type(results).from_json(tmp_path / "results.json") == results


def test_unprintable_names_are_shown_and_stored_safely(tmp_path: Path) -> None:
    write_runs(tmp_path / "llm", "prompt-a\x1b[31m", "prompt-b")
    results = isogloss.score(tmp_path / "llm", suite="mini")
    assert results.runs == ["prompt-a\N{REPLACEMENT CHARACTER}[31m", "prompt-b"]


@pytest.mark.parametrize("within", [".", "prompt-short"])
def test_predictions_beside_runs_are_an_error(within: str, tmp_path: Path) -> None:
    root = write_runs(tmp_path / "mixed", within, f"{within}/seed-1")
    with pytest.raises(PredictionError, match=r"has runs \(seed-1\) and also predictions of its own \(mini-xnli\)"):
        isogloss.score(root, suite="mini")
    assert isogloss.score(root / within / "seed-1", suite="mini").cells


@pytest.mark.parametrize("name", ["seed_1", "Seed-1", "seed-one", "run two", "prompt short/seed-0", "old/2024/seed-0"])
def test_misnamed_runs_are_an_error(name: str, tmp_path: Path) -> None:
    root = write_runs(tmp_path / "runs", "seed-0", name)
    with pytest.raises(PredictionError, match="not the name of a run, beside seed-0") as error:
        isogloss.score(root, suite="mini")
    assert error.value.where == str(root / name.partition("/")[0])
    assert "seed-0, seed-1, …, prompt-NAME or translator-NAME" in error.value.fix


def test_other_folders_and_files_may_lie_beside_runs(tmp_path: Path) -> None:
    root = write_runs(tmp_path / "runs", "seed-0", "seed-1", ".old")
    (root / "prompts/short").mkdir(parents=True)
    (root / "summary.json").write_text("{}")
    assert list(run_folders(root)) == ["seed-0", "seed-1"]


def test_runs_are_called_after_their_folder(tmp_path: Path) -> None:
    for name in ("one", "two"):
        write_runs(tmp_path / name, "seed-0", "seed-1")
    compared = isogloss.compare(tmp_path / "one", tmp_path / "two", suite="mini")
    assert (compared.first, compared.second) == ("one", "two")
    (tmp_path / "one/system.toml").write_text('name = "First"\nkind = "llm"\n')
    assert isogloss.score(tmp_path / "one", suite="mini").system == {"name": "First", "kind": "llm"}
    (tmp_path / "one/seed-0/system.toml").write_text('name = "Own"\n')
    assert isogloss.score(tmp_path / "one", suite="mini").system == {"name": "Own", "kind": "llm"}


def test_runs_without_a_cell_are_named(tmp_path: Path) -> None:
    root = write_runs(tmp_path / "llm", *(f"prompt-{prompt}/seed-{seed}" for prompt in "ab" for seed in (0, 1)))
    (root / f"prompt-b/seed-1/{TASK}/fi.jsonl").unlink()
    [left_out] = isogloss.score(root, suite="mini").left_out
    assert str(left_out) == ("left out: mini-xnli/fi test: missing in 1 of 4 runs: prompt-b/seed-1. Finish every run")


def test_every_run_is_validated(tmp_path: Path) -> None:
    root = write_runs(tmp_path / "llm", *(f"prompt-{prompt}/seed-{seed}" for prompt in "ab" for seed in (0, 1)))
    report = validate(root)
    assert report.summary == "4 runs, 8 files, 0 errors, 0 warnings"
    assert [cell.run for cell in report.cells[::2]] == list(run_folders(root))
    (root / "system.toml").write_text("name = ")
    (root / f"prompt-b/seed-1/{TASK}/fi.jsonl").unlink()
    write_jsonl(root / f"prompt-a/seed-0/{TASK}/de.jsonl", {"test-0": "maybe"})
    shutil.rmtree(root / "prompt-a/seed-1")
    report = validate(root)
    codes = {problem.code for problem in report.errors}
    of_cells = {ProblemCode.INVALID_ANSWER, ProblemCode.UNANSWERED}
    assert codes == {ProblemCode.UNREADABLE_FILE, ProblemCode.INCOMPLETE_RUNS} | of_cells
    wrong = [problem for problem in report.errors if problem.code is ProblemCode.INVALID_ANSWER]
    assert [problem.file for problem in wrong] == [str(root / f"prompt-a/seed-0/{TASK}/de.jsonl")]
    [incomplete] = (problem for problem in report.errors if problem.code is ProblemCode.INCOMPLETE_RUNS)
    assert incomplete.what == "incomplete runs: prompt-a/seed-1 is missing"
    [warning] = (problem for problem in report.problems if problem.warning)
    assert warning.what == "missing in 1 of 3 runs: prompt-b/seed-1"
    with pytest.raises(PredictionError):
        isogloss.score(root, suite="mini")


def test_runs_without_a_common_cell_are_invalid(tmp_path: Path) -> None:
    root = write_runs(tmp_path / "runs", "seed-0", "seed-1")
    (root / f"seed-0/{TASK}/de.jsonl").unlink()
    (root / f"seed-1/{TASK}/fi.jsonl").unlink()
    assert [problem.what for problem in validate(root).errors] == ["the runs have no cell in common"]


def test_commands_over_runs(tmp_path: Path) -> None:
    root = write_runs(tmp_path / "llm", "seed-0", "seed-1")
    done = command("validate", root)
    assert (done.code, done.err) == (0, "")
    rows = [line.split() for line in done.out.splitlines() if TASK in line]
    assert rows == [[run, TASK, "test", "2", "120", "0", "0"] for run in ("seed-0", "seed-1")]
    done = command("explain", root, "-s", "mini")
    assert done.code == 1
    assert "expected the predictions of one run, got a folder of 2 runs" in done.err
    assert f"such as {root / 'seed-0'}" in done.err.replace("\n", "")
    shutil.rmtree(root / "seed-1")
    target = tmp_path / "explained.json"
    assert command("explain", root, "-s", "mini", "--json", target).code == 0
    assert json.loads(target.read_text())["explanations"][0]["facets"]
