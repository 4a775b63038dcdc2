"""What a SLURM job does for a grid: fill what nobody works on, one group after the other, then leave."""

import os
import signal
import subprocess
import sys
from dataclasses import dataclass
from types import FrameType

from isogloss.errors import IsoglossError
from isogloss.runs.grid import take_part
from isogloss.runs.locks import on_behalf_of
from isogloss.runs.plan import Plan

# How often a job that reaches its time limit is put into the queue again.
MOST_RESTARTS = 10


class TimeLimitError(IsoglossError):
    """A fit or a cell that takes longer than a job may run, however often it is begun."""


@dataclass(frozen=True)
class SlurmWorker:
    """A call that takes part in filling a grid.

    Attributes:
        plan: the grid.
        fit_together: whether the tasks of the job are the processes of one fit; else each takes part for itself.
    """

    plan: Plan
    fit_together: bool = False

    def __call__(self) -> None:
        """Take part, under the name that SLURM gave the job."""
        signal.signal(signal.SIGTERM, _leave)
        signal.signal(signal.SIGUSR2, _requeue)
        if self.fit_together:
            _export_ranks()
        with on_behalf_of(job_number()):
            take_part(self.plan)


def job_number() -> str:
    """The job of this process, as squeue writes it."""
    array = os.environ.get("SLURM_ARRAY_JOB_ID")
    return f"{array}_{os.environ['SLURM_ARRAY_TASK_ID']}" if array else os.environ.get("SLURM_JOB_ID", "")


def _leave(number: int, frame: FrameType | None) -> None:
    """End at once, as scancel and preemption want it; locks are released on the way."""
    sys.exit(128 + number)


def _requeue(number: int, frame: FrameType | None) -> None:
    """Go back into the queue, shortly before the time limit; a training goes on where it was.

    Raises:
        TimeLimitError: it was there too often; what is being fitted or answered has failed.
    """
    restarts = int(os.environ.get("SLURM_RESTART_COUNT", "0"))
    if restarts >= MOST_RESTARTS:
        what = f"it was not done when SLURM job {job_number()} reached its time limit, after {restarts} restarts"
        raise TimeLimitError(what, fix="Give more hours in the place's [resources]")
    subprocess.run(["scontrol", "requeue", job_number()], check=False)  # noqa: S603, S607
    sys.exit(128 + number)


def _export_ranks() -> None:
    """Tell torch, as torchrun would, which of the processes of a fit this is."""
    known = {"RANK": "SLURM_PROCID", "WORLD_SIZE": "SLURM_NTASKS", "LOCAL_RANK": "SLURM_LOCALID"}
    os.environ.update({name: os.environ[slurm] for name, slurm in known.items()})
    # All on one node, where several jobs may be.
    os.environ["MASTER_ADDR"] = "127.0.0.1"
    os.environ["MASTER_PORT"] = str(20_000 + int(os.environ["SLURM_JOB_ID"]) % 40_000)
