"""Serving the built pages from memory: read and packed once for each time that they are built."""

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

# Pages of the server itself: the form, and what it needs; it looks like the built pages before any is built.
OWN = Path(__file__).with_name("web")
_SHARED = {path.name: path.parent for path in static_files() if path.suffix != ".html"}
# What people see who come before the first site is built; their browsers ask again by themselves.
_BEING_BUILT = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Isogloss board</title><link rel="icon" href="icon.svg"><link rel="stylesheet" href="look.css">
<link rel="stylesheet" href="board.css"></head>
<body><main><h1>The pages are being built</h1><p>They will be here in a few seconds, by themselves.</p></main></body>
</html>
"""
_TYPES = {".js": "text/javascript", ".html": "text/html", ".css": "text/css", ".svg": "image/svg+xml"}


@dataclass(frozen=True)
class HeldFile:
    """A file in memory, as it is and packed, ready to be sent."""

    content: bytes
    packed: bytes
    kind: str
    tag: str


class StaticPages:
    """All files of the newest site, and the server's own; what is below `api` is the application's."""

    def __init__(self, app: ASGIApp, board: OpenBoard) -> None:
        self._app = app
        self._current = board.site / "current"
        self._built = ""
        self._held: dict[str, asyncio.Task[HeldFile | None]] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http" or scope["path"].startswith("/api/") or scope["path"] == "/healthz":
            await self._app(scope, receive, send)
        else:
            await (await self._answer(scope))(scope, receive, send)

    async def _answer(self, scope: Scope) -> Response:
        if scope["method"] not in ("GET", "HEAD"):
            return error_response(405, "this can only be read", headers={"Allow": "GET, HEAD"})
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
            return error_response(404, "there is no such page")
        return _response(held, Headers(scope=scope))

    async def _read(self, name: str) -> HeldFile | None:
        """A file, which many may ask for before it has been read and packed, once."""
        held = self._held
        if name not in held:
            site = self._current.parent / self._built if self._built else None
            held[name] = asyncio.create_task(run_in_threadpool(_read, site, name))
        found = await asyncio.shield(held[name])  # who goes away before the end takes nothing from the others
        if found is None:
            held.pop(name, None)
        return found


def _response(held: HeldFile, asked: Headers) -> Response:
    headers = {"ETag": held.tag, "Cache-Control": "no-cache", "Vary": "Accept-Encoding"}
    if matches(asked.get("if-none-match", ""), held.tag):
        return Response(status_code=304, headers=headers)
    if accepts_gzip(asked) and len(held.packed) < len(held.content):
        return Response(held.packed, headers={**headers, "Content-Encoding": "gzip"}, media_type=held.kind)
    return Response(held.content, headers=headers, media_type=held.kind)


def _read(site: Path | None, name: str) -> HeldFile | None:
    """A file of the site, or of the server's own; None where there is none, or for what is no plain path."""
    parts = name.split("/")
    if "\x00" in name or "\\" in name or len(parts) > 4 or any(part in ("", ".", "..") for part in parts):
        return None
    for root in (OWN, site, _SHARED.get(name)):
        path = None if root is None else root.joinpath(*parts)
        if path is not None and path.suffix in _TYPES and path.is_file() and not path.is_symlink():
            content = path.read_bytes()
            tag = f'W/"{hashlib.sha256(content).hexdigest()[:32]}"'
            beside = path.with_name(f"{path.name}.gz")
            packed = beside.read_bytes() if beside.is_file() else gzip.compress(content, mtime=0)
            return HeldFile(content, packed, _TYPES[path.suffix], tag)
    return None
