"""Reading the form of a submission as it comes in: the archive goes to disk, everything else is small."""

from dataclasses import dataclass, field
from typing import Any

from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request

from isogloss.board.server.board import OpenBoard
from isogloss.board.server.intake import IncomingArchive
from isogloss.board.server.protection import BODY_BYTES
from isogloss.errors import PredictionError

FIELDS = ("metadata", "publish", "archive")


class FormError(PredictionError):
    """A form that is none."""


@dataclass
class UploadForm:
    """What has come of a form so far: its small fields, and its archive."""

    board: OpenBoard
    fields: dict[str, bytearray] = field(default_factory=dict)
    archive: IncomingArchive | None = None
    ended: bool = False
    _headers: list[list[bytearray]] = field(default_factory=list)
    _name: str = ""

    def callbacks(self) -> Any:
        """What the parser calls, by the name of the event."""
        return {
            "on_part_begin": self._headers.clear,
            "on_header_begin": lambda: self._headers.append([bytearray(), bytearray()]),
            "on_header_field": lambda data, start, end: self._headers[-1][0].extend(data[start:end]),
            "on_header_value": lambda data, start, end: self._headers[-1][1].extend(data[start:end]),
            "on_headers_finished": self._begin_field,
            "on_part_data": lambda data, start, end: self._take(data[start:end]),
            "on_end": self._end,
        }

    def close(self) -> None:
        """Remove what was not kept."""
        if self.archive is not None:
            self.archive.close()

    def _begin_field(self) -> None:
        headers = {bytes(name).lower(): bytes(value) for name, value in self._headers}
        _, options = parse_options_header(headers.get(b"content-disposition", b""))
        self._name = options.get(b"name", b"").decode("utf-8", "replace")
        if self._name not in FIELDS:
            raise FormError(f"the form has a field {self._name[:60]!r}", fix=f"Its fields are {', '.join(FIELDS)}")
        if self._name in self.fields:
            raise FormError(f"the form has its field {self._name} twice", fix="Send each field once")
        self.fields[self._name] = bytearray()
        if self._name == "archive":
            self.archive = IncomingArchive(self.board)

    def _take(self, data: bytes) -> None:
        if self._name == "archive" and self.archive is not None:
            self.archive.write(data)
            return
        held = self.fields[self._name]
        held.extend(data)
        if len(held) > BODY_BYTES:
            raise FormError(f"the field {self._name} has more than {BODY_BYTES:,} bytes")

    def _end(self) -> None:
        self.ended = True


async def read_form(request: Request, form: UploadForm) -> None:
    """Read a whole multipart form.

    Raises:
        FormError: it is none, or is cut short.
        UploadLimitError: its archive is too large.
        OSError: the disk is full.
    """
    kind, options = parse_options_header(request.headers.get("content-type", ""))
    boundary = options.get(b"boundary", b"")
    if kind != b"multipart/form-data" or not 1 <= len(boundary) <= 70:
        fix = f"Send the fields {', '.join(FIELDS)} as multipart/form-data"
        raise FormError("the request is no form", fix=fix)
    try:
        parser = MultipartParser(boundary, form.callbacks(), max_size=form.board.settings.upload_bytes + BODY_BYTES)
        async for chunk in request.stream():
            await run_in_threadpool(parser.write, chunk)
        parser.finalize()
    except FormParserError as error:
        raise FormError(f"the form cannot be read ({error})", fix="Send it as browsers do") from None
    if not form.ended:
        raise FormError("the form is cut short", fix="Send it again")
