"""Limits on open connections, per client and in total, on real sockets."""

import errno
import logging
import resource
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from hypothesis import given
from hypothesis import strategies as st
from starlette.responses import PlainTextResponse

from board.server.made_board import make_board
from board.server.served import served
from isogloss.board.server import connections
from isogloss.board.server.addresses import TrustedProxies, client_network
from isogloss.board.server.connections import BoardServer, ConnectionLimits, TimeoutProtocol, raise_file_limit

SOON = 60
NOT_BUILT = b"HTTP/1.1 503 Service Unavailable"  # the pages of a new board
REQUEST = b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"


def limits(per_client: int = 0, total: int = 1_000, trusted: tuple[str, ...] = ()) -> ConnectionLimits:
    return ConnectionLimits(per_client=per_client, total=total, trusted=TrustedProxies.of(trusted))


@contextmanager
def running(listener: socket.socket, allowed: ConnectionLimits) -> Iterator[int]:
    """Run a server in a thread and yield its port."""
    options: dict[str, Any] = {"http": TimeoutProtocol, "lifespan": "off", "log_config": None, "loop": "asyncio"}
    server = BoardServer(uvicorn.Config(PlainTextResponse("fine"), **options), listener, allowed)
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        yield listener.getsockname()[1]
    finally:
        server.should_exit = True
        thread.join(SOON)
        assert not thread.is_alive()


def connect(port: int, source: str = "127.0.0.1", target: str = "127.0.0.1") -> socket.socket:
    return socket.create_connection((target, port), SOON, (source, 0))


def answer(line: socket.socket) -> bytes:
    """Return the status line of the response; b"" if the server refused the connection."""
    received = b""
    with suppress(ConnectionResetError, BrokenPipeError):
        line.sendall(REQUEST)
        while chunk := line.recv(65_536):  # to the end: the server counts the connection until it has closed it
            received += chunk
    return received.partition(b"\r\n")[0]


def answers_on(port: int, count: int, **ends: str) -> list[bool]:
    """Open connections, then send a request on each; return True for each that the server answers."""
    with ExitStack() as stack:
        lines = [stack.enter_context(closing(connect(port, **ends))) for _ in range(count)]
        # The last connections are refused while the first are idle.
        return [answer(line) == b"HTTP/1.1 200 OK" for line in reversed(lines)][::-1]


def test_connections_of_one_client_are_limited() -> None:
    with running(socket.create_server(("127.0.0.1", 0)), limits(per_client=5)) as port:
        assert answers_on(port, 9) == [True] * 5 + [False] * 4
        assert answers_on(port, 5, source="127.0.0.2") == [True] * 5, "another client"
        assert answers_on(port, 6) == [True] * 5 + [False], "closed connections do not count"


def test_total_number_is_limited() -> None:
    with running(socket.create_server(("127.0.0.1", 0)), limits(total=4)) as port, closing(connect(port, "127.0.0.9")):
        assert answers_on(port, 5) == [True] * 3 + [False] * 2


@pytest.mark.parametrize("trusted", ["127.0.0.1", "127.0.0.0/8", "*"])
def test_trusted_proxies_are_limited_in_total_only(trusted: str) -> None:
    allowed = limits(per_client=2, total=8, trusted=("not an address", trusted))
    with running(socket.create_server(("127.0.0.1", 0)), allowed) as port:
        assert answers_on(port, 10) == [True] * 8 + [False] * 2


def test_ipv6_clients_are_limited() -> None:
    try:
        listener = socket.create_server(("::1", 0), family=socket.AF_INET6)
    except OSError:
        pytest.skip("IPv6 is not available")
    with running(listener, limits(per_client=3)) as port:
        assert answers_on(port, 5, source="::1", target="::1") == [True] * 3 + [False] * 2


def test_open_connections_are_forgotten_when_they_end() -> None:
    allowed = limits(per_client=2, total=3)
    ends = [
        allowed.admit(host) for host in ("2001:db8::1", "2001:db8::ffff:1", "2001:db8::2", "192.0.2.1", "192.0.2.2")
    ]
    assert [end is not None for end in ends] == [True, True, False, True, False]
    for end in filter(None, [*ends, *ends]):
        end()  # again: an end counts once
    assert not allowed._open
    assert limits(total=2).admit("::1") is not None, "0 means no limit per client"


@given(st.ip_addresses(v=6), st.integers(0, 2**64 - 1))
def test_ipv6_addresses_of_a_network_count_together(address: Any, suffix: int) -> None:
    neighbour = type(address)(int(address) >> 64 << 64 | suffix)
    if address.ipv4_mapped is None and neighbour.ipv4_mapped is None:
        assert client_network(str(address)) == client_network(str(neighbour))
        assert client_network(str(address)) != client_network(str(type(address)(int(address) ^ 1 << 64)))


def test_other_addresses_count_alone() -> None:
    hosts = ("192.0.2.1", "::ffff:192.0.2.1", "fe80::1%eth0", "testclient", "")
    assert [client_network(host) for host in hosts] == ["192.0.2.1", "192.0.2.1", "fe80::/64", "testclient", ""]
    proxies = TrustedProxies.of(["10.0.0.0/8", "::1"])
    assert [host in proxies for host in ("10.1.2.3", "::ffff:10.1.2.3", "::1", "11.0.0.1", "::2", "testclient")] == [
        *[True] * 3,
        *[False] * 3,
    ]


class ExhaustedListener(socket.socket):
    """Listener for which a number of calls to accept() fail."""

    failures = 5
    error = errno.EMFILE

    def accept(self) -> tuple[socket.socket, Any]:
        if self.failures:
            self.failures -= 1
            raise OSError(self.error, "Too many open files")
        return super().accept()


@pytest.mark.parametrize("error", [errno.EMFILE, errno.EPROTO])
def test_failures_to_accept_pause_and_log_once(
    error: int, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(connections, "_PAUSE_SECONDS", 0.01)
    listener = ExhaustedListener()
    listener.error = error
    listener.bind(("127.0.0.1", 0))
    listener.listen()
    with caplog.at_level(logging.WARNING, "isogloss.board"), running(listener, limits()) as port:
        assert answers_on(port, 3) == [True] * 3
    assert listener.failures == 0
    lines = [entry.getMessage() for entry in caplog.records if "accept" in entry.getMessage()]
    assert lines == ["cannot accept connections: Too many open files (1 since the last such line)"]


def test_rare_warnings_are_counted(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    now = 100.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    warn = connections.RareWarning("refused %s")
    for second in range(150):
        now = 100.0 + second
        warn("x")
    assert [entry.getMessage() for entry in caplog.records] == [
        f"refused x ({count} since the last such line)" for count in (1, 60, 60)
    ]


@pytest.mark.parametrize(
    ("soft", "hard", "expected"),
    [
        (1_024, 1_024, 768),
        (256, 4_000, 3_000),
        (100, 100, 1),
        (1_024, resource.RLIM_INFINITY, 4_000),
        (50, 99_999, 4_000),
    ],
)
def test_connections_leave_files_for_others(
    soft: int, hard: int, expected: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted: list[tuple[int, int]] = []
    monkeypatch.setattr(resource, "getrlimit", lambda _: (soft, hard))
    monkeypatch.setattr(resource, "setrlimit", lambda _, pair: wanted.append(pair))
    assert raise_file_limit() == expected
    assert wanted == [(hard, hard)]


def fill(port: int, count: int) -> Callable[[], None]:
    """Open idle connections without waiting for the server; return the function that closes them."""
    lines = []
    for _ in range(count):
        lines.append(socket.socket())
        lines[-1].setblocking(False)
        with suppress(BlockingIOError):
            lines[-1].connect(("127.0.0.1", port))
    return lambda: [line.close() for line in lines] and None


@pytest.mark.slow
def test_idle_connections_of_one_address(tmp_path: Path) -> None:
    """A flood from one address neither reaches the limit of files nor fills the log; other clients are served."""
    board = make_board(tmp_path / "board")
    setup = "import resource\nresource.setrlimit(resource.RLIMIT_NOFILE, (256, 1024))"
    with served(board.folder, setup=setup, log=tmp_path / "log") as server:
        release = fill(server.port, 1_100)
        try:
            for _ in range(5):
                with closing(connect(server.port, "127.0.0.2")) as line:
                    assert answer(line) == NOT_BUILT
        finally:
            release()
    log = (tmp_path / "log").read_text()
    assert log.count("127.0.0.1 has 64 connections; refusing more") == 1
    assert len(log) < 5_000


@pytest.mark.slow
def test_server_without_file_descriptors(tmp_path: Path) -> None:
    """The server survives a lack of file descriptors, logs it once, and recovers."""
    board = make_board(tmp_path / "board", connections_per_address=0)
    setup = """import resource
resource.setrlimit(resource.RLIMIT_NOFILE, (150, 150))
from isogloss.board.server import connections
connections._RESERVED, connections._RESERVED_SHARE, connections._STEP_SECONDS = -1_000, 10**6, 0.5"""
    with served(board.folder, setup=setup, log=tmp_path / "log") as server:
        release = fill(server.port, 400)
        try:
            with closing(connect(server.port)) as line:  # waits until idle connections are dropped
                assert answer(line) == NOT_BUILT
        finally:
            release()
    log = (tmp_path / "log").read_text()
    assert log.count("cannot accept connections: Too many open files") == 1
    assert "Traceback" not in log
    assert len(log) < 5_000
