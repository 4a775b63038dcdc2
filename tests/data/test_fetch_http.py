"""Downloads from a server that behaves badly: nothing wrong is ever kept, and nothing right is fetched twice."""

import hashlib
import io
import json
import os
import random
import re
import signal
import subprocess
import sys
import tarfile
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from isogloss.data.fetch import Outcome, Patience, fetch
from isogloss.data.sources import Dataset, Rule, Source

HASTE = Patience(attempts=3, stall=0.3, pause=0.01)
CONTENT = random.Random(7).randbytes(1_200_000)

Behaviour = Callable[["Handler", bytes], None]


class Handler(BaseHTTPRequestHandler):
    server: "Server"
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        asked = self.headers.get("Range")
        self.server.requests.append((self.path, asked))
        behaviours = self.server.scripts.get(self.path, [])
        behaviour = behaviours.pop(0) if behaviours else serve
        behaviour(self, self.server.files.get(self.path, b""))

    def log_message(self, *_: object) -> None:
        pass

    def wanted(self, content: bytes) -> int:
        """The first byte the client wants; 0 where its version is another one."""
        if self.headers.get("If-Range", tag(content)) != tag(content):
            return 0
        return int(self.headers.get("Range", "bytes=0-").removeprefix("bytes=").rstrip("-"))

    def head(self, content: bytes, start: int) -> None:
        self.send_response(206 if start else 200)
        self.send_header("ETag", tag(content))
        self.send_header("Content-Length", str(len(content) - start))
        if start:
            self.send_header("Content-Range", f"bytes {start}-{len(content) - 1}/{len(content)}")
        self.end_headers()


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.files: dict[str, bytes] = {}
        self.scripts: dict[str, list[Behaviour]] = {}
        self.requests: list[tuple[str, str | None]] = []
        self.over = threading.Event()
        self.silences = 0
        self.url = f"http://127.0.0.1:{self.server_port}"

    def handle_error(self, *_: object) -> None:
        """Clients that hang up are what these tests are about."""


def tag(content: bytes) -> str:
    return f'"{hashlib.md5(content, usedforsecurity=False).hexdigest()}"'


def serve(handler: Handler, content: bytes) -> None:
    start = handler.wanted(content)
    if not content:
        return status(404)(handler, content)
    if start >= len(content):
        handler.send_response(416)
        handler.send_header("Content-Range", f"bytes */{len(content)}")
        handler.send_header("Content-Length", "0")
        handler.end_headers()
        return None
    handler.head(content, start)
    handler.wfile.write(content[start:])
    return None


def serve_from_the_start(handler: Handler, content: bytes) -> None:
    handler.head(content, 0)
    handler.wfile.write(content)


def cut(size: int, then: Behaviour = serve) -> Behaviour:
    """Promise all, send `size` bytes, hang up."""

    def behave(handler: Handler, content: bytes) -> None:
        start = 0 if then is serve_from_the_start else handler.wanted(content)
        handler.head(content, start)
        handler.wfile.write(content[start : start + size])
        handler.close_connection = True

    return behave


def stall(size: int) -> Behaviour:
    """Send `size` bytes, then nothing, keeping the line open."""

    def behave(handler: Handler, content: bytes) -> None:
        start = handler.wanted(content)
        handler.head(content, start)
        handler.wfile.write(content[start : start + size])
        handler.wfile.flush()
        handler.server.over.wait(5)
        handler.server.silences += 1
        handler.close_connection = True

    return behave


def drip(handler: Handler, content: bytes) -> None:
    """Send slowly enough to be killed meanwhile."""
    handler.head(content, 0)
    for start in range(0, len(content), 50_000):
        handler.wfile.write(content[start : start + 50_000])
        if handler.server.over.wait(0.1):
            break


def corrupt(handler: Handler, content: bytes) -> None:
    serve(handler, content[:1000] + bytes([content[1000] ^ 1]) + content[1001:])


def status(code: int) -> Behaviour:
    def behave(handler: Handler, _content: bytes) -> None:
        handler.send_response(code)
        handler.send_header("Content-Length", "0")
        handler.end_headers()

    return behave


def redirect(handler: Handler, _content: bytes) -> None:
    handler.send_response(302)
    handler.send_header("Location", "/elsewhere" + handler.path)
    handler.send_header("Content-Length", "0")
    handler.end_headers()


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as running:
        thread = threading.Thread(target=running.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        yield running
        running.over.set()
        running.shutdown()


def file_of(server: Server, content: bytes = CONTENT, **changes: object) -> Dataset:
    """A dataset of one file that the server has."""
    server.files["/file.bin"] = content
    fields = {
        "dataset": "toy",
        "name": "file.bin",
        "urls": (f"{server.url}/file.bin",),
        "size": len(content),
        "sha256": hashlib.sha256(content).hexdigest(),
        "path": "toy/file.bin",
    }
    return Dataset("toy", "Toy", "none", (Source(**{**fields, **changes}),))  # type: ignore[arg-type]


def only(outcomes: list[Outcome]) -> Outcome:
    assert len(outcomes) == 1
    return outcomes[0]


def leftovers(data: Path) -> list[str]:
    return sorted(p.relative_to(data).as_posix() for p in data.rglob("*") if p.is_file() and p.name != "lock")


def run(dataset: Dataset, data: Path, **options: object) -> Outcome:
    return only(fetch([dataset], data, **{"patience": HASTE, **options}))  # type: ignore[arg-type]


def test_file_arrives_once_and_leaves_nothing_behind(server: Server, tmp_path: Path) -> None:
    toy = file_of(server)
    seen: list[int] = []
    assert run(toy, tmp_path, progress=lambda source, done: seen.append(done)).state == "fetched"
    assert (tmp_path / "toy/file.bin").read_bytes() == CONTENT
    assert leftovers(tmp_path) == ["toy/file.bin"]
    assert seen == sorted(seen)
    assert seen[-1] == len(CONTENT)
    assert run(toy, tmp_path).state == "kept"
    assert len(server.requests) == 1
    assert run(toy, tmp_path, force=True).state == "fetched"
    assert len(server.requests) == 2


def test_damaged_file_on_disk_is_replaced(server: Server, tmp_path: Path) -> None:
    toy = file_of(server)
    run(toy, tmp_path)
    (tmp_path / "toy/file.bin").write_bytes(CONTENT[:-1] + b"!")
    assert run(toy, tmp_path).state == "fetched"
    assert (tmp_path / "toy/file.bin").read_bytes() == CONTENT


def test_broken_connections_are_resumed(server: Server, tmp_path: Path) -> None:
    toy = file_of(server)
    # More breaks than there are attempts: each brings new bytes, so none counts against the server.
    server.scripts["/file.bin"] = [cut(196_608) for _ in range(5)]
    assert run(toy, tmp_path).state == "fetched"
    assert (tmp_path / "toy/file.bin").read_bytes() == CONTENT
    assert [asked for _, asked in server.requests] == [
        None,
        *(f"bytes={196_608 * n}-" for n in range(1, 6)),
    ]


def test_server_without_ranges_is_read_from_the_start(server: Server, tmp_path: Path) -> None:
    toy = file_of(server)
    server.scripts["/file.bin"] = [cut(300_000, serve_from_the_start), serve_from_the_start]
    assert run(toy, tmp_path).state == "fetched"
    assert (tmp_path / "toy/file.bin").read_bytes() == CONTENT


def test_truncating_server_is_given_up_and_its_part_kept(server: Server, tmp_path: Path) -> None:
    toy = file_of(server)
    server.scripts["/file.bin"] = [cut(131_072, serve_from_the_start) for _ in range(4)]
    outcome = run(toy, tmp_path)
    assert outcome.state == "failed"
    assert "cut off after 131,072" in str(outcome.problem)
    assert leftovers(tmp_path) == [".fetch/toy/file.bin/file.bin.part", ".fetch/toy/file.bin/file.bin.part.tag"]
    server.scripts.clear()
    assert run(toy, tmp_path).state == "fetched"
    assert server.requests[-1][1] == "bytes=131072-"
    assert leftovers(tmp_path) == ["toy/file.bin"]


def test_damage_on_the_way_gets_a_second_chance(server: Server, tmp_path: Path) -> None:
    toy = file_of(server)
    server.scripts["/file.bin"] = [corrupt]
    assert run(toy, tmp_path).state == "fetched"
    assert (tmp_path / "toy/file.bin").read_bytes() == CONTENT


def test_wrong_file_on_the_server_is_refused(server: Server, tmp_path: Path) -> None:
    toy = file_of(server)
    server.scripts["/file.bin"] = [corrupt, corrupt]
    outcome = run(toy, tmp_path)
    assert outcome.state == "failed"
    assert "not the published file" in str(outcome.problem)
    assert leftovers(tmp_path) == []


def test_file_that_grows_beyond_its_size_is_stopped(server: Server, tmp_path: Path) -> None:
    toy = file_of(server)
    server.files["/file.bin"] = CONTENT * 3
    outcome = run(toy, tmp_path)
    assert "longer than the 1,200,000 bytes" in str(outcome.problem)
    assert leftovers(tmp_path) == []


def test_silence_is_not_waited_for(server: Server, tmp_path: Path) -> None:
    toy = file_of(server)
    server.scripts["/file.bin"] = [stall(400_000)]
    assert run(toy, tmp_path).state == "fetched"
    assert server.silences == 0  # the first request is still being kept waiting
    assert (tmp_path / "toy/file.bin").read_bytes() == CONTENT
    assert server.requests[1][1] is not None


def test_server_that_never_answers_is_given_up(server: Server, tmp_path: Path) -> None:
    def mute(handler: Handler, _content: bytes) -> None:
        handler.server.over.wait(5)
        handler.close_connection = True

    toy = file_of(server)
    server.scripts["/file.bin"] = [mute, mute]
    outcome = run(toy, tmp_path, patience=Patience(attempts=2, stall=0.1, pause=0.01))
    assert "no answer for 0.1 s" in str(outcome.problem)


def test_redirects_are_followed(server: Server, tmp_path: Path) -> None:
    toy = file_of(server)
    server.files["/elsewhere/file.bin"] = CONTENT
    server.scripts["/file.bin"] = [redirect]
    assert run(toy, tmp_path).state == "fetched"
    assert [path for path, _ in server.requests] == ["/file.bin", "/elsewhere/file.bin"]


def test_busy_server_is_asked_again_a_missing_file_is_not(server: Server, tmp_path: Path) -> None:
    toy = file_of(server)
    server.scripts["/file.bin"] = [status(500), status(503)]
    assert run(toy, tmp_path).state == "fetched"
    assert len(server.requests) == 3
    server.requests.clear()
    server.scripts["/file.bin"] = [status(404)]
    outcome = run(toy, tmp_path, force=True)
    assert outcome.state == "failed"
    assert "HTTP 404" in str(outcome.problem)
    assert "--mirror" in str(outcome.problem)
    assert len(server.requests) == 1
    assert (tmp_path / "toy/file.bin").read_bytes() == CONTENT


def test_second_official_place_is_tried(server: Server, tmp_path: Path) -> None:
    toy = file_of(server, urls=(f"{server.url}/gone", f"{server.url}/file.bin"))
    assert run(toy, tmp_path).state == "fetched"


def test_dead_host_is_tried_for_one_file_only(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pauses: list[float] = []
    monkeypatch.setattr("isogloss.data.fetch_download.time.sleep", pauses.append)
    source = file_of(server).sources[0]
    dead = "http://127.0.0.1:9/file.bin"  # the discard port: nobody listens
    sources = tuple(
        Source("toy", f"{n}.bin", (dead,), source.size, source.sha256, path=f"toy/{n}.bin") for n in range(20)
    )
    living = Source("toy", "file.bin", source.urls, source.size, source.sha256, path="toy/file.bin")
    outcomes = fetch([Dataset("toy", "Toy", "none", (*sources, living))], tmp_path, patience=HASTE)
    assert pauses == [0.01, 0.02]
    assert [outcome.state for outcome in outcomes] == ["failed"] * 20 + ["fetched"]
    assert {str(outcome.problem) for outcome in outcomes[:20]} == {
        "127.0.0.1:9: no connection. Check the network, or use --mirror"
    }


def tarball(**members: bytes) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for name, content in members.items():
            info = tarfile.TarInfo(f"top/{name}.txt")
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return buffer.getvalue()


def archive_of(server: Server, content: bytes, sha256: str = "") -> Dataset:
    server.files["/toy.tgz"] = content
    rule = Rule(re.compile(r"top/(\w+)\.txt"), "toy/{0}.txt")
    source = Source("toy", "toy.tgz", (f"{server.url}/toy.tgz",), 0, sha256, rules=(rule,), members=2)
    return Dataset("toy", "Toy", "none", (source,))


def test_unknown_checksum_is_recorded_and_holds_from_then_on(server: Server, tmp_path: Path) -> None:
    first, second = tarball(a=b"one", b=b"two"), tarball(a=b"one", b=b"changed")
    toy = archive_of(server, first)
    assert run(toy, tmp_path).state == "fetched"
    record = json.loads((tmp_path / "checksums.json").read_text())["toy/toy.tgz"]
    assert record["sha256"] == hashlib.sha256(first).hexdigest()
    assert record["files"] == {
        "toy/a.txt": hashlib.sha256(b"one").hexdigest(),
        "toy/b.txt": hashlib.sha256(b"two").hexdigest(),
    }
    assert run(toy, tmp_path).state == "kept"
    assert leftovers(tmp_path) == ["checksums.json", "toy/a.txt", "toy/b.txt"]

    server.files["/toy.tgz"] = second
    (tmp_path / "toy/b.txt").unlink()
    outcome = run(toy, tmp_path)
    assert outcome.state == "failed"
    assert "not the one that was first fetched" in str(outcome.problem)
    assert "checksums.json" in str(outcome.problem)
    assert not (tmp_path / "toy/b.txt").exists()

    server.files["/toy.tgz"] = first
    assert run(toy, tmp_path).state == "fetched"
    assert (tmp_path / "toy/b.txt").read_bytes() == b"two"


def test_two_versions_are_never_glued_together(server: Server, tmp_path: Path) -> None:
    noise = random.Random(1)
    old = tarball(a=noise.randbytes(300_000), b=b"old")
    new = tarball(a=noise.randbytes(300_000), b=b"new")
    toy = archive_of(server, old)
    server.scripts["/toy.tgz"] = [cut(100_000), cut(0), cut(0), cut(0)]
    assert run(toy, tmp_path).state == "failed"
    server.files["/toy.tgz"] = new
    server.scripts.clear()
    assert run(toy, tmp_path).state == "fetched"
    assert (tmp_path / "toy/b.txt").read_bytes() == b"new"
    recorded = json.loads((tmp_path / "checksums.json").read_text())["toy/toy.tgz"]["sha256"]
    assert recorded == hashlib.sha256(new).hexdigest()


def test_error_page_in_place_of_an_archive_is_not_recorded(server: Server, tmp_path: Path) -> None:
    toy = archive_of(server, b"<html>Sorry, we have moved.</html>")
    outcome = run(toy, tmp_path)
    assert outcome.state == "failed"
    assert "not a whole archive" in str(outcome.problem)
    assert leftovers(tmp_path) == []
    server.files["/toy.tgz"] = tarball(a=b"one", b=b"two")
    assert run(toy, tmp_path).state == "fetched"


def test_archive_with_too_few_files_is_refused(server: Server, tmp_path: Path) -> None:
    outcome = run(archive_of(server, tarball(a=b"one")), tmp_path)
    assert "has 1 of the 2 files" in str(outcome.problem)
    assert leftovers(tmp_path) == []


CHILD = """
import sys
from pathlib import Path
from isogloss.data.fetch import fetch
from isogloss.data.sources import Dataset, Source
url, sha256, data = sys.argv[1:]
source = Source("toy", "file.bin", (url,), 1_200_000, sha256, path="toy/file.bin")
fetch([Dataset("toy", "Toy", "none", (source,))], Path(data))
"""


def test_killed_download_goes_on_where_it_stopped(server: Server, tmp_path: Path) -> None:
    toy = file_of(server)
    source = toy.sources[0]
    server.scripts["/file.bin"] = [drip]
    part = tmp_path / ".fetch/toy/file.bin/file.bin.part"
    child = subprocess.Popen([sys.executable, "-c", CHILD, source.urls[0], source.sha256, str(tmp_path)])
    deadline = time.monotonic() + 10
    while not (part.exists() and part.stat().st_size) and time.monotonic() < deadline:
        time.sleep(0.01)
    with pytest.raises(Exception, match="another fetch is at work"):
        fetch([toy], tmp_path)
    os.kill(child.pid, signal.SIGKILL)
    child.wait()
    had = part.stat().st_size
    assert 0 < had < len(CONTENT)
    assert not (tmp_path / "toy/file.bin").exists()
    assert run(toy, tmp_path).state == "fetched"
    assert server.requests[-1] == ("/file.bin", f"bytes={had}-")
    assert (tmp_path / "toy/file.bin").read_bytes() == CONTENT
    assert leftovers(tmp_path) == ["toy/file.bin"]
