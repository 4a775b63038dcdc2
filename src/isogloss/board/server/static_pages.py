"""Serving the built pages from memory: read and packed once for each time that they are built."""

import gzip
import hashlib
from dataclasses import dataclass
from pathlib import Path

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.responses import JSONResponse, Response
from starlette.types import Receive, Scope, Send

from isogloss.board.server.answers import ErrorAnswer
from isogloss.board.server.board import OpenBoard
from isogloss.board.server.protection import accepts_gzip, matches

# Pages of the server itself: the form, and what it needs.
OWN = Path(__file__).with_name("web")
_TYPES = {".js": "text/javascript", ".html": "text/html", ".css": "text/css", ".svg": "image/svg+xml"}


@dataclass(frozen=True)
class HeldFile:
    """A file in memory, as it is and packed, ready to be sent."""

    content: bytes
    packed: bytes
    kind: str
    tag: str


class StaticPages:
    """All files of the newest site, and the server's own."""

    def __init__(self, board: OpenBoard) -> None:
        self._current = board.site / "current"
        self._built = ""
        self._held: dict[str, HeldFile | None] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] == "http":
            await (await self._answer(scope))(scope, receive, send)

    async def _answer(self, scope: Scope) -> Response:
        if scope["method"] not in ("GET", "HEAD"):
            return _error(405, "this can only be read", {"Allow": "GET, HEAD"})
        try:
            built = str(self._current.readlink())
        except OSError:
            built = ""
        if built != self._built:
            self._built, self._held = built, {}
        name = scope["path"].lstrip("/") or "index.html"
        if name not in self._held and len(self._held) < 100_000:
            self._held[name] = await run_in_threadpool(_read, self._current.parent / built if built else None, name)
        held = self._held.get(name)
        if held is None:
            if not built and name == "index.html":
                return _error(503, "the pages are being built", {"Retry-After": "2"})
            return _error(404, "there is no such page")
        return _response(held, Headers(scope=scope))


def _response(held: HeldFile, asked: Headers) -> Response:
    headers = {"ETag": held.tag, "Cache-Control": "no-cache", "Vary": "Accept-Encoding"}
    if matches(asked.get("if-none-match", ""), held.tag):
        return Response(status_code=304, headers=headers)
    if accepts_gzip(asked) and len(held.packed) < len(held.content):
        return Response(held.packed, headers={**headers, "Content-Encoding": "gzip"}, media_type=held.kind)
    return Response(held.content, headers=headers, media_type=held.kind)


def _error(status: int, what: str, headers: dict[str, str] | None = None) -> Response:
    return JSONResponse(ErrorAnswer(what=what).model_dump(), status, headers)


def _read(site: Path | None, name: str) -> HeldFile | None:
    """A file of the site, or of the server's own; None where there is none, or for what is no plain path."""
    parts = name.split("/")
    if "\x00" in name or "\\" in name or len(parts) > 4 or any(part in ("", ".", "..") for part in parts):
        return None
    for root in (OWN, site):
        path = None if root is None else root.joinpath(*parts)
        if path is not None and path.suffix in _TYPES and path.is_file() and not path.is_symlink():
            content = path.read_bytes()
            tag = f'W/"{hashlib.sha256(content).hexdigest()[:32]}"'
            return HeldFile(content, gzip.compress(content, 9, mtime=0), _TYPES[path.suffix], tag)
    return None
