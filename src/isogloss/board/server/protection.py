"""What stands between the world and the routes: limits on requests, patience with slow clients, and safe headers.

Everything here is a plain ASGI layer: it sees bytes as they come, before anything is kept of them.
"""

import asyncio
import gzip
import hashlib
import time
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Any

from fastapi import HTTPException
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from isogloss.board.server.answers import ErrorAnswer, error_response, listed_refusal

# Bytes of a request that is no upload, of its address, and of all its headers.
BODY_BYTES = 64 << 10
_TARGET_BYTES = 2 << 10
_HEADER_BYTES = 16 << 10
# Bytes a second that a client must send on average, after the silence that it may keep.
_SLOWEST = 4_000
# Answers of fewer bytes are not packed.
_PACKED_FROM = 1_000
# Addresses and teams remembered; the longest unseen are forgotten.
REMEMBERED = 10_000

_SAFE_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}


class TooLargeError(Exception):
    """A request of more bytes than its place takes."""


class SlowClientError(Exception):
    """A client that stopped in the middle of its request, or sends it drop by drop."""


@dataclass
class RateLimit:
    """How often each of many askers may come to this server in a minute, by the time that passes here."""

    per_minute: int
    _windows: OrderedDict[str, tuple[float, int]] = field(default_factory=OrderedDict)

    def wait(self, asker: str) -> float:
        """Count one request; gives the seconds to wait before the next, 0 if it is within the limit."""
        now = time.monotonic()
        start, count = self._windows.pop(asker, (now, 0))
        if now - start >= 60:
            start, count = now, 0
        self._windows[asker] = (start, count + 1)
        if len(self._windows) > REMEMBERED:
            self._windows.popitem(last=False)
        return max(1.0, start + 60 - now) if count >= self.per_minute else 0.0

    def check(self, asker: str, what: str) -> None:
        """Count one request.

        Raises:
            HTTPException: 429, which says how long to wait.
        """
        if seconds := self.wait(asker):
            raise too_often(self.per_minute, what, seconds)


def too_often(per_minute: int, what: str, seconds: float) -> HTTPException:
    """The refusal of one request too many."""
    wait = str(int(seconds) + 1)
    answer = ErrorAnswer(what=f"too often: {per_minute} {what} a minute are allowed", fix=f"Wait {wait} seconds")
    return listed_refusal(429, answer, {"Retry-After": wait})


class Protection:
    """The outermost layer: refuses what is too large or too slow, and makes every answer safe to show."""

    def __init__(self, app: ASGIApp, *, upload_path: str, upload_bytes: int, silence_seconds: float) -> None:
        self._app = app
        self._upload_path = upload_path
        self._upload_bytes = upload_bytes + BODY_BYTES  # of the form around the archive
        self._silence = silence_seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        body = _CountedBody(scope, receive, self._limit(scope), self._silence)
        started = False

        async def send_safely(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                headers = MutableHeaders(scope=message)
                _make_safe(headers)
                if not body.ended:  # what the client still sends is read by nobody
                    headers["Connection"] = "close"
            await send(message)

        refused = self._refused(scope)
        if refused is None:
            try:
                await self._app(scope, body.receive, send_safely)
                return
            except TooLargeError:
                refused = error_response(413, "the request has more bytes than this place takes")
            except SlowClientError:
                refused = error_response(408, "too little came for too long in the middle of the request")
        if not started:
            await refused(scope, receive, send_safely)

    def _limit(self, scope: Scope) -> int:
        return self._upload_bytes if scope["path"] == self._upload_path else BODY_BYTES

    def _refused(self, scope: Scope) -> JSONResponse | None:
        if len(scope.get("raw_path") or b"") + len(scope["query_string"]) > _TARGET_BYTES:
            return error_response(414, f"the address has more than {_TARGET_BYTES} bytes")
        if sum(len(name) + len(value) for name, value in scope["headers"]) > _HEADER_BYTES:
            return error_response(431, f"the headers have more than {_HEADER_BYTES} bytes")
        length = Headers(scope=scope).get("content-length", "0")
        if not length.isascii() or not length.isdigit():
            return error_response(400, "Content-Length is no number")
        if len(length) > 15 or int(length) > self._limit(scope):
            return error_response(413, f"the request has more than {self._limit(scope):,} bytes")
        return None


class _CountedBody:
    """The body of a request, of so many bytes at most, from a client that keeps sending."""

    def __init__(self, scope: Scope, receive: Receive, limit: int, silence: float) -> None:
        headers = Headers(scope=scope)
        self.ended = headers.get("content-length", "0") == "0" and "transfer-encoding" not in headers
        self._receive, self._left, self._silence = receive, limit, silence
        self._patience = silence  # seconds of waiting for the client, which grow with what comes

    async def receive(self) -> Message:
        if self.ended:  # now it waits for the client to go, which may take as long as the answer does
            return await self._receive()
        started = time.monotonic()
        try:
            message = await asyncio.wait_for(self._receive(), min(self._silence, self._patience))
        except TimeoutError:
            raise SlowClientError from None
        size = len(message.get("body", b""))
        self._left -= size
        self._patience += size / _SLOWEST - (time.monotonic() - started)
        self.ended = not message.get("more_body", False)
        if self._left < 0:
            raise TooLargeError
        return message


def _make_safe(headers: MutableHeaders) -> None:
    for name, value in _SAFE_HEADERS.items():
        headers[name] = value
    headers.setdefault("Cache-Control", "no-store")


class ConditionalAnswers:
    """Gives every answer of the API that can be read again an ETag, packs it, and says 304 to whoever has it."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http" or scope["method"] != "GET" or not scope["path"].startswith("/api/"):
            await self._app(scope, receive, send)
            return
        start: dict[str, Any] = {}
        body = bytearray()

        async def hold(message: Message) -> None:
            if message["type"] == "http.response.start":
                start.update(message)
                return
            body.extend(message.get("body", b""))
            if not message.get("more_body", False):
                await _send_held(scope, start, bytes(body), send)

        await self._app(scope, receive, hold)


async def _send_held(scope: Scope, start: dict[str, Any], body: bytes, send: Send) -> None:
    asked, headers = Headers(scope=scope), MutableHeaders(raw=list(start["headers"]))
    if start["status"] == 200:
        tag = f'W/"{hashlib.sha256(body).hexdigest()[:32]}"'
        headers["ETag"] = tag
        headers["Cache-Control"] = "private, no-cache" if "authorization" in asked else "no-cache"
        headers["Vary"] = "Accept-Encoding, Authorization"
        if matches(asked.get("if-none-match", ""), tag):
            start["status"], body = 304, b""
            del headers["content-type"]
        elif len(body) >= _PACKED_FROM and accepts_gzip(asked):
            body = gzip.compress(body, 5, mtime=0)
            headers["Content-Encoding"] = "gzip"
        headers["Content-Length"] = str(len(body))
    await send({**start, "headers": headers.raw})
    await send({"type": "http.response.body", "body": body})


def matches(asked: str, tag: str) -> bool:
    """Whether a client has this version of an answer already."""
    return asked.strip() == "*" or tag.removeprefix("W/") in (
        part.strip().removeprefix("W/") for part in asked.split(",")
    )


def accepts_gzip(headers: Headers) -> bool:
    """Whether an answer may be packed."""
    return any(
        part.strip().split(";")[0].lower() == "gzip" and "q=0" not in part.replace(" ", "").replace("q=0.", "")
        for part in headers.get("accept-encoding", "").split(",")
    )
