"""Options for cases and seed; a temporary cache and data folder."""

from pathlib import Path

import pytest

from caches import new_cache
from fuzz.campaign import Campaign


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark every campaign as slow."""
    for item in items:
        if "campaign" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="session")
def fuzz_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return new_cache(tmp_path_factory.mktemp("cache"))


@pytest.fixture(autouse=True)
def _own_world(fuzz_cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ISOGLOSS_CACHE", str(fuzz_cache))
    monkeypatch.delenv("ISOGLOSS_DATA", raising=False)
    # Three folders deep, so that paths outside the folder stay within the test's.
    place = tmp_path / "a/b/c"
    place.mkdir(parents=True)
    monkeypatch.chdir(place)


@pytest.fixture
def campaign(request: pytest.FixtureRequest, tmp_path: Path) -> Campaign:
    option = request.config.getoption
    root = tmp_path / "cases"
    root.mkdir()
    return Campaign(request.node.name, option("--fuzz-seed"), option("--fuzz-cases"), option("--fuzz-case"), root)
