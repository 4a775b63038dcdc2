"""Downloads from a misbehaving server: damaged data are never kept, and intact data never fetched twice."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from fetch_server import (
    CONTENT,
    HASTE,
    Handler,
    Server,
    corrupt,
    cut,
    drip,
    file_of,
    leftovers,
    redirect,
    run,
    running,
    serve_from_the_start,
    stall,
    status,
)
from isogloss.data import files
from isogloss.data.fetch import RetryPolicy, fetch
from isogloss.data.fetch.catalog import Dataset, RemoteFile
from isogloss.data.fetch.downloaders import DownloadLimit, ResumingDownloader
from isogloss.errors import DataError

IMPATIENT = RetryPolicy(attempts=3, stall=0.3, pause=0.01)


@pytest.fixture
def server() -> Iterator[Server]:
    with running() as server:
        yield server


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
    # More breaks than attempts: each makes progress, so none counts as a failure.
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


def test_truncating_server_fails_and_part_is_kept(server: Server, tmp_path: Path) -> None:
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


def test_short_body_that_the_library_accepts(tmp_path: Path) -> None:
    class Answer(contextlib.nullcontext[None]):
        def __init__(self, start: int) -> None:
            super().__init__()
            self.status_code, self.reason, self.start = (206 if start else 200), "", start
            self.headers = {"Content-Length": str(10 - start), "Content-Range": f"bytes {start}-9/10"}

        def __enter__(self) -> "Answer":  # type: ignore[override]
            return self

        def iter_content(self, _size: int) -> list[bytes]:
            return [b"0123456789"[self.start : self.start + 4]]

    class Library:
        def get(self, _url: str, headers: dict[str, str], **_: object) -> Answer:
            return Answer(int(headers.get("Range", "bytes=0-")[6:-1]))

    download = ResumingDownloader(
        session=Library(),  # type: ignore[arg-type]
        part=tmp_path / "part",
        retry=HASTE,
        checked=True,
        progress=lambda done: None,
        limit=DownloadLimit(10, published=True),
    )
    download("http://example.invalid/", str(tmp_path / "whole"))
    assert (tmp_path / "whole").read_bytes() == b"0123456789"


def test_damage_in_transit_is_retried_once(server: Server, tmp_path: Path) -> None:
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
    assert "longer than the published 1,200,000 bytes" in str(outcome.problem)
    assert leftovers(tmp_path) == []


@pytest.mark.parametrize("announced", [True, False])
def test_file_of_unknown_size_has_a_limit_too(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, announced: bool
) -> None:
    def endless(handler: Handler, content: bytes) -> None:
        handler.send_response(200)
        if announced:
            handler.send_header("Content-Length", str(10**15))
        handler.end_headers()
        while not handler.server.over.is_set():
            handler.wfile.write(content)

    monkeypatch.setattr(files, "MAX_BYTES", 5_000_000)
    toy = file_of(server, sha256="", size=0)
    server.scripts["/file.bin"] = [endless]
    outcome = run(toy, tmp_path)
    assert "longer than 5,000,000 bytes, more than any dataset has" in str(outcome.problem)
    assert "ISOGLOSS_MAX_BYTES" in str(outcome.problem)
    assert leftovers(tmp_path) == []
    assert len(server.requests) == 1
    monkeypatch.setenv("ISOGLOSS_MAX_BYTES", "1000")
    assert "longer than 1,000 bytes" in str(run(toy, tmp_path).problem)


def test_lengths_with_thousands_of_digits_are_ignored(server: Server, tmp_path: Path) -> None:
    def boast(handler: Handler, content: bytes) -> None:
        handler.send_response(200)
        handler.send_header("Content-Range", f"bytes {'9' * 5000}-/{'9' * 5000}")
        handler.send_header("Content-Length", str(len(content)))
        handler.end_headers()
        handler.wfile.write(content)

    toy = file_of(server)
    server.scripts["/file.bin"] = [boast]
    assert run(toy, tmp_path).state == "fetched"


@pytest.mark.parametrize("address", ["file:///etc/hostname", "ftp://example.invalid/x", "data:,x"])
def test_redirects_to_anything_but_the_web_are_refused(server: Server, tmp_path: Path, address: str) -> None:
    def elsewhere(handler: Handler, _content: bytes) -> None:
        handler.send_response(302)
        handler.send_header("Location", address)
        handler.send_header("Content-Length", "0")
        handler.end_headers()

    toy = file_of(server, sha256="", size=0)
    server.scripts["/file.bin"] = [elsewhere]
    outcome = run(toy, tmp_path)
    assert outcome.state == "failed"
    assert "Use --mirror" in str(outcome.problem)
    assert leftovers(tmp_path) == []


def test_stalled_connection_is_dropped(server: Server, tmp_path: Path) -> None:
    toy = file_of(server)
    server.scripts["/file.bin"] = [stall(400_000)]
    assert run(toy, tmp_path, retry=IMPATIENT).state == "fetched"
    assert server.silences == 0  # the first request is still waiting
    assert (tmp_path / "toy/file.bin").read_bytes() == CONTENT
    assert server.requests[1][1] is not None


def test_server_that_never_answers_is_given_up(server: Server, tmp_path: Path) -> None:
    def mute(handler: Handler, _content: bytes) -> None:
        handler.server.over.wait(5)
        handler.close_connection = True

    toy = file_of(server)
    server.scripts["/file.bin"] = [mute, mute, mute]
    outcome = run(toy, tmp_path, retry=IMPATIENT)
    assert "no answer for 0.3 s" in str(outcome.problem)


def test_redirects_are_followed(server: Server, tmp_path: Path) -> None:
    toy = file_of(server)
    server.files["/elsewhere/file.bin"] = CONTENT
    server.scripts["/file.bin"] = [redirect]
    assert run(toy, tmp_path).state == "fetched"
    assert [path for path, _ in server.requests] == ["/file.bin", "/elsewhere/file.bin"]


def test_busy_server_is_retried_missing_file_is_not(server: Server, tmp_path: Path) -> None:
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


def test_second_official_address_is_tried(server: Server, tmp_path: Path) -> None:
    toy = file_of(server, urls=(f"{server.url}/gone", f"{server.url}/file.bin"))
    assert run(toy, tmp_path).state == "fetched"


def test_dead_host_is_tried_for_one_file_only(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pauses: list[float] = []
    monkeypatch.setattr("isogloss.data.fetch.downloaders.time.sleep", pauses.append)
    source = file_of(server).sources[0]
    dead = "http://127.0.0.1:9/file.bin"  # the discard port, without a listener
    sources = tuple(
        RemoteFile(
            dataset="toy", name=f"{n}.bin", urls=(dead,), size=source.size, sha256=source.sha256, path=f"toy/{n}.bin"
        )
        for n in range(20)
    )
    living = RemoteFile(
        dataset="toy", name="file.bin", urls=source.urls, size=source.size, sha256=source.sha256, path="toy/file.bin"
    )
    outcomes = fetch(
        [Dataset(name="toy", title="Toy", licence="none", sources=(*sources, living))], tmp_path, retry=HASTE
    )
    assert pauses == [0.01, 0.02]
    assert [outcome.state for outcome in outcomes] == ["failed"] * 20 + ["fetched"]
    assert {str(outcome.problem) for outcome in outcomes[:20]} == {
        "127.0.0.1:9: no connection. Check the network, or use --mirror"
    }


CHILD = """
import sys
from pathlib import Path
from isogloss.data.fetch import fetch
from isogloss.data.fetch.catalog import Dataset, RemoteFile
url, sha256, data = sys.argv[1:]
source = RemoteFile(dataset="toy", name="file.bin", urls=(url,), size=1_200_000, sha256=sha256, path="toy/file.bin")
fetch([Dataset(name="toy", title="Toy", licence="none", sources=(source,))], Path(data))
"""


def test_killed_download_resumes(server: Server, tmp_path: Path) -> None:
    toy = file_of(server)
    source = toy.sources[0]
    server.scripts["/file.bin"] = [drip]
    part = tmp_path / ".fetch/toy/file.bin/file.bin.part"
    child = subprocess.Popen([sys.executable, "-c", CHILD, source.urls[0], source.sha256, str(tmp_path)])
    deadline = time.monotonic() + 10
    while not (part.exists() and part.stat().st_size) and time.monotonic() < deadline:
        time.sleep(0.01)
    with pytest.raises(DataError, match="another fetch is running"):
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
