"""Clients that mean no good, by real sockets: slow, silent, too long, or not listening; others are served meanwhile."""

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
import requests

from board.server.made_board import make_board, make_token
from board.server.served import ServedBoard, served
from isogloss.board.server import impatience

pytestmark = pytest.mark.slow

FORM = b"Content-Type: multipart/form-data; boundary=b\r\n"
# Seconds within which a rude client is certainly cut off, on a busy machine too.
SOON = 60


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedBoard]:
    board = make_board(tmp_path_factory.mktemp("rude") / "board", silence_seconds=0.5, writes_per_minute=1_000)
    site = board.site / "site-1000000000"
    site.mkdir()
    (site / "data.js").write_bytes(b"x" * (8 << 20))
    (board.site / "current").symlink_to(site.name)
    (board.folder / "token").write_text(make_token(board))
    with served(board.folder) as running:
        yield running
        assert requests.get(f"{running.address}/healthz", timeout=5).ok
        assert list((running.folder / "incoming").iterdir()) == []


def connect(server: ServedBoard, received: int = 0) -> socket.socket:
    line = socket.socket()
    if received:
        line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, received)
    line.settimeout(SOON)
    line.connect(("127.0.0.1", server.port))
    return line


def heard(line: socket.socket) -> bytes:
    """All that comes until the server hangs up."""
    found = b""
    with suppress(ConnectionResetError):
        while chunk := line.recv(65536):
            found += chunk
    return found


def talk(server: ServedBoard, *parts: bytes) -> bytes:
    with connect(server) as line:
        for part in parts:
            line.sendall(part)
        return heard(line)


def upload_head(server: ServedBoard) -> bytes:
    token = (server.folder / "token").read_text()
    return f"POST /api/v1/submissions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\n".encode() + FORM


def dripping(line: socket.socket, drop: bytes, pause: float) -> bytes:
    """What is heard by a client that sends a drop now and then, for as long as it can."""
    over = threading.Event()

    def drip() -> None:
        with suppress(OSError):
            while not over.wait(pause):
                line.sendall(drop)

    sender = threading.Thread(target=drip)
    sender.start()
    try:
        return heard(line)
    finally:
        over.set()
        sender.join()


def test_a_body_that_stops(server: ServedBoard) -> None:
    answer = talk(server, upload_head(server) + b"Content-Length: 1000\r\n\r\n--b\r\n")
    assert b" 408 " in answer.splitlines()[0]


def test_a_body_drop_by_drop(server: ServedBoard) -> None:
    """Never silent for long, and never done."""
    with connect(server) as line:
        line.sendall(upload_head(server) + b"Content-Length: 100000\r\n\r\n--b\r\n")
        started = time.monotonic()
        assert b" 408 " in dripping(line, b"x", 0.1).splitlines()[0]
        assert time.monotonic() - started < SOON


def test_a_head_that_never_ends(server: ServedBoard) -> None:
    assert talk(server, b"GET / HTTP/1.1\r\nHost: x\r\nX-Slow: ") == b""


def test_a_head_drop_by_drop(server: ServedBoard) -> None:
    with connect(server) as line:
        line.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n")
        assert dripping(line, b"X: y\r\n", 0.3) == b""


def test_a_second_head_drop_by_drop(server: ServedBoard) -> None:
    """Whoever has been served once is not trusted for ever."""
    with connect(server) as line:
        line.sendall(b"GET /api/v1/queue HTTP/1.1\r\nHost: x\r\n\r\nGET / HTTP/1.1\r\n")
        found = dripping(line, b"X: y\r\n", 0.3)
    assert found.count(b"HTTP/1.1 ") == 1
    assert b" 200 " in found.splitlines()[0]


def test_an_answer_that_is_not_read(server: ServedBoard) -> None:
    """A client that asks for much and reads nothing does not stay for ever; what it was to get is thrown away."""
    with connect(server, received=4_096) as line:
        line.sendall(b"GET /data.js HTTP/1.1\r\nHost: x\r\n\r\n")
        time.sleep((impatience._UNREAD_STEPS + 2) * impatience._SECONDS)
        assert len(heard(line)) < 8 << 20


def test_an_answer_that_is_read_slowly_comes_in_full(server: ServedBoard) -> None:
    with connect(server, received=65_536) as line:
        line.sendall(b"GET /data.js HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        found = 0
        while chunk := line.recv(65_536):
            found += len(chunk)
            time.sleep(0.05)
    assert found > 8 << 20


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        # 431 if it comes at once; 400 if the connection hands it over in pieces.
        (b"GET / HTTP/1.1\r\nHost: x\r\nX-Long: " + b"x" * 70_000 + b"\r\n\r\n", b" 4"),
        (b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nX-Long: " + b"x" * 18_000 + b"\r\n\r\n", b" 431 "),
        (b"GET / HTTP/1.1\r\nHost: x\r\n" + b"X: y\r\n" * 20_000 + b"\r\n", b" 4"),
        (b"GET /" + b"x" * 70_000 + b" HTTP/1.1\r\nHost: x\r\n\r\n", b" 4"),
        (b"GET /?" + b"x" * 5_000 + b" HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", b" 414 "),
        (b"\x16\x03\x01 nonsense\r\n\r\n", b" 400 "),
    ],
)
def test_heads_that_are_too_long_or_none(sent: bytes, status: bytes, server: ServedBoard) -> None:
    assert status in talk(server, sent).splitlines()[0]


def test_more_bytes_than_are_taken(server: ServedBoard) -> None:
    """Said, or unsaid."""
    assert b" 413 " in talk(server, upload_head(server) + b"Content-Length: 99999999999\r\n\r\n").splitlines()[0]
    chunk = b"10000\r\n" + b"x" * 65_536 + b"\r\n"
    queue = b"POST /api/v1/queue HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
    assert b" 405 " in talk(server, queue + chunk + chunk).splitlines()[0]


def test_many_silent_connections_keep_nobody_out(server: ServedBoard, tmp_path: Path) -> None:
    lines = [connect(server) for _ in range(300)]
    try:
        for line in lines:
            line.sendall(b"GET / HTTP/1.1\r\n")
        assert requests.get(f"{server.address}/api/v1/board", timeout=SOON).ok
    finally:
        for line in lines:
            line.close()
