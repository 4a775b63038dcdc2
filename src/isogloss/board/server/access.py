"""Access to the API: bearer tokens and rate limits.

Tokens are read only from the header, which other sites cannot make a browser send. Reads per address are counted per
server; changes per team and invalid tokens per address are counted by the database's clock for all servers.
Implemented here, because the `limits` library supports memory, Redis, memcached and MongoDB, but not SQL databases.
"""

import logging
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Annotated, Any

from fastapi import Depends, Request
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from sqlalchemy import BigInteger, Engine, case, cast, delete, extract, func, select
from sqlalchemy.dialects import postgresql, sqlite

from isogloss.board.server.addresses import client_network
from isogloss.board.server.answers import refusal
from isogloss.board.server.board import Bearer, OpenBoard, bearer_of, public_id
from isogloss.board.server.database import RateCount, reading, writing
from isogloss.escaping import printable

LOG = logging.getLogger("isogloss.board")
_SCHEME = HTTPBearer(auto_error=False, description="Team token issued by the board's administrator")
_FIX = "Send the header Authorization: Bearer isogloss_…; the board's administrator issues tokens"
_CHALLENGE = {"WWW-Authenticate": "Bearer"}
# Number of addresses and teams kept in memory; the least recently seen are dropped.
REMEMBERED = 10_000
_MINUTE = 60
# Lines per minute about failed authentications; an attack from many addresses must not fill the disk.
_LOGGED = 60
_LONGEST = 200
_NOW = cast(extract("epoch", func.now()), BigInteger)
# abs(): a clock that was set back must not lock clients out.
_IS_OVER = func.abs(_NOW - RateCount.started) >= _MINUTE
_INSERTS: dict[str, Any] = {"sqlite": sqlite.insert, "postgresql": postgresql.insert}


@dataclass(kw_only=True)
class RateLimit:
    """Requests per minute and client, counted in this process."""

    what: str
    per_minute: int
    _windows: OrderedDict[str, tuple[float, int]] = field(default_factory=OrderedDict)

    def check(self, client: str) -> None:
        """Count one request; over the limit, raise the HTTP error 429 with the time to wait."""
        if seconds := self.wait(client):
            wait = str(int(seconds) + 1)
            message = f"too many requests: the limit is {self.per_minute} {self.what} per minute"
            raise refusal(429, message, fix=f"Wait {wait} seconds", headers={"Retry-After": wait})

    def wait(self, client: str) -> float:
        """Count one request; return the seconds to wait, 0 if it is within the limit."""
        now = time.monotonic()
        start, count = self._windows.pop(client, (now, 0))
        if now - start >= _MINUTE:
            start, count = now, 0
        self._windows[client] = (start, count + 1)
        if len(self._windows) > REMEMBERED:
            self._windows.popitem(last=False)
        return max(1.0, start + _MINUTE - now) if count >= self.per_minute else 0.0


@dataclass(kw_only=True)
class SharedRateLimit(RateLimit):
    """Requests over all servers of the board; a client over the limit is not counted until the minute is over."""

    engine: Engine
    _refused_until: OrderedDict[str, float] = field(default_factory=OrderedDict)

    def wait(self, client: str) -> float:
        """Count one request; return the seconds to wait, 0 if it is within the limit."""
        left = self._refused_until.get(client, 0.0) - time.monotonic()
        if left > 0:
            return left
        counted = _INSERTS[self.engine.dialect.name](RateCount).values(
            asker=f"{self.what}: {client}"[:_LONGEST], started=_NOW, count=1
        )
        counted = counted.on_conflict_do_update(
            index_elements=[RateCount.asker],
            set_={
                "count": case((_IS_OVER, 1), else_=RateCount.count + 1),
                "started": case((_IS_OVER, _NOW), else_=RateCount.started),
            },
        ).returning(RateCount.count, RateCount.started + _MINUTE - _NOW)
        with writing(self.engine) as session:
            count, seconds = session.execute(counted).one()
            if count == 1:
                # Remove expired counts, except those another server is changing.
                expired = select(RateCount.asker).where(_IS_OVER).with_for_update(skip_locked=True)
                session.execute(delete(RateCount).where(RateCount.asker.in_(expired)))
        if count <= self.per_minute:
            return 0.0
        left = max(1.0, float(seconds))
        self._refused_until[client] = time.monotonic() + left
        if len(self._refused_until) > REMEMBERED:
            self._refused_until.popitem(last=False)
        return left


@dataclass
class FailureLog:
    """Log of failed authentications, with the rest of a busy minute counted only."""

    _lines: RateLimit = field(default_factory=lambda: RateLimit(what="lines", per_minute=_LOGGED))
    _unlogged: int = 0

    def add(self, address: str, token: str, reason: str) -> None:
        """Log a failure; of the token, only the public part."""
        if self._lines.wait(""):
            self._unlogged += 1
            return
        if self._unlogged:
            LOG.warning("%d more failed authentications", self._unlogged)
            self._unlogged = 0
        shown = public_id(token) or "malformed"
        LOG.warning("failed authentication from %s: %s (token %s)", printable(address, _LONGEST), reason, shown)


class RateLimits:
    """The rate limits of a board."""

    def __init__(self, board: OpenBoard) -> None:
        settings, engine = board.settings, board.engine
        self.reads = RateLimit(what="requests", per_minute=settings.reads_per_minute)
        self.writes = SharedRateLimit(what="changes", per_minute=settings.writes_per_minute, engine=engine)
        self.failures = SharedRateLimit(what="invalid tokens", per_minute=settings.failures_per_minute, engine=engine)
        self.failure_log = FailureLog()


def board_of(request: Request) -> OpenBoard:
    """Return the board being served."""
    board: OpenBoard = request.app.state.board
    return board


def address_of(request: Request) -> str:
    """Return the client's address."""
    return request.client.host if request.client is not None else ""


def limited_reads(request: Request) -> None:
    """Count an API request against its address."""
    request.app.state.limits.reads.check(client_network(address_of(request)))


def check_scope(bearer: Bearer, scope: str) -> None:
    """Raise an HTTP error if the token lacks a scope."""
    if scope not in bearer.scopes:
        raise refusal(403, f"the token lacks the scope {scope}", fix=f"Its scopes: {', '.join(sorted(bearer.scopes))}")


def bearer_with(scope: str) -> Callable[..., Bearer]:
    """Return a route dependency that requires a token with a scope."""

    def find_bearer(
        request: Request,
        board: Annotated[OpenBoard, Depends(board_of)],
        sent: Annotated[HTTPAuthorizationCredentials | None, Depends(_SCHEME)],
    ) -> Bearer:
        limits: RateLimits = request.app.state.limits
        if sent is None:
            raise refusal(401, "missing token", fix=_FIX, headers=_CHALLENGE)
        with reading(board.engine) as session:
            bearer = bearer_of(session, sent.credentials, board.pepper)
        if bearer is None or bearer.is_disabled:
            reason = "unknown or revoked token" if bearer is None else "the team is disabled"
            limits.failures.check(client_network(address_of(request)))
            limits.failure_log.add(address_of(request), sent.credentials, reason)
            if bearer is None:
                raise refusal(401, reason, fix=_FIX, headers=_CHALLENGE)
            raise refusal(403, reason, fix="Ask the board's administrator")
        check_scope(bearer, scope)
        if scope != "read":
            limits.writes.check(str(bearer.team_id))
        return bearer

    return find_bearer
