"""Serve a board: the web server in this process, and worker processes that are restarted when they die."""

import errno
import logging
import os
import socket
import subprocess
import sys
import threading
import time
from asyncio import TimerHandle
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from isogloss.board.server.app import create_app
from isogloss.board.server.board import OpenBoard, open_board
from isogloss.board.server.database import writing
from isogloss.board.server.queue import enqueue
from isogloss.board.server.scoring import rescore
from isogloss.board.server.worker import write_log
from isogloss.errors import IsoglossError

LOG = logging.getLogger("isogloss.board")

_CONNECTIONS = 2_000
# Age in seconds at which an unfinished upload is deleted.
_ABANDONED = 24 * 3600
# Every connection is checked at this interval. A request's head must arrive within two intervals; a response must
# advance by this many bytes in at least one of any four.
_STEP_SECONDS = 5.0
_HEAD_STEPS = 2
_UNREAD_STEPS = 4
_BYTES_PER_STEP = 5_000


class TimeoutProtocol(H11Protocol):
    """HTTP/1.1 connection that drops slow or idle clients.

    uvicorn limits only idle keep-alive connections, not the time to send a request's head or to read a response.
    """

    _timer: TimerHandle | None = None
    _headless_steps = _unread_steps = _unsent = 0
    _last_cycle: object = None

    def connection_made(self, transport: Any) -> None:
        """Start checking."""
        super().connection_made(transport)
        self._timer = self.loop.call_later(_STEP_SECONDS, self._check)

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop checking."""
        if self._timer is not None:
            self._timer.cancel()
        super().connection_lost(exc)

    def _check(self) -> None:
        is_headless = self.conn.their_state is h11.IDLE and self.cycle is self._last_cycle
        self._headless_steps = self._headless_steps + 1 if is_headless else 0
        unsent = self.transport.get_write_buffer_size()
        is_unread = unsent > max(0, self._unsent - _BYTES_PER_STEP)
        self._unread_steps = self._unread_steps + 1 if is_unread else 0
        self._last_cycle, self._unsent = self.cycle, unsent
        if self._headless_steps >= _HEAD_STEPS or self._unread_steps >= _UNREAD_STEPS:
            self.transport.abort()
        else:
            self._timer = self.loop.call_later(_STEP_SECONDS, self._check)


def prepare(board: OpenBoard) -> None:
    """Remove abandoned uploads and queue the work that a new version requires."""
    for part in board.incoming.glob("*.part"):
        with suppress(FileNotFoundError):  # completed by another server in the meantime
            if time.time() - part.stat().st_mtime > _ABANDONED:
                part.unlink()
    with writing(board.engine) as session:
        if board.settings.rescore_on_upgrade:
            rescore(session, "server")
        enqueue(session, "site")


def serve(
    folder: Path,
    host: str = "127.0.0.1",
    port: int = 8000,
    workers: int = 1,
    on_ready: Callable[[], None] = lambda: None,
) -> None:
    """Serve a board until interrupted.

    Args:
        folder: board folder.
        host: address to listen on, normally behind a TLS proxy.
        port: port to listen on.
        workers: number of scoring processes; 0 if they run elsewhere.
        on_ready: callback after the board is open and the port is bound.

    Raises:
        DataError: not a board folder, or its database is unavailable.
        IsoglossError: cannot listen on the address and port.
    """
    write_log()
    board = open_board(folder)
    listener = _listen(host, port)
    prepare(board)
    config = uvicorn.Config(
        create_app(board),
        http=TimeoutProtocol,
        loop="asyncio",
        ws="none",
        lifespan="off",
        proxy_headers=bool(board.settings.trusted_proxies),
        forwarded_allow_ips=list(board.settings.trusted_proxies),
        log_config=None,
        access_log=False,
        server_header=False,
        h11_max_incomplete_event_size=24 << 10,
        timeout_keep_alive=5,
        timeout_graceful_shutdown=10,
        limit_concurrency=_CONNECTIONS,
    )
    on_ready()
    with listener, running_workers(board.folder, workers):
        uvicorn.Server(config).run(sockets=[listener])


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=_CONNECTIONS)
    except OSError as error:
        taken = error.errno == errno.EADDRINUSE
        what = "address already in use" if taken else f"cannot listen ({error.strerror or error})"
        fix = "Choose another --port, or stop the other program" if taken else "Choose another --host or --port"
        raise IsoglossError(what, where=f"{host}:{port}", fix=fix) from None


@contextmanager
def running_workers(folder: Path, count: int) -> Iterator[list[subprocess.Popen[bytes]]]:
    """Keep `count` workers alive; on exit, terminate them so that they requeue their jobs, then kill them."""
    command = [sys.executable, "-m", "isogloss.board.server.worker", str(folder), str(os.getpid())]
    workers = [subprocess.Popen(command) for _ in range(count)]  # noqa: S603 - our own command
    ended = threading.Event()

    def watch() -> None:
        while not ended.wait(1.0):
            for index, worker in enumerate(workers):
                if worker.poll() is not None and not ended.is_set():
                    LOG.warning("worker %s died (%s); starting another", worker.pid, worker.returncode)
                    workers[index] = subprocess.Popen(command)  # noqa: S603 - our own command

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield workers
    finally:
        ended.set()
        watcher.join()
        for worker in workers:
            worker.terminate()
        for worker in workers:
            try:
                worker.wait(5)
            except subprocess.TimeoutExpired:
                worker.kill()
                worker.wait()
