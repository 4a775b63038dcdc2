"""Tasks with the same training share one run, with the same results as separate training."""

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
from isogloss.runs.dispatch import Dispatcher
from isogloss.runs.grid import run_plan
from isogloss.runs.jobs import CellsJob, SharedTrainings
from isogloss.runs.plan import Plan
from isogloss.runs.records import read_record
from isogloss.scoring.request import Request
from isogloss.systems.base import system
from isogloss.systems.encoder.system import EncoderRetrieval
from isogloss.systems.neural.checkpoint_callback import CheckpointCallback
from isogloss.systems.neural.fit_log import FitLog, read_fit_log
from isogloss.systems.neural.task_adapter import TaskAdapter
from isogloss.tasks.examples import Examples
from isogloss.tasks.loading import load
from isogloss.tasks.registry import task
from isogloss.training import loop
from isogloss.training.checkpoint_record import CheckpointRecord
from runs.test_dispatch import ThreadWorkers

pytestmark = pytest.mark.slow

XQUAD, MLQA, TATOEBA = TASKS = "mini-xquad", "mini-mlqa", "mini-tatoeba"
QUICK: dict[str, Any] = {"steps": 8, "batch": 8, "checkpoints": 25, "max_length": 64, "learning_rate": 1e-3}
# By default mini-mlqa has its own questions, while MLQA learns SQuAD like XQuAD.
SETTINGS = {**QUICK, "train_on": "xquad", "test_examples": 3, "dev_examples": 3, "selecting_examples": 6}


class Runs:
    """Runs of a tiny encoder, each in its own folder, with a count of training runs."""

    def __init__(self, model: Path, folder: Path) -> None:
        self.model, self.folder, self.trained = model, folder, 0

    def plan(self, name: str, *tasks: str, overrides: Mapping[str, Any] | None = None, seeds: int = 1) -> Plan:
        request = Request.of("mini", tasks=tasks or TASKS, languages=["sw"])
        settings = {"overrides": {**SETTINGS, **(overrides or {})}, "label": "mine", "quiet": True}
        return Plan.of(f"encoder:{self.model}", self.folder / name, request, seeds=seeds, settings=settings)

    def __call__(self, name: str, *tasks: str, **settings: Any) -> Path:
        plan = self.plan(name, *tasks, **settings)
        summary = run_plan(plan)
        assert summary.cells["done"] == len(plan.cells)
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
    """Run the tasks in separate commands."""
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
    """Return all results of a run, without times and durations."""
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


def test_shared_training_equals_separate_training(runs: Runs, alone: Path) -> None:
    root = runs("together")
    assert runs.trained == 1
    same_as(root, alone)
    logs = [log_of(root, name) for name in TASKS]
    assert {tuple(log.shared_training) for log in logs} == {TASKS}
    assert [log.seconds > 0 for log in logs] == [True, False, False]
    assert len({log.tokens_per_second for log in logs}) == 1
    runs("together")
    assert runs.trained == 1


DIFFER_IN_SELECTION = {MLQA: {"select": "target-dev"}, TATOEBA: {"select": "last", "test_examples": 2}}
DIFFER_IN_BATCHES = {XQUAD: {"batch": 4}}


@pytest.mark.parametrize(
    ("overrides", "trained"), [(DIFFER_IN_SELECTION, [TASKS]), (DIFFER_IN_BATCHES, [(), (MLQA, TATOEBA)])]
)
def test_shared_fits_may_differ_in_selection(
    overrides: Mapping[str, Any], trained: list[tuple[str, ...]], runs: Runs
) -> None:
    root = runs("together", overrides=overrides)
    assert runs.trained == len(trained)
    assert {tuple(log_of(root, name).shared_training) for name in TASKS} == {*trained}


@pytest.mark.parametrize(
    ("overrides", "first"),
    [
        (DIFFER_IN_SELECTION, (XQUAD, XQUAD, XQUAD)),
        (DIFFER_IN_BATCHES, (XQUAD, MLQA, MLQA)),
        ({MLQA: {"patience": 3}}, (XQUAD, MLQA, XQUAD)),
        ({"patience": 3}, TASKS),
        ({MLQA: {"checkpoints": 50}}, (XQUAD, MLQA, XQUAD)),
        ({MLQA: {"train_on": "tydiqa"}}, (XQUAD, MLQA, XQUAD)),
    ],
)
def test_groups_with_the_same_training(overrides: Mapping[str, Any], first: tuple[str, ...], runs: Runs) -> None:
    plan = runs.plan("together", overrides=overrides)
    trainings = SharedTrainings(plan, plan.build_system())
    assert tuple(trainings.of(group) for group in plan.groups) == tuple((0, "", name) for name in first)


def test_each_seed_is_trained(runs: Runs) -> None:
    root = runs("together", XQUAD, TATOEBA, seeds=2)
    assert runs.trained == 2
    assert log_of(root, TATOEBA, 1).shared_training == [XQUAD, TATOEBA]
    assert log_of(root, TATOEBA, 0).losses != log_of(root, TATOEBA, 1).losses


@pytest.fixture
def killed_at(monkeypatch: pytest.MonkeyPatch, runs: Runs) -> Callable[..., None]:
    """Run until the record of a task reaches a checkpoint, or its end."""
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


@pytest.mark.parametrize(("name", "step"), [(XQUAD, 2), (MLQA, 4), (TATOEBA, 8), (MLQA, None), (XQUAD, None)])
def test_all_fits_resume_after_a_kill(
    name: str, step: int | None, runs: Runs, killed_at: Callable[..., None], alone: Path
) -> None:
    killed_at(name, step)
    root = runs("killed")
    assert runs.trained == 2
    same_as(root, alone)
    assert {tuple(sorted(log_of(root, name).shared_training)) for name in TASKS} == {tuple(sorted(TASKS))}


def test_late_fit_trains_separately(runs: Runs, killed_at: Callable[..., None], alone: Path) -> None:
    killed_at(XQUAD, 6, XQUAD)
    root = runs("killed")
    assert runs.trained == 3
    same_as(root, alone)
    assert [log_of(root, name).shared_training for name in TASKS] == [[], [MLQA, TATOEBA], [MLQA, TATOEBA]]


def test_fit_that_missed_a_checkpoint_trains_separately(
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


def test_separated_fit_is_not_rejoined(runs: Runs, killed_at: Callable[..., None], alone: Path) -> None:
    killed_at(XQUAD, 6)
    runs("killed", MLQA)
    assert runs.trained == 2
    assert log_of(runs.plan("killed").root, MLQA).shared_training == []
    root = runs("killed")
    assert runs.trained == 3
    same_as(root, alone)
    assert log_of(root, XQUAD).shared_training == [XQUAD, TATOEBA]


def test_finished_fit_is_not_retrained(runs: Runs, alone: Path) -> None:
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


def test_locked_folder_is_left_to_its_process(runs: Runs, alone: Path) -> None:
    plan = runs.plan("together")
    xquad, mlqa, _ = plan.groups
    with locks.acquire(plan.fit_lock_path(mlqa)):  # type: ignore[union-attr]
        assert CellsJob(plan, xquad).execute() == 1
        assert CellsJob(plan, mlqa).execute() == 0
        assert not (plan.fit_folder(mlqa) / "training.json").exists()
    assert log_of(plan.root, TATOEBA).shared_training == [XQUAD, TATOEBA]
    root = runs("together")
    assert runs.trained == 2
    same_as(root, alone)


def test_shared_training_locks_the_other_folders(runs: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    plan, add, told = runs.plan("together"), CheckpointRecord.add, []

    def look(record: CheckpointRecord, *words: Any) -> None:
        told.append([locks.acquire(plan.fit_lock_path(group)) for group in plan.groups])
        told.append([CellsJob(plan, group).execute() for group in plan.groups[1:]])
        add(record, *words)

    monkeypatch.setattr(CheckpointRecord, "add", look)
    runs("together")
    assert told[:2] == [[None] * 3, [0] * 2]
    assert runs.trained == 1


def test_failing_fit_does_not_affect_others(
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


def test_next_fit_trains_if_the_first_fails(runs: Runs, alone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_unusable_fit_does_not_join(runs: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    made = CheckpointCallback.__init__

    def refuse(self: CheckpointCallback, *, adapter: TaskAdapter, **settings: Any) -> None:
        if adapter.task.id == TATOEBA:
            raise DataError("1 columns instead of 3", where="dev-en.tsv:3")
        made(self, adapter=adapter, **settings)

    monkeypatch.setattr(CheckpointCallback, "__init__", refuse)
    plan = runs.plan("together", XQUAD, TATOEBA)
    run_plan(plan)
    statuses = [{read_record(plan.record_path(cell)).status for cell in group.cells} for group in plan.groups]
    assert statuses == [{"done"}, {"failed"}]
    assert log_of(plan.root, XQUAD).shared_training == []


def test_one_of_several_workers_trains(runs: Runs, alone: Path) -> None:
    plan = runs.plan("together")
    run_plan(plan, dispatcher=Dispatcher(plan, ThreadWorkers(2)))
    root = plan.root
    assert runs.trained == 1
    same_as(root, alone)
    assert {tuple(sorted(log_of(root, name).shared_training)) for name in TASKS} == {tuple(sorted(TASKS))}
    assert sum(log_of(root, name).seconds > 0 for name in TASKS) == 1


def test_killed_training_process_is_replaced(runs: Runs) -> None:
    longer = {"steps": 16}
    plan = runs.plan("together", overrides=longer)
    folder = plan.fit_folder(plan.groups[0])
    killed = []

    def kill() -> None:
        deadline = time.monotonic() + 300
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
    # The others continued together without the failed one, unless they had ended just before it was killed, or it
    # was the one that had joined to help.
    shared = [log_of(plan.root, name).shared_training for name in TASKS[1:]]
    assert shared in ([[MLQA, TATOEBA]] * 2, [[*TASKS]] * 2)
    assert files(runs("together", overrides=longer)) == files(runs("undisturbed", overrides=longer))


def test_tasks_with_the_same_training(tiny_bert: Path, tiny_mt5: Path) -> None:
    asks = ("xquad", "mlqa", "tatoeba", "checklist-comparisons")
    for recipe in ("paper", "scripts"):
        made = system(f"encoder:{tiny_bert}", recipe=recipe)
        keys = {name: made.training_key(task(name)) for name in (*asks, "tydiqa", "xnli", "bucc", "xcopa")}
        assert len({keys[name] for name in asks}) == 1
        assert None not in (keys["xquad"], keys["tydiqa"], keys["xnli"])
        assert len({*keys.values()}) == 4  # and None, without training or after Social IQa
    made = system(f"text2text:{tiny_mt5}")
    assert made.training_key(task("xquad")) == made.training_key(task("mlqa")) == made.training_key(task("tatoeba"))
    reader = system("ngram")
    assert reader.training_key(task("xquad")) == reader.training_key(task("checklist-comparisons")) is not None
    assert reader.training_key(task("xnli")) is None


def test_squad_tasks_share_a_training_key(tmp_path: Path) -> None:
    squad = Path(load(XQUAD, "en", "train").sources[0])
    (tmp_path / "squad").mkdir()
    (tmp_path / "squad/train-v1.1.json").write_bytes(squad.read_bytes())
    one, other = (load(name, "en", "train", tmp_path) for name in ("xquad", "mlqa"))
    assert (one.ids, one.checksum, one.language) == (other.ids, other.checksum, other.language)
    assert [*one["question"]] == [*other["question"]]
