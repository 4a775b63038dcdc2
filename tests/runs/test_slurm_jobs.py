"""Parameters and signals of SLURM jobs, without a SLURM installation."""

import pickle
import signal
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from isogloss.errors import IsoglossError, UnknownNameError
from isogloss.runs import locks, slurm_grid, slurm_workers
from isogloss.runs.place import Place
from isogloss.runs.slurm_grid import GridCall, TimeLimitError, job_number
from isogloss.runs.slurm_workers import QueuedJob, fits_together, sbatch_parameters
from isogloss.workers import NODE_VARIABLE, Resources

SITE = """
engine = "slurm"
partition = "gpu"
[resources]
cpus = 2
memory = "8 GiB"
hours = 1.5
[systems."encoder:*".resources]
gpus = 1
[slurm]
account = "nlp"
qos = "long"
constraint = "h200"
setup = ["module load cuda"]
"""


def site(tmp_path: Path, text: str = SITE) -> Place:
    (tmp_path / "site.toml").write_text(text)
    return Place.of(tmp_path / "site.toml")


def test_sbatch_parameters_follow_the_toml(tmp_path: Path) -> None:
    place = site(tmp_path)
    asked = sbatch_parameters(place, place.resources_for("encoder:xlm-r", fine_tuned=True))
    assert asked == {
        "account": "nlp",
        "qos": "long",
        "constraint": "h200",
        "partition": "gpu",
        "gpus_per_node": 1,
        "mem": "8192M",
        "time": 90,
        "wckey": None,
        "nodes": 1,
        "ntasks_per_node": 1,
        "cpus_per_task": 2,
        "srun_args": ["--cpus-per-task=2"],
        "setup": [
            "module load cuda",
            "export OMP_NUM_THREADS=${OMP_NUM_THREADS:-2}",
            f"export {NODE_VARIABLE}=$SLURMD_NODENAME",
        ],
    }
    assert "gpus_per_node" not in sbatch_parameters(place, place.resources_for("ngram", fine_tuned=False))


def test_unset_parameters_are_left_to_the_site() -> None:
    asked = sbatch_parameters(Place.of("slurm"), Resources())
    assert asked["time"] is None
    assert not {"partition", "mem", "gpus_per_node", "account", "qos", "constraint"} & set(asked)


@pytest.mark.parametrize(
    ("gpus", "gpus_per_node", "processes", "cores", "memory"),
    [(0.2, 1, 5, 4, "40960M"), (0.5, 1, 2, 4, "16384M"), (1, 1, 1, 4, "8192M"), (4, 4, 4, 1, "8192M")],
)
def test_shares_of_a_gpu_and_several_gpus(
    gpus: float, gpus_per_node: int, processes: int, cores: int, memory: str, tmp_path: Path
) -> None:
    """Resources are per process for shares, and per fit for several GPUs."""
    resources = Resources(cpus=4, gpus=gpus, memory=8 << 30)
    asked = sbatch_parameters(Place.of("slurm"), resources)
    keys = ("gpus_per_node", "ntasks_per_node", "cpus_per_task", "mem")
    assert tuple(asked[key] for key in keys) == (gpus_per_node, processes, cores, memory)
    assert fits_together(resources) == (gpus > 1)
    assert sbatch_parameters(Place.of("slurm"), resources, processes=1)["ntasks_per_node"] == 1


def test_errors_in_the_toml(tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match=r"\[slurm\].*'acount'.*account"):
        site(tmp_path, '[slurm]\nacount = "nlp"')
    with pytest.raises(IsoglossError, match="setup = 'module load cuda' is not a list of strings"):
        site(tmp_path, '[slurm]\nsetup = "module load cuda"')
    with pytest.raises(IsoglossError, match="qos = 3 is not a string"):
        site(tmp_path, "[slurm]\nqos = 3")
    with pytest.raises(IsoglossError, match='files = "ship" with engine = "slurm"'):
        site(tmp_path, 'engine = "slurm"\nfiles = "ship"')


def test_a_job_as_text() -> None:
    assert (
        str(QueuedJob("7_1", "OUT_OF_MEMORY", "OutOfMemory", "n3")) == "SLURM job 7_1 on n3: OUT_OF_MEMORY, OutOfMemory"
    )
    assert str(QueuedJob("7")) == "SLURM job 7: no longer listed by SLURM"
    assert QueuedJob("7").has_ended
    assert not QueuedJob("7", "COMPLETING").has_ended
    assert QueuedJob("7", "PENDING", "QOSMaxJobsPerUserLimit").is_stuck
    assert not QueuedJob("7", "PENDING", "Priority").is_stuck


@pytest.fixture
def job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """This process as a job of an array, with an scontrol that writes a log."""
    log = tmp_path / "log"
    (tmp_path / "scontrol").write_text(f'#!/bin/sh\necho "$@" >> {log}\n')
    (tmp_path / "scontrol").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    for name, value in {"SLURM_ARRAY_JOB_ID": "12", "SLURM_ARRAY_TASK_ID": "3", "SLURM_JOB_ID": "15"}.items():
        monkeypatch.setenv(name, value)
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGUSR2)}
    yield log
    for number, handler in before.items():
        signal.signal(number, handler)


def send_signal(number: signal.Signals, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Send a signal to a job that holds a lock."""

    def take_part(plan: Any) -> None:
        with locks.acquire(tmp_path / "some.lock"):  # type: ignore[union-attr]
            assert locks.owners(tmp_path / "some.lock")[-1].job == "12_3"
            signal.raise_signal(number)

    monkeypatch.setattr(slurm_grid, "take_part", take_part)
    GridCall(None)()  # type: ignore[arg-type]  # it would only hand it on


def test_a_job_requeues_itself_before_its_time_limit(
    job: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert job_number() == "12_3"
    with pytest.raises(SystemExit):
        send_signal(signal.SIGUSR2, monkeypatch, tmp_path)
    assert job.read_text() == "requeue 12_3\n"
    assert not (tmp_path / "some.lock").exists()


def test_a_job_fails_after_too_many_restarts(job: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SLURM_RESTART_COUNT", "10")
    with pytest.raises(TimeLimitError, match=r"job 12_3 reached its time limit, after 10 restarts\. Allow more hours"):
        send_signal(signal.SIGUSR2, monkeypatch, tmp_path)
    assert not job.exists()


def test_a_cancelled_job_releases_its_locks(job: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with pytest.raises(SystemExit):
        send_signal(signal.SIGTERM, monkeypatch, tmp_path)
    assert not (tmp_path / "some.lock").exists()
    assert not job.exists()


class RefusingQueue:
    """A queue with jobs that end before they make their call."""

    def __init__(self, name: str, folder: Path, parameters: object) -> None:
        self.folder = folder
        self.parameters = parameters

    def jobs(self) -> dict[str, QueuedJob]:
        return {}

    def submit(self, calls: list[object], avoid: object) -> list[str]:
        self.folder.mkdir(parents=True)
        said = "Traceback (most recent call last):\nModuleNotFoundError: No module named 'isogloss'\n"
        (self.folder / "7_0_result.pkl").write_bytes(pickle.dumps(("error", said)))
        return ["7"]

    def end(self) -> None:
        pass


class BrokenQueue(RefusingQueue):
    """A queue that rejects every job."""

    def submit(self, calls: list[object], avoid: object) -> list[str]:
        raise PermissionError("not yours")


@pytest.mark.parametrize(
    ("queue", "error"),
    [
        (RefusingQueue, "a job could not start: ModuleNotFoundError: No module named 'isogloss'"),
        (BrokenQueue, "not yours"),
    ],
)
def test_a_job_that_cannot_start_is_an_error(
    queue: type, error: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    pytest.importorskip("submitit", reason="submitit is not installed: pip install 'isogloss[slurm]'")
    monkeypatch.setenv("ISOGLOSS_CACHE", str(tmp_path))
    monkeypatch.setattr(slurm_workers, "SlurmQueue", queue)
    monkeypatch.setattr(slurm_workers, "LOOK", 0.01)
    with slurm_workers.SlurmWorkers(Place(engine_name="slurm")) as workers, pytest.raises(Exception, match=error):
        workers.submit(partial(abs, -1)).result(30)
