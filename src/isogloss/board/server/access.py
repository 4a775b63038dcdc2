"""Who may do what: by the token in a request's header, and nowhere else: no other site can make a browser send it."""

from collections.abc import Callable
from typing import Annotated

from fastapi import Depends, Request
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from isogloss.board.server.answers import ErrorAnswer, listed_refusal
from isogloss.board.server.board import OpenBoard
from isogloss.board.server.database import reading
from isogloss.board.server.protection import RateLimit
from isogloss.board.server.shared_limits import SharedRateLimit
from isogloss.board.server.tokens import Bearer, bearer_of

_SCHEME = HTTPBearer(auto_error=False, description="A token that the board's keeper gave to the team")
_ASK = "Send the header Authorization: Bearer isogloss_…; the board's keeper gives tokens to teams"


class RateLimits:
    """Reads by address, of each server alone, so that they write nothing; changes by team and wrong tokens by address,
    of all servers together.
    """

    def __init__(self, board: OpenBoard) -> None:
        settings = board.settings
        self.reads = RateLimit(settings.reads_per_minute)
        self.writes = SharedRateLimit(board.engine, "changes", settings.writes_per_minute)
        self.failures = SharedRateLimit(board.engine, "wrong tokens", settings.failures_per_minute)


def board_of(request: Request) -> OpenBoard:
    """The board that the server serves."""
    board: OpenBoard = request.app.state.board
    return board


def address_of(request: Request) -> str:
    """Where a request comes from."""
    return request.client.host if request.client is not None else ""


def limited_reads(request: Request) -> None:
    """Count a request to the API against its address."""
    request.app.state.limits.reads.check(address_of(request), "requests")


def check_scope(bearer: Bearer, scope: str) -> None:
    """Refuse what a token is not for."""
    if scope not in bearer.scopes:
        answer = ErrorAnswer(
            what=f"the token is not for: {scope}", fix=f"It is for: {', '.join(sorted(bearer.scopes))}"
        )
        raise listed_refusal(403, answer)


def bearer_with(scope: str) -> Callable[..., Bearer]:
    """What a route depends on whose callers need a token for something."""

    def find_bearer(
        request: Request,
        board: Annotated[OpenBoard, Depends(board_of)],
        sent: Annotated[HTTPAuthorizationCredentials | None, Depends(_SCHEME)],
    ) -> Bearer:
        limits: RateLimits = request.app.state.limits
        if sent is None:
            raise listed_refusal(401, ErrorAnswer(what="this takes a token", fix=_ASK), {"WWW-Authenticate": "Bearer"})
        with reading(board.engine) as session:
            bearer = bearer_of(session, sent.credentials, board.pepper)
        if bearer is None:
            limits.failures.check(address_of(request))
            answer = ErrorAnswer(what="the token is unknown or revoked", fix=_ASK)
            raise listed_refusal(401, answer, {"WWW-Authenticate": "Bearer"})
        check_scope(bearer, scope)
        if scope != "read":
            limits.writes.check(str(bearer.team_id))
        return bearer

    return find_bearer
