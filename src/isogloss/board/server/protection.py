"""ASGI middleware: request limits, body timeouts, security headers, ETags and compression.

Implemented here: a proxy may enforce the same limits, but a board must be safe without one, and starlette has no body
limits, body timeouts or ETags for dynamic responses.
"""

import asyncio
import gzip
import hashlib
import time
from typing import Any

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from isogloss.board.server.answers import error_response

# Maximum bytes of a request body except uploads, of the URL, and of all headers.
BODY_BYTES = 64 << 10
_TARGET_BYTES = 2 << 10
_HEADER_BYTES = 16 << 10
# Minimum average bytes per second of a request body, after the allowed silence.
_MIN_RATE = 4_000
# Smaller responses are not compressed.
_COMPRESS_FROM = 1_000

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
    """Request body over the limit."""


class SlowClientError(Exception):
    """Request body that stalls or arrives too slowly."""


class Protection:
    """Outermost middleware: refuse large or slow requests, and add security headers to every response."""

    def __init__(self, app: ASGIApp, *, upload_path: str, upload_bytes: int, silence_seconds: float) -> None:
        self._app = app
        self._upload_path = upload_path
        self._upload_bytes = upload_bytes + BODY_BYTES  # for the form around the archive
        self._silence = silence_seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request."""
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
                headers.update(_SAFE_HEADERS)
                headers.setdefault("Cache-Control", "no-store")
                if not body.ended:  # the rest of the body is not read
                    headers["Connection"] = "close"
            await send(message)

        refused = self._refused(scope)
        if refused is None:
            try:
                await self._app(scope, body.receive, send_safely)
                return
            except TooLargeError:
                refused = error_response(413, "the request body is too large")
            except SlowClientError:
                refused = error_response(408, "request timed out")
        if not started:
            await refused(scope, receive, send_safely)

    def _limit(self, scope: Scope) -> int:
        return self._upload_bytes if scope["path"] == self._upload_path else BODY_BYTES

    def _refused(self, scope: Scope) -> JSONResponse | None:
        if len(scope.get("raw_path") or b"") + len(scope["query_string"]) > _TARGET_BYTES:
            return error_response(414, f"the URL is longer than {_TARGET_BYTES} bytes")
        if sum(len(name) + len(value) for name, value in scope["headers"]) > _HEADER_BYTES:
            return error_response(431, f"the headers are longer than {_HEADER_BYTES} bytes")
        length = Headers(scope=scope).get("content-length", "0")
        if not length.isascii() or not length.isdigit():
            return error_response(400, "invalid Content-Length")
        if len(length) > 15 or int(length) > self._limit(scope):
            return error_response(413, f"the request body is larger than {self._limit(scope):,} bytes")
        return None


class _CountedBody:
    """Request body with a size limit and timeouts."""

    def __init__(self, scope: Scope, receive: Receive, limit: int, silence: float) -> None:
        headers = Headers(scope=scope)
        self.ended = headers.get("content-length", "0") == "0" and "transfer-encoding" not in headers
        self._receive, self._left, self._silence = receive, limit, silence
        self._patience = silence  # seconds left to wait; grows with every byte received

    async def receive(self) -> Message:
        if self.ended:  # waits for the client to disconnect, without a timeout
            return await self._receive()
        started = time.monotonic()
        try:
            message = await asyncio.wait_for(self._receive(), min(self._silence, self._patience))
        except TimeoutError:
            raise SlowClientError from None
        size = len(message.get("body", b""))
        self._left -= size
        self._patience += size / _MIN_RATE - (time.monotonic() - started)
        self.ended = not message.get("more_body", False)
        if self._left < 0:
            raise TooLargeError
        return message


class ConditionalAnswers:
    """Add ETags to GET responses of the API, answer 304 on a match, and compress."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request."""
        if scope["type"] != "http" or scope["method"] != "GET" or not scope["path"].startswith("/api/"):
            await self._app(scope, receive, send)
            return
        start: dict[str, Any] = {}
        body = bytearray()

        async def collect(message: Message) -> None:
            if message["type"] == "http.response.start":
                start.update(message)
                return
            body.extend(message.get("body", b""))
            if not message.get("more_body", False):
                await _send_tagged(scope, start, bytes(body), send)

        await self._app(scope, receive, collect)


async def _send_tagged(scope: Scope, start: dict[str, Any], body: bytes, send: Send) -> None:
    request, headers = Headers(scope=scope), MutableHeaders(raw=list(start["headers"]))
    if start["status"] == 200:
        tag = f'W/"{hashlib.sha256(body).hexdigest()[:32]}"'
        headers["ETag"] = tag
        headers["Cache-Control"] = "private, no-cache" if "authorization" in request else "no-cache"
        headers["Vary"] = "Accept-Encoding, Authorization"
        if matches(request.get("if-none-match", ""), tag):
            start["status"], body = 304, b""
            del headers["content-type"]
        elif len(body) >= _COMPRESS_FROM and accepts_gzip(request):
            body = gzip.compress(body, 5, mtime=0)
            headers["Content-Encoding"] = "gzip"
        headers["Content-Length"] = str(len(body))
    await send({**start, "headers": headers.raw})
    await send({"type": "http.response.body", "body": body})


def matches(if_none_match: str, tag: str) -> bool:
    """Return True if an If-None-Match header contains the tag."""
    return if_none_match.strip() == "*" or tag.removeprefix("W/") in (
        part.strip().removeprefix("W/") for part in if_none_match.split(",")
    )


def accepts_gzip(headers: Headers) -> bool:
    """Return True if the client accepts gzip."""
    return any(
        part.strip().split(";")[0].lower() == "gzip" and "q=0" not in part.replace(" ", "").replace("q=0.", "")
        for part in headers.get("accept-encoding", "").split(",")
    )
