"""Connections of the server: their number per client and in total, and timeouts of slow clients.

uvicorn has neither limit, and when no file descriptor is left, asyncio logs a traceback for every waiting connection.
"""

import asyncio
import errno
import logging
import resource
import socket
import time
from asyncio import TimerHandle
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from isogloss.board.server.addresses import TrustedProxies, client_network

LOG = logging.getLogger("isogloss.board")

MAX_CONNECTIONS = 4_000
# File descriptors kept for the database, uploads and pages: this share of all, and at least so many.
_RESERVED_SHARE = 4
_RESERVED = 128
# Connections accepted before others are served, and seconds without accepting after a failure.
_ACCEPTED_AT_ONCE = 20
_PAUSE_SECONDS = 0.5
# Errors of accept() that end when other connections or processes do.
_EXHAUSTED = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)
_LOG_SECONDS = 60.0
# Every connection is checked at this interval. A request's head must arrive within two intervals; a response must
# advance by this many bytes in at least one of any four.
_STEP_SECONDS = 5.0
_HEAD_STEPS = 2
_UNREAD_STEPS = 4
_BYTES_PER_STEP = 5_000


@dataclass
class RareWarning:
    """Warning that is logged at most once per minute, with the number of times since the last."""

    message: str
    _next: float = 0.0
    _count: int = 0

    def __call__(self, *values: object) -> None:
        """Log the message, or count it."""
        self._count += 1
        now = time.monotonic()
        if now >= self._next:
            LOG.warning(f"{self.message} (%s since the last such line)", *values, self._count)
            self._next, self._count = now + _LOG_SECONDS, 0


@dataclass(kw_only=True)
class ConnectionLimits:
    """Number of open connections, in total and per client network; trusted proxies are limited only in total.

    Attributes:
        per_client: maximum per client; 0 for no limit.
        total: maximum in total.
        trusted: proxies in front of the server.
    """

    per_client: int
    total: int
    trusted: TrustedProxies
    _open: Counter[str] = field(default_factory=Counter)
    _warn_of_client: RareWarning = field(default_factory=lambda: RareWarning("%s has %s connections; refusing more"))
    _warn_of_total: RareWarning = field(default_factory=lambda: RareWarning("%s connections; refusing more"))

    def admit(self, host: str) -> Callable[[], None] | None:
        """Count a connection; return the function that ends it, or None if there are too many."""
        client = client_network(host)
        if self._open.total() >= self.total:
            self._warn_of_total(self.total)
            return None
        if 0 < self.per_client <= self._open[client] and host not in self.trusted:
            self._warn_of_client(client, self.per_client)
            return None
        self._open[client] += 1
        is_open = True

        def release() -> None:
            nonlocal is_open
            if is_open:
                is_open = False
                self._open[client] -= 1
                if not self._open[client]:
                    del self._open[client]

        return release


def raise_file_limit() -> int:
    """Raise the number of file descriptors as far as allowed; return the number of connections they suffice for."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        soft = hard
    if soft == resource.RLIM_INFINITY:
        return MAX_CONNECTIONS
    connections = min(MAX_CONNECTIONS, soft - max(_RESERVED, soft // _RESERVED_SHARE))
    if connections < 1:
        LOG.warning("only %s file descriptors are allowed; raise the limit (LimitNOFILE, ulimit -n)", soft)
    return max(1, connections)


class TimeoutProtocol(H11Protocol):
    """HTTP/1.1 connection that drops slow or idle clients.

    uvicorn limits only idle keep-alive connections, not the time to send a request's head or to read a response.
    """

    release: Callable[[], None] = staticmethod(lambda: None)  # called when the connection is lost
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
        self.release()
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


class BoardServer(uvicorn.Server):
    """Server that accepts connections within limits, and pauses when no file descriptor is left."""

    def __init__(self, config: uvicorn.Config, listener: socket.socket, limits: ConnectionLimits) -> None:
        super().__init__(config)
        self._listener, self._limits = listener, limits
        self._opening: set[asyncio.Task[None]] = set()
        self._pause: TimerHandle | None = None
        self._warn = RareWarning("cannot accept connections: %s")

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start to accept connections."""
        await super().startup(sockets=[])
        self._listener.setblocking(False)
        self._resume()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop to accept connections, and end the open ones."""
        if self._pause is not None:
            self._pause.cancel()
        asyncio.get_running_loop().remove_reader(self._listener)
        self._listener.close()
        await super().shutdown(sockets=[])

    def _resume(self) -> None:
        self._pause = None
        asyncio.get_running_loop().add_reader(self._listener, self._accept)

    def _accept(self) -> None:
        for _ in range(_ACCEPTED_AT_ONCE):
            try:
                connection, peer = self._listener.accept()
            except (BlockingIOError, InterruptedError, ConnectionAbortedError):
                return
            except OSError as error:
                self._warn(error.strerror)
                if error.errno in _EXHAUSTED:
                    # The waiting connection keeps the listener readable, so do not look at it for a moment.
                    loop = asyncio.get_running_loop()
                    loop.remove_reader(self._listener)
                    self._pause = loop.call_later(_PAUSE_SECONDS, self._resume)
                return
            release = self._limits.admit(str(peer[0]))
            if release is None:
                connection.close()
            else:
                connection.setblocking(False)
                opening = asyncio.create_task(self._open(connection, release))
                self._opening.add(opening)
                opening.add_done_callback(self._opening.discard)

    async def _open(self, connection: socket.socket, release: Callable[[], None]) -> None:
        loop = asyncio.get_running_loop()

        def create_protocol() -> TimeoutProtocol:
            protocol = TimeoutProtocol(
                config=self.config, server_state=self.server_state, app_state=self.lifespan.state, _loop=loop
            )
            protocol.release = release
            return protocol

        try:
            await loop.connect_accepted_socket(create_protocol, connection)
        except OSError:  # the client is gone
            connection.close()
            release()
