"""One fetch at a time in a data folder."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from isogloss.errors import DataError


@contextmanager
def exclusive(folder: Path) -> Iterator[None]:
    """Hold the folder for one process; the system lets go of it when the process dies, however it dies."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        try:
            _lock(lock.fileno())
        except (BlockingIOError, PermissionError):
            raise DataError(
                "another fetch is at work here", where=str(folder.parent), fix="Wait for it to end"
            ) from None
        except OSError:
            pass  # a file system without locks: nothing can be known about others
        yield


if sys.platform == "win32":
    import msvcrt

    def _lock(descriptor: int) -> None:
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)

else:
    import fcntl

    def _lock(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
