"""Slow, idle, oversized and non-reading clients on real sockets, while others are served."""

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

pytestmark = pytest.mark.slow

FORM = b"Content-Type: multipart/form-data; boundary=b\r\n"
# Seconds within which a bad client is dropped, even on a busy machine.
SOON = 60
# Check connections ten times as often as usual.
OFTEN = "from isogloss.board.server import connections\nconnections._STEP_SECONDS = 0.5"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedBoard]:
    limits = {"silence_seconds": 0.5, "writes_per_minute": 1_000, "connections_per_address": 1_000}
    board = make_board(tmp_path_factory.mktemp("rude") / "board", **limits)
    site = board.site / "site-1000000000"
    site.mkdir()
    (site / "data.js").write_bytes(b"x" * (8 << 20))
    (board.site / "current").symlink_to(site.name)
    (board.folder / "token").write_text(make_token(board))
    with served(board.folder, setup=OFTEN) as running:
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
    """Return everything received until the server closes the connection."""
    received = b""
    with suppress(ConnectionResetError):
        while chunk := line.recv(65536):
            received += chunk
    return received


def talk(server: ServedBoard, *parts: bytes) -> bytes:
    with connect(server) as line:
        for part in parts:
            line.sendall(part)
        return heard(line)


def upload_head(server: ServedBoard) -> bytes:
    token = (server.folder / "token").read_text()
    return f"POST /api/v1/submissions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\n".encode() + FORM


def dripping(line: socket.socket, drop: bytes, pause: float) -> bytes:
    """Return the response to a client that sends slowly until it is dropped."""
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


def test_stalled_body(server: ServedBoard) -> None:
    answer = talk(server, upload_head(server) + b"Content-Length: 1000\r\n\r\n--b\r\n")
    assert b" 408 " in answer.splitlines()[0]


def test_slow_body(server: ServedBoard) -> None:
    """The client is never idle for long but too slow."""
    with connect(server) as line:
        line.sendall(upload_head(server) + b"Content-Length: 100000\r\n\r\n--b\r\n")
        started = time.monotonic()
        assert b" 408 " in dripping(line, b"x", 0.1).splitlines()[0]
        assert time.monotonic() - started < SOON


def test_unfinished_head(server: ServedBoard) -> None:
    assert talk(server, b"GET / HTTP/1.1\r\nHost: x\r\nX-Slow: ") == b""


def test_slow_head(server: ServedBoard) -> None:
    with connect(server) as line:
        line.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n")
        assert dripping(line, b"X: y\r\n", 0.1) == b""


def test_slow_second_head(server: ServedBoard) -> None:
    """The timeout also applies to later requests of a connection."""
    with connect(server) as line:
        line.sendall(b"GET /api/v1/queue HTTP/1.1\r\nHost: x\r\n\r\nGET / HTTP/1.1\r\n")
        received = dripping(line, b"X: y\r\n", 0.1)
    assert received.count(b"HTTP/1.1 ") == 1
    assert b" 200 " in received.splitlines()[0]


def server_keeps(line: socket.socket) -> bool:
    """Return True if the server's end of a connection is still open."""
    (_, server_port), (_, own_port) = line.getpeername(), line.getsockname()
    ends = f":{server_port:04X} 0100007F:{own_port:04X} 01 "
    return ends in Path("/proc/net/tcp").read_text(encoding="ascii")


def test_unread_response(server: ServedBoard) -> None:
    """A client that does not read its response is dropped, and the response discarded."""
    with connect(server, received=4_096) as line:
        line.sendall(b"GET /data.js HTTP/1.1\r\nHost: x\r\n\r\n")
        deadline = time.monotonic() + SOON
        while server_keeps(line):
            assert time.monotonic() < deadline
            time.sleep(0.05)
        assert len(heard(line)) < 8 << 20


def test_slowly_read_response_is_complete(server: ServedBoard) -> None:
    """Reading takes longer than a response may stand still."""
    with connect(server, received=65_536) as line:
        line.sendall(b"GET /data.js HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        received = 0
        while chunk := line.recv(65_536):
            received += len(chunk)
            time.sleep(0.02)
    assert received > 8 << 20


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        # 431 if it arrives in one piece, 400 otherwise.
        (b"GET / HTTP/1.1\r\nHost: x\r\nX-Long: " + b"x" * 70_000 + b"\r\n\r\n", b" 4"),
        (b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nX-Long: " + b"x" * 18_000 + b"\r\n\r\n", b" 431 "),
        (b"GET / HTTP/1.1\r\nHost: x\r\n" + b"X: y\r\n" * 20_000 + b"\r\n", b" 4"),
        (b"GET /" + b"x" * 70_000 + b" HTTP/1.1\r\nHost: x\r\n\r\n", b" 4"),
        (b"GET /?" + b"x" * 5_000 + b" HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", b" 414 "),
        (b"\x16\x03\x01 nonsense\r\n\r\n", b" 400 "),
    ],
)
def test_oversized_and_invalid_heads(sent: bytes, status: bytes, server: ServedBoard) -> None:
    assert status in talk(server, sent).splitlines()[0]


def test_oversized_bodies(server: ServedBoard) -> None:
    """With and without Content-Length."""
    assert b" 413 " in talk(server, upload_head(server) + b"Content-Length: 99999999999\r\n\r\n").splitlines()[0]
    chunk = b"10000\r\n" + b"x" * 65_536 + b"\r\n"
    queue = b"POST /api/v1/queue HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
    assert b" 405 " in talk(server, queue + chunk + chunk).splitlines()[0]


def test_many_idle_connections_do_not_block_others(server: ServedBoard, tmp_path: Path) -> None:
    lines = [connect(server) for _ in range(300)]
    try:
        for line in lines:
            line.sendall(b"GET / HTTP/1.1\r\n")
        assert requests.get(f"{server.address}/api/v1/board", timeout=SOON).ok
    finally:
        for line in lines:
            line.close()
