"""A local server with configurable failures, for the fetch tests."""

import hashlib
import random
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from isogloss.data.fetch import FetchOutcome, RetryPolicy, fetch
from isogloss.data.fetch.catalog import Dataset, RemoteFile

HASTE = RetryPolicy(attempts=3, stall=10, pause=0.01)
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
        """Return the first byte the client requests; 0 if it has another version."""
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
        """Ignore clients that disconnect, as the tests do on purpose."""


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
    """Announce the whole file, send `size` bytes, and disconnect."""

    def behave(handler: Handler, content: bytes) -> None:
        start = 0 if then is serve_from_the_start else handler.wanted(content)
        handler.head(content, start)
        handler.wfile.write(content[start : start + size])
        handler.close_connection = True

    return behave


def stall(size: int) -> Behaviour:
    """Send `size` bytes, then nothing, keeping the connection open."""

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
    """Send slowly, so that the client can be killed meanwhile."""
    handler.head(content, 0)
    for start in range(0, len(content), 50_000):
        handler.wfile.write(content[start : start + 50_000])
        if handler.server.over.wait(0.2):
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


@contextmanager
def running() -> Iterator[Server]:
    with Server() as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield server
        server.over.set()
        server.shutdown()


def file_of(server: Server, content: bytes = CONTENT, **changes: object) -> Dataset:
    """Return a dataset with one file of the server."""
    server.files["/file.bin"] = content
    fields = {
        "dataset": "toy",
        "name": "file.bin",
        "urls": (f"{server.url}/file.bin",),
        "size": len(content),
        "sha256": hashlib.sha256(content).hexdigest(),
        "path": "toy/file.bin",
    }
    return Dataset(name="toy", title="Toy", licence="none", sources=(RemoteFile(**{**fields, **changes}),))  # type: ignore[arg-type]


def only(outcomes: list[FetchOutcome]) -> FetchOutcome:
    assert len(outcomes) == 1
    return outcomes[0]


def leftovers(data: Path) -> list[str]:
    return sorted(p.relative_to(data).as_posix() for p in data.rglob("*") if p.is_file() and p.name != "lock")


def run(dataset: Dataset, data: Path, **options: object) -> FetchOutcome:
    return only(fetch([dataset], data, **{"retry": HASTE, **options}))  # type: ignore[arg-type]
