"""A Ray cluster of three nodes on this machine, and an installed package that its processes find.

The package brings the systems `fake` and `reader`, whose model is a folder, and the task `carried`, whose files are in
the data folder. In a process that is told FAKE_FORBIDDEN, opening anything below that folder is an error.
"""

import logging
import os
import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import isogloss
from isogloss import plugins
from isogloss.runs import ray_engine
from isogloss.tasks.registry import task
from runs.grid_fake import FakeSystem, mini_cache, mini_data

__all__ = ["mini_cache", "mini_data"]

ray = pytest.importorskip("ray", reason="ray is not installed: pip install 'isogloss[cluster]'")

# Small: jobs travel, not data; and as many nodes as these fit on any machine.
NODE = {"num_cpus": 1, "object_store_memory": 80 << 20}


@pytest.fixture(scope="session")
def worker_path(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """An installed package that brings `fake`, on the path of every process that is started."""
    folder = tmp_path_factory.mktemp("installed")
    (folder / "fake-1.dist-info").mkdir()
    (folder / "fake-1.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: fake\nVersion: 1\n")
    systems = "[isogloss.systems]\nfake = runs.grid_fake:FakeSystem\nreader = runs.ray_nodes:ReaderSystem\n"
    points = f"{systems}[isogloss.tasks]\ncarried = runs.ray_nodes:CARRIED\n"
    (folder / "fake-1.dist-info" / "entry_points.txt").write_text(points)
    tests, source = Path(__file__).parents[1], Path(isogloss.__file__).parents[1]
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("PYTHONPATH", os.pathsep.join(map(str, (folder, tests, source))))
        patched.setenv("RAY_DEDUP_LOGS", "0")
        # What the nodes keep is not in the user's cache, nor in that of the tests.
        patched.setenv("ISOGLOSS_CACHE", str(tmp_path_factory.mktemp("nodes")))
        patched.syspath_prepend(folder)
        plugins.entry_points.cache_clear()
        yield folder
    plugins.entry_points.cache_clear()


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


def refuse_to_open(forbidden: str, event: str, arguments: tuple[Any, ...]) -> None:
    if event == "open" and str(arguments[0]).startswith(forbidden):
        raise PermissionError(f"{arguments[0]} is not this node's")


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

    def __init__(self, nodes: int, **options: Any) -> None:
        from ray.cluster_utils import Cluster

        self.cluster = Cluster(initialize_head=True, head_node_args=NODE | {"include_dashboard": False} | options)
        self.others = [self.cluster.add_node(**NODE) for _ in range(nodes - 1)]

    @property
    def address(self) -> str:
        found: str = self.cluster.address
        return found

    def lose_node(self) -> None:
        """Kill all processes of one of the nodes that are not the head."""
        self.cluster.remove_node(self.others.pop(0), allow_graceful=False)

    def add_node(self, **options: Any) -> None:
        self.others.append(self.cluster.add_node(**NODE | options))


@pytest.fixture(scope="session")
def three_nodes(worker_path: Path) -> Iterator[Nodes]:
    """Three nodes of one core each."""
    assert "ray" in sys.modules
    logging.getLogger("ray").setLevel(logging.ERROR)
    nodes = Nodes(3)
    try:
        yield nodes
    finally:
        ray.shutdown()
        nodes.cluster.shutdown()


@pytest.fixture
def fake_everywhere(mini_data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What steers the fake system reaches its processes on the cluster."""
    monkeypatch.setattr(ray_engine, "_HANDED_ON", ("ISOGLOSS_", "FAKE_"))
