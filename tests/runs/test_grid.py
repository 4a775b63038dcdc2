"""The grid: records, resuming, outdated cells and failures."""

import json
import os
import shutil
import subprocess
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from statistics import stdev
from typing import Any

import pytest

import isogloss
from isogloss.errors import IsoglossError, UnknownNameError
from isogloss.runs import jobs as jobs_module
from isogloss.runs import locks
from isogloss.runs.grid import run_plan
from isogloss.runs.plan import CellKey, Plan
from isogloss.runs.records import CellRecord, read_record
from isogloss.runs.summary import summarize, write_results
from isogloss.runs.toml import to_toml
from isogloss.scoring.request import Request
from isogloss.scoring.results import CellScore, Results
from isogloss.systems import base
from isogloss.tables.run_tables import languages_table
from isogloss.tasks.loading import load
from isogloss.tasks.task import Task
from runs.grid_fake import FakeSystem, command, far_owner, leftovers, mini_cache, mini_data, scores, snapshot

__all__ = ["mini_cache", "mini_data"]

LANGUAGES = ("de", "en", "sw")


@pytest.fixture(autouse=True)
def log(mini_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FAKE_LOG", str(tmp_path / "log"))
    (tmp_path / "log").touch()
    return tmp_path / "log"


def planned(out: Path, *tasks: str, seeds: int = 1, suite: str = "mini", split: str = "test", **where: Path) -> Plan:
    request = Request.of(suite, tasks=tasks or ("mini-xquad", "mini-xnli"), languages=LANGUAGES, split=split, **where)
    return Plan.of("fake", out, request, seeds=seeds)


def record(plan: Plan, language: str = "sw", task: str = "mini-xquad", seed: int = 0) -> CellRecord:
    found = read_record(plan.record_path(CellKey(seed, task, language)))
    assert found is not None
    return found


def counted(log: Path, word: str) -> Counter[str]:
    return Counter(line.split()[1] for line in log.read_text().splitlines() if line.startswith(word))


def test_a_run_is_a_prediction_folder_with_results(tmp_path: Path, log: Path) -> None:
    plan = planned(tmp_path / "runs", seeds=2)
    summary = run_plan(plan)
    folder = tmp_path / "runs" / "fake" / "zero-shot" / "seed-1"
    assert sorted(path.name for path in (folder / "mini-xquad").iterdir()) == ["de.jsonl", "en.jsonl", "sw.jsonl"]
    scored = isogloss.score(folder, suite="mini")
    assert Results.from_json(folder / "results.json") == scored
    assert scored.system == {
        "name": "fake",
        "version": "1",
        "layers": [1, 2],
        "odd key": {"a": True, "b": 0.5},
        "regime": "zero-shot",
        "seed": 1,
    }
    assert counted(log, "fit") == {f"{seed}-{task}": 1 for seed in (0, 1) for task in ("mini-xquad", "mini-xnli")}
    assert summary.cells == {"done": 12, "failed": 0, "skipped": 0, "missing": 0}
    assert json.loads(plan.summary_path.read_text())["tasks"].keys() == {"mini-xnli", "mini-xquad"}


def test_the_summary_is_over_the_seeds(tmp_path: Path) -> None:
    plan = planned(tmp_path, seeds=3)
    over = run_plan(plan).tasks["mini-xquad"]
    each = [isogloss.score(folder, suite="mini").task_scores()["mini-xquad"] for folder in plan.seed_folders]
    assert list(over.seeds.values()) == pytest.approx(each)
    assert len(set(each)) > 1
    assert (over.min, over.max) == pytest.approx((min(each), max(each)))
    assert over.mean == pytest.approx(sum(each) / 3)
    assert over.sd == pytest.approx(stdev(each))
    assert over.low < over.mean < over.high
    assert 0 <= over.seed_share < 1
    assert over.language_sd.keys() == {"en", "de", "sw"}
    assert "ar" in over.missing


def test_a_record_has_scores_and_provenance(tmp_path: Path) -> None:
    plan = planned(tmp_path, seeds=2)
    run_plan(plan)
    found = record(plan, seed=1)
    whole = Results.from_json(plan.results_path(1))["mini-xquad", "sw"]
    assert isinstance(whole, CellScore)
    assert found.score is not None
    assert found.score.metrics == whole.metrics
    assert found.score.metrics["f1"].n == 60
    assert found.score.metrics["f1"].low < found.score.metrics["f1"].value < found.score.metrics["f1"].high
    assert (found.status, found.seed, found.split, found.reason) == ("done", 1, "test", "")
    made = found.provenance
    assert made.config["version"] == "1"
    assert made.data is not None
    assert made.training is not None
    assert made.data.sha256 == load("mini-xquad", "sw").checksum
    assert made.training.sha256 == load("mini-xquad", "en", "train").checksum
    assert made.isogloss == isogloss.__version__
    assert made.seconds > 0
    assert 10 < made.peak_memory_mb < 10_000


def test_only_missing_cells_are_filled(tmp_path: Path, log: Path) -> None:
    plan = planned(tmp_path)
    first = run_plan(plan)
    before = snapshot(plan.root)
    results = plan.results_path(0).stat().st_mtime_ns
    log.write_text("")
    assert run_plan(plan) == first
    assert log.read_text() == ""
    plan.record_path(CellKey(0, "mini-xquad", "sw")).unlink()
    plan.predictions_path(CellKey(0, "mini-xnli", "de")).unlink()
    plan.record_path(CellKey(0, "mini-xnli", "en")).write_text("{")
    with pytest.warns(UserWarning, match="^filled again: "):
        run_plan(plan)
    assert counted(log, "predict") == {"0-mini-xquad/sw": 1, "0-mini-xnli/de": 1, "0-mini-xnli/en": 1}
    assert snapshot(plan.root) == before
    assert plan.results_path(0).stat().st_mtime_ns == results  # same cells, same summary


def test_a_larger_grid_extends_a_smaller_one(tmp_path: Path, log: Path) -> None:
    run_plan(planned(tmp_path, "mini-xquad"))
    plan = planned(tmp_path, "mini-xnli", seeds=2)
    summary = run_plan(plan)
    # One seed has both tasks, the other only one: the summary covers what both have.
    assert set(summary.tasks) == {"mini-xnli"}
    assert list(summary.tasks["mini-xnli"].seeds) == ["seed-0", "seed-1"]
    assert "mini-xquad" in summary.overall.missing
    assert max(counted(log, "predict").values()) == 1


def test_seeds_without_a_common_cell_have_no_mean(tmp_path: Path) -> None:
    plan = planned(tmp_path, "mini-xquad", seeds=2)
    run_plan(plan)
    for language in ("en", "de", "sw"):
        plan.record_path(CellKey(1, "mini-xquad", language)).unlink()
        plan.predictions_path(CellKey(1, "mini-xquad", language)).unlink()
    other = planned(tmp_path, "mini-xnli", seeds=2)
    run_plan(other)
    shutil.rmtree(other.seed_folder(0) / ".cells" / "mini-xnli")
    with pytest.warns(UserWarning, match="the seeds share no cells"):
        summary = write_results(other)
    assert (summary.tasks, summary.overall) == ({}, None)


def test_force_fills_all_cells_again(tmp_path: Path, log: Path) -> None:
    plan = planned(tmp_path)
    run_plan(plan)
    before = snapshot(plan.root)
    run_plan(plan, force=True)
    assert set(counted(log, "predict").values()) == {2}
    assert snapshot(plan.root) == before


def test_a_locked_cell_is_not_discarded(tmp_path: Path) -> None:
    plan = planned(tmp_path)
    run_plan(plan)
    cell = plan.cells[0]
    held = locks.acquire(plan.lock_path(cell))
    assert held is not None
    told = []

    def on_progress(waiting: str, answering: CellKey | None = None) -> None:
        if waiting:
            told.append(waiting)
            assert all(path.exists() for path in plan.cell_paths(cell))
            held.release()

    run_plan(plan, force=True, on_progress=on_progress)
    assert [words.partition(": ")[0] for words in told] == [f"another process is filling {cell}"]
    assert leftovers(plan.root) == []


def test_a_failing_cell_does_not_stop_the_run(tmp_path: Path, log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_TROUBLE", "fail@0-mini-xquad/de short@0-mini-xnli/sw")
    plan = planned(tmp_path)
    summary = run_plan(plan)
    assert summary.cells == {"done": 4, "failed": 2, "skipped": 0, "missing": 0}
    assert summary.failed["seed-0 mini-xquad/de"] == (
        "mini-xquad/de: system 'fake' cannot predict: ZeroDivisionError: a cell went wrong"
    )
    assert (
        summary.failed["seed-0 mini-xnli/sw"] == "mini-xnli/sw: system 'fake' returned 59 predictions for 60 examples"
    )
    assert 'raise ZeroDivisionError("a cell went wrong")' in record(plan, "de").traceback
    assert record(plan, "de").score is None
    assert not plan.predictions_path(CellKey(0, "mini-xquad", "de")).exists()
    log.write_text("")
    monkeypatch.setenv("FAKE_TROUBLE", "")
    assert run_plan(plan).cells["done"] == 6
    assert counted(log, "predict") == {"0-mini-xquad/de": 1, "0-mini-xnli/sw": 1}


def test_invalid_predictions_fail_the_cell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("runs.grid_fake.FakeSystem._answer", lambda self, row, number: "no label")
    plan = planned(tmp_path, "mini-xnli")
    summary = run_plan(plan)
    assert summary.cells["failed"] == 3
    assert "no label" in record(plan, task="mini-xnli").reason
    assert not list(plan.root.rglob("*.jsonl"))
    assert not list(plan.root.rglob("*.npz"))


def test_a_failing_fit_fails_its_cells_once(tmp_path: Path, log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_TROUBLE", "fit@0-mini-xquad")
    summary = run_plan(plan := planned(tmp_path))
    assert summary.cells == {"done": 3, "failed": 3, "skipped": 0, "missing": 0}
    assert counted(log, "fit")["0-mini-xquad"] == 1
    assert "the fit went wrong" in record(plan, "en").traceback


def test_unsupported_tasks_are_skipped(tmp_path: Path, log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_TROUBLE", "refuse@mini-xnli untrained@mini-tatoeba")
    plan = planned(tmp_path, "mini-xquad", "mini-xnli", "mini-tatoeba")
    summary = run_plan(plan)
    assert summary.cells == {"done": 3, "failed": 0, "skipped": 5, "missing": 0}
    assert summary.skipped["seed-0 mini-xnli/en"] == "fake has no wish to"
    assert summary.skipped["seed-0 mini-tatoeba/sw"] == "mini-tatoeba has no English training set"
    records = {path: path.stat().st_mtime_ns for path in plan.root.rglob(".cells/*/*.json")}
    run_plan(plan)
    assert {path: path.stat().st_mtime_ns for path in plan.root.rglob(".cells/*/*.json")} == records
    monkeypatch.setenv("FAKE_TROUBLE", "")
    assert run_plan(plan).cells["done"] == 8
    assert max(counted(log, "predict").values()) == 1


@pytest.fixture
def copied(tmp_path: Path, mini_data: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Copy the suite's files to a folder where they can be changed."""
    shutil.copytree(mini_data, tmp_path / "mini")
    monkeypatch.setattr("isogloss.tasks.mini.make.folder", cache(lambda: tmp_path / "mini"))
    return tmp_path / "mini"


def test_missing_data_are_skipped_until_they_exist(tmp_path: Path, copied: Path) -> None:
    train, test = copied / "xnli" / "train-en.tsv", copied / "xnli" / "test-sw.tsv"
    rows = train.read_bytes()
    train.unlink()
    plan = planned(tmp_path / "runs", "mini-xnli")
    assert run_plan(plan).cells == {"done": 0, "failed": 0, "skipped": 3, "missing": 0}
    assert "no train file of mini-xnli/en" in record(plan, task="mini-xnli").reason
    assert not plan.results_path(0).exists()
    train.write_bytes(rows)
    test.rename(copied / "later")
    assert run_plan(plan).cells == {"done": 2, "failed": 0, "skipped": 1, "missing": 0}
    assert "no test file of mini-xnli/sw" in record(plan, task="mini-xnli").reason
    (copied / "later").rename(test)
    assert run_plan(plan).cells == {"done": 3, "failed": 0, "skipped": 0, "missing": 0}


def test_damaged_data_fail_the_cell(tmp_path: Path, copied: Path) -> None:
    damaged = copied / "xnli" / "test-sw.tsv"
    damaged.write_bytes(damaged.read_bytes()[:200])
    plan = planned(tmp_path / "runs", "mini-xnli")
    assert run_plan(plan).cells == {"done": 2, "failed": 1, "skipped": 0, "missing": 0}
    assert "test-sw.tsv" in record(plan, task="mini-xnli").reason


def test_cells_of_changed_data_are_filled_again(tmp_path: Path, log: Path, copied: Path) -> None:
    plan = planned(tmp_path / "runs", "mini-xnli")
    run_plan(plan)
    log.write_text("")
    changed = copied / "xnli" / "test-sw.tsv"
    os.utime(changed)
    run_plan(plan)
    assert log.read_text() == ""
    changed.write_text(changed.read_text().replace("entailment", "neutral"))
    run_plan(plan)
    assert counted(log, "predict") == {"0-mini-xnli/sw": 1}
    changed.unlink()
    log.write_text("")
    with pytest.raises(IsoglossError, match="no test file"):
        plan.results_path(0).unlink()
        run_plan(plan)
    assert log.read_text() == ""


def test_cells_without_gold_are_predicted_but_not_scored(tmp_path: Path, copied: Path) -> None:
    hidden = copied / "xnli" / "test-sw.tsv"
    hidden.write_text(
        "".join("\t".join(line.split("\t")[:2]) + "\tneutral\n" for line in hidden.read_text().splitlines())
    )
    plan = planned(tmp_path / "runs", "mini-xnli")
    summary = run_plan(plan)
    assert summary.cells["done"] == 3
    assert record(plan, task="mini-xnli").score is None
    assert "placeholders" in record(plan, task="mini-xnli").reason
    assert plan.predictions_path(CellKey(0, "mini-xnli", "sw")).exists()
    assert {cell.language for cell in Results.from_json(plan.results_path(0)).cells} == {"de", "en"}


@pytest.mark.parametrize("labelled", [True, False])
def test_an_unexpected_count_must_be_allowed(tmp_path: Path, copied: Path, labelled: bool) -> None:
    """50 of 60 examples: the cell fails, or is predicted and scored on its own, outside every average."""
    test = copied / "xnli" / "test-sw.tsv"
    lines = [line if labelled else "\t".join(line.split("\t")[:2]) for line in test.read_text().splitlines()]
    test.write_text("".join(f"{line}\n" for line in lines[:50]))
    plan = planned(tmp_path / "runs", "mini-xnli")
    assert run_plan(plan).cells == {"done": 2, "failed": 1, "skipped": 0, "missing": 0}
    assert "50 examples, but mini-xnli/sw test has 60" in record(plan, task="mini-xnli").reason
    assert "--allow-partial" in record(plan, task="mini-xnli").reason
    allowing = replace(plan, request=replace(plan.request, allow_partial=True))
    summary = run_plan(allowing)
    assert summary.cells == {"done": 3, "failed": 0, "skipped": 0, "missing": 0}
    assert len(plan.predictions_path(CellKey(0, "mini-xnli", "sw")).read_text().splitlines()) == 50
    results = Results.from_json(plan.results_path(0))
    assert "sw" in summary.tasks["mini-xnli"].missing
    partial = {cell.language: cell.partial for cell in results.cells}
    assert partial == {"en": False, "de": False, **({"sw": True} if labelled else {})}
    shown = languages_table(allowing, summary).plain()
    assert ("†" in shown) is labelled
    # Allowed once, the cell stays; the next command needs no option.
    again = run_plan(plan)
    assert again.cells == summary.cells
    assert again.tasks["mini-xnli"] == summary.tasks["mini-xnli"]


def test_dev_and_test_share_a_folder(tmp_path: Path) -> None:
    run_plan(planned(tmp_path, "mini-xnli"))
    plan = planned(tmp_path, "mini-xnli", split="dev")
    assert run_plan(plan).cells == {"done": 1, "failed": 0, "skipped": 2, "missing": 0}
    assert (plan.seed_folders[0] / "mini-xnli" / "dev-en.jsonl").exists()
    assert {path.name for path in plan.seed_folders[0].glob("*.json")} == {"results.json", "dev-results.json"}
    assert {path.name for path in plan.root.glob("*.json")} == {"summary.json", "dev-summary.json"}


def test_another_configuration_is_rejected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run_plan(planned(tmp_path))
    monkeypatch.setenv("FAKE_VERSION", "2")
    with pytest.raises(IsoglossError, match=r"version was '1', is '2'\. Choose another --out, .*#label=.*--config"):
        run_plan(planned(tmp_path))


def test_the_configuration_may_change_until_a_cell_is_done(
    tmp_path: Path, log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_TROUBLE", "fit@0-mini-xquad refuse@mini-xnli")
    plan = planned(tmp_path)
    assert run_plan(plan).cells["done"] == 0
    begun = [plan.fit_folder(group) / "state" for group in plan.groups]
    begun.append(begun[0].parent.with_name("mini-mlqa-de") / "state")
    for path in begun:
        path.mkdir(parents=True)
    monkeypatch.setenv("FAKE_VERSION", "2")
    monkeypatch.setenv("FAKE_TROUBLE", "fit@0-mini-xquad")
    with locks.acquire(plan.lock_path(CellKey(0, "mini-mlqa", "de"))):  # type: ignore[union-attr]
        with pytest.raises(
            IsoglossError, match="another process is filling the folder with another configuration: version"
        ):
            run_plan(plan)
        assert all(path.exists() for path in begun)
    assert run_plan(plan).cells == {"done": 3, "failed": 3, "skipped": 0, "missing": 0}
    assert not any(path.exists() for path in begun)  # of unknown origin, and of the first configuration
    assert 'version = "2"' in (plan.seed_folders[0] / "system.toml").read_text()
    monkeypatch.setenv("FAKE_VERSION", "3")
    with pytest.raises(IsoglossError, match="version was '2', is '3'"):
        run_plan(planned(tmp_path, "mini-xquad"))


class Modelled(FakeSystem):
    """A system with a model and settings per task."""

    model, digest, changes = "my-model", "1234", {"mini-xnli": 1}

    @property
    def metadata(self) -> Mapping[str, Any]:
        return {"name": "fake", "model": self.model, "model_hash": self.digest, "changes": self.changes}

    def deciding_settings(self, metadata: Mapping[str, Any], task: Task) -> Mapping[str, Any]:
        return {**super().deciding_settings(metadata, task), "changes": metadata["changes"].get(task.id)}


def test_only_deciding_settings_are_compared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(base._SHIPPED, "fake", f"{__name__}:Modelled")
    run_plan(plan := planned(tmp_path, "mini-xnli"))
    monkeypatch.setattr(Modelled, "model", "/home/me/my-model")  # the same model, by its hash
    monkeypatch.setattr(Modelled, "changes", {"mini-xnli": 1, "mini-xquad": 2})
    assert run_plan(planned(tmp_path)).cells["done"] == 6
    monkeypatch.setattr(Modelled, "changes", {"mini-xnli": 3, "mini-xquad": 2})
    with pytest.raises(IsoglossError, match="another configuration: changes was 1, is 3"):
        run_plan(planned(tmp_path, "mini-xquad"))
    monkeypatch.setattr(Modelled, "changes", {"mini-xnli": 1})
    monkeypatch.setattr(Modelled, "digest", "5678")
    with pytest.raises(IsoglossError, match="model_hash was '1234', is '5678'"):
        run_plan(plan)


def test_a_change_to_one_task_leaves_the_fits_of_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(base._SHIPPED, "fake", f"{__name__}:Modelled")
    run_plan(plan := planned(tmp_path, "mini-xnli"))
    fits = plan.seed_folders[0] / ".training"
    for name in ("", "-de", "-2", "-2-de"):
        (fits / f"checklist-animal-vs-vehicle{name}").mkdir(parents=True)
    monkeypatch.setattr(Modelled, "changes", {"mini-xnli": 1, "checklist-animal-vs-vehicle": 2})
    run_plan(plan)
    left = {"checklist-animal-vs-vehicle-2", "checklist-animal-vs-vehicle-2-de"}
    assert {path.name for path in fits.iterdir()} == left


def test_a_custom_suite_may_change(tmp_path: Path, log: Path) -> None:
    suite = tmp_path / "mine.toml"
    suite.write_text('tasks = ["mini-xquad", "mini-xnli"]\nrule = "flat"\n')
    first = run_plan(planned(tmp_path / "runs", suite=str(suite)))
    assert run_plan(planned(tmp_path / "runs", suite=str(suite))) == first
    suite.write_text(suite.read_text() + "[weights]\nmini-xquad = 3\n")
    second = run_plan(planned(tmp_path / "runs", suite=str(suite)))
    assert first.overall is not None and second.overall is not None
    assert first.tasks == second.tasks
    scores = [first.tasks[name].mean for name in ("mini-xquad", "mini-xnli")]
    assert first.overall.mean == pytest.approx(sum(scores) / 2)
    assert second.overall.mean == pytest.approx((3 * scores[0] + scores[1]) / 4)
    assert set(counted(log, "predict").values()) == {1}


def test_a_missing_system_creates_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = planned(tmp_path / "runs")

    def gone(self: FakeSystem) -> Mapping[str, Any]:
        raise IsoglossError("there is no model")

    monkeypatch.setattr(FakeSystem, "metadata", property(gone))
    with pytest.raises(IsoglossError, match="there is no model"):
        run_plan(plan)
    assert not (tmp_path / "runs").exists()


def test_a_group_without_examples_is_not_fitted(tmp_path: Path, log: Path, copied: Path) -> None:
    for language in ("de", "sw"):
        (copied / "xnli" / f"test-{language}.tsv").unlink()
    damaged = copied / "xnli" / "test-en.tsv"
    damaged.write_bytes(damaged.read_bytes()[:200])
    plan = planned(tmp_path / "runs", "mini-xnli")
    assert run_plan(plan).cells == {"done": 0, "failed": 1, "skipped": 2, "missing": 0}
    assert counted(log, "fit") == {}
    for language in ("de", "sw"):
        assert record(plan, language, "mini-xnli").reason.startswith(f"no test file of mini-xnli/{language} in ")
    assert "test-en.tsv" in record(plan, "en", "mini-xnli").reason
    (copied / "xnli" / "train-en.tsv").unlink()
    plan.record_path(CellKey(0, "mini-xnli", "sw")).unlink()
    run_plan(plan)
    assert "no train file" in record(plan, "sw", "mini-xnli").reason


@pytest.mark.slow
def test_several_processes_fill_the_same_grid(tmp_path: Path, log: Path) -> None:
    alone, together = planned(tmp_path / "one", seeds=2), planned(tmp_path / "three", seeds=2)
    run_plan(alone)
    log.write_text("")
    subprocess.run(command(together, jobs=3), check=True, capture_output=True)
    assert set(counted(log, "predict").values()) == {1}
    assert scores(alone) == scores(together)
    assert snapshot(alone.root) == snapshot(together.root)
    assert leftovers(together.root) == []


@pytest.mark.slow
def test_no_process_idles_while_cells_are_missing(tmp_path: Path, log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One group, two processes: both fit, and no cell is done twice."""
    monkeypatch.setenv("FAKE_SLEEP", "400")
    request = Request.of("mini", tasks=["mini-xquad"], languages="de en es fi fr hi id ja ru sw".split())
    plan = Plan.of("fake", tmp_path, request, seeds=1)
    subprocess.run(command(plan, jobs=2), check=True, capture_output=True)
    lines = [line.split() for line in log.read_text().splitlines()]
    assert len({pid for word, _, pid in lines if word == "predict"}) == 2
    assert set(counted(log, "predict").values()) == {1}


@pytest.mark.slow
@pytest.mark.parametrize(("trouble", "failed"), [("kill@0-mini-xquad/de", 1), ("killfit@0-mini-xquad", 3)])
def test_a_dead_process_fails_its_cell(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, trouble: str, failed: int
) -> None:
    monkeypatch.setenv("FAKE_TROUBLE", trouble)
    plan = planned(tmp_path)
    ended = subprocess.run(command(plan, jobs=2), check=False, capture_output=True, text=True)
    assert ended.returncode == 1, ended.stderr
    assert summarize(plan).cells == {"done": 6 - failed, "failed": failed, "skipped": 0, "missing": 0}
    assert "SIGKILL" in record(plan, "de").reason
    assert leftovers(plan.root) == []
    monkeypatch.setenv("FAKE_TROUBLE", "")
    assert run_plan(plan).cells["done"] == 6


def test_a_cell_of_another_machine_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = planned(tmp_path)
    run_plan(plan)
    cell = CellKey(0, "mini-xquad", "sw")
    settled = plan.record_path(cell).read_bytes()
    plan.record_path(cell).unlink()
    far = far_owner("elsewhere")
    plan.lock_path(cell).write_bytes(json.dumps({name: getattr(far, name) for name in far.__struct_fields__}).encode())
    looks = []

    def on_progress(waiting: str, answering: CellKey | None = None) -> None:
        looks.append(waiting)
        if len(looks) == 4:  # the other machine is done
            plan.record_path(cell).write_bytes(settled)

    assert run_plan(plan, on_progress=on_progress).cells["done"] == 6
    assert len(looks) > 4
    said = f"another process is filling {cell}: {plan.lock_path(cell)} is held by process 1 on elsewhere"
    assert {waiting for waiting in looks if waiting} == {said}
    assert summarize(plan).cells["missing"] == 0


def test_a_cell_finished_before_it_is_locked_is_kept(
    tmp_path: Path, log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = planned(tmp_path)
    run_plan(plan)
    cell = CellKey(0, "mini-xquad", "sw")
    settled = plan.record_path(cell).read_bytes()
    plan.record_path(cell).unlink()
    log.write_text("")

    def late(path: Path) -> locks.Lock | None:
        if path == plan.lock_path(cell):
            plan.record_path(cell).write_bytes(settled)
        return locks.acquire(path)

    monkeypatch.setattr(jobs_module, "acquire", late)
    assert run_plan(plan).cells["done"] == 6
    assert counted(log, "predict") == {}


def test_names_are_checked(tmp_path: Path) -> None:
    request = Request.of("mini", tasks=["mini-xquad"])
    with pytest.raises(UnknownNameError, match="regime"):
        Plan.of("fake", tmp_path, request, regime="few-shot")
    with pytest.raises(UnknownNameError, match="system"):
        Plan.of("ngrom", tmp_path, request)
    with pytest.raises(UnknownNameError, match="split"):
        Plan.of("fake", tmp_path, Request.of("mini", split="best"))
    with pytest.raises(IsoglossError, match="has a language of"):
        Plan.of("fake", tmp_path, replace(request, tasks=("mini-tatoeba",), languages=("en",)))


def test_metadata_as_toml() -> None:
    import tomllib

    table = {"name": 'a "b" \\ \n ü', "n": 3, "x": 0.5, "yes": True, "list": [1, "a"], "in side": {"deep": {"k": "v"}}}
    assert tomllib.loads(to_toml(table)) == table
    assert tomllib.loads(to_toml({"path": Path("a/b")})) == {"path": "a/b"}
