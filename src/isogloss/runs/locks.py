"""Locks in a folder shared by processes on one or many machines; the lock of a dead owner is taken over.

A lock is a file with its owner, created complete and in one step by a hard link, which fails if the name exists. A
takeover never touches a file that another process may just have created: every owner has a unique token, and the
successor of a dead owner creates `<lock>.<the dead owner's token>`, which only one process can. The owner is the end of
the chain that begins at the lock's own name. Releasing removes the beginning first, so a process that succeeds an owner
of a removed chain finds its file orphaned, and withdraws.
"""

import os
import re
import socket
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from contextvars import ContextVar
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import NamedTuple
from uuid import uuid4

import msgspec

from isogloss.decoding import decode_json
from isogloss.errors import DataError

# Seconds without a heartbeat after which an owner on another machine is dead.
STALE = 180.0
# Seconds between two heartbeats.
HEARTBEAT = 15.0
# Seconds between checks of other processes' files.
POLL = 0.2
# Seconds without a heartbeat after which a lock that is damaged or dated in the future is free.
IMPOSSIBLE = 3 * HEARTBEAT
# Latest time that Python can format.
_LATEST = datetime(9999, 1, 1, tzinfo=UTC).timestamp()

# Name of the job that this process executes.
_JOB = ContextVar("job", default="")
# Dates of locks that are dated in the future, and the times they were first seen.
_IN_THE_FUTURE: dict[Path, tuple[float, float]] = {}


class Owner(msgspec.Struct, frozen=True, kw_only=True):
    """Owner of a lock: machine (host, boot and process namespace; "" for a damaged lock), process, and a unique token.

    Process numbers are reused, hence the start of the process. A dispatcher may know that the process of a job died,
    on any machine, before the lock expires.
    """

    machine: str
    pid: int
    started: str
    token: str
    since: str = ""
    job: str = ""

    @property
    def node(self) -> str:
        """Name of the machine."""
        return self.machine.partition(" ")[0]


class _Link(NamedTuple):
    file: Path
    owner: Owner


class Lock(AbstractContextManager["Lock"]):
    """A held lock with a heartbeat, until it is released."""

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
                # Without a time, the file server's clock is used, which also measures the age.
                os.utime(self._mine)
            except FileNotFoundError:
                return

    @property
    def is_held(self) -> bool:
        """True until the lock is released or taken away, as happens to a worker that its dispatcher gave up."""
        return owners(self.path)[-1:] == [self.owner]

    def release(self) -> None:
        """Release the lock."""
        self._released.set()
        self._heart.join()
        chain = _chain(self.path)
        if chain and chain[-1].owner == self.owner:
            for link in chain:
                link.file.unlink(missing_ok=True)

    def __exit__(self, *error: object) -> None:
        self.release()


def acquire(path: Path) -> Lock | None:
    """Return the lock, or None if a living process owns it or was quicker; raise a DataError if it is not writable."""
    since = datetime.now(UTC).isoformat(sep=" ", timespec="seconds")
    pid = os.getpid()
    me = Owner(machine=_machine(), pid=pid, started=_started(pid), token=uuid4().hex, since=since, job=_JOB.get())
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(f"cannot be written ({error.strerror or error})", where=str(path.parent)) from error
    claim = path.with_name(f".{path.name}.{me.token}.claim")
    try:
        claim.write_bytes(msgspec.json.encode(me))
        chain = _chain(path)
        if chain and _alive(chain[-1], claim.stat().st_mtime):
            return None
        mine = _successor(path, chain[-1].owner) if chain else path
        mine.hardlink_to(claim)
    except (FileExistsError, FileNotFoundError):
        return None  # another process was quicker, or removed our claim
    except OSError as error:
        raise DataError(f"cannot be written ({error.strerror or error})", where=str(path)) from error
    finally:
        claim.unlink(missing_ok=True)
    if owners(path)[-1:] != [me]:
        # Meanwhile, another successor of the dead owner has taken and released the lock.
        mine.unlink(missing_ok=True)
        return None
    return Lock(path, mine, me)


def is_free(path: Path) -> bool:
    """Return True if no living process owns the lock; only reads files, so `acquire` may still fail."""
    chain = _chain(path)
    return not chain or not _alive(chain[-1], time.time())


def wait_for_lock(path: Path, on_waiting: Callable[[str], None] = lambda _: None, waiting: str = "") -> Lock:
    """Wait for a lock and return it; `on_waiting` is called regularly with `waiting` and the owner of the lock."""
    while (lock := acquire(path)) is None:
        if owner := holder(path):
            on_waiting(f"{waiting}: {path} is held by {owner}")
        time.sleep(POLL)
    return lock


def holder(path: Path) -> str:
    """Describe the owner of a lock, "" if it is free."""
    chain = _chain(path)
    if not chain:
        return ""
    file, owner = chain[-1]
    if not owner.machine:
        return f"no process: the file is damaged and is taken over when it is {IMPOSSIBLE:.0f} s old"
    text = f"process {owner.pid} on {owner.node}" + (f" since {owner.since}" if owner.since else "")
    if owner.machine != _machine() and _written(file) > time.time() + STALE:
        dated = datetime.fromtimestamp(min(_written(file), _LATEST), UTC).isoformat(sep=" ", timespec="seconds")
        text += f", dated {dated}, in the future; it is taken over after {IMPOSSIBLE:.0f} s without a heartbeat"
    return text


def owners(path: Path) -> list[Owner]:
    """Return the owner of a lock, preceded by the dead owners it was taken over from."""
    return [link.owner for link in _chain(path)]


@contextmanager
def on_behalf_of(job: str) -> Iterator[None]:
    """Context in which locks carry the name of a job; "" keeps the name of the enclosing context."""
    token = _JOB.set(job or _JOB.get())
    try:
        yield
    finally:
        _JOB.reset(token)


def release_all(folder: Path, job: str = "") -> None:
    """Remove every lock of a dead job, or of this process ("", after an interrupt), below a folder."""
    me = _machine(), os.getpid(), _started(os.getpid())
    for path in _locks(folder.rglob("*.lock*")):
        chain = _chain(path)
        owner = chain[-1].owner if chain else None
        if owner is not None and (owner.job == job if job else (owner.machine, owner.pid, owner.started) == me):
            for link in chain:
                link.file.unlink(missing_ok=True)


@contextmanager
def releasing_on_interrupt(folder: Path) -> Iterator[None]:
    """Context that releases all locks on Ctrl-C, which may come between taking a lock and entering its context."""
    try:
        yield
    except KeyboardInterrupt:
        release_all(folder)
        raise


def remove_stale(folder: Path) -> None:
    """Remove files that dead owners left in a folder: locks, unfinished claims and orphaned chains."""
    files = [*folder.rglob("*.lock*")]
    locks = _locks(files)
    for path in locks:
        if (lock := acquire(path)) is not None:
            lock.release()
    held = {link.file for path in locks for link in _chain(path)}
    leftovers = [file for file in files if file not in held]
    if leftovers:
        os.utime(folder)
        now = folder.stat().st_mtime
        for file in leftovers:
            owner = _read(file)
            unfinished = owner is not None and not owner.machine and file.name[0] == "."
            if owner is not None and (unfinished or not _alive(_Link(file, owner), now)):
                file.unlink(missing_ok=True)


def _locks(files: Iterable[Path]) -> set[Path]:
    """Return the locks that some files belong to."""
    return {file.with_name(file.name.partition(".lock")[0] + ".lock") for file in files if file.name[0] != "."}


def _successor(path: Path, dead: Owner) -> Path:
    return path.with_name(f"{path.name}.{dead.token}")


def _chain(path: Path) -> list[_Link]:
    """Return the files of a lock from the first owner to the current one; empty if it is free."""
    chain: dict[Path, Owner] = {}
    file = path
    while (owner := _read(file)) is not None:
        if _successor(path, owner) in (file, *chain):  # a cycle, which no owner creates
            owner = _damaged_owner(file)
        chain[file] = owner
        file = _successor(path, owner)
    return [_Link(*item) for item in chain.items()]


def _read(file: Path) -> Owner | None:
    try:
        owner: Owner = decode_json(file.read_bytes(), "", Owner)
    except FileNotFoundError:
        if file.is_symlink():
            raise DataError("broken link", where=str(file), fix="Remove it") from None
        return None
    except OSError as error:
        raise DataError(f"cannot be read ({error.strerror or error})", where=str(file), fix="Remove it") from error
    except DataError:
        # A power failure may leave an empty file, which expires.
        return _damaged_owner(file)
    # The token becomes part of a file's name.
    return owner if owner.pid > 0 and re.fullmatch(r"[\w-]{1,64}", owner.token) else _damaged_owner(file)


def _damaged_owner(file: Path) -> Owner:
    try:
        inode = file.stat().st_ino
    except FileNotFoundError:
        inode = 0
    return Owner(machine="", pid=0, started="", token=f"damaged-{inode}")


def _written(file: Path) -> float:
    """Return the time of the last heartbeat, 0 if the file is gone."""
    try:
        return file.stat().st_mtime
    except FileNotFoundError:
        return 0.0


def _alive(link: _Link, now: float) -> bool:
    """Return True if an owner is alive: a running process of this machine, or a recent heartbeat."""
    if link.owner.machine == _machine():
        return _started(link.owner.pid) == link.owner.started
    touched = _written(link.file)
    if touched <= now + STALE:
        _IN_THE_FUTURE.pop(link.file, None)
        return now - touched < (STALE if link.owner.machine else IMPOSSIBLE)
    # Its age is unknown, but a living owner would update the date.
    seen = _IN_THE_FUTURE.get(link.file)
    if seen is None or seen[0] != touched:
        seen = _IN_THE_FUTURE[link.file] = touched, time.monotonic()
    return time.monotonic() - seen[1] < IMPOSSIBLE


@cache
def _machine() -> str:
    """Return the scope of process numbers: host, boot and, in containers, namespace."""
    parts = [socket.gethostname()]
    with suppress(OSError):  # not Linux: only the host name
        parts.append(Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip())
        parts.append(str(Path("/proc/self/ns/pid").readlink()))
    return " ".join(parts)


def _started(pid: int) -> str:
    """Return the start of a process in the system's unit, "" if it does not exist."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
        state, *fields = text.rpartition(")")[2].split()
        # A zombie has ended. The start time is field 22, and `state` is field 3.
        return "" if state in "ZX" else fields[18]
    except OSError:
        if Path("/proc/self/stat").exists():
            return ""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return ""
    except PermissionError:
        pass  # running, owned by another user
    return "running"
