"""Stored test durations: mark slow tests, and start the longest files first.

`pytest --store-durations` measures them again. `make test-fast` leaves out tests that take longer than `SLOW` seconds.
"""

import json
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

STORED = Path(__file__).with_name("durations.json")
SLOW = 0.05


def test_function(nodeid: str) -> str:
    """Return a test's id without its parameters."""
    return nodeid.partition("[")[0]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--store-durations", action="store_true", help=f"write {STORED.name} after the run")


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--store-durations") and not hasattr(config, "workerinput"):
        config.pluginmanager.register(_Stopwatch())


class _Stopwatch:
    """Collects the longest duration of each test function over its parameters."""

    def __init__(self) -> None:
        self._seconds: dict[str, float] = defaultdict(float)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call":
            function = test_function(report.nodeid)
            self._seconds[function] = max(self._seconds[function], report.duration)

    def pytest_sessionfinish(self) -> None:
        seconds = {name: round(value, 1) for name, value in sorted(self._seconds.items()) if value >= 0.1}
        STORED.write_text(json.dumps(seconds, indent=0) + "\n", encoding="utf-8")


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> Iterator[None]:
    # Before pytest deselects by marker.
    seconds: dict[str, float] = json.loads(STORED.read_text(encoding="utf-8")) if STORED.exists() else {}
    files: dict[str, float] = defaultdict(float)
    for item in items:
        duration = seconds.get(test_function(item.nodeid), 0.0)
        files[item.location[0]] += duration
        if duration > SLOW and item.get_closest_marker("slow") is None:
            item.add_marker("slow")
    items.sort(key=lambda item: -files[item.location[0]])
    yield
