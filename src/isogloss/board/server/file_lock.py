"""A lock that one process of a board has at a time, on whichever machine; whoever dies lets go of it."""

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def file_lock(path: Path) -> Iterator[None]:
    """Hold the lock of a file, however long it takes to get; the file is made where there is none."""
    with path.open("w") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        yield
