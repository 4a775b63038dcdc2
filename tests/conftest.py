"""Shared fixtures and options."""

import gc
import os
import signal
from pathlib import Path

import pytest
from hypothesis import settings

# One thread per test process: there is one process per core, and sums depend on the number of threads.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# Background shells ignore Ctrl-C, but some tests send it.
signal.signal(signal.SIGINT, signal.default_int_handler)

# The time per example depends on the machine's load, so it must not fail a test.
settings.register_profile("thorough", deadline=None, max_examples=500)
settings.register_profile("complete", deadline=None, max_examples=60)
settings.register_profile("fast", deadline=None, max_examples=15)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "complete"))

pytest_plugins = ["durations", "tiny_models"]


def pytest_collection_finish() -> None:
    """Exempt modules and tests, which live until the end, from garbage collection: it would take a second each time.

    Caches, such as those of 51 grammars, also live until the end: visit everything less often than by default.
    """
    gc.freeze()
    gc.set_threshold(700, 10, 200)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Options for the size of long-running tests."""
    parser.addoption("--kills", type=int, default=8, help="number of kills of a run, each with a damaged file")
    parser.addoption("--sender-kills", type=int, default=8, help="number of killed commands that send requests")
    parser.addoption("--translator-kills", type=int, default=3, help="number of killed commands that translate")
    parser.addoption("--cluster-kills", type=int, default=5, help="number of killed workers and nodes of a cluster")
    parser.addoption("--board-submissions", type=int, default=6, help="number of submissions with killed workers")
    parser.addoption("--label-attacks", type=int, default=3, help="number of simulated attacks on hidden labels")
    parser.addoption("--board-upload-megabytes", type=int, default=20, help="size of an upload through nginx")
    parser.addoption("--every-database", action="store_true", help="kill a board's processes on both databases")
    parser.addoption(
        "--every-case",
        action="store_true",
        help="use every checklist case, language of the demo, example for formats of answers and translated sentence",
    )
    parser.addoption("--every-page", action="store_true", help="check similar pages of a board with axe-core too")
    group = parser.getgroup("fuzz")
    group.addoption("--fuzz-cases", type=int, default=300, help="number of cases of all fuzzers together")
    group.addoption("--fuzz-seed", type=int, default=0, help="seed of the cases")
    group.addoption("--fuzz-case", type=int, default=-1, help="only this case of each fuzzer")


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """Folder of real datasets; tests that need it are skipped without one."""
    root = os.environ.get("ISOGLOSS_DATA")
    if not root:
        pytest.skip("ISOGLOSS_DATA is not set: tests over real files need a data folder")
    path = Path(root)
    if not path.is_dir():
        pytest.skip(f"ISOGLOSS_DATA={root} is not a folder")
    return path
