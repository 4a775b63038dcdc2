"""Locks: one owner at a time, and exactly one takeover from a dead owner."""

import multiprocessing
import os
import random
import re
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from isogloss.errors import DataError
from isogloss.runs import locks
from isogloss.runs.locks import Owner, acquire, holder, owners, release_all, remove_stale

FORK = multiprocessing.get_context("fork")


def dead_pid() -> int:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def put(path: Path, *, machine: str | None = None, pid: int | None = None, started: str = "1", age: float = 0) -> Owner:
    """Write a lock of another owner."""
    owner = Owner(
        machine=locks._machine() if machine is None else machine,
        pid=pid or dead_pid(),
        started=started,
        token=os.urandom(4).hex(),
    )
    path.write_bytes(msgspec.json.encode(owner))
    os.utime(path, (time.time() - age, time.time() - age))
    return owner


def test_a_lock_has_one_owner_until_it_is_released(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "x.lock"
    lock = acquire(path)
    assert lock is not None
    assert acquire(path) is None
    assert [owner.pid for owner in owners(path)] == [os.getpid()]
    lock.release()
    assert list(path.parent.iterdir()) == []
    with acquire(path) as again:  # type: ignore[union-attr]
        assert again.owner.token != lock.owner.token
    assert not path.exists()


def test_a_lock_is_released_by_an_exception(tmp_path: Path) -> None:
    lock = acquire(tmp_path / "x.lock")
    assert lock is not None
    with pytest.raises(KeyboardInterrupt), lock:
        raise KeyboardInterrupt
    assert list(tmp_path.iterdir()) == []


def test_a_process_releases_only_its_own_locks(tmp_path: Path) -> None:
    others = [tmp_path / "far.lock", tmp_path / "before.lock"]
    put(others[0], machine="elsewhere")
    put(others[1], pid=os.getpid())  # an earlier process of the same number
    put(tmp_path / "sub.lock")
    for path in (tmp_path / "deep" / "mine.lock", tmp_path / "sub.lock"):  # the second taken over from a dead one
        assert acquire(path) is not None
    release_all(tmp_path)
    assert sorted(tmp_path.rglob("*.lock*")) == sorted(others)


def test_the_lock_of_a_dead_process_is_taken_over(tmp_path: Path) -> None:
    path = tmp_path / "x.lock"
    put(path)
    lock = acquire(path)
    assert lock is not None
    assert acquire(path) is None
    lock.release()
    assert list(tmp_path.iterdir()) == []


def test_a_reused_process_number_is_another_process(tmp_path: Path) -> None:
    path = tmp_path / "x.lock"
    put(path, pid=os.getpid(), started="1")
    assert acquire(path) is not None
    path = tmp_path / "y.lock"
    put(path, pid=os.getpid(), started=locks._started(os.getpid()))
    assert acquire(path) is None


def test_a_zombie_is_dead(tmp_path: Path) -> None:
    path = tmp_path / "x.lock"
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    put(path, pid=process.pid, started=locks._started(process.pid))
    assert acquire(path) is None
    process.kill()
    deadline = time.monotonic() + 10
    while (lock := acquire(path)) is None and time.monotonic() < deadline:
        time.sleep(0.01)
    assert lock is not None
    process.communicate()


def test_an_owner_on_another_machine_is_alive_while_its_lock_is_fresh(tmp_path: Path) -> None:
    path = tmp_path / "x.lock"
    put(path, machine="elsewhere", pid=os.getpid(), age=locks.STALE - 30)
    assert acquire(path) is None
    put(path, machine="elsewhere", pid=os.getpid(), age=locks.STALE + 30)
    assert acquire(path) is not None


def test_age_is_measured_by_the_clock_of_the_file_system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.lock"
    put(path, machine="elsewhere")
    monkeypatch.setattr(time, "time", lambda: 0.0)
    assert acquire(path) is None


def test_a_held_lock_is_kept_fresh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(locks, "HEARTBEAT", 0.01)
    path = tmp_path / "x.lock"
    with acquire(path):  # type: ignore[union-attr]
        os.utime(path, (0, 0))
        deadline = time.monotonic() + 10
        while path.stat().st_mtime == 0 and time.monotonic() < deadline:
            time.sleep(0.01)
        assert path.stat().st_mtime > 0


def test_a_successor_that_died_has_a_successor(tmp_path: Path) -> None:
    path = tmp_path / "x.lock"
    first = put(path)
    second = put(locks._successor(path, first))
    lock = acquire(path)
    assert lock is not None
    assert [owner.token for owner in owners(path)] == [first.token, second.token, lock.owner.token]
    assert acquire(path) is None
    lock.release()
    assert list(tmp_path.iterdir()) == []


def test_an_old_empty_lock_is_free(tmp_path: Path) -> None:
    path = tmp_path / "x.lock"
    path.touch()
    assert acquire(path) is None
    os.utime(path, (0, 0))
    assert acquire(path) is not None


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\xff",
        b'{"machine": "\xff", "pid": 1, "started": "", "token": "x"}',
        b'{"machine": "far", "pid": 1, "started": "1", "token": "../../x/y"}',
        b'{"machine": "far", "pid": 1, "started": "1", "token": "a\\u0000b"}',
        b'{"machine": "far", "pid": 1, "started": "1", "token": ""}',
        b'{"machine": "far", "pid": -1, "started": "1", "token": "x"}',
    ],
)
def test_a_damaged_lock_without_heartbeat_is_free(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "x.lock"
    path.write_bytes(content)
    assert acquire(path) is None
    assert holder(path) == "no process: the file is damaged and is taken over when it is 45 s old"
    old = time.time() - locks.IMPOSSIBLE - 1
    os.utime(path, (old, old))
    lock = acquire(path)
    assert lock is not None
    lock.release()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("links", [1, 2, 3])
def test_a_cycle_of_tokens_ends(tmp_path: Path, links: int) -> None:
    """`x.lock.0` names itself, or an earlier owner, as its predecessor."""
    path = tmp_path / "x.lock"
    for number in range(links + 1):
        file = path.with_name(f"x.lock.{number - 1}") if number else path
        file.write_bytes(msgspec.json.encode(Owner(machine="far", pid=1, started="1", token=str(number % links))))
        os.utime(file, (0, 0))
    remove_stale(tmp_path)
    assert holder(path) == ""
    lock = acquire(path)
    assert lock is not None
    lock.release()
    assert list(tmp_path.iterdir()) == []


def test_a_lock_dated_in_the_future_is_taken_over_without_a_heartbeat(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "x.lock"
    put(path, machine="far", pid=7, age=-1e9)
    assert acquire(path) is None
    assert re.fullmatch(
        r"process 7 on far, dated 20\d\d-.*, in the future; it is taken over after 45 s without a heartbeat",
        holder(path),
    )
    began = time.monotonic()
    monkeypatch.setattr(time, "monotonic", lambda: began + locks.IMPOSSIBLE - 1)
    assert acquire(path) is None
    os.utime(path, (time.time() + 2e9,) * 2)  # touched, although by a wrong clock
    monkeypatch.setattr(time, "monotonic", lambda: began + locks.IMPOSSIBLE + 1)
    assert acquire(path) is None
    monkeypatch.setattr(time, "monotonic", lambda: began + 2 * locks.IMPOSSIBLE + 2)
    assert acquire(path) is not None


def test_a_holder_is_described_with_its_time(tmp_path: Path) -> None:
    path = tmp_path / "x.lock"
    assert holder(path) == ""
    with acquire(path) as lock:  # type: ignore[union-attr]
        host = lock.owner.machine.split()[0]
        assert holder(path) == f"process {os.getpid()} on {host} since {lock.owner.since}"
        assert lock.owner.since.endswith("+00:00")


@pytest.mark.parametrize("taken_anew", [False, True])
def test_an_orphaned_successor_withdraws(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, taken_anew: bool) -> None:
    """Another process takes over and releases the lock between our look at the dead owner and our takeover."""
    path = tmp_path / "x.lock"
    put(path)
    look = locks._chain
    meanwhile = []

    def late(of: Path) -> list[locks._Link]:
        seen = look(of)
        if not meanwhile:
            meanwhile.append(None)
            other = acquire(path)
            assert other is not None
            other.release()
            meanwhile.append(acquire(path) if taken_anew else None)
        return seen

    monkeypatch.setattr(locks, "_chain", late)
    assert acquire(path) is None
    monkeypatch.undo()
    third = meanwhile[1]
    assert [file.name for file in tmp_path.iterdir()] == (["x.lock"] if taken_anew else [])
    if third is not None:
        assert owners(path) == [third.owner]
        third.release()


def _contend(path: Path, rounds: int) -> None:
    """Work under the lock repeatedly at a random pace; a second owner would find the marker."""
    rng = random.Random(os.getpid())

    def late(act: Any) -> Any:
        def done_late(*words: Any, **more: Any) -> Any:
            found = act(*words, **more)
            time.sleep(rng.choice((0, 0, 0.0002, 0.002)))
            return found

        return done_late

    locks._chain = late(locks._chain)
    Path.unlink = late(Path.unlink)  # type: ignore[method-assign]
    inside, done = path.with_name("inside"), 0
    while done < rounds:
        lock = acquire(path)
        if lock is None:
            continue
        os.close(os.open(inside, os.O_CREAT | os.O_EXCL))
        time.sleep(0.001)
        inside.unlink()
        done += 1
        if done % 2:
            lock.release()
        else:  # as if killed: the lock stays, and its owner is dead
            lock._released.set()
            scratch = path.with_name(f"gone-{os.getpid()}")
            scratch.write_bytes(msgspec.json.encode(msgspec.structs.replace(lock.owner, started="1")))
            scratch.replace(lock._mine)


@pytest.mark.slow
def test_two_processes_never_hold_one_lock(tmp_path: Path) -> None:
    crowd = [FORK.Process(target=_contend, args=(tmp_path / "x.lock", 40)) for _ in range(4)]
    for process in crowd:
        process.start()
    for process in crowd:
        process.join()
    assert [process.exitcode for process in crowd] == [0, 0, 0, 0]


def test_remove_stale_removes_only_files_of_dead_owners(tmp_path: Path) -> None:
    below = tmp_path / "a" / "b"
    below.mkdir(parents=True)
    first = put(below / "dead.lock")
    put(locks._successor(below / "dead.lock", first))
    put(below / f"orphan.lock.{'0' * 8}")
    put(below / ".dead.lock.token.claim")
    put(below / ".far.lock.token.claim", machine="elsewhere", age=locks.STALE + 30)
    (below / ".unwritten.lock.token.claim").touch()
    (below / "sw.json").touch()
    put(below / "far.lock", machine="elsewhere")
    lock = acquire(below / "mine.lock")
    beginning = put(below / "taken.lock")
    successor = acquire(below / "taken.lock")
    assert lock is not None
    assert successor is not None
    remove_stale(tmp_path)
    kept = {"sw.json", "far.lock", "mine.lock", "taken.lock", f"taken.lock.{beginning.token}"}
    assert {file.name for file in below.iterdir()} == kept
    assert [file.name for file in tmp_path.iterdir()] == ["a"]
    lock.release()
    successor.release()


@pytest.mark.parametrize("content", [b'{"machine": "\xff"}', b"[" * 100_000, b""])
def test_a_binary_lock_is_free(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "x.lock"
    path.write_bytes(content)
    os.utime(path, (0, 0))
    lock = acquire(path)
    assert lock is not None
    lock.release()


@pytest.mark.parametrize(
    ("put_there", "said"),
    [
        (Path.mkdir, "cannot be read"),
        (lambda path: path.symlink_to(path), "cannot be read"),
        (lambda path: path.symlink_to("nowhere"), "broken link"),
    ],
)
def test_an_unreadable_lock_raises(tmp_path: Path, put_there: Callable[[Path], Any], said: str) -> None:
    put_there(tmp_path / "x.lock")
    with pytest.raises(DataError, match=said):
        acquire(tmp_path / "x.lock")
    assert [path.name for path in tmp_path.iterdir()] == ["x.lock"]
