"""Serve the built pages from memory: every file is read and compressed once per build."""

import asyncio
import gzip
import hashlib
from dataclasses import dataclass
from pathlib import Path

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from isogloss.board.server.answers import error_response
from isogloss.board.server.board import OpenBoard
from isogloss.board.server.protection import accepts_gzip, matches
from isogloss.board.site import static_files

# The server's own pages: the submission form and its assets, available before the first build.
OWN = Path(__file__).with_name("web")
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
    for root in (OWN, site, _SHARED.get(name)):
        path = None if root is None else root.joinpath(*parts)
        if path is not None and path.suffix in _TYPES and path.is_file() and not path.is_symlink():
            content = path.read_bytes()
            tag = f'W/"{hashlib.sha256(content).hexdigest()[:32]}"'
            compressed = path.with_name(f"{path.name}.gz")
            packed = compressed.read_bytes() if compressed.is_file() else gzip.compress(content, mtime=0)
            return HeldFile(content, packed, _TYPES[path.suffix], tag)
    return None
