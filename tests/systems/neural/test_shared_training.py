"""Tasks that learn the same share one training, and each ends as if it had been trained alone."""

import os
import signal
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch", reason="torch is not installed: pip install 'isogloss[train]'")

from isogloss.errors import DataError
from isogloss.runs import locks
from isogloss.runs.engine import CellsJob
from isogloss.runs.grid import run_plan
from isogloss.runs.plan import Plan
from isogloss.runs.records import read_record
from isogloss.scoring.cells import Request
from isogloss.systems.base import system
from isogloss.systems.encoder.retrieval import EncoderRetrieval
from isogloss.systems.neural.checkpoint_callback import CheckpointCallback
from isogloss.systems.neural.fit_log import FitLog, read_fit_log
from isogloss.systems.neural.task_adapter import TaskAdapter
from isogloss.tasks.examples import Examples
from isogloss.tasks.loading import load
from isogloss.tasks.registry import task
from isogloss.training import loop
from isogloss.training.checkpoint_record import CheckpointRecord

pytestmark = pytest.mark.slow

XQUAD, MLQA, TATOEBA = TASKS = "mini-xquad", "mini-mlqa", "mini-tatoeba"
QUICK: dict[str, Any] = {"steps": 8, "batch": 8, "checkpoints": 25, "max_length": 64, "learning_rate": 1e-3}
# By itself mini-mlqa has questions of its own, where MLQA learns SQuAD as XQuAD does.
SETTINGS = {**QUICK, "train_on": "xquad", "test_examples": 20, "dev_examples": 20, "selecting_examples": 40}


class Runs:
    """Runs of a tiny encoder, each in a folder of its own, and how often something was trained."""

    def __init__(self, model: Path, folder: Path) -> None:
        self.model, self.folder, self.trained = model, folder, 0

    def plan(self, name: str, *tasks: str, overrides: Mapping[str, Any] | None = None, seeds: int = 1) -> Plan:
        request = Request.of("mini", tasks=tasks or TASKS, languages=["de", "sw"])
        settings = {"overrides": {**SETTINGS, **(overrides or {})}, "label": "mine", "quiet": True}
        return Plan.of(f"encoder:{self.model}", self.folder / name, request, seeds=seeds, settings=settings)

    def __call__(self, name: str, *tasks: str, jobs: int = 1, **settings: Any) -> Path:
        plan = self.plan(name, *tasks, **settings)
        summary = run_plan(plan, jobs=jobs)
        assert f"{len(plan.cells)} done cells" in repr(summary)
        return plan.root


@pytest.fixture
def runs(tiny_bert: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Runs:
    found, train = Runs(tiny_bert, tmp_path), loop.train

    def counted(*words: Any, **settings: Any) -> loop.TrainingResult:
        found.trained += 1
        return train(*words, **settings)

    monkeypatch.setattr(loop, "train", counted)
    return found


@pytest.fixture(scope="module")
def alone(tiny_bert: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tasks, one command after the other."""
    apart = Runs(tiny_bert, tmp_path_factory.mktemp("apart"))
    for name in TASKS:
        root = apart("alone", name)
        assert log_of(root, name).shared_training == []
    return root


def log_of(root: Path, name: str, seed: int = 0) -> FitLog:
    log = read_fit_log(root / f"seed-{seed}" / ".training" / name)
    assert log is not None
    return log


def files(root: Path) -> dict[str, bytes]:
    """All that a run leaves and that says nothing of when or how long."""
    wanted = ("*/*.jsonl", ".training/*/checkpoints.*", ".training/*/weights/*/*")
    found = [path for pattern in wanted for path in (root / "seed-0").glob(pattern)]
    return {str(path.relative_to(root)): path.read_bytes() for path in found}


def same_as(root: Path, alone: Path) -> None:
    assert files(root) == files(alone)
    assert len(files(root)) > 20
    for name in TASKS:
        one, other = log_of(root, name), log_of(alone, name)
        for what in ("fingerprint", "chosen", "losses", "updates", "learnt_from", "languages", "recipe", "notes"):
            assert getattr(one, what) == getattr(other, what), (name, what)
        there = {path.name for path in (root / "seed-0/.training" / name).iterdir()}
        assert there == {"checkpoints.csv", "checkpoints.npz", "training.json", "weights"}


def test_together_as_alone(runs: Runs, alone: Path) -> None:
    root = runs("together")
    assert runs.trained == 1
    same_as(root, alone)
    logs = [log_of(root, name) for name in TASKS]
    assert {tuple(log.shared_training) for log in logs} == {TASKS}
    assert [log.seconds > 0 for log in logs] == [True, False, False]
    assert len({log.tokens_per_second for log in logs}) == 1
    runs("together")
    assert runs.trained == 1


@pytest.mark.parametrize(
    ("overrides", "trained"),
    [
        ({MLQA: {"select": "target-dev"}, TATOEBA: {"select": "last", "test_examples": 9}}, [TASKS]),
        ({MLQA: {"patience": 3}}, [(XQUAD, TATOEBA), ()]),
        ({"patience": 3}, [(), (), ()]),
        ({MLQA: {"checkpoints": 50}}, [(XQUAD, TATOEBA), ()]),
        ({XQUAD: {"batch": 4}}, [(), (MLQA, TATOEBA)]),
        ({MLQA: {"train_on": "tydiqa"}}, [(XQUAD, TATOEBA), ()]),
    ],
)
def test_what_may_differ(overrides: Mapping[str, Any], trained: list[tuple[str, ...]], runs: Runs) -> None:
    root = runs("together", overrides=overrides)
    assert runs.trained == len(trained)
    assert {tuple(log_of(root, name).shared_training) for name in TASKS} == {*trained}


def test_seeds_are_trained_each(runs: Runs) -> None:
    root = runs("together", XQUAD, TATOEBA, seeds=2)
    assert runs.trained == 2
    assert log_of(root, TATOEBA, 1).shared_training == [XQUAD, TATOEBA]
    assert log_of(root, TATOEBA, 0).losses != log_of(root, TATOEBA, 1).losses


@pytest.fixture
def killed_at(monkeypatch: pytest.MonkeyPatch, runs: Runs) -> Callable[..., None]:
    """Run until the record of a task comes to a checkpoint, or to its end."""
    monkeypatch.setattr(loop, "STATE_EVERY", 0.0)

    def kill(name: str, step: int | None, *tasks: str) -> None:
        add, finish = CheckpointRecord.add, CheckpointRecord.finish

        def until(record: CheckpointRecord, at: int, *words: Any) -> None:
            if (record.task.id, at) == (name, step):
                raise KeyboardInterrupt
            add(record, at, *words)

        def at_the_end(record: CheckpointRecord) -> Any:
            if record.task.id == name:
                raise KeyboardInterrupt
            return finish(record)

        with monkeypatch.context() as patched:
            patched.setattr(CheckpointRecord, "add", until)
            patched.setattr(CheckpointRecord, "finish", at_the_end)
            with pytest.raises(KeyboardInterrupt):
                runs("killed", *tasks)
        assert runs.trained == 1

    return kill


@pytest.mark.parametrize(
    ("name", "step"), [(XQUAD, 2), (XQUAD, 6), (MLQA, 4), (TATOEBA, 8), (MLQA, None), (TATOEBA, None), (XQUAD, None)]
)
def test_after_a_kill_all_go_on(
    name: str, step: int | None, runs: Runs, killed_at: Callable[..., None], alone: Path
) -> None:
    killed_at(name, step)
    root = runs("killed")
    assert runs.trained == 2
    same_as(root, alone)
    assert {tuple(sorted(log_of(root, name).shared_training)) for name in TASKS} == {tuple(sorted(TASKS))}


def test_one_that_comes_late_is_trained_by_itself(runs: Runs, killed_at: Callable[..., None], alone: Path) -> None:
    killed_at(XQUAD, 6, XQUAD)
    root = runs("killed")
    assert runs.trained == 3
    same_as(root, alone)
    assert [log_of(root, name).shared_training for name in TASKS] == [[], [MLQA, TATOEBA], [MLQA, TATOEBA]]


def test_one_that_missed_a_checkpoint_is_trained_by_itself(
    runs: Runs, killed_at: Callable[..., None], alone: Path
) -> None:
    killed_at(XQUAD, 8)
    plan = runs.plan("killed")
    [shard] = plan.root.glob(f"seed-0/.training/{MLQA}/checkpoints/00000004.json")
    shard.unlink()
    root = runs("killed")
    assert runs.trained == 3
    same_as(root, alone)
    assert [log_of(root, name).shared_training for name in TASKS] == [[XQUAD, TATOEBA], [], [XQUAD, TATOEBA]]


def test_one_that_went_on_alone_is_not_taken_back(runs: Runs, killed_at: Callable[..., None], alone: Path) -> None:
    killed_at(XQUAD, 6)
    runs("killed", MLQA)
    assert runs.trained == 2
    assert log_of(runs.plan("killed").root, MLQA).shared_training == []
    root = runs("killed")
    assert runs.trained == 3
    same_as(root, alone)
    assert log_of(root, XQUAD).shared_training == [XQUAD, TATOEBA]


def test_one_that_is_finished_is_not_trained_again(runs: Runs, alone: Path) -> None:
    root = runs("together", MLQA)
    before = (root / "seed-0/.training" / MLQA / "training.json").read_bytes()
    plan = runs.plan("together", MLQA)
    for cell in plan.cells:
        plan.record_path(cell).unlink()
    runs("together")
    assert runs.trained == 2
    assert (root / "seed-0/.training" / MLQA / "training.json").read_bytes() == before
    same_as(root, alone)
    assert log_of(root, XQUAD).shared_training == [XQUAD, TATOEBA]


def test_a_folder_where_another_process_learns_is_left_to_it(runs: Runs, alone: Path) -> None:
    plan = runs.plan("together")
    xquad, mlqa, _ = plan.groups
    with locks.acquire(plan.fit_lock_path(mlqa)):  # type: ignore[union-attr]
        assert CellsJob(plan, xquad).execute() == 2
        assert CellsJob(plan, mlqa).execute() == 0
        assert not (plan.fit_folder(mlqa) / "training.json").exists()
    assert log_of(plan.root, TATOEBA).shared_training == [XQUAD, TATOEBA]
    root = runs("together")
    assert runs.trained == 2
    same_as(root, alone)


def test_while_it_trains_the_other_folders_are_its_own(runs: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    plan, add, told = runs.plan("together"), CheckpointRecord.add, []

    def look(record: CheckpointRecord, *words: Any) -> None:
        told.append([locks.acquire(plan.fit_lock_path(group)) for group in plan.groups])
        told.append([CellsJob(plan, group).execute() for group in plan.groups[1:]])
        add(record, *words)

    monkeypatch.setattr(CheckpointRecord, "add", look)
    runs("together")
    assert told[:2] == [[None] * 3, [0] * 2]
    assert runs.trained == 1


def test_one_that_fails_does_not_hinder_the_others(
    runs: Runs, alone: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    answer, asked = EncoderRetrieval.predict, []

    def predict(self: EncoderRetrieval, model: Any, examples: Examples) -> Any:
        asked.append(examples)
        if len(asked) == 4:
            raise OSError("the plug was pulled")
        return answer(self, model, examples)

    monkeypatch.setattr(EncoderRetrieval, "predict", predict)
    root = runs("together")
    assert runs.trained == 2
    same_as(root, alone)
    assert [log_of(root, name).shared_training for name in TASKS] == [[XQUAD, MLQA], [XQUAD, MLQA], []]


def test_where_the_first_fails_the_next_trains(runs: Runs, alone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    add = CheckpointRecord.add

    def fail(record: CheckpointRecord, step: int, *words: Any) -> None:
        if (record.task.id, step) == (XQUAD, 4):
            raise OSError("the plug was pulled")
        add(record, step, *words)

    with monkeypatch.context() as patched:
        patched.setattr(CheckpointRecord, "add", fail)
        plan = runs.plan("together")
        run_plan(plan)
    assert runs.trained == 2
    assert {read_record(plan.record_path(cell)).status for cell in plan.groups[0].cells} == {"failed"}
    assert log_of(plan.root, TATOEBA).shared_training == [MLQA, TATOEBA]
    same_as(runs("together"), alone)


def test_what_cannot_be_learnt_is_not_taken_along(runs: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    made = CheckpointCallback.__init__

    def refuse(self: CheckpointCallback, adapter: TaskAdapter, *words: Any) -> None:
        if adapter.task.id == TATOEBA:
            raise DataError("1 columns instead of 3", where="dev-en.tsv:3")
        made(self, adapter, *words)

    monkeypatch.setattr(CheckpointCallback, "__init__", refuse)
    plan = runs.plan("together", XQUAD, TATOEBA)
    run_plan(plan)
    statuses = [{read_record(plan.record_path(cell)).status for cell in group.cells} for group in plan.groups]
    assert statuses == [{"done"}, {"failed"}]
    assert log_of(plan.root, XQUAD).shared_training == []


def test_processes_leave_the_training_to_one(runs: Runs, alone: Path) -> None:
    root = runs("together", jobs=2)
    same_as(root, alone)
    assert {tuple(sorted(log_of(root, name).shared_training)) for name in TASKS} == {tuple(sorted(TASKS))}
    assert sum(log_of(root, name).seconds > 0 for name in TASKS) == 1


def test_a_process_that_is_killed_while_it_trains_leaves_the_others_to_the_next(runs: Runs) -> None:
    longer = {"steps": 80}
    plan = runs.plan("together", overrides=longer)
    folder = plan.fit_folder(plan.groups[0])
    killed = []

    def kill() -> None:
        deadline = time.monotonic() + 120
        while not killed and time.monotonic() < deadline:
            time.sleep(0.02)
            if any((folder / "checkpoints").glob("*.json")):
                killed.append(locks.owners(folder / "fit.lock")[-1].pid)
                os.kill(killed[0], signal.SIGKILL)

    thread = threading.Thread(target=kill)
    thread.start()
    run_plan(plan, jobs=2)
    thread.join()
    assert killed
    statuses = [{read_record(plan.record_path(cell)).status for cell in group.cells} for group in plan.groups]
    assert statuses[1:] == [{"done"}, {"done"}]
    # The others went on together without the one that failed; unless they had ended just before it was killed, or it
    # was the one that had come to help.
    shared = [log_of(plan.root, name).shared_training for name in TASKS[1:]]
    assert shared in ([[MLQA, TATOEBA]] * 2, [[*TASKS]] * 2)
    assert files(runs("together", overrides=longer)) == files(runs("undisturbed", overrides=longer))


def test_which_tasks_learn_the_same(tiny_bert: Path, tiny_mt5: Path) -> None:
    asks = ("xquad", "mlqa", "tatoeba", "checklist-comparisons")
    for recipe in ("paper", "scripts"):
        made = system(f"encoder:{tiny_bert}", recipe=recipe)
        keys = {name: made.training_key(task(name)) for name in (*asks, "tydiqa", "xnli", "bucc", "xcopa")}
        assert len({keys[name] for name in asks}) == 1
        assert None not in (keys["xquad"], keys["tydiqa"], keys["xnli"])
        assert len({*keys.values()}) == 4  # and None, where nothing is learnt or Social IQa comes before
    made = system(f"text2text:{tiny_mt5}")
    assert made.training_key(task("xquad")) == made.training_key(task("mlqa")) == made.training_key(task("tatoeba"))
    assert system("ngram").training_key(task("xquad")) is None


def test_squad_is_one_training_set_whoever_learns_it(tmp_path: Path) -> None:
    squad = Path(load(XQUAD, "en", "train").sources[0])
    (tmp_path / "squad").mkdir()
    (tmp_path / "squad/train-v1.1.json").write_bytes(squad.read_bytes())
    one, other = (load(name, "en", "train", tmp_path) for name in ("xquad", "mlqa"))
    assert (one.ids, one.checksum, one.language) == (other.ids, other.checksum, other.language)
    assert [*one["question"]] == [*other["question"]]
