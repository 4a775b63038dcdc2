"""Calls in other processes: ordered results, exceptions, dead processes."""

import os
import signal
from concurrent.futures import Future
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from isogloss import workers as workers_module
from isogloss.errors import IsoglossError
from isogloss.workers import ProcessWorkers, Resources, WorkerDiedError, in_parallel


def refuse(item: int) -> int:
    raise IsoglossError(f"not {item}", fix="Give another")


def die_once(folder: Path, item: int) -> int:
    """Kill this process at the first call."""
    try:
        (folder / f"died-{item}").touch(exist_ok=False)
    except FileExistsError:
        return item
    os.kill(os.getpid(), signal.SIGKILL)
    return -1


def test_results_come_in_the_order_of_the_items() -> None:
    with ProcessWorkers(2) as workers:
        assert list(in_parallel(workers, abs, [-3, 2, -1, 0])) == [3, 2, 1, 0]
        assert workers.submit(os.getpid).result() != os.getpid()


def test_an_exception_keeps_its_fields() -> None:
    with ProcessWorkers(1) as workers, pytest.raises(IsoglossError, match=r"not 7. Give another"):
        list(in_parallel(workers, refuse, [7]))


def test_a_call_is_retried_when_its_process_dies(tmp_path: Path) -> None:
    with ProcessWorkers(1) as workers:
        assert list(in_parallel(workers, partial(die_once, tmp_path), [1, 2])) == [1, 2]


def test_a_call_that_always_dies_is_an_error() -> None:
    with ProcessWorkers(1) as workers, pytest.raises(WorkerDiedError, match="the process died: exit code 1"):
        list(in_parallel(workers, os._exit, [1]))


def meet(folder: Path, name: str, count: int) -> str | None:
    """Wait until several processes are here, and return the GPUs that this one sees."""
    (folder / name).touch()
    while len(list(folder.iterdir())) < count:
        os.sched_yield()
    return os.environ.get("CUDA_VISIBLE_DEVICES")


@pytest.mark.parametrize(
    ("listed", "count", "names"),
    [
        (None, 2, ["0", "1"]),
        ("3,GPU-8f", 2, ["3", "GPU-8f"]),  # the user's own names
        ("0,-1,2", 1, ["0"]),  # CUDA stops at an invalid one
        ("", 0, []),
        (None, 0, []),
    ],
)
def test_visible_gpus(listed: str | None, count: int, names: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers_module, "gpu_count", lambda: count)
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    if listed is not None:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", listed)
    assert workers_module.visible_gpus() == names


@pytest.mark.parametrize(("gpus", "seen"), [(None, ["4", "4", "7"]), (0, ["4,7"] * 3)])
def test_processes_share_the_gpus(
    gpus: float | None, seen: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three processes on two GPUs: two of them share one; calls that need none see all."""
    monkeypatch.setattr(workers_module, "gpu_count", lambda: 2)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "4,7")
    with ProcessWorkers(3) as workers:
        calls = [partial(meet, tmp_path, str(number), 3) for number in range(3)]
        futures = [workers.submit(call, Resources(gpus=gpus)) for call in calls]
        assert sorted(future.result() or "" for future in futures) == seen
    assert os.environ["CUDA_VISIBLE_DEVICES"] == "4,7"


def test_a_dead_process_gives_its_gpu_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers_module, "gpu_count", lambda: 2)
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    with ProcessWorkers(1) as workers:
        with pytest.raises(WorkerDiedError):
            workers.submit(partial(os._exit, 1), Resources()).result()
        assert workers.submit(partial(os.getenv, "CUDA_VISIBLE_DEVICES"), Resources()).result() == "0"


class LostWorkers(ProcessWorkers):
    """Workers of a lost cluster: calls never end, but `slots` raises."""

    asked = 0

    @property
    def slots(self) -> int:
        self.asked += 1
        if self.asked > 2:
            raise IsoglossError("the cluster is gone")
        return 2

    @slots.setter
    def slots(self, slots: int) -> None:
        pass

    def submit(self, *call: object, **how: object) -> "Future[Any]":
        return Future()


def test_a_lost_cluster_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers_module, "LOOK", 0.01)
    with pytest.raises(IsoglossError, match="the cluster is gone"):
        list(in_parallel(LostWorkers(2), abs, [1]))
