"""Calls in other processes: results in order, errors as they are, a process that dies."""

import os
import signal
from concurrent.futures import Future
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from isogloss import workers as workers_module
from isogloss.errors import IsoglossError
from isogloss.workers import LocalWorkers, WorkerDiedError, in_parallel


def refuse(item: int) -> int:
    raise IsoglossError(f"not {item}", fix="Give another")


def die_once(folder: Path, item: int) -> int:
    """Kill this process where nobody has before."""
    try:
        (folder / f"died-{item}").touch(exist_ok=False)
    except FileExistsError:
        return item
    os.kill(os.getpid(), signal.SIGKILL)
    return -1


def test_results_come_in_the_order_of_the_items() -> None:
    with LocalWorkers(2) as workers:
        assert list(in_parallel(workers, abs, [-3, 2, -1, 0])) == [3, 2, 1, 0]
        assert workers.submit(os.getpid).result() != os.getpid()


def test_an_error_travels_whole() -> None:
    with LocalWorkers(1) as workers, pytest.raises(IsoglossError, match=r"not 7. Give another"):
        list(in_parallel(workers, refuse, [7]))


def test_a_call_whose_process_died_is_executed_again(tmp_path: Path) -> None:
    with LocalWorkers(1) as workers:
        assert list(in_parallel(workers, partial(die_once, tmp_path), [1, 2])) == [1, 2]


def test_a_call_that_always_dies_says_so() -> None:
    with LocalWorkers(1) as workers, pytest.raises(WorkerDiedError, match="a process died"):
        list(in_parallel(workers, os._exit, [1]))


class LostWorkers(LocalWorkers):
    """Workers of a cluster whose head dies: no call ever ends, but who asks is told."""

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


def test_nobody_waits_for_a_cluster_that_is_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers_module, "LOOK", 0.01)
    with pytest.raises(IsoglossError, match="the cluster is gone"):
        list(in_parallel(LostWorkers(2), abs, [1]))
