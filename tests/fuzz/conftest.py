"""How many cases, from which seed; a cache and a data folder that are not the user's."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from fuzz.campaign import Campaign
from isogloss.tasks.mini import make


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Every campaign takes seconds."""
    for item in items:
        if "campaign" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="session")
def fuzz_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(autouse=True)
def _own_world(fuzz_cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("ISOGLOSS_CACHE", str(fuzz_cache))
    monkeypatch.delenv("ISOGLOSS_DATA", raising=False)
    # Three folders deep: a path that climbs out of its folder stays in this test's.
    place = tmp_path / "a/b/c"
    place.mkdir(parents=True)
    monkeypatch.chdir(place)
    make.folder.cache_clear()
    yield
    make.folder.cache_clear()


@pytest.fixture
def campaign(request: pytest.FixtureRequest, tmp_path: Path) -> Campaign:
    option = request.config.getoption
    root = tmp_path / "cases"
    root.mkdir()
    return Campaign(request.node.name, option("--fuzz-seed"), option("--fuzz-cases"), option("--fuzz-case"), root)
