"""The cluster that tests of clusters share."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

import isogloss
from isogloss import plugins
from runs.ray_nodes import Nodes


@pytest.fixture(scope="module")
def worker_path(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """An installed package that brings `fake`, on the path of every process that is started."""
    folder = tmp_path_factory.mktemp("installed")
    (folder / "fake-1.dist-info").mkdir()
    (folder / "fake-1.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: fake\nVersion: 1\n")
    systems = "[isogloss.systems]\nfake = runs.grid_fake:FakeSystem\nreader = runs.ray_nodes:ReaderSystem\n"
    systems += "troubled = runs.ray_nodes:TroubledSystem\n"
    points = f"{systems}[isogloss.tasks]\ncarried = runs.ray_nodes:CARRIED\n"
    (folder / "fake-1.dist-info" / "entry_points.txt").write_text(points)
    tests, source = Path(__file__).parents[1], Path(isogloss.__file__).parents[1]
    with pytest.MonkeyPatch.context() as patched:
        before = os.environ.get("PYTHONPATH", "").split(os.pathsep)
        patched.setenv("PYTHONPATH", os.pathsep.join(map(str, (folder, tests, source, *before))))
        patched.setenv("RAY_DEDUP_LOGS", "0")
        # What the nodes keep is not in the user's cache, nor in that of the tests.
        patched.setenv("ISOGLOSS_CACHE", str(tmp_path_factory.mktemp("nodes")))
        patched.syspath_prepend(folder)
        plugins.entry_points.cache_clear()
        yield folder
    plugins.entry_points.cache_clear()


@pytest.fixture(scope="module")
def clusters(worker_path: Path) -> Iterator[list[Nodes]]:
    """The cluster of a file of tests, if one was started."""
    pytest.importorskip("ray", reason="ray is not installed: pip install 'isogloss[cluster]'")
    started: list[Nodes] = []
    yield started
    for nodes in started:
        nodes.shutdown()


@pytest.fixture
def three_nodes(clusters: list[Nodes], mini_data: Path) -> Nodes:
    """Three nodes of one core each, whatever the test before has done to them."""
    if clusters and not clusters[0].has_head:
        clusters.pop().shutdown()
    if not clusters:
        clusters.append(Nodes())
    clusters[0].repair()
    return clusters[0]
