"""The web application of a board: pages, API and middleware."""

import logging
from collections.abc import Awaitable, Callable
from typing import Any

from fastapi import Depends, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from sqlalchemy import select
from sqlalchemy.exc import OperationalError
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response

from isogloss.board.server import routes
from isogloss.board.server.access import RateLimits, limited_reads
from isogloss.board.server.answers import ErrorAnswer, ProblemAnswer, error_response
from isogloss.board.server.board import OpenBoard
from isogloss.board.server.database import reading
from isogloss.board.server.middleware import ConditionalAnswers, Protection, StaticPages
from isogloss.board.server.models import Submission
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
