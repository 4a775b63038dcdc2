"""A call in processes of its own: two that know of each other, and one that dies."""

import os
from functools import partial

import pytest

from isogloss.runs.job_process import call_together
from isogloss.training.processes import broadcast, rank, world
from isogloss.workers import WorkerDiedError

pytestmark = pytest.mark.slow


def told() -> tuple[int, str]:
    """How many processes there are, and what the first of them says."""
    return world(), broadcast(f"from {rank()}")


@pytest.fixture(autouse=True)
def torch_there(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    """What torchrun needs, in an environment where the processes find this module."""
    pytest.importorskip("torch", reason="torch is not installed")
    pytest.importorskip("accelerate", reason="accelerate is not installed")
    before = os.environ.get("PYTHONPATH", "")
    monkeypatch.setenv("PYTHONPATH", f"{request.config.rootpath / 'tests'}{os.pathsep}{before}")


def test_processes_are_called_together() -> None:
    assert call_together(told, 2) == (2, "from 0")


def test_a_death_is_told() -> None:
    with pytest.raises(WorkerDiedError, match=r"processes that fit together died \(exit code 1\)"):
        call_together(partial(os._exit, 3), 2)
