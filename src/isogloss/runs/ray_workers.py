"""Workers of a Ray cluster: a running one, or one on this machine for the duration of the command.

Every call is a Ray task. Ray reuses processes, so module state (such as the system built last) serves the next task; on
GPUs it does not, because an idle process would hold their memory. A dead worker or node ends the call with a
`WorkerDiedError`; Ray's own retries are off, because the caller decides what to retry.
"""

import logging
import os
import pickle
import socket
import threading
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import Future, wait
from contextlib import AbstractContextManager, suppress
from dataclasses import replace
from fnmatch import fnmatchcase
from functools import partial
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeVar
from warnings import warn

import ray
from ray import exceptions as ray_errors

from isogloss import version
from isogloss.errors import IsoglossError
from isogloss.runs.jobs import OnProgress
from isogloss.runs.locks import POLL
from isogloss.runs.place import Place
from isogloss.runs.plan import Plan
from isogloss.workers import NODE_VARIABLE, ONE_CORE, ClusterGoneError, Resources, WorkerDiedError, attempt, settle

T = TypeVar("T")

# Seconds between checks of the cluster's nodes.
LOOK = 2.0
# Seconds without an answer after which the head is gone.
SILENT = 6.0
# Seconds that calls have to end after Ctrl-C.
GRACE = 2.0
# Bytes of the object store of a local cluster: jobs are small, and files stay in folders.
OWN_STORE = 200 << 20
# Seconds to retry a failing connection.
PATIENCE = 20.0
# Seconds that an idle actor, which fills grids without the command, waits for further calls.
LINGER = 60.0

# Never passed to a cluster, whatever patterns a user sets.
_SECRETS = ("ISOGLOSS_BOARD_TOKEN",)
# Not passed if files are shipped: the nodes have their own folders.
_OUR_FOLDERS = ("ISOGLOSS_CACHE", "ISOGLOSS_DATA", "ISOGLOSS_TRANSLATIONS", "HF_HOME")

_DEATHS = (
    ray_errors.WorkerCrashedError,
    ray_errors.NodeDiedError,
    ray_errors.OutOfMemoryError,
    ray_errors.LocalRayletDiedError,
    ray_errors.ObjectLostError,
    ray_errors.TaskCancelledError,
    ray_errors.ActorDiedError,
)

_RESUME = "Run the same command to resume, on any engine"


def _execute(packed: bytes, environment: Mapping[str, str], shared: Sequence[Any]) -> tuple[Any, Exception | None]:
    """Execute a call in a process of the cluster, with functions that return the shared bytes."""
    # Before unpickling: modules may read the environment on import.
    os.environ.update(environment)
    os.environ[NODE_VARIABLE] = ray.get_runtime_context().get_node_id()
    return attempt(lambda: pickle.loads(packed)(*(partial(ray.get, reference) for reference in shared)))  # noqa: S301


class RayWorkers(AbstractContextManager["RayWorkers"]):
    """Workers that execute calls as tasks of a Ray cluster, which may gain and lose nodes."""

    def __init__(self, place: Place, most: int = 0) -> None:
        self.place = place
        self.most = most
        self._needs = ONE_CORE
        self._refs: dict[Any, Future[Any]] = {}
        self._connected = self._warned = False
        self._nodes: list[dict[str, Any]] = []
        self._looked = float("-inf")
        self._head = ""
        self._task = ray.remote(_execute)
        self.environment = {
            name: value
            for name, value in os.environ.items()
            if any(fnmatchcase(name, pattern) for pattern in place.environment)
            and name not in _SECRETS
            and not (place.files == "ship" and name in _OUR_FOLDERS)
        }

    def __enter__(self) -> "RayWorkers":
        if not ray.is_initialized():
            self._connect(self.place.address or os.environ.get("RAY_ADDRESS", ""))
            self._connected = True
        if not self._is_client:
            self._head = ray.get_runtime_context().gcs_address
        return self

    @property
    def _is_client(self) -> bool:
        return bool(ray.util.client.ray.is_connected())

    def _connect(self, address: str) -> None:
        if address.startswith("ray://") and find_spec("grpc") is None:
            from isogloss.installation import install_command

            fix = f"Run {install_command('cluster')}; on a node of the cluster, use --on ray:auto"
            raise IsoglossError(f"{address} needs grpc, which is not installed", fix=fix)
        options: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR, "namespace": "isogloss"}
        if self.place.files == "ship":
            # Without a shared folder, the nodes need not have this version of the package.
            options["runtime_env"] = {"py_modules": [str(Path(version.__file__).parent)]}
        if not address:
            cpus = self.most or os.cpu_count() or 1
            options |= {"num_cpus": cpus, "include_dashboard": False, "object_store_memory": OWN_STORE}
        try:
            _check_answers(address)
            deadline = time.monotonic() + PATIENCE
            while True:
                try:
                    ray.init(address=address or "local", **options)
                    return
                except ConnectionError:  # a busy head may reject the first attempts
                    ray.shutdown()
                    if time.monotonic() > deadline:
                        raise
                    time.sleep(1)
        except (OSError, ValueError, RuntimeError) as error:
            cluster = f"the Ray cluster at {address}" if address else "a Ray cluster on this machine"
            reason = str(error).strip().partition("\n")[0].rstrip(".")
            fix = "Use an address such as ray://host:10001 or ray:host:6379; start a cluster with: ray start --head"
            raise IsoglossError(f"cannot connect to {cluster}: {reason}", fix=fix) from error

    def __exit__(self, *error: object) -> None:
        running = {ref: future for ref, future in self._refs.items() if not future.done()}
        try:
            if running and self._answers():
                for ref in running:
                    # Not by force: Ray 2.60 crashes this process if a task ends at that moment. Ray kills unresponsive
                    # processes when we disconnect.
                    with suppress(Exception):  # the call or its node has ended
                        ray.cancel(ref)
                wait(running.values(), GRACE)
        finally:
            if self._connected:
                ray.shutdown()

    @property
    def nodes(self) -> int:
        """Current number of nodes."""
        return len(self._look())

    @property
    def slots(self) -> int:
        """Number of calls like the last one that fit on all nodes, or the requested maximum."""
        needs = {name: need for name, need in self._options(self._needs).items() if need}
        names = {"num_cpus": "CPU", "num_gpus": "GPU", "memory": "memory"}
        room = 0
        for node in self._look():
            has = node["Resources"]
            shares = (has.get(names[key], 0.0) / need for key, need in needs.items())
            room += int(min(shares, default=has.get("CPU", 1.0)) + 1e-6)
        if not room and not self._warned:
            self._warned = True
            warn(f"no node of the cluster has the resources of a job ({self._needs}): waiting for one", stacklevel=2)
        return self.most or room  # Ray queues further calls, and may add nodes for them

    def _look(self) -> list[dict[str, Any]]:
        if time.monotonic() - self._looked > LOOK:
            self.check_head()
            self._nodes = [node for node in self._ask(ray.nodes) if node["Alive"]]
            self._looked = time.monotonic()
        return self._nodes

    def _ask(self, question: Callable[[], T]) -> T:
        """Return the head's answer; Ray would wait a minute for a dead head, and then end this process."""
        answer: Future[T] = Future()
        threading.Thread(target=lambda: settle(answer, *attempt(question)), daemon=True).start()
        while not wait([answer], SILENT).done:
            self.check_head()
        return answer.result()

    def check_head(self) -> None:
        """Raise a ClusterGoneError if the head does not answer."""
        deadline = time.monotonic() + SILENT
        while not self._answers():
            if time.monotonic() > deadline:
                what = f"the Ray cluster at {self.place.address or self._head} is gone"
                raise ClusterGoneError(what, fix=_RESUME)
            time.sleep(SILENT / 10)

    def _answers(self) -> bool:
        """Return True if the head accepts connections; asking Ray could end this process."""
        if not self._head:
            return self._is_client
        try:
            _check_answers(self._head)
        except OSError:
            return False
        return True

    def _options(self, resources: Resources) -> dict[str, Any]:
        gpus = resources.gpus
        if gpus is None:
            gpus = 1 if any(node["Resources"].get("GPU") for node in self._nodes) else 0
        return {"num_cpus": resources.cpus, "num_gpus": gpus, "memory": resources.memory or None}

    def share(self, content: bytes) -> Any:
        """Put bytes into the object store, from which nodes fetch them on demand."""
        return ray.put(content)

    def submit(
        self,
        call: Callable[..., T],
        resources: Resources = ONE_CORE,
        avoid: Collection[str] = (),
        shared: Sequence[Any] = (),
    ) -> Future[T]:
        """Execute a call as a task, with one function per `shared` reference that returns its bytes."""
        self.check_head()  # Ray would wait for a dead one
        self._look()
        self._needs = resources
        options = self._options(resources) | {"max_retries": 0}
        if avoid:
            options["label_selector"] = {"ray.io/node-id": f"!in({','.join(sorted(avoid))})"}
        ref = self._task.options(**options).remote(pickle.dumps(call), self.environment, list(shared))
        ended: Future[T] = Future()
        self._refs = {other: future for other, future in self._refs.items() if not future.done()} | {ref: ended}
        ref.future().add_done_callback(partial(_hand_on, ended))
        return ended


def _check_answers(address: str) -> None:
    """Raise an OSError if an address with a port accepts no connections; Ray would try for half a minute."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if address.startswith("ray://") and not (host and port.isdecimal()):
        raise ValueError("missing port")
    if host and port.isdecimal():
        socket.create_connection((host, int(port)), timeout=SILENT / 2).close()


def _hand_on(ended: Future[T], inner: Future[tuple[T, Exception | None]]) -> None:
    if error := inner.exception():
        ended.set_exception(error_of(error))
    else:
        settle(ended, *inner.result())


def error_of(error: BaseException) -> IsoglossError:
    """Convert an exception of Ray, with the last line of a remote traceback or the first sentence of another error."""
    lines = str(error).strip().splitlines() or [type(error).__name__]
    sentence = (lines[-1] if isinstance(error, ray_errors.RayTaskError) else lines[0].partition(". ")[0])[:300]
    if isinstance(error, _DEATHS):
        return WorkerDiedError(sentence)
    if isinstance(error, ConnectionError):
        return ClusterGoneError(f"the Ray cluster is gone: {sentence}", fix=_RESUME)
    fix = 'Install this version of isogloss on every node, or set files = "ship": docs/clusters.md'
    return IsoglossError(f"a worker could not start: {sentence}", fix=fix)


class _GridFiller:
    """Detached actor that fills grids one after another, and ends when idle."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        os.environ.update(environment)
        self._end_later()

    def _end_later(self) -> None:
        self._end = threading.Timer(LINGER, os._exit, [0])
        self._end.start()

    def fill(self, packed: bytes) -> IsoglossError | None:
        """Fill and summarize a grid; return the error that ended it, or None."""
        from isogloss.runs.grid import run_plan

        self._end.cancel()
        try:
            plan, place, jobs = pickle.loads(packed)  # noqa: S301 - our own bytes
            run_plan(plan, jobs=jobs, place=place)
        except IsoglossError as error:
            return error
        finally:
            self._end_later()
        return None


def fill_detached(plan: Plan, place: Place, jobs: int, on_progress: OnProgress) -> None:
    """Start a detached run of a grid, or attach to it, and wait for its end; after Ctrl-C, the cluster continues."""
    if not (place.address or os.environ.get("RAY_ADDRESS")):
        fix = "Set its address; start one with: ray start --head"
        raise IsoglossError('on_interrupt = "detach" needs a Ray cluster that outlives this command', fix=fix)
    with RayWorkers(place) as workers:
        name = f"grid-{sha256(str(plan.root).encode()).hexdigest()[:16]}"
        options: dict[str, Any] = {"name": name, "lifetime": "detached", "get_if_exists": True, "num_cpus": 0}
        actor = ray.remote(_GridFiller).options(**options).remote(workers.environment)
        arguments = plan, replace(place, on_interrupt="stop", address="", toml=""), jobs
        # A call to a busy actor waits, and then finds nothing left to do.
        ref = actor.fill.remote(pickle.dumps(arguments))
        while not ray.wait([ref], timeout=POLL)[0]:
            workers.check_head()
            on_progress("")
        try:
            error = ray.get(ref)
        except Exception as problem:
            raise error_of(problem) from problem
        if error is not None:
            raise error
