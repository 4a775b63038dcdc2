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
from isogloss.workers import ProcessWorkers, WorkerDiedError, in_parallel


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
