"""A Ray cluster of three nodes on this machine, and an installed package that its processes find.

The package brings the systems `fake`, `troubled` and `reader`, whose model is a folder, and the task `carried`, whose
files are in the data folder. In a process that is told FAKE_FORBIDDEN, opening anything below that folder is an error.
"""

import logging
import os
import resource
import signal
import socket
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import isogloss
from isogloss.runs.place import Place
from isogloss.tasks.examples import Examples
from isogloss.tasks.registry import task
from isogloss.tasks.task import Task
from isogloss.workers import node_name
from runs.grid_fake import FakeSystem

# Small: jobs travel, not data. The GPUs are told, not there: Ray only counts them.
NODE = {"num_cpus": 1, "num_gpus": 2, "object_store_memory": 80 << 20}


CARRIED = replace(task("mini-xnli"), id="carried", made_by="")


class ReaderSystem(FakeSystem):
    """The fake system with a model, which it reads."""

    name = "reader"

    def __init__(self, model: str) -> None:
        self.model = model
        self.word = (Path(model) / "word.txt").read_text()

    @property
    def metadata(self) -> Mapping[str, Any]:
        return {"name": self.name, "model": self.model, "word": self.word}


class TroubledSystem(FakeSystem):
    """The fake system, for which the disks of nodes FAKE_FULL are full, and node FAKE_SLOW slow ("*": every node)."""

    def fit(self, task: Task, train: Examples | None, seed: int) -> "FakeSystem":
        if {node_name(), "*"} & {*os.environ.get("FAKE_FULL", "").split()}:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (3_000, 3_000))
        return super().fit(task, train, seed)

    def predict(self, examples: Examples) -> Sequence[Any]:
        if os.environ.get("FAKE_SLOW") in (node_name(), "*"):
            time.sleep(1)
        return super().predict(examples)


def refuse_to_open(forbidden: str, event: str, arguments: tuple[Any, ...]) -> None:
    if event == "open" and str(arguments[0]).startswith(forbidden):
        raise PermissionError(f"{arguments[0]} is not this node's")


def visible_gpus() -> str:
    return os.environ.get("CUDA_VISIBLE_DEVICES", "")


def package_and_file(path: Path) -> tuple[str, str]:
    """Where this process has the package from, and what it finds in a file."""
    try:
        return isogloss.__file__, path.read_text()
    except PermissionError as error:
        return isogloss.__file__, str(error)


if folder := os.environ.get("FAKE_FORBIDDEN"):
    sys.addaudithook(partial(refuse_to_open, folder))


class Nodes:
    """The cluster: nodes are added and taken away, and their processes killed."""

    def __init__(self) -> None:
        from ray.cluster_utils import Cluster

        logging.getLogger("ray").setLevel(logging.ERROR)
        head = NODE | {"include_dashboard": False}
        self.client = ""
        self.has_head = True
        if find_spec("grpc"):
            port = free_port()
            head["ray_client_server_port"], self.client = port, f"ray://127.0.0.1:{port}"
        self.cluster = Cluster(initialize_head=True, head_node_args=head)
        self.others: list[Any] = []
        self.repair()

    @property
    def address(self) -> str:
        found: str = self.cluster.address
        return found

    def place(self, **settings: Any) -> Place:
        """The place of a grid on this cluster, where what steers the fake system reaches it."""
        return Place("ray", address=self.address, environment=(*Place.environment, "FAKE_*"), **settings)

    def toml(self, path: Path, **settings: str) -> Path:
        """That place as a file."""
        lines = {"engine": "ray", "address": self.address} | settings
        text = "".join(f'{key} = "{value}"\n' for key, value in lines.items())
        path.write_text(f'{text}environment = ["FAKE_*"]\n', encoding="utf-8")
        return path

    def lose_node(self) -> None:
        """Kill all processes of one of the nodes that are not the head."""
        self.cluster.remove_node(self.others.pop(0), allow_graceful=False)

    def lose_head(self) -> None:
        self.cluster.head_node.kill_all_processes(check_alive=False, allow_graceful=False)
        self.has_head = False

    def repair(self) -> None:
        """Add nodes until there are three."""
        while len(self.others) < 2:
            self.others.append(self.cluster.add_node(**NODE))

    def shutdown(self) -> None:
        import ray

        ray.shutdown()
        self.cluster.shutdown()


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])
