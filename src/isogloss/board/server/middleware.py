"""ASGI middleware: request limits, body timeouts, security headers, ETags, compression, and the built pages.

Limits are implemented here: a proxy may enforce the same, but a board must be safe without one, and starlette has no
body limits, body timeouts or ETags for dynamic responses. Pages are read and compressed once per build.
"""

import asyncio
import gzip
import hashlib
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from isogloss.board.cards import CARDS, STYLE_HASH
from isogloss.board.server.answers import error_response
from isogloss.board.server.board import OpenBoard
from isogloss.board.server.evaluations import RECORDS
from isogloss.board.site import static_files
from isogloss.site.page_parts import WEB, bundle

# The submission form: its page and styles, and the script, which shares modules with the pages. Available before the
# first build.
OWN = Path(__file__).with_name("web")
FORM_SCRIPT = "submit.js"
_SHARED = {path.name: path.parent for path in static_files() if path.suffix != ".html"}
# Shown before the first build; browsers reload it automatically.
_BEING_BUILT = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Isogloss board</title><link rel="icon" href="icon.svg"><link rel="stylesheet" href="look.css">
<link rel="stylesheet" href="board.css"></head>
<body><main><h1>The pages are being built</h1><p>This page reloads automatically in a few seconds.</p></main></body>
</html>
"""
_TYPES = {".js": "text/javascript", ".html": "text/html", ".css": "text/css", ".svg": "image/svg+xml"}
_PACKED_TYPES = {RECORDS: "application/gzip"}  # by name; the compressed forms of pages are not files of their own
# Maximum bytes of a request body except uploads, of the URL, and of all headers.
BODY_BYTES = 64 << 10
_TARGET_BYTES = 2 << 10
_HEADER_BYTES = 16 << 10
# Minimum average bytes per second of a request body, after the allowed silence.
_MIN_RATE = 4_000
# Smaller responses are not compressed, and larger ones outside of the event loop.
_COMPRESS_FROM = 1_000
_IN_THREAD_FROM = 100_000

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
# Cards are pictures for other sites. Opened on their own, they may use their style sheet, and nothing else.
_CARD_HEADERS = {
    "Content-Security-Policy": f"default-src 'none'; style-src '{STYLE_HASH}'; frame-ancestors 'none'; sandbox",
    "Cross-Origin-Resource-Policy": "cross-origin",
}


class RefusedBodyError(Exception):
    """Request body that is too large, stalls or arrives too slowly; the arguments are the status and the reason."""


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
                if scope["path"].startswith(f"/{CARDS}/") and message["status"] in (200, 304):
                    headers.update(_CARD_HEADERS)
                headers.setdefault("Cache-Control", "no-store")
                if not body.ended:  # the rest of the body is not read
                    headers["Connection"] = "close"
            await send(message)

        refused = self._refused(scope)
        if refused is None:
            try:
                await self._app(scope, body.receive, send_safely)
                return
            except RefusedBodyError as error:
                refused = error_response(*error.args)
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
            raise RefusedBodyError(408, "request timed out") from None
        size = len(message.get("body", b""))
        self._left -= size
        self._patience += size / _MIN_RATE - (time.monotonic() - started)
        self.ended = not message.get("more_body", False)
        if self._left < 0:
            raise RefusedBodyError(413, "the request body is too large")
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
        tag = _tag(body)
        headers["ETag"] = tag
        headers["Cache-Control"] = "private, no-cache" if "authorization" in request else "no-cache"
        headers["Vary"] = "Accept-Encoding, Authorization"
        if matches(request.get("if-none-match", ""), tag):
            start["status"], body = 304, b""
            del headers["content-type"]
        elif len(body) >= _COMPRESS_FROM and accepts_gzip(request):
            if len(body) < _IN_THREAD_FROM:
                body = _packed(body)
            else:
                body = await run_in_threadpool(_packed, body)
            headers["Content-Encoding"] = "gzip"
        headers["Content-Length"] = str(len(body))
    await send({**start, "headers": headers.raw})
    await send({"type": "http.response.body", "body": body})


def _tag(body: bytes) -> str:
    return f'W/"{hashlib.sha256(body).hexdigest()[:32]}"'


def _packed(body: bytes) -> bytes:
    return gzip.compress(body, 5, mtime=0)


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


@dataclass(frozen=True)
class HeldFile:
    """A file in memory, plain and compressed."""

    content: bytes
    packed: bytes
    kind: str
    tag: str


class StaticPages:
    """Middleware that serves the files of the newest site and the server's own; /api/ and /healthz pass through."""

    def __init__(self, app: ASGIApp, board: OpenBoard) -> None:
        self._app = app
        self._current = board.site / "current"
        self._built = ""
        self._held: dict[str, asyncio.Task[HeldFile | None]] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request."""
        if scope["type"] != "http" or scope["path"].startswith("/api/") or scope["path"] == "/healthz":
            await self._app(scope, receive, send)
        else:
            await (await self._answer(scope))(scope, receive, send)

    async def _answer(self, scope: Scope) -> Response:
        if scope["method"] not in ("GET", "HEAD"):
            return error_response(405, "method not allowed", headers={"Allow": "GET, HEAD"})
        try:
            built = str(self._current.readlink())
        except OSError:
            built = ""
        if built != self._built:
            self._built, self._held = built, {}
        name = scope["path"].lstrip("/") or "index.html"
        held = await self._read(name)
        if held is None:
            if not built and name == "index.html":
                return Response(_BEING_BUILT, 503, {"Retry-After": "2", "Refresh": "2"}, "text/html; charset=utf-8")
            return error_response(404, "page not found")
        headers = {"ETag": held.tag, "Cache-Control": "no-cache", "Vary": "Accept-Encoding"}
        request = Headers(scope=scope)
        if matches(request.get("if-none-match", ""), held.tag):
            return Response(status_code=304, headers=headers)
        if accepts_gzip(request) and len(held.packed) < len(held.content):
            return Response(held.packed, headers={**headers, "Content-Encoding": "gzip"}, media_type=held.kind)
        return Response(held.content, headers=headers, media_type=held.kind)

    async def _read(self, name: str) -> HeldFile | None:
        """Return a file; concurrent requests share one read."""
        held = self._held
        if name not in held:
            site = self._current.parent / self._built if self._built else None
            held[name] = asyncio.create_task(run_in_threadpool(_read, site, name))
        file = await asyncio.shield(held[name])  # a client that disconnects must not cancel the read for others
        if file is None:
            held.pop(name, None)
        return file


def _read(site: Path | None, name: str) -> HeldFile | None:
    """Read a file of the site or of the server; None if it is missing or its path is invalid."""
    parts = name.split("/")
    if "\x00" in name or "\\" in name or len(parts) > 4 or any(part in ("", ".", "..") for part in parts):
        return None
    if name == FORM_SCRIPT:
        content = bundle(WEB, FORM_SCRIPT).encode()
        return HeldFile(content, gzip.compress(content, mtime=0), _TYPES[".js"], _tag(content))
    for root in (OWN, site, _SHARED.get(name)):
        path = None if root is None else root.joinpath(*parts)
        if path is None or not path.is_file() or path.is_symlink():
            continue
        if name in _PACKED_TYPES:
            content = path.read_bytes()
            return HeldFile(content, content, _PACKED_TYPES[name], _tag(content))
        if path.suffix in _TYPES:
            content = path.read_bytes()
            compressed = path.with_name(f"{path.name}.gz")
            packed = compressed.read_bytes() if compressed.is_file() else gzip.compress(content, mtime=0)
            return HeldFile(content, packed, _TYPES[path.suffix], _tag(content))
    return None
