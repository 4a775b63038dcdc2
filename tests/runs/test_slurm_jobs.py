"""What jobs of a SLURM site ask for, and what they do when they are told that their time is up; without any SLURM."""

import pickle
import signal
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from isogloss.errors import IsoglossError, UnknownNameError
from isogloss.runs import locks, slurm_worker, slurm_workers
from isogloss.runs.place import Place
from isogloss.runs.slurm_queue import QueuedJob
from isogloss.runs.slurm_resources import fits_together, sbatch_parameters
from isogloss.runs.slurm_worker import SlurmWorker, TimeLimitError, job_number
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


def test_a_job_asks_for_what_the_toml_says(tmp_path: Path) -> None:
    place = site(tmp_path)
    asked = sbatch_parameters(place, place.resources_of("encoder:xlm-r"))
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
    assert "gpus_per_node" not in sbatch_parameters(place, place.resources_of("ngram"))


def test_what_the_user_has_not_said_is_left_to_the_site() -> None:
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
    """Shares: each process needs the resources. Several: they are for all processes of the fit together."""
    resources = Resources(cpus=4, gpus=gpus, memory=8 << 30)
    asked = sbatch_parameters(Place.of("slurm"), resources)
    keys = ("gpus_per_node", "ntasks_per_node", "cpus_per_task", "mem")
    assert tuple(asked[key] for key in keys) == (gpus_per_node, processes, cores, memory)
    assert fits_together(resources) == (gpus > 1)
    assert sbatch_parameters(Place.of("slurm"), resources, processes=1)["ntasks_per_node"] == 1


def test_mistakes_in_the_toml_are_said(tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match=r"\[slurm\].*'acount'.*account"):
        site(tmp_path, '[slurm]\nacount = "nlp"')
    with pytest.raises(IsoglossError, match="setup = 'module load cuda' is not a list of texts"):
        site(tmp_path, '[slurm]\nsetup = "module load cuda"')
    with pytest.raises(IsoglossError, match="qos = 3 is not a text"):
        site(tmp_path, "[slurm]\nqos = 3")
    with pytest.raises(IsoglossError, match='files = "ship" with engine = "slurm"'):
        site(tmp_path, 'engine = "slurm"\nfiles = "ship"')


def test_a_job_in_words() -> None:
    assert (
        str(QueuedJob("7_1", "OUT_OF_MEMORY", "OutOfMemory", "n3")) == "SLURM job 7_1 on n3: OUT_OF_MEMORY, OutOfMemory"
    )
    assert str(QueuedJob("7")) == "SLURM job 7: SLURM has forgotten how it ended"
    assert QueuedJob("7").has_ended
    assert not QueuedJob("7", "COMPLETING").has_ended
    assert QueuedJob("7", "PENDING", "QOSMaxJobsPerUserLimit").waits_for_somebody
    assert not QueuedJob("7", "PENDING", "Priority").waits_for_somebody


@pytest.fixture
def job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """This process as a job of an array, on a site whose scontrol keeps a log."""
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


def told(number: signal.Signals, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Have a worker take a lock, and tell it something while it holds it."""

    def take_part(plan: Any) -> None:
        with locks.acquire(tmp_path / "some.lock"):  # type: ignore[union-attr]
            assert locks.owners(tmp_path / "some.lock")[-1].job == "12_3"
            signal.raise_signal(number)

    monkeypatch.setattr(slurm_worker, "take_part", take_part)
    SlurmWorker(None)()  # type: ignore[arg-type]  # it would only hand it on


def test_before_its_time_limit_a_job_goes_back_into_the_queue(
    job: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert job_number() == "12_3"
    with pytest.raises(SystemExit):
        told(signal.SIGUSR2, monkeypatch, tmp_path)
    assert job.read_text() == "requeue 12_3\n"
    assert not (tmp_path / "some.lock").exists()


def test_what_never_ends_in_time_fails(job: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SLURM_RESTART_COUNT", "10")
    with pytest.raises(TimeLimitError, match=r"job 12_3 reached its time limit, after 10 restarts\. Give more hours"):
        told(signal.SIGUSR2, monkeypatch, tmp_path)
    assert not job.exists()


def test_a_cancelled_job_releases_its_locks(job: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with pytest.raises(SystemExit):
        told(signal.SIGTERM, monkeypatch, tmp_path)
    assert not (tmp_path / "some.lock").exists()
    assert not job.exists()


class RefusingQueue:
    """A queue whose jobs end before they make the call they are for."""

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
    """A queue that nothing can be said to."""

    def submit(self, calls: list[object], avoid: object) -> list[str]:
        raise PermissionError("not yours")


@pytest.mark.parametrize(
    ("queue", "error"),
    [
        (RefusingQueue, "a job could not begin: ModuleNotFoundError: No module named 'isogloss'"),
        (BrokenQueue, "not yours"),
    ],
)
def test_nobody_waits_for_a_job_that_could_not_begin(
    queue: type, error: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    pytest.importorskip("submitit", reason="submitit is not installed: pip install 'isogloss[slurm]'")
    monkeypatch.setenv("ISOGLOSS_CACHE", str(tmp_path))
    monkeypatch.setattr(slurm_workers, "SlurmQueue", queue)
    monkeypatch.setattr(slurm_workers, "LOOK", 0.01)
    with slurm_workers.SlurmWorkers(Place("slurm")) as workers, pytest.raises(Exception, match=error):
        workers.submit(partial(abs, -1)).result(30)
