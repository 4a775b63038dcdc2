"""Running a board: the web server in this process, workers in others, which are started again when they die."""

import errno
import logging
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import uvicorn

from isogloss.board.server.app import create_app
from isogloss.board.server.board import OpenBoard, open_board
from isogloss.board.server.database import writing
from isogloss.board.server.impatience import ImpatientProtocol
from isogloss.board.server.queue import enqueue
from isogloss.board.server.scoring import rescore
from isogloss.board.server.worker import write_log
from isogloss.errors import IsoglossError

LOG = logging.getLogger("isogloss.board")

_HEADER_BYTES = 24 << 10
_CONNECTIONS = 2_000
# An upload that nobody continued for so long never will be.
_ABANDONED = 24 * 3600


def prepare(board: OpenBoard) -> None:
    """What a server does first: clear away what never arrived, and have done what a new version asks for."""
    for part in board.incoming.glob("*.part"):
        with suppress(FileNotFoundError):  # it has arrived meanwhile, at another server
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
    """Serve a board until told to stop.

    Args:
        folder: the board's folder.
        host: the address to listen on; a web server stands in front of it.
        port: the port.
        workers: processes that score; 0 where others do.
        on_ready: called when the board is open and the port is its own, just before it is served.

    Raises:
        DataError: the folder is no board, or its database cannot be used.
        IsoglossError: nothing can listen at that address and port.
    """
    write_log()
    board = open_board(folder)
    listener = _listen(host, port)
    prepare(board)
    config = uvicorn.Config(
        create_app(board),
        loop="asyncio",
        http=ImpatientProtocol,
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        h11_max_incomplete_event_size=_HEADER_BYTES,
        timeout_keep_alive=5,
        timeout_graceful_shutdown=10,
        limit_concurrency=_CONNECTIONS,
        proxy_headers=bool(board.settings.trusted_proxies),
        forwarded_allow_ips=list(board.settings.trusted_proxies),
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
        what = "another program listens there" if taken else f"cannot be listened at ({error.strerror or error})"
        fix = "Choose another --port, or stop that program" if taken else "Choose another --host or --port"
        raise IsoglossError(what, where=f"{host}:{port}", fix=fix) from None


@contextmanager
def running_workers(folder: Path, count: int) -> Iterator[list[subprocess.Popen[bytes]]]:
    """Keep so many workers alive; at the end they are asked to put back what they do, and soon made to."""
    command = [sys.executable, "-m", "isogloss.board.server.worker", str(folder), str(os.getpid())]
    workers = [subprocess.Popen(command) for _ in range(count)]  # noqa: S603 - our own program
    ended = threading.Event()

    def watch() -> None:
        while not ended.wait(1.0):
            for place, worker in enumerate(workers):
                if worker.poll() is not None and not ended.is_set():
                    LOG.warning("worker %s died (%s); another starts", worker.pid, worker.returncode)
                    workers[place] = subprocess.Popen(command)  # noqa: S603 - our own program

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
