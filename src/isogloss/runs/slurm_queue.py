"""Jobs in the queue of a SLURM site: submitted through submitit, looked up by squeue, cancelled by scancel.

Only squeue is asked how jobs are, for all of them at once: every site has it, whether or not it keeps accounts. The
jobs have a name of their own, so that another command finds them again.
"""

import getpass
import io
import os
import shutil
import subprocess
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import redirect_stderr, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from isogloss.errors import IsoglossError, unknown

# Jobs at a time where the user has not said how many.
JOBS = 16
# States that nothing follows, as squeue calls them. A job that SLURM requeues is pending again.
ENDED = frozenset(
    "BOOT_FAIL CANCELLED COMPLETED DEADLINE FAILED NODE_FAIL OUT_OF_MEMORY PREEMPTED REVOKED TIMEOUT".split()
)
# What a job waits for that will have its turn.
USUAL = frozenset(("", "BeginTime", "Cleaning", "JobArrayTaskLimit", "Priority", "Prolog", "Resources"))
# Seconds that a command of SLURM may take; a controller that is down lets it wait for long.
PATIENCE = 30.0
# Seconds that cancelled jobs have to end: SLURM kills those that do not listen after 30, as most sites have it.
GRACE = 35.0
# Lines of a log that explain a death.
LAST_LINES = 12


@dataclass(frozen=True)
class QueuedJob:
    """A job as squeue shows it.

    Attributes:
        number: as in `123`, or `123_4` in an array.
        state: such as PENDING or OUT_OF_MEMORY; "" where SLURM has forgotten it.
        reason: why it waits, or how it ended, in SLURM's words.
        node: where it runs or ran.
    """

    number: str
    state: str = ""
    reason: str = ""
    node: str = ""

    @property
    def has_ended(self) -> bool:
        """Whether nothing follows."""
        return not self.state or self.state in ENDED

    @property
    def waits_for_somebody(self) -> bool:
        """Whether it waits for more than its turn: for the user or the site to change something."""
        return self.state == "PENDING" and self.reason not in USUAL

    def __str__(self) -> str:
        known = ", ".join(part for part in (self.state or "SLURM has forgotten how it ended", self.reason) if part)
        return f"SLURM job {self.number}" + (f" on {self.node}" if self.node else "") + f": {known}"


class SlurmQueue:
    """The jobs of one name in the queue of a site."""

    def __init__(self, name: str, folder: Path, parameters: Mapping[str, Any]) -> None:
        """Take note of what jobs are called and need.

        Args:
            name: of all the jobs, and of no others.
            folder: for their logs; all nodes must see it.
            parameters: of sbatch, as submitit names them.

        Raises:
            IsoglossError: this machine has no SLURM.
        """
        if shutil.which("sbatch") is None or shutil.which("squeue") is None:
            fix = "Issue the command on a login node of a SLURM site, or choose another place by --on"
            raise IsoglossError("there is no sbatch on this machine", fix=fix)
        self.name = name
        self.folder = folder
        self.parameters = parameters

    def submit(self, calls: Sequence[Callable[[], Any]], avoid: Collection[str] = ()) -> list[str]:
        """Submit a job for each call, as an array if there are several, or for as many of them as the site takes.

        Args:
            calls: what can be pickled.
            avoid: nodes that are not to execute them.

        Returns:
            The numbers of the jobs of the first calls.

        Raises:
            IsoglossError: SLURM refuses even one.
        """
        import submitit
        from submitit.core.utils import FailedSubmissionError, UncompletedJobError

        executor = submitit.SlurmExecutor(self.folder)
        executor.update_parameters(job_name=self.name, array_parallelism=len(calls), **self.parameters)
        if avoid:
            executor.update_parameters(exclude=",".join(sorted(avoid)))
        try:
            with redirect_stderr(io.StringIO()), executor.batch():  # submitit prints what the error says as well
                jobs = [executor.submit(call) for call in calls]
        except (UncompletedJobError, FailedSubmissionError) as error:
            if len(calls) > 1:
                return self.submit(calls[: len(calls) // 2], avoid)
            raise self._refusal(str(error)) from error
        return [str(job.job_id) for job in jobs]

    def _refusal(self, said: str) -> IsoglossError:
        partition = self.parameters.get("partition")
        known, _ = _answer("sinfo", "--noheader", "--format=%R")
        if partition and known and partition not in known.split():
            return unknown("SLURM partition", partition, set(known.split()))
        lines = [line.removeprefix("sbatch: ").removeprefix("error: ") for line in said.splitlines()]
        fix = "sinfo shows what the site has; [resources] and [slurm] of a place's TOML say what jobs ask for"
        return IsoglossError(f"SLURM refuses the job: {'; '.join(dict.fromkeys(lines))}", fix=fix)

    def jobs(self) -> dict[str, QueuedJob]:
        """All jobs of this name that SLURM remembers, by number.

        Raises:
            SlurmSilentError: SLURM does not answer.
        """
        whose = (f"--name={self.name}", f"--user={getpass.getuser()}", "--states=all", "--array", "--noheader")
        said, complaint = _answer("squeue", *whose, "--format=%i|%T|%r|%N")
        if complaint:
            fix = "Issue the command on a login node of a SLURM site; sinfo shows whether it is up"
            raise SlurmSilentError(f"SLURM does not answer: {complaint.splitlines()[-1]}", fix=fix)
        rows = (line.strip().split("|") for line in said.splitlines() if line.count("|") == 3)
        return {
            number: QueuedJob(number, state, "" if why == "None" else why, node) for number, state, why, node in rows
        }

    def end(self) -> None:
        """Cancel all jobs of this name, and wait until they have ended."""
        deadline = time.monotonic() + GRACE
        with suppress(SlurmSilentError):
            while time.monotonic() < deadline and any(not job.has_ended for job in self.jobs().values()):
                _answer("scancel", f"--name={self.name}", f"--user={getpass.getuser()}")
                time.sleep(0.5)

    def last_words(self, number: str) -> str:
        """The end of the log of a job."""
        for log in sorted(self.folder.glob(f"{number}_*_log.err")):
            text = log.read_text(encoding="utf-8", errors="replace")
            if text.strip():
                return "\n".join([f"{log}:", *text.rstrip().splitlines()[-LAST_LINES:]])
        return ""


def site_nodes(partition: str = "") -> dict[str, str]:
    """The generic resources, GPUs say, of each node of a partition, or of all."""
    of = [f"--partition={partition}"] if partition else []
    said, _ = _answer("sinfo", "--noheader", "--Node", "--format=%N|%G", *of)
    return {node: gres for node, _, gres in (line.strip().partition("|") for line in said.splitlines())}


class SlurmSilentError(IsoglossError):
    """SLURM does not answer now, which does not mean that its jobs have ended."""


def _answer(*command: str) -> tuple[str, str]:
    """What a command of SLURM prints, and what it complains about where it fails."""
    # Its language and columns are the user's otherwise.
    plain = {name: value for name, value in os.environ.items() if not name.startswith(("SQUEUE_", "SINFO_"))}
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False, env=plain)  # noqa: S603
    except (OSError, subprocess.TimeoutExpired) as error:
        return "", str(error)
    return done.stdout, (done.stderr.strip() or f"exit code {done.returncode}") if done.returncode else ""
