"""A full disk ends the run with one error and no unfinished file."""

import resource
import signal
import subprocess
from pathlib import Path

import pytest

from isogloss.runs.grid import run_plan
from isogloss.runs.plan import Plan
from isogloss.scoring.request import Request
from runs.grid_fake import command, leftovers, mini_cache, mini_data, scores, snapshot

__all__ = ["mini_cache", "mini_data"]

# Maximum file size in bytes: enough for locks and system.toml; for predictions but no record; for records, no results.
LIMITS = (700, 3_000, 6_000)
# With two processes, only the writer of a cell differs.
CASES = [*((size, 1) for size in LIMITS), (LIMITS[1], 2)]


def limited(size: int) -> None:
    """Limit the file size of this process and its children, as on a full disk."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


@pytest.mark.slow
@pytest.mark.parametrize(("size", "jobs"), CASES)
def test_a_full_disk_ends_the_run_with_an_error(size: int, jobs: int, mini_data: Path, tmp_path: Path) -> None:
    request = Request.of("mini", tasks=["mini-xquad", "mini-xnli"], languages=["de", "en", "sw"])
    plan, undisturbed = (Plan.of("fake", tmp_path / name, request, seeds=2) for name in ("full", "enough"))
    done = subprocess.run(
        command(plan, jobs),
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: limited(size),
    )
    assert done.returncode == 1
    assert "Traceback" not in done.stderr, done.stderr
    [error] = [line for line in done.stderr.splitlines() if line.startswith("error: ")]
    assert error.endswith("cannot be written (File too large)")
    assert leftovers(plan.root) == []
    # Cells with a record are complete; the others have no files.
    for cell in plan.missing(plan.cells):
        assert not plan.predictions_path(cell).exists()
        assert not plan.statistics_path(cell).exists()
    run_plan(plan)
    run_plan(undisturbed)
    scores(plan)
    assert snapshot(plan.root) == snapshot(undisturbed.root)
