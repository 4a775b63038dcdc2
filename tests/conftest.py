"""Shared fixtures: where the real files are, if they are anywhere."""

import os
import signal
from pathlib import Path

import pytest
from hypothesis import settings

# One thread a test process: there is one process a core, and sums over several threads depend on their number.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# A shell that starts the tests in the background has Ctrl-C ignored; tests that send it need it to be heard.
signal.signal(signal.SIGINT, signal.default_int_handler)

# How long one example takes depends on what else the machine does: no test fails for that.
settings.register_profile("complete", deadline=None)
settings.register_profile("fast", deadline=None, max_examples=15)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "complete"))

pytest_plugins = ["tiny_models"]


def pytest_addoption(parser: pytest.Parser) -> None:
    """Options of the tests that can go on for as long as one likes."""
    parser.addoption("--kills", type=int, default=8, help="how often a run is killed, and a file of it damaged")
    parser.addoption("--cluster-kills", type=int, default=5, help="how many workers and nodes of a cluster are killed")
    parser.addoption("--board-submissions", type=int, default=30, help="submissions whose workers are killed")
    parser.addoption("--board-upload-megabytes", type=int, default=20, help="size of an upload by way of nginx")
    group = parser.getgroup("fuzz")
    group.addoption("--fuzz-cases", type=int, default=600, help="cases of all fuzzers together")
    group.addoption("--fuzz-seed", type=int, default=0, help="another seed, other cases")
    group.addoption("--fuzz-case", type=int, default=-1, help="only this case of each fuzzer")


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The folder of real datasets; tests over real files skip, and say why, where there is none."""
    root = os.environ.get("ISOGLOSS_DATA")
    if not root:
        pytest.skip("ISOGLOSS_DATA is not set: tests over real files need a data folder")
    path = Path(root)
    if not path.is_dir():
        pytest.skip(f"ISOGLOSS_DATA={root} is not a folder")
    return path
