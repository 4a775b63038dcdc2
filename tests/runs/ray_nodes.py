"""A Ray cluster of two nodes on this machine, and an installed package that its processes find.

The package provides the systems `fake`, `troubled` and `reader` (with a folder as model) and the task `carried` (its
files are in the data folder). In a process with FAKE_FORBIDDEN set, opening anything below that folder is an error.
"""

import logging
import os
import resource
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import isogloss
from isogloss.runs.place import Place
from isogloss.runs.plan import Plan
from isogloss.tasks.examples import Examples
from isogloss.tasks.registry import task
from isogloss.tasks.task import Task
from isogloss.workers import node_name
from runs.grid_fake import FakeSystem, log

# Small: jobs travel, not data. The GPUs are only declared: Ray just counts them.
NODE = {"num_cpus": 1, "num_gpus": 2, "object_store_memory": 80 << 20}
# Dead nodes refuse connections and are noticed soon; a busy node may still take ten seconds per answer.
QUICK_CHECKS = {"health_check_initial_delay_ms": 0, "health_check_period_ms": 200}


CARRIED = replace(task("mini-xnli"), id="carried", made_by="")


class ReaderSystem(FakeSystem):
    """The fake system with a model folder that it reads."""

    name = "reader"

    def __init__(self, model: str) -> None:
        self.model = model
        self.word = (Path(model) / "word.txt").read_text()

    @property
    def metadata(self) -> Mapping[str, Any]:
        return {"name": self.name, "model": self.model, "word": self.word}


class TroubledSystem(FakeSystem):
    """The fake system with a full disk on the node FAKE_FULL ("*": on every node)."""

    def fit(self, task: Task, train: Examples | None, seed: int) -> "FakeSystem":
        if os.environ.get("FAKE_FULL") in (node_name(), "*"):
            log("full")
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (1_000, 1_000))
        return super().fit(task, train, seed)


def refuse_to_open(forbidden: str, event: str, arguments: tuple[Any, ...]) -> None:
    if event == "open" and str(arguments[0]).startswith(forbidden):
        raise PermissionError(f"{arguments[0]} is not this node's")


def visible_gpus() -> str:
    return os.environ.get("CUDA_VISIBLE_DEVICES", "")


def package_and_file(path: Path) -> tuple[str, str]:
    """Return this process's location of the package, and the content of a file."""
    try:
        return isogloss.__file__, path.read_text()
    except PermissionError as error:
        return isogloss.__file__, str(error)


if folder := os.environ.get("FAKE_FORBIDDEN"):
    sys.addaudithook(partial(refuse_to_open, folder))


class Nodes:
    """The cluster: nodes can be added and removed, and their processes killed."""

    def __init__(self) -> None:
        from ray.cluster_utils import Cluster

        logging.getLogger("ray").setLevel(logging.ERROR)
        head = NODE | {"include_dashboard": False, "_system_config": QUICK_CHECKS}
        self.client = ""
        self.has_head = True
        if find_spec("grpc"):
            port = free_port()
            head["ray_client_server_port"], self.client = port, f"ray://127.0.0.1:{port}"
        self.cluster = Cluster(initialize_head=True, head_node_args=head)
        self.other: Any = None
        self._connection = ExitStack()
        self.repair()

    @property
    def address(self) -> str:
        found: str = self.cluster.address
        return found

    def place(self, **settings: Any) -> Place:
        """Return the place of a grid on this cluster, with the variables that control the fake system.

        This process stays connected, because Ray starts new workers for every connection.
        """
        variables = (*Place.environment, "FAKE_*")
        place = Place(engine_name="ray", address=self.address, environment=variables, **settings)
        if not ray_is_initialized():
            self._connection.enter_context(place.workers())
        return place

    def toml(self, path: Path, **settings: str) -> Path:
        """Write that place to a TOML file."""
        lines = {"engine": "ray", "address": self.address} | settings
        text = "".join(f'{key} = "{value}"\n' for key, value in lines.items())
        path.write_text(f'{text}environment = ["FAKE_*"]\n', encoding="utf-8")
        return path

    def lose_node(self) -> None:
        """Kill all processes of the node other than the head."""
        self.cluster.remove_node(self.other, allow_graceful=False)
        self.other = None

    def lose_head(self) -> None:
        self.disconnect()
        self.cluster.head_node.kill_all_processes(check_alive=False, allow_graceful=False)
        self.has_head = False

    def repair(self) -> None:
        """Add the second node if it is lost."""
        if self.other is None:
            self.other = self.cluster.add_node(**NODE)

    def disconnect(self) -> None:
        """Disconnect this process, and end its workers."""
        self._connection.close()

    def shutdown(self) -> None:
        self.disconnect()
        self.cluster.shutdown()


def ray_is_initialized() -> bool:
    import ray

    return bool(ray.is_initialized())


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def accepts_connections(address: str) -> bool:
    """Return True if a process listens at `ray://host:port`."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    try:
        socket.create_connection((host, int(port))).close()
    except OSError:
        return False
    return True


def eventually(holds: Callable[[], bool]) -> None:
    """Wait until a condition holds; a busy machine has minutes."""
    deadline = time.monotonic() + 300
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.02)


# The command, except that it soon notices a dead head.
COMMAND = """
from isogloss.runs import ray_workers
ray_workers.LOOK, ray_workers.SILENT = 0.2, 1.0
from isogloss.cli.main import main
main()
"""


def started(plan: Plan, place: Path, **options: Any) -> "subprocess.Popen[str]":
    """Start the command that fills a grid on a cluster."""
    request = plan.request
    words = ["run", "fake", "--suite", "mini", "--out", str(plan.root.parent.parent), "--seeds", str(plan.seeds)]
    words += ["--tasks", ",".join(request.tasks), "--languages", ",".join(request.languages or ()), "--on", str(place)]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen([sys.executable, "-c", COMMAND, *words], text=True, **pipes, **options)  # type: ignore[call-overload,no-any-return]


def until_begun(plan: Plan, process: "subprocess.Popen[str]") -> None:
    """Wait for the first finished cell."""
    while len(plan.missing(plan.cells)) == len(plan.cells):
        assert process.poll() is None, process.stderr.read()  # type: ignore[union-attr]
        time.sleep(0.02)


def forget_place(plan: Plan) -> None:
    """Remove the copies of the place's TOML file, which differ between runs."""
    for folder in plan.seed_folders:
        (folder / "place.toml").unlink()
