"""Calls as jobs of a SLURM site: one job a call, those that are submitted at about the same time in one array."""

import shutil
import threading
from collections import defaultdict, deque
from collections.abc import Callable, Collection
from concurrent.futures import Future
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, TypeVar
from uuid import uuid4
from warnings import warn

from isogloss.data.location import cache_dir
from isogloss.errors import IsoglossError
from isogloss.runs.place import Place
from isogloss.runs.slurm_queue import JOBS, SlurmQueue, SlurmSilentError, site_nodes
from isogloss.runs.slurm_resources import sbatch_parameters
from isogloss.workers import ONE_CORE, Resources, WorkerDiedError

T = TypeVar("T")

# Seconds between two looks at the queue; what is submitted meanwhile becomes one array.
LOOK = 3.0


@dataclass
class _SlurmCall:
    call: Callable[[], Any]
    resources: Resources
    avoid: frozenset[str]
    ended: "Future[Any]" = field(default_factory=Future)
    # Whether SLURM says that it has ended: its result, on a file server, may come a little later.
    is_over: bool = False


class SlurmWorkers(AbstractContextManager["SlurmWorkers"]):
    """Executes calls in jobs of a site; their results come back through the user's cache, which all nodes must see."""

    def __init__(self, place: Place, most: int = 0) -> None:
        name = f"isogloss-calls-{uuid4().hex[:12]}"
        self.slots = most or JOBS
        self.place = place
        self.folder = cache_dir() / "slurm" / name
        self.queue = SlurmQueue(name, self.folder, {})
        self._waiting: deque[_SlurmCall] = deque()
        self._running: dict[str, _SlurmCall] = {}
        self._said: set[str] = set()
        self._end = threading.Event()
        self._watcher = threading.Thread(target=self._watch, name=name, daemon=True)

    @property
    def nodes(self) -> int:
        """How many nodes the partition has, or the site."""
        return len(site_nodes(self.place.partition))

    def __enter__(self) -> "SlurmWorkers":
        self.queue.jobs()  # a site that does not answer says so before there is work
        self._watcher.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._end.set()
        self._watcher.join()
        self.queue.end()
        for unfinished in (*self._waiting, *self._running.values()):
            unfinished.ended.cancel()
        shutil.rmtree(self.folder, ignore_errors=True)

    def submit(
        self, call: Callable[[], T], resources: Resources = ONE_CORE, avoid: Collection[str] = ()
    ) -> "Future[T]":
        """Have a call executed in a job."""
        waiting = _SlurmCall(call, resources, frozenset(avoid))
        self._waiting.append(waiting)
        return waiting.ended

    def _watch(self) -> None:
        """Submit what waits and collect what has ended, until there is no more."""
        while not self._end.wait(LOOK):
            try:
                self._collect()
                self._send()
            except SlurmSilentError as silent:
                self._say_once(str(silent))  # its controller is being started again, say
            except Exception as error:  # whoever waits for a call would wait for ever
                for each in (*self._waiting, *self._running.values()):
                    each.ended.set_exception(error)
                self._waiting.clear()
                self._running.clear()

    def _say_once(self, words: str) -> None:
        if words not in self._said:
            self._said.add(words)
            warn(f"{words}: waiting for it", stacklevel=2)

    def _send(self) -> None:
        alike: dict[tuple[Resources, frozenset[str]], list[_SlurmCall]] = defaultdict(list)
        while self._waiting:
            each = self._waiting.popleft()
            alike[each.resources, each.avoid].append(each)
        for (resources, avoid), calls in alike.items():
            self.queue.parameters = sbatch_parameters(self.place, resources, processes=1)
            try:
                numbers = self.queue.submit([partial(_attempt, each.call) for each in calls], avoid)
            except Exception as error:  # whatever it is, nobody is to wait for them
                for each in calls:
                    each.ended.set_exception(error)
                continue
            self._running.update(zip(numbers, calls, strict=False))
            self._waiting.extend(calls[len(numbers) :])

    def _collect(self) -> None:
        for number, running in list(self._running.items()):
            result = self.folder / f"{number}_0_result.pkl"
            if result.exists():
                del self._running[number]
                value, error = _returned(result)
                running.ended.set_result(value) if error is None else running.ended.set_exception(error)
        jobs = self.queue.jobs() if self._running else {}
        for number, running in list(self._running.items()):
            job = jobs.get(number)
            if job is None or job.has_ended:
                if running.is_over:
                    del self._running[number]
                    what = f"{job or f'SLURM job {number}: SLURM has forgotten it'}"
                    running.ended.set_exception(WorkerDiedError(what, fix=self.queue.last_words(number)))
                running.is_over = True


def _returned(result: Path) -> tuple[Any, Exception | None]:
    """What a call returned or raised, from the file of its job."""
    from submitit.core.utils import pickle_load

    ended, content = pickle_load(result)
    if ended != "success":  # a traceback: the call was never made
        what = f"a job could not begin: {content.strip().splitlines()[-1]}"
        return None, IsoglossError(what, fix="The nodes need this environment, under the same path: docs/clusters.md")
    value, error = content
    return value, error


def _attempt(call: Callable[[], T]) -> tuple[T | None, Exception | None]:
    """What a call returns or raises: submitit keeps of an exception no more than its words."""
    try:
        return call(), None
    except Exception as error:
        return None, error
