"""Workers of a Ray cluster: one that runs already, or one of this machine for as long as the command needs it.

Every call is a Ray task. Ray gives tasks to processes that it keeps, so what a module remembers (the system that was
built, say) is there for the next one; on GPUs it does not, lest an idle process hold their memory. A dead worker or
node ends the call with a `WorkerDiedError` and no retry of Ray's: what to do again is the caller's to say.
"""

import logging
import os
import pickle
import socket
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import Future, wait
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeVar
from warnings import warn

import ray
from ray import exceptions as ray_errors

from isogloss import version
from isogloss.errors import IsoglossError
from isogloss.runs.place import Place
from isogloss.workers import NODE_VARIABLE, ONE_CORE, Resources, WorkerDiedError

T = TypeVar("T")

# Seconds between two looks at what the cluster has.
LOOK = 2.0
# Seconds that the head may be silent.
SILENT = 6.0
# Seconds that a call has to end by itself after Ctrl-C.
GRACE = 2.0
# Bytes of the object store of a cluster of our own: jobs are small, and files lie in folders.
OWN_STORE = 200 << 20
# Seconds in which a connection that fails is tried for again.
PATIENCE = 20.0

# What opens a board is no business of a cluster, whatever patterns a user gives.
_SECRETS = ("ISOGLOSS_BOARD_TOKEN",)
# Where files travel, the nodes have folders of their own.
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

_KEPT = "What is done is kept: the same command goes on, on any engine"


class ClusterGoneError(IsoglossError):
    """The head of a cluster does not answer any more."""


@dataclass(frozen=True)
class _CallEnd:
    """What a call returned or raised; Ray would wrap the error, and lose what is not a text."""

    value: Any = None
    error: Exception | None = None


def _execute(packed: bytes, environment: Mapping[str, str], shared: Sequence[Any]) -> _CallEnd:
    """Execute a call in a process of the cluster; where bytes are shared with it, it is called with what gets them."""
    # Before anything is unpacked: modules may look at the environment when they are imported.
    os.environ.update(environment)
    os.environ[NODE_VARIABLE] = ray.get_runtime_context().get_node_id()
    try:
        call: Callable[..., Any] = pickle.loads(packed)  # noqa: S301 - our own bytes
        return _CallEnd(call(*(partial(ray.get, each) for each in shared)))
    except Exception as error:  # whatever it is, it is the caller's
        return _CallEnd(error=error)


class RayWorkers(AbstractContextManager["RayWorkers"]):
    """Executes calls as tasks of a Ray cluster, of which there may be more or fewer nodes at any time."""

    def __init__(self, place: Place, most: int = 0) -> None:
        self.place = place
        self.most = most
        self._needs = ONE_CORE
        self._refs: dict[Any, Future[Any]] = {}
        self._connected = self._said_no_room = False
        self._nodes: list[dict[str, Any]] = []
        self._looked = float("-inf")
        self._head: tuple[str, int] | None = None
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
            host, _, port = ray.get_runtime_context().gcs_address.rpartition(":")
            self._head = host, int(port)
        return self

    @property
    def _is_client(self) -> bool:
        return bool(ray.util.client.ray.is_connected())

    def _connect(self, address: str) -> None:
        """Connect to a cluster, or start one.

        Raises:
            IsoglossError: nothing answers there.
        """
        if address.startswith("ray://") and find_spec("grpc") is None:
            what = f"grpc is not installed, which {address} needs"
            raise IsoglossError(what, fix="pip install 'isogloss[cluster]'; on a node of the cluster, --on ray:auto")
        options: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR, "namespace": "isogloss"}
        if self.place.files == "ship":
            # Where no folder is shared, the nodes need not have this package, nor this version of it.
            options["runtime_env"] = {"py_modules": [str(Path(version.__file__).parent)]}
        if not address:
            cpus = self.most or os.cpu_count() or 1
            options |= {"num_cpus": cpus, "include_dashboard": False, "object_store_memory": OWN_STORE}
        try:
            _check_answers(address)
            _init(address or "local", options)
        except (OSError, ValueError, RuntimeError) as error:
            where = f"the Ray cluster at {address}" if address else "a Ray cluster of this machine"
            reason = str(error).strip().partition("\n")[0].rstrip(".")
            fix = "Give its address as ray://host:10001 or ray:host:6379; ray start --head starts one"
            raise IsoglossError(f"no connection to {where}: {reason}", fix=fix) from error

    def __exit__(self, *error: object) -> None:
        try:
            self._stop()
        finally:
            if self._connected:
                ray.shutdown()

    def _stop(self) -> None:
        """End what runs, as Ctrl-C does; processes that do not listen are Ray's to kill when we leave the cluster.

        Not by force: of a task that ends at that moment, Ray 2.60 knows no more, and takes this process down.
        """
        running = {ref: future for ref, future in self._refs.items() if not future.done()}
        if running and self._answers():
            for ref in running:
                with suppress(Exception):  # it has ended, or its node has
                    ray.cancel(ref)
            wait(running.values(), GRACE)

    @property
    def nodes(self) -> int:
        """How many nodes the cluster has now."""
        return len(self._look())

    @property
    def slots(self) -> int:
        """How many calls like the last one there is room for, over all nodes; or as many as were asked for."""
        room = sum(_room(node["Resources"], self._options(self._needs)) for node in self._look())
        if not room and not self._said_no_room:
            self._said_no_room = True
            warn(f"no node of the cluster has what a job needs ({self._needs}): waiting for one", stacklevel=2)
        return self.most or room  # Ray lets those wait that it has no room for, and may add nodes for them

    def _look(self) -> list[dict[str, Any]]:
        """The living nodes.

        Raises:
            ClusterGoneError: the head is silent.
        """
        if time.monotonic() - self._looked > LOOK:
            self.check_head()
            self._nodes = [node for node in ray.nodes() if node["Alive"]]
            self._looked = time.monotonic()
        return self._nodes

    def check_head(self) -> None:
        """Make sure that the head answers.

        Raises:
            ClusterGoneError: it is silent.
        """
        deadline = time.monotonic() + SILENT
        while not self._answers():
            if time.monotonic() > deadline:
                what = f"the Ray cluster at {self.place.address or ':'.join(map(str, self._head or ()))} is gone"
                raise ClusterGoneError(what, fix=_KEPT)
            time.sleep(SILENT / 10)

    def _answers(self) -> bool:
        """Whether the head takes connections; asked of Ray, a silent one would end this process."""
        if self._head is None:
            return self._is_client
        try:
            _check_answers(":".join(map(str, self._head)))
        except OSError:
            return False
        return True

    def _options(self, resources: Resources) -> dict[str, Any]:
        gpus = resources.gpus
        if gpus is None:
            gpus = 1 if any(node["Resources"].get("GPU") for node in self._nodes) else 0
        return {"num_cpus": resources.cpus, "num_gpus": gpus, "memory": resources.memory or None}

    def share(self, content: bytes) -> Any:
        """Put bytes into the object store, from where each node fetches them when a call on it asks for them."""
        return ray.put(content)

    def submit(
        self,
        call: Callable[..., T],
        resources: Resources = ONE_CORE,
        avoid: Collection[str] = (),
        shared: Sequence[Any] = (),
    ) -> "Future[T]":
        """Have a call executed as a task.

        It is given, as arguments, functions that return what was `shared`, in that order.
        """
        self.check_head()  # of a silent one, Ray would wait for an answer
        self._look()
        self._needs = resources
        options = self._options(resources) | {"max_retries": 0}
        if avoid:
            options["label_selector"] = {"ray.io/node-id": f"!in({','.join(sorted(avoid))})"}
        ref = self._task.options(**options).remote(pickle.dumps(call), self.environment, list(shared))
        ended: Future[T] = Future()
        self._refs = {each: future for each, future in self._refs.items() if not future.done()} | {ref: ended}
        ref.future().add_done_callback(partial(_hand_on, ended))
        return ended


def _init(address: str, options: Mapping[str, Any]) -> None:
    """Connect; a head that is busy, but answers, may refuse once or twice.

    Raises:
        ConnectionError: it always does, or whatever answers there is no Ray, which takes Ray long to see.
    """
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            ray.init(address=address, **options)
            return
        except ConnectionError:
            ray.shutdown()
            if time.monotonic() > deadline:
                raise
            time.sleep(1)


def _check_answers(address: str) -> None:
    """See whether something answers at an address that has a port: Ray itself would ask for half a minute.

    Raises:
        OSError: nothing does.
        ValueError: an address from outside has no port.
    """
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if address.startswith("ray://") and not (host and port.isdecimal()):
        raise ValueError("there is no port in it")
    if host and port.isdecimal():
        socket.create_connection((host, int(port)), timeout=SILENT / 2).close()


def _room(has: Mapping[str, float], needs: Mapping[str, Any]) -> int:
    """How many calls a node has room for."""
    names = {"num_cpus": "CPU", "num_gpus": "GPU", "memory": "memory"}
    shares: Iterable[float] = (has.get(names[key], 0.0) / need for key, need in needs.items() if need)
    return int(min(shares, default=has.get("CPU", 1.0)) + 1e-6)


def _hand_on(ended: "Future[T]", inner: "Future[_CallEnd]") -> None:
    """End a future as Ray's own has ended, in our words."""
    error = inner.exception()
    if error is not None:
        ended.set_exception(error_of(error))
        return
    end = inner.result()
    if end.error is not None:
        ended.set_exception(end.error)
    else:
        ended.set_result(end.value)


def error_of(error: BaseException) -> IsoglossError:
    """What Ray says has happened, in our words."""
    if isinstance(error, _DEATHS):
        return WorkerDiedError(_sentence(error))
    if isinstance(error, ConnectionError):
        return ClusterGoneError(f"the Ray cluster is gone: {_sentence(error)}", fix=_KEPT)
    fix = 'Every node needs this version of isogloss, or give files = "ship": docs/clusters.md'
    return IsoglossError(f"a worker could not begin: {_sentence(error)}", fix=fix)


def _sentence(error: BaseException) -> str:
    """The end of an error's traceback, or its first sentence."""
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return (lines[-1] if isinstance(error, ray_errors.RayTaskError) else lines[0].partition(". ")[0])[:300]
