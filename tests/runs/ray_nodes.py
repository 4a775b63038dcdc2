"""A Ray cluster of three nodes on this machine, on which the system `fake` is known as an installed package's."""

import logging
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import isogloss
from isogloss.runs import ray_engine
from runs.grid_fake import mini_cache, mini_data

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
    points = "[isogloss.systems]\nfake = runs.grid_fake:FakeSystem\n"
    (folder / "fake-1.dist-info" / "entry_points.txt").write_text(points)
    tests, source = Path(__file__).parents[1], Path(isogloss.__file__).parents[1]
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("PYTHONPATH", os.pathsep.join(map(str, (folder, tests, source))))
        patched.setenv("RAY_DEDUP_LOGS", "0")
        yield folder


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
