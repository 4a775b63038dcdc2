"""A call in processes of its own: two that know of each other, and one that dies."""

import os
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

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


def wait_and_tell(path: Path) -> None:
    path.with_name(f"{path.name}-{rank()}").write_text(str(os.getpid()))
    time.sleep(600)


def test_processes_end_with_whoever_started_them(tmp_path: Path) -> None:
    """Even with one that was killed: they would keep the GPUs of a node from others."""
    words = f"call_together(partial(wait_and_tell, Path({str(tmp_path / 'pid')!r})), 2)"
    script = f"from runs.test_job_process import *\n{words}"
    caller = subprocess.Popen([sys.executable, "-c", script])
    paths = [tmp_path / "pid-0", tmp_path / "pid-1"]
    while not all(path.exists() and path.read_text() for path in paths):
        assert caller.poll() is None
        time.sleep(0.1)
    caller.kill()
    caller.wait()
    for path in paths:
        while Path("/proc", path.read_text()).exists():
            time.sleep(0.1)
