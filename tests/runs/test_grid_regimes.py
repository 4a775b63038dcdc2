"""The grid under regimes: fits per language, skipped cells, folders of fits, and processes that fit together."""

import json
import multiprocessing
import os
import pickle
import shutil
import socket
import subprocess
from collections import Counter
from pathlib import Path

import msgspec
import pytest

from isogloss.errors import DataError, IsoglossError
from isogloss.runs import locks
from isogloss.runs.fit import FitJob
from isogloss.runs.grid import run_plan
from isogloss.runs.plan import CellKey, FitGroup, Plan
from isogloss.runs.records import CellRecord, read_record
from isogloss.scoring.request import Request
from isogloss.systems import base
from isogloss.systems.base import FitContext
from isogloss.tasks.examples import Examples
from isogloss.tasks.loading import load
from isogloss.tasks.mini import sentences
from isogloss.tasks.registry import task
from isogloss.tasks.task import Task
from isogloss.translation.translate import translate
from runs.grid_fake import (
    FakeSystem,
    command,
    far_owner,
    kill_at_random,
    leftovers,
    mini_cache,
    mini_data,
    run_twice,
    scores,
    snapshot,
)
from runs.grid_fake import log as note

__all__ = ["mini_cache", "mini_data"]

FORK = multiprocessing.get_context("fork")


@pytest.fixture
def mini(mini_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The suite in its own cache, with additional question training sets in German and Swahili."""
    own = tmp_path / "cache" / mini_data.name
    shutil.copytree(mini_data, own)
    monkeypatch.setenv("ISOGLOSS_CACHE", str(own.parent))
    monkeypatch.setenv("ISOGLOSS_TRANSLATIONS", str(tmp_path / "translations"))
    for code in ("de", "sw"):
        content = sentences.squad("xquad", code, "train", 1200)
        (own / f"xquad/train.{code}.json").write_text(json.dumps(content), encoding="utf-8")
    return own


@pytest.fixture
def log(mini: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FAKE_LOG", str(tmp_path / "log"))
    (tmp_path / "log").touch()
    return tmp_path / "log"


def planned(out: Path, regime: str, *, system: str = "fake", tasks: str = "mini-xquad", seeds: int = 1) -> Plan:
    request = Request.of("mini", tasks=tasks.split(), languages=("de", "en", "fi", "sw"))
    return Plan.of(system, out, request, seeds=seeds, regime=regime)


def record(plan: Plan, language: str, name: str = "mini-xquad") -> CellRecord:
    found = read_record(plan.record_path(CellKey(0, name, language)))
    assert found is not None
    return found


def words(log: Path, word: str) -> Counter[str]:
    return Counter(line.split()[1] for line in log.read_text().splitlines() if line.startswith(word))


def trained_on(plan: Plan, language: str) -> list[str]:
    training = record(plan, language).provenance.training
    return [] if training is None else [Path(path).name for path in training.stamps]


@pytest.mark.slow
def test_in_language_fits_for_every_language(tmp_path: Path, mini: Path, log: Path) -> None:
    plan = planned(tmp_path / "runs", "in-language")
    assert [str(group) for group in plan.groups][:2] == ["seed-0 mini-xquad/de", "seed-0 mini-xquad/en"]
    assert plan.fit_folder(plan.groups[0]) == tmp_path / "runs/fake/in-language/seed-0/.training/mini-xquad-de"
    summary = run_plan(plan)
    assert summary.cells == {"done": 3, "failed": 0, "skipped": 1, "missing": 0}
    assert "no train file of mini-xquad/fi" in summary.skipped["seed-0 mini-xquad/fi"]
    assert [trained_on(plan, code) for code in ("de", "en", "sw")] == [[f"train.{c}.json"] for c in ("de", "en", "sw")]
    assert sum(words(log, "fit").values()) == 3
    log.write_text("")
    run_plan(plan)
    assert log.read_text() == ""
    shutil.copy(mini / "xquad/train.sw.json", mini / "xquad/train.fi.json")
    assert run_plan(plan).cells["done"] == 4
    assert words(log, "predict") == {"0-mini-xquad/fi": 1}


def test_a_new_source_changes_every_cell_that_gathers_sources(tmp_path: Path, mini: Path, log: Path) -> None:
    plan = planned(tmp_path / "runs", "in-language-all")
    assert run_plan(plan).cells["done"] == 4  # Finnish too, by a fit on the others
    assert trained_on(plan, "fi") == ["train.en.json", "train.de.json", "train.sw.json"]
    log.write_text("")
    run_plan(plan)
    assert log.read_text() == ""
    shutil.copy(mini / "xquad/train.sw.json", mini / "xquad/train.fi.json")
    run_plan(plan)
    assert sum(words(log, "predict").values()) == 4
    assert trained_on(plan, "de") == ["train.en.json", "train.de.json", "train.fi.json", "train.sw.json"]


def test_sources_make_the_folder_and_the_description(tmp_path: Path, log: Path) -> None:
    plan = planned(tmp_path / "runs", "multi-source:sw,de")
    run_plan(plan)
    assert plan.root == tmp_path / "runs/fake/multi-source-de-sw"
    assert 'regime = "multi-source-de-sw"' in (plan.seed_folders[0] / "system.toml").read_text()
    assert trained_on(plan, "en") == ["train.de.json", "train.sw.json"]
    assert plan == planned(tmp_path / "runs", "multi-source:de,sw")


@pytest.mark.slow
def test_several_processes_fit_per_language(tmp_path: Path, log: Path) -> None:
    alone, together = (planned(tmp_path / name, "in-language", seeds=2) for name in ("one", "two"))
    expected = run_plan(alone)
    log.write_text("")
    subprocess.run(command(together, jobs=2), check=True, capture_output=True)
    assert set(words(log, "predict").values()) == {1}
    assert run_plan(together) == expected
    assert snapshot(alone.root) == snapshot(together.root)
    assert leftovers(together.root) == []


@pytest.mark.slow
def test_a_run_killed_at_random_ends_like_an_undisturbed_one(
    tmp_path: Path, log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_SLEEP", "60")
    plan, undisturbed = (planned(tmp_path / name, "in-language-1000", seeds=2) for name in ("killed", "undisturbed"))
    expected = run_plan(undisturbed)
    assert kill_at_random(plan, seed=5, first=0.002, growth=1.1) >= 5
    assert run_plan(plan) == expected
    assert snapshot(plan.root) == snapshot(undisturbed.root)
    assert leftovers(plan.root) == []


def test_cells_that_a_regime_does_not_support_are_skipped(tmp_path: Path, log: Path) -> None:
    request = Request.of("mini", tasks=["mini-tatoeba"], languages=["de"])
    retrieval = run_plan(Plan.of("fake", tmp_path / "a", request, seeds=1, regime="in-language"))
    assert "fake needs no training for mini-tatoeba" in retrieval.skipped["seed-0 mini-tatoeba/de"]
    pairs = run_plan(planned(tmp_path / "b", "translate-test-xtreme", tasks="mini-xnli"))
    assert "does not depend on the text" in pairs.skipped["seed-0 mini-xnli/de"]
    assert not log.read_text()


def test_translations_are_predicted_and_originals_scored(tmp_path: Path, log: Path) -> None:
    of = task("mini-xnli")
    translate(of, "sw", "test", None, lambda lines: [f"English {line}" for line in lines])
    plan = planned(tmp_path / "runs", "translate-test", tasks="mini-xnli")
    summary = run_plan(plan)
    assert summary.cells == {"done": 2, "failed": 0, "skipped": 2, "missing": 0}
    assert "no translation of mini-xnli's test set from de" in summary.skipped["seed-0 mini-xnli/de"]
    assert words(log, "predict") == {"0-mini-xnli/en": 1, "0-mini-xnli/sw": 1}
    cell = record(plan, "sw", "mini-xnli")
    assert cell.score is not None
    assert cell.score.language == "sw"
    assert cell.provenance.data is not None
    assert [Path(path).name for path in cell.provenance.data.stamps] == ["test-sw.tsv", "sw.jsonl"]
    translate(of, "sw", "test", None, lambda lines: [f"Other {line}" for line in lines])
    log.write_text("")
    run_plan(plan)
    assert sum(words(log, "predict").values()) == 1  # the translation has changed


def lose(line: str) -> str:
    """Translate passages and words so that nothing can be found again."""
    return "none" if "." in line else "away"


def test_omitted_examples_are_in_the_record(tmp_path: Path, log: Path) -> None:
    of = task("mini-xquad")
    answers = {text for texts in load(of, "en", "train")["answers"] for text in texts}
    translate(of, "sw", "train", None, lambda lines: list(map(lose, lines)))
    plan = planned(tmp_path / "runs", "translate-train")
    assert run_plan(plan).cells == {"done": 1, "failed": 1, "skipped": 2, "missing": 0}
    assert "no example left to train on" in record(plan, "sw").reason
    once = min(answers)
    translate(of, "sw", "train", None, lambda lines: [lose(line) if once in line else line for line in lines])
    assert run_plan(plan).cells["done"] == 2
    training = record(plan, "sw").provenance.training
    assert training is not None
    counts, dropped = training.notes
    assert counts.startswith("answers: ")
    assert "markers" in counts
    assert "questions dropped: the answer is not in the passage" in dropped


class Keeper(FakeSystem):
    """A system that stores its model in its folder, and trains on another task's questions."""

    def __init__(self, strength: int = 1) -> None:
        self.strength = strength

    def learns_from(self, task: Task) -> Task:
        return base_task if (base_task := _questions()).kind == task.kind else task

    def learn(self, task: Task, train: Examples | None, seed: int, context: FitContext) -> "Keeper":
        note("enter", context.folder.name, os.getpid())
        found = (context.folder / "weights").exists()
        if not found:
            assert train is not None
            self.fit(task, train, seed)
            with pytest.raises(DataError):
                context.examples("de", "dev")
            heard = f"{self.strength} {context.languages} {train.task} {len(context.examples('en', 'dev'))}"
            (context.folder / "weights").write_text(heard)
        self.task, self.seed = task, seed
        note("leave", context.folder.name, os.getpid())
        return self


def _questions() -> Task:
    return task("mini-xquad")


@pytest.fixture
def keeper(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(base._SHIPPED, "keeper", f"{__name__}:Keeper")


def test_each_fit_has_its_own_folder(tmp_path: Path, keeper: None, log: Path) -> None:
    request = Request.of("mini", tasks=["mini-mlqa"], languages=["de", "sw"])
    plan = Plan.of("keeper", tmp_path / "runs", request, seeds=1, settings={"strength": 7})
    assert pickle.loads(pickle.dumps(plan)).build_system().strength == 7  # noqa: S301 - as it reaches other processes
    run_plan(plan)
    weights = plan.fit_folder(FitGroup(0, "mini-mlqa", ())) / "weights"
    assert weights.read_text() == "7 ('de', 'sw') mini-xquad 120"
    plan.record_path(CellKey(0, "mini-mlqa", "sw")).unlink()
    run_plan(plan)
    assert sum(words(log, "fit").values()) == 1  # found again
    run_plan(plan, force=True)
    assert sum(words(log, "fit").values()) == 2


def test_a_fit_of_another_process_is_not_discarded(tmp_path: Path, keeper: None) -> None:
    plan = planned(tmp_path / "runs", "zero-shot", system="keeper", tasks="mini-xquad", seeds=1)
    run_plan(plan)
    folder = plan.fit_folder(plan.groups[0])
    with locks.wait_for_lock(plan.fit_lock_path(plan.groups[0])):
        before = snapshot(folder)
        with pytest.raises(IsoglossError, match=r"another process is training there: process \d+ .*Wait until it"):
            run_plan(plan, force=True)
        assert snapshot(folder) == before
    assert run_plan(plan, force=True).cells["done"] == len(plan.cells)
    assert leftovers(plan.root) == []


def test_one_process_at_a_time_trains_in_a_folder(
    tmp_path: Path, keeper: None, log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_SLEEP", "300")
    plan = planned(tmp_path / "runs", "zero-shot", system="keeper", tasks="mini-xquad", seeds=1)
    run_twice(plan)
    inside = [line.split()[0] for line in log.read_text().splitlines() if line.split()[0] in ("enter", "leave")]
    assert inside == ["enter", "leave"] * (len(inside) // 2)
    assert sum(words(log, "fit").values()) == 1
    assert set(words(log, "predict").values()) == {1}
    scores(plan)
    assert leftovers(plan.root) == []


def test_waiting_for_a_fit_is_reported(tmp_path: Path, keeper: None) -> None:
    plan = planned(tmp_path / "runs", "zero-shot", system="keeper", tasks="mini-xquad", seeds=1)
    lock = plan.fit_folder(plan.groups[0]) / "fit.lock"
    lock.parent.mkdir(parents=True)
    lock.write_bytes(msgspec.json.encode(far_owner("elsewhere")))
    told = []

    def on_progress(waiting: str, answering: CellKey | None = None) -> None:
        told.append(waiting)
        if waiting:
            lock.unlink(missing_ok=True)  # the other process is done

    run_plan(plan, on_progress=on_progress)
    said = f"another process is training seed-0 mini-xquad: {lock} is held by process 1 on elsewhere"
    assert [waiting for waiting in told if waiting] == [said]


def test_torchrun_processes_start_no_jobs(tmp_path: Path, log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORLD_SIZE", "2")
    with pytest.raises(IsoglossError, match="2 processes that fit together cannot start 3 jobs each"):
        run_plan(planned(tmp_path, "zero-shot"), jobs=3)


@pytest.mark.slow
def test_processes_that_fit_together_fill_cells_once(tmp_path: Path, log: Path) -> None:
    """As torchrun starts them: both fit for every group, the first fills the cells."""
    pytest.importorskip("torch")
    pytest.importorskip("accelerate")
    plan = planned(tmp_path / "runs", "in-language", seeds=2)
    with socket.socket() as free:
        free.bind(("localhost", 0))
        port = str(free.getsockname()[1])
    world = {"WORLD_SIZE": "2", "MASTER_ADDR": "localhost", "MASTER_PORT": port, "OMP_NUM_THREADS": "1"}
    ranks = [
        subprocess.Popen(
            command(plan, jobs=1),
            env={**os.environ, **world, "RANK": str(rank), "LOCAL_RANK": str(rank)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank in range(2)
    ]
    said = [process.communicate(timeout=300) for process in ranks]
    assert [process.returncode for process in ranks] == [0, 0], said
    assert "6 cells done, 2 skipped" in said[0][0]
    assert said[1][0] == ""
    lines = [line.split() for line in log.read_text().splitlines()]
    fits = Counter(pid for word, _, pid in lines if word == "fit")
    assert sorted(fits.values()) == [6, 6]
    assert {pid for word, _, pid in lines if word == "predict"} == {str(ranks[0].pid)}
    assert set(words(log, "predict").values()) == {1}
    undisturbed = planned(tmp_path / "alone", "in-language", seeds=2)
    run_plan(undisturbed)
    assert snapshot(plan.root) == snapshot(undisturbed.root)


@pytest.mark.slow
@pytest.mark.parametrize("regime", ["in-language", "in-language-all"])
def test_regimes_with_the_ngram_system(tmp_path: Path, mini: Path, regime: str) -> None:
    for code in ("de", "sw"):
        rows = sentences.inference(code, "train", 1200)
        (mini / f"xnli/train-{code}.tsv").write_text("".join(f"{row}\n" for row in rows), encoding="utf-8")
    plan = Plan.of("ngram", tmp_path, Request.of("mini", tasks=["mini-xnli"], languages=["de"]), seeds=1, regime=regime)
    assert run_plan(plan).cells["done"] == 1
    [cell] = scores(plan).values()
    assert cell is not None
    assert cell.metrics["accuracy"].value > 50  # chance is a third


@pytest.mark.parametrize(
    ("regime", "languages"), [("zero-shot", ()), ("in-language", ()), ("translate-train", ("en",))]
)
def test_languages_that_choose_a_checkpoint(
    regime: str, languages: tuple[str, ...], tmp_path: Path, mini: Path
) -> None:
    """English under translation: no labels of the target language are available."""
    plan = planned(tmp_path / "runs", regime, tasks="mini-lareqa")
    reader = FakeSystem()
    reader.train_on = "mini-xquad"
    context = FitJob.of(plan, plan.groups[0]).context(reader)
    assert context.dev_languages == languages
    # LAReQA has no dev set, so that of its training task is used.
    assert context.training_dev("en").task == "mini-xquad"
    with pytest.raises(DataError, match="dev"):
        context.examples("en", "dev")
