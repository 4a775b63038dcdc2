"""A grid on a real SLURM with two nodes and many failures ends like a local run."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest

from isogloss.errors import IsoglossError, UnknownNameError
from isogloss.runs import slurm_grid, slurm_workers
from isogloss.runs.dispatch import DeathCounts
from isogloss.runs.grid import run_plan
from isogloss.runs.jobs import OnProgress, no_progress
from isogloss.runs.locks import is_free, owners
from isogloss.runs.place import Place
from isogloss.runs.plan import CellKey, Plan
from isogloss.runs.records import read_record
from isogloss.runs.slurm_workers import QueuedJob, SlurmJobDiedError
from isogloss.scoring.request import Request
from isogloss.workers import WorkerDiedError, in_parallel
from runs.grid_fake import leftovers, mini_cache, mini_data, snapshot
from runs.slurm_cluster import SlurmSite, slurm, slurm_site, wait_until

__all__ = ["mini_cache", "mini_data", "slurm", "slurm_site"]

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def quick_site(worker_path: Path, mini_data: Path, slurm: SlurmSite, monkeypatch: pytest.MonkeyPatch) -> None:
    """A site with the system `fake`, and short polling intervals."""
    monkeypatch.setattr(slurm_grid, "LOOK", 0.2)
    monkeypatch.setattr(slurm_workers, "LOOK", 0.2)
    monkeypatch.setattr(slurm_workers, "GRACE", 5.0)


def planned(out: Path, system: str = "fake", seeds: int = 2) -> Plan:
    request = Request.of("mini", tasks=["mini-xnli", "mini-xquad"], languages=["de", "fi", "sw"])
    return Plan.of(system, out, request, seeds=seeds)


def on_slurm(plan: Plan, *, on_progress: OnProgress = no_progress, place: str = "slurm", jobs: int = 0) -> None:
    run_plan(plan, on_progress=on_progress, place=Place.of(place), jobs=jobs)


def grid_files(root: Path) -> dict[str, bytes]:
    """Return the files that do not depend on the place."""
    return {name: file for name, file in snapshot(root).items() if ".slurm/" not in name and "place.toml" not in name}


def is_as_undisturbed(plan: Plan, folder: Path) -> bool:
    undisturbed = planned(folder / "undisturbed", plan.system, plan.seeds)
    run_plan(undisturbed)
    return grid_files(plan.root) == grid_files(undisturbed.root) and leftovers(plan.root) == []


def finished(plan: Plan) -> int:
    return len(plan.cells) - len(plan.missing(plan.cells))


def holders(plan: Plan) -> dict[str, int]:
    """The SLURM jobs that hold groups, and their processes."""
    locks = [path for path in map(plan.group_lock_path, plan.groups) if not is_free(path)]
    chains = filter(None, map(owners, locks))
    return {chain[-1].job: chain[-1].pid for chain in chains if chain[-1].job}


def queue(*options: str) -> list[str]:
    return subprocess.check_output(["squeue", "--noheader", "--array", *options], text=True).split()


def test_slurm_fills_the_same_grid(tmp_path: Path) -> None:
    plan = planned(tmp_path / "there", seeds=1)
    on_slurm(plan, place="slurm:main")
    assert is_as_undisturbed(plan, tmp_path)
    assert queue() == []
    assert list((plan.root / ".slurm").glob("*_log.err"))


def test_killed_jobs_and_daemons_change_no_byte(
    tmp_path: Path, slurm: SlurmSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    """More jobs than one array accepts and the nodes hold, then failures while cells of one language wait."""
    hold = tmp_path / "hold"
    hold.write_text("de fi")
    monkeypatch.setenv("FAKE_HOLD", str(hold))
    plan = planned(tmp_path / "there", seeds=3)
    disturbances: list[Callable[[str, int], object]] = [
        # As SLURM does shortly before the time limit: the job goes back into the queue.
        lambda job, pid: subprocess.run(["scancel", "--signal=USR2", job], check=False),
        lambda job, pid: subprocess.run(["scancel", job], check=False),
        lambda job, pid: os.kill(pid, signal.SIGKILL),
        lambda job, pid: slurm.kill("slurmctld", signal.SIGTERM),
        lambda job, pid: slurm.start("slurmctld"),
        lambda job, pid: slurm.kill("node0"),
        lambda job, pid: slurm.start("node0"),
    ]
    disturbed: list[str] = []

    def disturb(waiting: str, answering: CellKey | None = None) -> None:
        if len(disturbed) < len(disturbances) and (working := holders(plan)):
            job = next((job for job in working if job not in disturbed), next(iter(working)))
            with suppress(ProcessLookupError):
                disturbances[len(disturbed)](job, working[job])
                disturbed.append(job)
        elif hold.exists() and len(disturbed) == len(disturbances):
            hold.unlink()

    on_slurm(plan, on_progress=disturb)
    assert len(disturbed) == len(disturbances)
    assert is_as_undisturbed(plan, tmp_path)
    assert sum("_0_0_log.err" in path.name for path in (plan.root / ".slurm").iterdir()) > 1


def test_only_the_cell_that_kills_its_job_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_TROUBLE", "kill@0-mini-xnli/fi killfit@0-mini-xquad")
    monkeypatch.setattr(slurm_grid, "DeathCounts", partial(DeathCounts, most=2))
    plan = planned(tmp_path / "there", seeds=1)
    on_slurm(plan)
    records = {f"{cell.task}/{cell.language}": read_record(plan.record_path(cell)) for cell in plan.cells}
    failed = {name: record for name, record in records.items() if record is not None and record.status == "failed"}
    assert set(failed) == {"mini-xnli/fi", "mini-xquad/de", "mini-xquad/fi", "mini-xquad/sw"}
    for record in failed.values():
        assert re.fullmatch(
            r"the worker died 2 times, most recently: SLURM job [\d_]+ on node\d: FAILED, NonZeroExitCode",
            record.reason,
        )
        assert "_log.err:" in record.traceback
        assert "Killed" in record.traceback
    assert leftovers(plan.root) == []


def test_jobs_that_cannot_start_end_the_run(tmp_path: Path) -> None:
    plan, place = planned(tmp_path / "there"), tmp_path / "place.toml"
    place.write_text('engine = "slurm"\n[slurm]\nsetup = ["echo no such module >&2", "exit 3"]\n')
    with pytest.raises(
        IsoglossError, match=r"(?s)end before they fill a cell, most recently SLURM job .*no such module"
    ):
        on_slurm(plan, place=str(place))
    assert queue() == []
    assert leftovers(plan.root) == []


def test_a_node_where_jobs_cannot_start_is_avoided(tmp_path: Path) -> None:
    """Such as a full disk, or a module that one node lacks."""
    plan, place = planned(tmp_path / "there", seeds=1), tmp_path / "place.toml"
    place.write_text('engine = "slurm"\n[slurm]\nsetup = ["[ $SLURMD_NODENAME != node0 ] || exit 3"]\n')
    on_slurm(plan, place=str(place), jobs=1)
    assert is_as_undisturbed(plan, tmp_path)
    scripts = [script.read_text() for script in (plan.root / ".slurm").glob("*_submission.sh")]
    assert sum("--exclude=node0" in script for script in scripts) == 1
    assert len(scripts) == 2


def test_missing_resources_of_the_site_are_errors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan, place = planned(tmp_path / "there"), tmp_path / "place.toml"
    with pytest.raises(UnknownNameError, match=r"unknown SLURM partition 'mian'.*Did you mean main"):
        on_slurm(plan, place="slurm:mian")
    place.write_text('engine = "slurm"\n[resources]\nmemory = "900 GB"\n')
    with pytest.raises(IsoglossError, match=r"SLURM rejects the job: .*configuration is not available"):
        on_slurm(plan, place=str(place))
    monkeypatch.setenv("SLURM_CONF", str(tmp_path / "nowhere.conf"))
    monkeypatch.setattr(slurm_workers, "PATIENCE", 1.0)
    with pytest.raises(IsoglossError, match="SLURM does not answer"):
        on_slurm(plan)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(IsoglossError, match=r"sbatch not found on this machine\. Run the command on a login node"):
        on_slurm(plan)
    assert finished(plan) == 0


def command(plan: Plan, place: str) -> list[str]:
    words = ["run", "fake", "--suite", "mini", "--tasks", "mini-xnli,mini-xquad", "--languages", "de,fi,sw"]
    words += ["--seeds", str(plan.seeds), "--out", str(plan.root.parent.parent), "--on", place]
    return [sys.executable, "-c", "from isogloss.cli.main import main; main()", *words]


@pytest.fixture
def hold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file that holds all cells."""
    path = tmp_path / "hold"
    path.touch()
    monkeypatch.setenv("FAKE_HOLD", str(path))
    return path


def interrupted(plan: Plan, place: str, hold: Path, language: str) -> str:
    """Run the command until cells of a language are finished, press Ctrl-C, and return its output."""
    before, log = finished(plan), plan.root.parent.parent.with_suffix(".log")
    with log.open("w") as stream:
        process = subprocess.Popen(command(plan, place), stdout=stream, stderr=stream)
    wait_until(lambda: "already done" in log.read_text())
    hold.write_text(language)
    wait_until(lambda: finished(plan) > before)
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=300) == 130, log.read_text()
    return log.read_text()


def test_ctrl_c_ends_the_jobs(tmp_path: Path, hold: Path) -> None:
    plan = planned(tmp_path / "there", seeds=1)
    said = interrupted(plan, "slurm", hold, "de")
    assert "Run the same command to resume" in said
    assert queue() == []
    assert 0 < finished(plan) < len(plan.cells)
    assert leftovers(plan.root) == []


def test_jobs_continue_without_the_command(tmp_path: Path, hold: Path) -> None:
    """Ctrl-C detaches; the same command reattaches; without it, the jobs write the summary."""
    plan, place = planned(tmp_path / "there", seeds=1), tmp_path / "place.toml"
    place.write_text('engine = "slurm"\non_interrupt = "detach"\n[resources]\nhours = 0.5\n')
    interrupted(plan, str(place), hold, "de")
    before = set(queue("--format=%i"))
    assert before
    interrupted(plan, str(place), hold, "de fi")
    assert set(queue("--format=%i")) <= before
    hold.unlink()
    wait_until(lambda: plan.summary_path.exists() and not queue())
    assert is_as_undisturbed(plan, tmp_path)


def test_a_stuck_job_is_reported(tmp_path: Path) -> None:
    plan = planned(tmp_path / "there", seeds=1)

    looks = []

    def give_up(waiting: str, answering: CellKey | None = None) -> None:
        looks.extend(queue("--partition=closed", "--format=%r"))
        if len(looks) > 10:
            raise KeyboardInterrupt

    waiting = pytest.warns(UserWarning, match="PENDING, PartitionDown: it may wait for a long time")
    with waiting, pytest.raises(KeyboardInterrupt):
        on_slurm(plan, place="slurm:closed", on_progress=give_up)
    assert queue() == []


@pytest.mark.parametrize(("gpus", "processes"), [(0.5, 2), (2, 2)])
def test_gpus(tmp_path: Path, gpus: float, processes: int) -> None:
    """Several fits on one GPU, or one fit on several."""
    plan, place = planned(tmp_path / "there", seeds=1), tmp_path / "place.toml"
    place.write_text(f'engine = "slurm"\n[systems."fa*".resources]\ngpus = {gpus}\ncpus = 1\n')
    on_slurm(plan, place=str(place), jobs=1)
    assert is_as_undisturbed(plan, tmp_path)
    [script] = (plan.root / ".slurm").glob("*_submission.sh")
    assert f"--gpus-per-node={max(1, gpus)}" in script.read_text()
    assert f"--ntasks-per-node={processes}" in script.read_text()
    assert len(list((plan.root / ".slurm").glob("*_log.out"))) == processes


def halve(number: int) -> int:
    if number % 2:
        raise IsoglossError(f"{number} is odd")
    if number == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    return number // 2


def test_calls_are_executed_in_jobs() -> None:
    with Place.of("slurm:main").workers(8) as workers:
        assert workers.nodes == 2
        assert list(in_parallel(workers, halve, [2, 4, 6])) == [1, 2, 3]
        dead, odd = workers.submit(partial(halve, 0)), workers.submit(partial(halve, 1), avoid=["node0"])
        with pytest.raises(IsoglossError, match="1 is odd"):
            odd.result(300)
        with pytest.raises(WorkerDiedError, match=r"SLURM job [\d_]+ on node\d: FAILED"):
            dead.result(300)
    assert queue() == []


def test_deaths_after_the_last_update_are_known() -> None:
    """Their locks are released; a job on an unreachable node may be alive, and keeps its own."""
    running, ended, cancelled, died, lost = futures = [Future[None]() for _ in range(5)]
    ended.set_result(None)
    cancelled.cancel()
    died.set_exception(SlurmJobDiedError(QueuedJob("7_0", "FAILED")))
    lost.set_exception(SlurmJobDiedError(QueuedJob("7_1", "NODE_FAIL")))
    jobs = object.__new__(slurm_grid._GridJobs)
    jobs._running = {*futures}
    assert not running.done()
    assert jobs.died_since() == ["7_0"]
