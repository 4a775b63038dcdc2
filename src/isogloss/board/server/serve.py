"""Serve a board: the web application, its server in this process, and workers that are restarted when they die."""

import errno
import logging
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import uvicorn
from fastapi import Depends, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from sqlalchemy import select
from sqlalchemy.exc import OperationalError
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response

from isogloss.board.server import routes
from isogloss.board.server.access import RateLimits, limited_reads
from isogloss.board.server.addresses import TrustedProxies
from isogloss.board.server.answers import ErrorAnswer, ProblemAnswer, error_response
from isogloss.board.server.board import OpenBoard, open_board
from isogloss.board.server.connections import (
    MAX_CONNECTIONS,
    BoardServer,
    ConnectionLimits,
    TimeoutProtocol,
    raise_file_limit,
)
from isogloss.board.server.database import Submission, reading, writing
from isogloss.board.server.middleware import ConditionalAnswers, Protection, StaticPages
from isogloss.board.server.queue import enqueue
from isogloss.board.server.retention import clean_up, cleaning_up
from isogloss.board.server.scoring import rescore
from isogloss.board.server.worker import write_log
from isogloss.data.files import keep_files_private
from isogloss.errors import IsoglossError
from isogloss.escaping import printable
from isogloss.version import __version__

LOG = logging.getLogger("isogloss.board")
API = "/api/v1"


def create_app(board: OpenBoard) -> FastAPI:
    """Return the application of an open board."""
    app = FastAPI(
        title=board.settings.title,
        version=__version__,
        description="Submissions to a leaderboard with private labels. Every error has a cause, a location and a fix.",
        openapi_url=f"{API}/openapi.json",
        docs_url=None,  # it would load scripts from other sites
        redoc_url=None,
        redirect_slashes=False,
    )
    app.state.board, app.state.limits = board, RateLimits(board)
    for router in (routes.public, routes.teams):
        app.include_router(router, prefix=API, dependencies=[Depends(limited_reads)])
    app.add_api_route("/healthz", _health, include_in_schema=False)
    for error, handler in _HANDLERS.items():
        app.add_exception_handler(error, handler)
    app.add_middleware(ConditionalAnswers)
    app.add_middleware(StaticPages, board=board)
    settings = board.settings
    protection = {"upload_bytes": settings.upload_bytes, "silence_seconds": settings.silence_seconds}
    app.add_middleware(Protection, upload_path=f"{API}/submissions", **protection)  # type: ignore[arg-type]
    return app


def _health(request: Request) -> dict[str, str]:
    with reading(request.app.state.board.engine) as session:
        session.scalar(select(Submission.id).limit(1))
    return {"status": "ok", "isogloss": __version__}


async def _refused(_: Request, error: HTTPException) -> Response:
    """Return an error response, converting the framework's errors to our format."""
    content = error.detail if isinstance(error.detail, dict) else ErrorAnswer(what=str(error.detail)).model_dump()
    return JSONResponse(content, error.status_code, error.headers)


async def _invalid(_: Request, error: RequestValidationError) -> Response:
    problems = [
        ProblemAnswer(where=printable(".".join(map(str, entry["loc"])), 200), what=printable(str(entry["msg"]), 300))
        for entry in error.errors()
    ]
    return JSONResponse(ErrorAnswer(what="invalid request", problems=problems).model_dump(), 422)


async def _no_database(_: Request, error: Exception) -> Response:
    LOG.error("database unavailable: %s", error)
    what, fix = "the board's database is unavailable", "Try again later"
    return error_response(503, what, fix, {"Retry-After": "10"})


async def _failed(_: Request, error: Exception) -> Response:
    LOG.error("a request failed", exc_info=error)
    return error_response(
        500, "internal server error", "Report it to the board's administrator; the log has the details"
    )


_HANDLERS: dict[Any, Callable[[Request, Any], Awaitable[Response]]] = {
    HTTPException: _refused,
    RequestValidationError: _invalid,
    OperationalError: _no_database,
    Exception: _failed,
}


def prepare(board: OpenBoard) -> None:
    """Clean up and queue the work that a new version requires."""
    clean_up(board)
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
    keep_files_private()
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
    )
    limits = ConnectionLimits(
        per_client=board.settings.connections_per_address,
        total=raise_file_limit(),
        trusted=TrustedProxies.of(board.settings.trusted_proxies),
    )
    on_ready()
    with listener, cleaning_up(board), running_workers(board.folder, workers):
        BoardServer(config, listener, limits).run()


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=MAX_CONNECTIONS)
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
