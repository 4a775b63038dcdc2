"""Calls and jobs in processes that fit together."""

import os
import subprocess
import sys
import time
from collections import Counter
from functools import partial
from pathlib import Path

import pytest

from isogloss.runs.grid import run_plan
from isogloss.runs.job_process import call_together
from isogloss.runs.jobs import CellsJob, execute_job
from isogloss.runs.plan import Plan
from isogloss.scoring.request import Request
from isogloss.training.processes import rank
from isogloss.workers import WorkerDiedError
from runs.grid_fake import mini_cache, mini_data, snapshot, untimed_records

__all__ = ["mini_cache", "mini_data"]

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def torch_there(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    """Require torchrun's libraries, and make this module importable."""
    pytest.importorskip("torch", reason="torch is not installed")
    pytest.importorskip("accelerate", reason="accelerate is not installed")
    before = os.environ.get("PYTHONPATH", "")
    monkeypatch.setenv("PYTHONPATH", f"{request.config.rootpath / 'tests'}{os.pathsep}{before}")


def test_a_job_in_two_processes_changes_no_byte(
    worker_path: Path, mini_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two processes under torchrun: both fit, one predicts."""
    monkeypatch.setenv("FAKE_LOG", str(tmp_path / "log"))
    request = Request.of("mini", tasks=["mini-xnli"], languages=["de", "sw"])
    alone, together = (Plan.of("fake", tmp_path / name, request, seeds=1) for name in ("alone", "together"))
    run_plan(alone)
    (tmp_path / "log").unlink()
    assert execute_job(CellsJob(together, together.groups[0]), "job", processes=2).filled == 2
    run_plan(together)
    assert snapshot(together.root) == snapshot(alone.root)
    assert untimed_records(together.root) == untimed_records(alone.root)
    lines = [line.split() for line in (tmp_path / "log").read_text().splitlines()]
    assert Counter(word for word, _, _ in lines) == {"fit": 2, "predict": 2}
    assert len({pid for word, _, pid in lines if word == "fit"}) == 2


def test_a_dead_process_is_an_error() -> None:
    with pytest.raises(WorkerDiedError, match=r"processes that fit together died \(exit code 1\)"):
        call_together(partial(os._exit, 3), 2)


def wait_and_tell(path: Path) -> None:
    path.with_name(f"{path.name}-{rank()}").write_text(str(os.getpid()))
    time.sleep(600)


def test_processes_end_with_their_parent(tmp_path: Path) -> None:
    """Even if it was killed: they would keep the GPUs of a node busy."""
    words = f"call_together(partial(wait_and_tell, Path({str(tmp_path / 'pid')!r})), 2)"
    script = f"from runs.test_job_process import Path, call_together, partial, wait_and_tell\n{words}"
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
