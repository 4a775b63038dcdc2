"""Shared cluster fixtures."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

import isogloss
from isogloss import plugins
from runs.ray_nodes import Nodes


@pytest.fixture(scope="session")
def fake_package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An installed package with `fake`."""
    folder = tmp_path_factory.mktemp("installed")
    (folder / "fake-1.dist-info").mkdir()
    (folder / "fake-1.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: fake\nVersion: 1\n")
    systems = "[isogloss.systems]\nfake = runs.grid_fake:FakeSystem\nreader = runs.ray_nodes:ReaderSystem\n"
    systems += "troubled = runs.ray_nodes:TroubledSystem\n"
    points = f"{systems}[isogloss.tasks]\ncarried = runs.ray_nodes:CARRIED\n"
    (folder / "fake-1.dist-info" / "entry_points.txt").write_text(points)
    return folder


@pytest.fixture(scope="session")
def node_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The cache of the nodes."""
    return tmp_path_factory.mktemp("nodes")


@pytest.fixture(scope="module")
def worker_path(fake_package: Path, node_cache: Path) -> Iterator[Path]:
    """The package, on the path of every started process."""
    folder = fake_package
    tests, source = Path(__file__).parents[1], Path(isogloss.__file__).parents[1]
    with pytest.MonkeyPatch.context() as patched:
        before = os.environ.get("PYTHONPATH", "").split(os.pathsep)
        patched.setenv("PYTHONPATH", os.pathsep.join(map(str, (folder, tests, source, *before))))
        patched.setenv("RAY_DEDUP_LOGS", "0")
        # Ray's proxy gives up on a stuck client server after half a minute; the connection is then tried again.
        patched.setenv("RAY_CLIENT_SERVER_CHECK_CHANNEL_TIMEOUT_S", "15")
        patched.setenv("ISOGLOSS_CACHE", str(node_cache))
        patched.syspath_prepend(folder)
        plugins.entry_points.cache_clear()
        yield folder
    plugins.entry_points.cache_clear()


@pytest.fixture(scope="session")
def clusters() -> Iterator[list[Nodes]]:
    """The cluster of all test modules, if one was started."""
    pytest.importorskip("ray", reason="ray is not installed: pip install 'isogloss[cluster]'")
    started: list[Nodes] = []
    yield started
    for nodes in started:
        nodes.shutdown()


@pytest.fixture(scope="module")
def connected(clusters: list[Nodes]) -> Iterator[None]:
    """Disconnect this process from the cluster at the end of a module: others start their own."""
    yield
    for nodes in clusters:
        nodes.disconnect()


@pytest.fixture
def disconnected(clusters: list[Nodes]) -> None:
    """This process without a connection to the cluster."""
    for nodes in clusters:
        nodes.disconnect()


@pytest.fixture
def two_nodes(
    clusters: list[Nodes], connected: None, worker_path: Path, mini_data: Path, monkeypatch: pytest.MonkeyPatch
) -> Nodes:
    """Two nodes with one core each, repaired after the previous test."""
    # Workers outlive a test, and keep variables that are not set again.
    for name in ("FAKE_FULL", "FAKE_HOLD", "FAKE_LOG", "FAKE_SLEEP", "FAKE_TROUBLE"):
        monkeypatch.setenv(name, "0" if name == "FAKE_SLEEP" else "")
    if clusters and not clusters[0].has_head:
        clusters.pop().shutdown()
    if not clusters:
        clusters.append(Nodes())
    clusters[0].repair()
    return clusters[0]
