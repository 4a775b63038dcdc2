"""Locks in a folder that several processes, on one machine or on many, may share; a dead owner's lock is taken over.

A lock is a file that says who owns it, made complete and under its name in one step: a link, which fails where there
is one already. It is taken over without ever touching what somebody else may have just made: every owner has a token
that no other ever has, and the successor of a dead owner makes the file `<lock>.<the dead one's token>`, which again
only one can. The owner is thus the end of a chain that begins at the lock's own name. Releasing removes the beginning
first, so whoever succeeds an owner of a chain that is gone finds his own file at the end of nothing, and withdraws.
"""

import os
import re
import socket
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import NamedTuple
from uuid import uuid4

import msgspec

from isogloss.decoding import decode_json
from isogloss.errors import DataError

# An owner on another machine is dead when its lock has not been touched for this many seconds …
STALE = 180.0
# … and touches it this often.
HEARTBEAT = 15.0
# Seconds between two looks at what others are doing.
POLL = 0.2
# A lock that no owner leaves so, damaged or dated in the future, is nobody's when it is not touched for this long.
IMPOSSIBLE = 3 * HEARTBEAT


# The job that this process executes for an engine.
_JOB = ContextVar("job", default="")


class Owner(msgspec.Struct, frozen=True):
    """Who has a lock, and since when; `started` is when the process began, for process numbers are used again.

    `job` is the name that an engine gave the job that the lock is held for: the engine may know that the job's process
    is dead, on whatever machine, before anybody could tell by the lock.
    """

    machine: str
    pid: int
    started: str
    token: str
    since: str = ""
    job: str = ""

    @property
    def node(self) -> str:
        """The name of the machine."""
        return self.machine.partition(" ")[0]


class _Link(NamedTuple):
    file: Path
    owner: Owner


class Lock:
    """A lock that is held, and kept fresh, until it is released."""

    def __init__(self, path: Path, mine: Path, owner: Owner) -> None:
        self.path = path
        self.owner = owner
        self._mine = mine
        self._released = threading.Event()
        self._heart = threading.Thread(target=self._beat, name=f"heartbeat of {path.name}", daemon=True)
        self._heart.start()

    def _beat(self) -> None:
        while not self._released.wait(HEARTBEAT):
            try:
                # Without a time the file server's own clock is used, the one that age is measured by.
                os.utime(self._mine)
            except FileNotFoundError:
                return

    def release(self) -> None:
        """Let others have it."""
        self._released.set()
        self._heart.join()
        chain = _chain(self.path)
        if chain and chain[-1].owner == self.owner:
            for link in chain:
                link.file.unlink(missing_ok=True)

    def __enter__(self) -> "Lock":
        return self

    def __exit__(self, *error: object) -> None:
        self.release()


def acquire(path: Path) -> Lock | None:
    """The lock of that name; None where somebody alive has it, or was quicker.

    Raises:
        DataError: its folder cannot be made, or written to.
    """
    since = datetime.now(UTC).isoformat(sep=" ", timespec="seconds")
    me = Owner(_machine(), os.getpid(), _started(os.getpid()), uuid4().hex, since, _JOB.get())
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _not_written(path.parent, error) from error
    claim = path.with_name(f".{path.name}.{me.token}.claim")
    try:
        claim.write_bytes(msgspec.json.encode(me))
        chain = _chain(path)
        if chain and _alive(chain[-1], claim.stat().st_mtime):
            return None
        mine = _successor(path, chain[-1].owner) if chain else path
        mine.hardlink_to(claim)
    except (FileExistsError, FileNotFoundError):
        return None  # somebody was quicker, or swept our claim away before it was written
    except OSError as error:
        raise _not_written(path, error) from error
    finally:
        claim.unlink(missing_ok=True)
    chain = _chain(path)
    if not chain or chain[-1].owner != me:
        # While we looked, the dead owner's successor had come, done its work and released.
        mine.unlink(missing_ok=True)
        return None
    return Lock(path, mine, me)


def is_free(path: Path) -> bool:
    """Whether nobody has a lock."""
    lock = acquire(path)
    if lock is not None:
        lock.release()
    return lock is not None


def wait_for_lock(path: Path, on_waiting: Callable[[str], None] = lambda _: None, waiting: str = "") -> Lock:
    """A lock, however long it takes to get.

    Args:
        path: its name.
        on_waiting: told now and then what is being waited for, and who has the lock.
        waiting: the former.
    """
    while (lock := acquire(path)) is None:
        if owner := holder(path):
            on_waiting(f"{waiting}: {path} is held by {owner}")
        time.sleep(POLL)
    return lock


def _not_written(path: Path, error: OSError) -> DataError:
    return DataError(f"cannot be written ({error.strerror or error})", where=str(path))


def holder(path: Path) -> str:
    """Who has a lock and since when, in words; "" where nobody has it."""
    chain = _chain(path)
    if not chain:
        return ""
    file, owner = chain[-1]
    if not owner.machine:
        return f"nobody, for it is damaged, and is taken over when it is {IMPOSSIBLE:.0f} s old"
    said = f"process {owner.pid} on {owner.node}" + (f" since {owner.since}" if owner.since else "")
    if owner.machine != _machine() and _written(file) > time.time() + STALE:
        dated = datetime.fromtimestamp(min(_written(file), _LATEST), UTC).isoformat(sep=" ", timespec="seconds")
        said += (
            f", by a lock dated {dated}, in the future: it is taken over if nobody touches it for {IMPOSSIBLE:.0f} s"
        )
    return said


def owners(path: Path) -> list[Owner]:
    """The owner of a lock, last, after the dead ones it was taken over from."""
    return [link.owner for link in _chain(path)]


@contextmanager
def on_behalf_of(job: str) -> Iterator[None]:
    """A context in which locks are taken for a job, by its name."""
    token = _JOB.set(job)
    try:
        yield
    finally:
        _JOB.reset(token)


def release_all(folder: Path, job: str = "") -> None:
    """Remove every lock in a folder that this process has, or that a job has whose process is dead.

    Args:
        folder: where to look, and below.
        job: the name of the job; "" for one that was interrupted, perhaps while it took a lock: this process.
    """
    me = _machine(), os.getpid(), _started(os.getpid())
    for path in _locks(folder.rglob("*.lock*")):
        chain = _chain(path)
        owner = chain[-1].owner if chain else None
        if owner is not None and (owner.job == job if job else (owner.machine, owner.pid, owner.started) == me):
            for link in chain:
                link.file.unlink(missing_ok=True)


@contextmanager
def releasing_on_interrupt(folder: Path) -> Iterator[None]:
    """A context that Ctrl-C leaves without a lock: it may come between a lock's file and whoever would release it."""
    try:
        yield
    except KeyboardInterrupt:
        release_all(folder)
        raise


def remove_stale(folder: Path) -> None:
    """Remove what dead owners left in a folder: locks, unfinished claims and ends of chains whose beginning is gone."""
    found = [*folder.rglob("*.lock*")]
    locks = _locks(found)
    for path in locks:
        lock = acquire(path)
        if lock is not None:
            lock.release()
    held = {link.file for path in locks for link in _chain(path)}
    leftovers = [file for file in found if file not in held]
    if leftovers:
        os.utime(folder)
        now = folder.stat().st_mtime
        for file in leftovers:
            owner = _read(file)
            unfinished = owner is not None and not owner.machine and file.name[0] == "."
            if owner is not None and (unfinished or not _alive(_Link(file, owner), now)):
                file.unlink(missing_ok=True)


def _locks(files: Iterable[Path]) -> set[Path]:
    """The locks that some files belong to."""
    return {file.with_name(file.name.partition(".lock")[0] + ".lock") for file in files if file.name[0] != "."}


def _successor(path: Path, dead: Owner) -> Path:
    return path.with_name(f"{path.name}.{dead.token}")


def _chain(path: Path) -> list[_Link]:
    """The files of a lock from the first owner to the present one; empty where nobody has it."""
    chain: dict[Path, Owner] = {}
    file = path
    while (owner := _read(file)) is not None:
        if _successor(path, owner) in (file, *chain):  # a token that leads back: no owner's
            owner = _nobody(file)
        chain[file] = owner
        file = _successor(path, owner)
    return [_Link(*item) for item in chain.items()]


def _read(file: Path) -> Owner | None:
    try:
        owner: Owner = decode_json(file.read_bytes(), "", Owner)
    except FileNotFoundError:
        if file.is_symlink():
            raise DataError("a link that leads nowhere", where=str(file), fix="Remove it") from None
        return None
    except OSError as error:
        raise DataError(f"cannot be read ({error.strerror or error})", where=str(file), fix="Remove it") from error
    except DataError:
        # A machine that lost power may leave an empty file: nobody's, and stale when it is old enough.
        return _nobody(file)
    # The token becomes part of a file's name.
    return owner if owner.pid > 0 and re.fullmatch(r"[\w-]{1,64}", owner.token) else _nobody(file)


def _nobody(file: Path) -> Owner:
    """The owner of a damaged lock."""
    try:
        return Owner("", 0, "", f"damaged-{file.stat().st_ino}")
    except FileNotFoundError:
        return Owner("", 0, "", "damaged-0")


# The end of the time that Python can write down.
_LATEST = datetime(9999, 1, 1, tzinfo=UTC).timestamp()


def _written(file: Path) -> float:
    """When a lock was last touched; at the beginning of time, if it is gone."""
    try:
        return file.stat().st_mtime
    except FileNotFoundError:
        return 0.0


# Locks that are dated in the future: their dates, and when they were first seen to have them.
_IN_THE_FUTURE: dict[Path, tuple[float, float]] = {}


def _alive(link: _Link, now: float) -> bool:
    """Whether an owner lives: a process of this machine if it still runs, any other if its lock is fresh."""
    if link.owner.machine == _machine():
        return _started(link.owner.pid) == link.owner.started
    touched = _written(link.file)
    if touched <= now + STALE:
        _IN_THE_FUTURE.pop(link.file, None)
        return now - touched < (STALE if link.owner.machine else IMPOSSIBLE)
    # Its age cannot be told, but a living owner would touch it, with the date of today.
    seen = _IN_THE_FUTURE.get(link.file)
    if seen is None or seen[0] != touched:
        seen = _IN_THE_FUTURE[link.file] = touched, time.monotonic()
    return time.monotonic() - seen[1] < IMPOSSIBLE


@cache
def _machine() -> str:
    """What makes process numbers comparable: host, boot and (in containers) the space they are counted in."""
    parts = [socket.gethostname()]
    try:
        parts.append(Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip())
        parts.append(str(Path("/proc/self/ns/pid").readlink()))
    except OSError:
        pass  # not a Linux: the host's name must do
    return " ".join(parts)


def _started(pid: int) -> str:
    """When a process started, in whatever unit the system counts; "" if there is no such process."""
    try:
        state, *fields = (
            Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
        )
        # A zombie has ended, only nobody has asked how. Start time is field 22, and `state` is the third.
        return "" if state in "ZX" else fields[18]
    except OSError:
        pass
    if Path("/proc/self/stat").exists():
        return ""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return ""
    except PermissionError:
        pass  # it runs, and is another user's
    return "running"
