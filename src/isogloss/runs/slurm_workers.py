"""Calls as SLURM jobs: one job per call; calls submitted at about the same time form one array.

Jobs are submitted through submitit, looked up by squeue and cancelled by scancel. The state of all jobs comes from one
call of squeue, which every site has, with or without accounting. The jobs have a unique name, by which another command
finds them.
"""

import getpass
import io
import math
import os
import shutil
import subprocess
import threading
import time
from collections import defaultdict, deque
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import Future
from contextlib import AbstractContextManager, redirect_stderr, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, TypeVar
from uuid import uuid4
from warnings import warn

from isogloss.data.location import cache_dir
from isogloss.errors import IsoglossError, unknown
from isogloss.runs.place import Place
from isogloss.workers import NODE_VARIABLE, ONE_CORE, Resources, WorkerDiedError, attempt, settle

T = TypeVar("T")

# Seconds between polls of the queue; calls submitted in between form one array.
LOOK = 3.0
# Default maximum number of jobs at a time.
JOBS = 16
# Final states, as squeue names them. A requeued job is pending again.
ENDED = frozenset(
    "BOOT_FAIL CANCELLED COMPLETED DEADLINE FAILED NODE_FAIL OUT_OF_MEMORY PREEMPTED REVOKED TIMEOUT".split()
)
# Reasons to wait that resolve without intervention.
USUAL = frozenset(("", "BeginTime", "Cleaning", "JobArrayTaskLimit", "Priority", "Prolog", "Resources"))
# Timeout of SLURM commands in seconds; they hang while the controller is down.
PATIENCE = 30.0
# Seconds that cancelled jobs have to end: on most sites, SLURM kills them after 30.
GRACE = 35.0
# Lines of a log to quote.
LOG_LINES = 12


@dataclass(frozen=True)
class QueuedJob:
    """A job as squeue shows it: number (`123`, or `123_4` in an array), state, reason for it, and node.

    The state is "" if SLURM no longer lists the job.
    """

    number: str
    state: str = ""
    reason: str = ""
    node: str = ""

    @property
    def has_ended(self) -> bool:
        """True in a final state."""
        return not self.state or self.state in ENDED

    @property
    def is_lost(self) -> bool:
        """True if it may be alive on an unreachable node; otherwise its locks expire."""
        return self.state == "NODE_FAIL"

    @property
    def is_stuck(self) -> bool:
        """True if it waits until the user or the site changes something."""
        return self.state == "PENDING" and self.reason not in USUAL

    def __str__(self) -> str:
        state = ", ".join(part for part in (self.state or "no longer listed by SLURM", self.reason) if part)
        return f"SLURM job {self.number}" + (f" on {self.node}" if self.node else "") + f": {state}"


class SlurmQueue:
    """The jobs of one name in a SLURM queue."""

    def __init__(self, name: str, folder: Path, parameters: Mapping[str, Any]) -> None:
        """Check that SLURM is installed; all nodes must see the folder, and parameters are named as in submitit."""
        if shutil.which("sbatch") is None or shutil.which("squeue") is None:
            fix = "Run the command on a login node of a SLURM site, or choose another place with --on"
            raise IsoglossError("sbatch not found on this machine", fix=fix)
        self.name = name
        self.folder = folder
        self.parameters = parameters

    def submit(self, calls: Sequence[Callable[[], Any]], avoid: Collection[str] = ()) -> list[str]:
        """Submit one job per call, as an array if there are several, for as many calls as the site accepts.

        Return the job numbers of these first calls; if SLURM rejects even one job, raise an IsoglossError.
        """
        import submitit
        from submitit.core.utils import FailedSubmissionError, UncompletedJobError

        executor = submitit.SlurmExecutor(self.folder)
        executor.update_parameters(job_name=self.name, array_parallelism=len(calls), **self.parameters)
        if avoid:
            executor.update_parameters(exclude=",".join(sorted(avoid)))
        try:
            with redirect_stderr(io.StringIO()), executor.batch():  # submitit also prints the error
                jobs = [executor.submit(call) for call in calls]
        except (UncompletedJobError, FailedSubmissionError) as error:
            if len(calls) > 1:
                return self.submit(calls[: len(calls) // 2], avoid)
            partition = self.parameters.get("partition")
            partitions = set(_answer("sinfo", "--noheader", "--format=%R")[0].split())
            if partition and partitions and partition not in partitions:
                raise unknown("SLURM partition", partition, partitions) from error
            lines = [line.removeprefix("sbatch: ").removeprefix("error: ") for line in str(error).splitlines()]
            fix = "Compare sinfo with [resources] and [slurm] of the place's TOML file"
            raise IsoglossError(f"SLURM rejects the job: {'; '.join(dict.fromkeys(lines))}", fix=fix) from error
        return [str(job.job_id) for job in jobs]

    def jobs(self) -> dict[str, QueuedJob]:
        """Return all jobs of this name that SLURM lists, by number; raise a SlurmSilentError without an answer."""
        options = (f"--name={self.name}", f"--user={getpass.getuser()}", "--states=all", "--array", "--noheader")
        output, error = _answer("squeue", *options, "--format=%i|%T|%r|%N")
        if error:
            fix = "Run the command on a login node of a SLURM site, and check sinfo"
            raise SlurmSilentError(f"SLURM does not answer: {error.splitlines()[-1]}", fix=fix)
        rows = (row.strip().split("|") for row in output.splitlines() if row.count("|") == 3)
        return {
            number: QueuedJob(number, state, "" if reason == "None" else reason, node)
            for number, state, reason, node in rows
        }

    def end(self) -> None:
        """Cancel all jobs of this name and wait until they have ended."""
        deadline = time.monotonic() + GRACE
        with suppress(SlurmSilentError):
            while time.monotonic() < deadline and any(not job.has_ended for job in self.jobs().values()):
                _answer("scancel", f"--name={self.name}", f"--user={getpass.getuser()}")
                time.sleep(0.5)

    def log_end(self, number: str) -> str:
        """Return the end of a job's log."""
        for log in sorted(self.folder.glob(f"{number}_*_log.err")):
            text = log.read_text(encoding="utf-8", errors="replace")
            if text.strip():
                return "\n".join([f"{log}:", *text.rstrip().splitlines()[-LOG_LINES:]])
        return ""


def site_nodes(partition: str = "") -> dict[str, str]:
    """Return the generic resources, such as GPUs, of each node of a partition or site."""
    options = [f"--partition={partition}"] if partition else []
    output, _ = _answer("sinfo", "--noheader", "--Node", "--format=%N|%G", *options)
    return {node: gres for node, _, gres in (line.strip().partition("|") for line in output.splitlines())}


class SlurmSilentError(IsoglossError):
    """SLURM does not answer now; its jobs may still be running."""


def _answer(*command: str) -> tuple[str, str]:
    """Return the output of a SLURM command, and its error message if it fails."""
    # Without the user's output settings.
    plain = {name: value for name, value in os.environ.items() if not name.startswith(("SQUEUE_", "SINFO_"))}
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False, env=plain)  # noqa: S603
    except (OSError, subprocess.TimeoutExpired) as error:
        return "", str(error)
    return done.stdout, (done.stderr.strip() or f"exit code {done.returncode}") if done.returncode else ""


class SlurmJobDiedError(WorkerDiedError):
    """A job that ended without a result; the fix is the end of its log."""

    def __init__(self, job: QueuedJob, log: str = "") -> None:
        super().__init__(str(job), fix=log)
        self.job = job


@dataclass(kw_only=True)
class _SlurmCall:
    call: Callable[[], Any] = lambda: None  # of a job that another command submitted
    resources: Resources = ONE_CORE
    avoid: frozenset[str] = frozenset()
    # True if the end of the job counts instead of a returned value.
    until_ended: bool = False
    ended: Future[Any] = field(default_factory=Future)
    # True once SLURM reports the end: on a file server, the result may appear a little later.
    is_over: bool = False


class SlurmWorkers(AbstractContextManager["SlurmWorkers"]):
    """Workers that execute calls in SLURM jobs; results return through a folder that all nodes see."""

    def __init__(self, place: Place, most: int = 0, *, name: str = "", folder: Path | None = None) -> None:
        """Prepare a queue for at most `most` jobs at a time (0 for the default).

        A later command finds the jobs by `name`, unique by default. `folder`, for logs and results, is kept; by default
        it is a temporary one in the user's cache.
        """
        self.slots = most or JOBS
        self.place = place
        self._is_temporary = folder is None
        name = name or f"isogloss-calls-{uuid4().hex[:12]}"
        self.folder = folder or cache_dir() / "slurm" / name
        self.queue = SlurmQueue(name, self.folder, {})
        self._waiting: deque[_SlurmCall] = deque()
        self._running: dict[str, _SlurmCall] = {}
        self._warned: set[str] = set()
        self._stop = threading.Event()
        self._watcher = threading.Thread(target=self._watch, name=name, daemon=True)
        # Numbers of the jobs that were running on exit.
        self.cancelled: list[str] = []

    @property
    def nodes(self) -> int:
        """Number of nodes of the partition or site."""
        return len(site_nodes(self.place.partition))

    def __enter__(self) -> "SlurmWorkers":
        # Raises if SLURM does not answer; also finds the jobs of an earlier command.
        for job in self.queue.jobs().values():
            if not job.has_ended:
                self._running[job.number] = _SlurmCall(until_ended=True)
        self._watcher.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, *error: object) -> None:
        self._stop.set()
        self._watcher.join()
        is_interrupted = kind is not None and issubclass(kind, KeyboardInterrupt)
        if is_interrupted and self.place.on_interrupt == "detach" and not self._is_temporary:
            return
        self.queue.end()
        self.cancelled = list(self._running)
        for unfinished in (*self._waiting, *self._running.values()):
            unfinished.ended.cancel()
        if self._is_temporary:
            shutil.rmtree(self.folder, ignore_errors=True)

    def adopted(self) -> set[Future[None]]:
        """Return the futures of the jobs of an earlier command."""
        return {call.ended for call in self._running.values()}

    def submit(
        self,
        call: Callable[[], T],
        resources: Resources = ONE_CORE,
        avoid: Collection[str] = (),
        *,
        until_ended: bool = False,
    ) -> Future[T]:
        """Execute a call in a job.

        With `until_ended`, the future waits for the end of the job instead of a value, and the call may run as several
        tasks: one per GPU, or one per share of a GPU.
        """
        waiting = _SlurmCall(call=call, resources=resources, avoid=frozenset(avoid), until_ended=until_ended)
        self._waiting.append(waiting)
        return waiting.ended

    def _watch(self) -> None:
        """Submit waiting calls and collect ended ones."""
        while not self._stop.wait(LOOK):
            try:
                self._collect()
                self._send()
            except SlurmSilentError as silent:  # such as a controller that restarts
                self._warn_once(str(silent), f"{silent}: waiting for it")
            except Exception as error:  # otherwise callers would wait forever
                for unfinished in (*self._waiting, *self._running.values()):
                    unfinished.ended.set_exception(error)
                self._waiting.clear()
                self._running.clear()

    def _warn_once(self, key: str, text: str) -> None:
        if key not in self._warned:
            self._warned.add(key)
            warn(text, stacklevel=2)

    def _send(self) -> None:
        arrays: dict[tuple[Resources, frozenset[str], bool], list[_SlurmCall]] = defaultdict(list)
        while self._waiting:
            waiting = self._waiting.popleft()
            arrays[waiting.resources, waiting.avoid, waiting.until_ended].append(waiting)
        for (resources, avoid, until_ended), calls in arrays.items():
            self.queue.parameters = sbatch_parameters(self.place, resources, None if until_ended else 1)
            try:
                pickled = [waiting.call if until_ended else partial(attempt, waiting.call) for waiting in calls]
                numbers = self.queue.submit(pickled, avoid)
            except Exception as error:  # otherwise callers would wait forever
                for rejected in calls:
                    rejected.ended.set_exception(error)
                continue
            self._running.update(zip(numbers, calls, strict=False))
            self._waiting.extend(calls[len(numbers) :])

    def _collect(self) -> None:
        for number, running in list(self._running.items()):
            result = self.folder / f"{number}_0_result.pkl"
            if not running.until_ended and result.exists():
                del self._running[number]
                settle(running.ended, *_returned(result))
        jobs = self.queue.jobs() if self._running else {}
        for number, running in list(self._running.items()):
            job = jobs.get(number, QueuedJob(number))
            if job.is_stuck:
                self._warn_once(job.reason, f"{job}: it may wait for a long time")
            if job.has_ended and (running.until_ended or running.is_over):
                del self._running[number]
                if running.until_ended and job.state in ("", "COMPLETED"):
                    running.ended.set_result(None)
                else:
                    running.ended.set_exception(SlurmJobDiedError(job, self.queue.log_end(number)))
            running.is_over = job.has_ended


def _returned(result: Path) -> tuple[Any, Exception | None]:
    """Return the value and the exception of a call, from the file of its job."""
    from submitit.core.utils import pickle_load

    ended, content = pickle_load(result)
    if ended != "success":  # a traceback: the call was never made
        what = f"a job could not start: {content.strip().splitlines()[-1]}"
        return None, IsoglossError(what, fix="The nodes need this environment under the same path: docs/clusters.md")
    return content  # type: ignore[no-any-return]


def sbatch_parameters(place: Place, resources: Resources, processes: int | None = None) -> dict[str, Any]:
    """Return the sbatch parameters of a job, as submitit names them.

    By default a job has one process per GPU, which fit together and share the resources, or one per share of a GPU.
    """
    gpus = resources.gpus or 1
    tasks = processes or max(int(gpus), int(1 / gpus))
    shares = 1 if fits_together(resources) else tasks
    cores = max(1, math.ceil(resources.cpus * shares / tasks))
    megabytes = math.ceil(resources.memory * shares / 2**20)
    exports = (f"export OMP_NUM_THREADS=${{OMP_NUM_THREADS:-{cores}}}", f"export {NODE_VARIABLE}=$SLURMD_NODENAME")
    site = {key: getattr(place.slurm, key) for key in ("account", "qos", "constraint")}
    return {
        **{key: value for key, value in site.items() if value},
        **({"partition": place.partition} if place.partition else {}),
        **({"gpus_per_node": math.ceil(resources.gpus)} if resources.gpus else {}),
        **({"mem": f"{megabytes}M"} if megabytes else {}),
        # None leaves these to the site; submitit's defaults are five minutes, and its name as a key to charge.
        "time": math.ceil(resources.hours * 60) or None,
        "wckey": None,
        "nodes": 1,
        "ntasks_per_node": tasks,
        "cpus_per_task": cores,
        # Since SLURM 22.05, processes must request the cores of their job.
        "srun_args": [f"--cpus-per-task={cores}"],
        "setup": [*place.slurm.setup, *exports],
    }


def fits_together(resources: Resources) -> bool:
    """Return True if the processes of a job fit one system, each on its GPU."""
    return (resources.gpus or 0) > 1
