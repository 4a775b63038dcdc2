"""Append-only store of responses, for any number of processes.

A store is a folder with one file per writer, so that no two processes write to the same file. Its lines are those of an
OpenAI batch output. A process that dies while it writes leaves an incomplete last line, which readers skip.
"""

from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from isogloss.data.files import blocks
from isogloss.data.location import cache_dir
from isogloss.data.segments import Segments
from isogloss.endpoints.errors import UNREADABLE_JSON
from isogloss.endpoints.refusals import is_content_filter, server_error
from isogloss.endpoints.replies import ModelReply
from isogloss.endpoints.shapes import has_right_shape
from isogloss.errors import DataError

# A position is the number of a segment and an offset in it.
_OFFSET_BITS = 44
_OFFSETS = (1 << _OFFSET_BITS) - 1


class ApiResponse(msgspec.Struct, kw_only=True):
    """A response: status and body as the server sent them, the time it came (UTC), and the seconds it took."""

    custom_id: str
    status_code: int = 200
    body: dict[str, Any]
    at: str = ""
    seconds: float | None = None

    @property
    def reply(self) -> ModelReply:
        """The model's reply."""
        return ModelReply.of(self.body, self.status_code)


class BatchCounts(msgspec.Struct, kw_only=True):
    """Counts of the lines of a batch output: added, or the reason why not.

    `reasons` counts the server's words for each kind of error.
    """

    added: int = 0
    already: int = 0
    unknown: int = 0
    errors: int = 0
    damaged: int = 0
    reasons: dict[str, int] = {}


class _StoredResponse(msgspec.Struct):
    status_code: int
    body: dict[str, Any]


class _StoredLine(msgspec.Struct):
    custom_id: str
    response: _StoredResponse
    at: str = ""
    seconds: float | None = None


class _BatchLine(msgspec.Struct):
    """A line of a downloaded file."""

    custom_id: str
    response: _StoredResponse | None = None
    error: Any = None


_decode = msgspec.json.Decoder(_StoredLine).decode
_decode_batch = msgspec.json.Decoder(_BatchLine).decode
_encode = msgspec.json.Encoder().encode


def default_store_dir() -> Path:
    """Return the folder of all stores: `responses` in the cache folder."""
    return cache_dir() / "responses"


def now() -> str:
    """Return the time in UTC."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


class ResponseStore:
    """Responses of a folder, by the ids of their requests.

    The first response to a request counts; later ones are ignored. `damaged` counts lines that cannot be read.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.damaged = 0
        self._lines = Segments(folder)
        self._positions: dict[str, int] = {}
        self._segments: list[str] = []
        self._numbers: dict[str, int] = {}  # of the segments

    def __len__(self) -> int:
        self.refresh()
        return len(self._positions)

    def __enter__(self) -> "ResponseStore":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def has(self, custom_ids: Iterable[str], *, refresh: bool = True) -> set[str]:
        """Return the ids that have a response; without `refresh`, only among those already indexed."""
        if refresh:
            self.refresh()
        return {each for each in custom_ids if each in self._positions}

    def find(self, custom_ids: Iterable[str]) -> dict[str, ApiResponse]:
        """Return the responses to those requests that have one, in the given order."""
        wanted = list(dict.fromkeys(custom_ids))
        self.refresh()
        places = sorted((place, each) for each in wanted if (place := self._positions.get(each)) is not None)
        responses: dict[str, ApiResponse] = {}
        stream, opened = None, -1
        try:
            for place, custom_id in places:
                number = place >> _OFFSET_BITS
                if number != opened:
                    if stream is not None:
                        stream.close()
                    stream, opened = (self.folder / self._segments[number]).open("rb"), number
                if stream is not None:
                    stream.seek(place & _OFFSETS)
                    responses[custom_id] = _response(_decode(stream.readline()))
        except (OSError, *UNREADABLE_JSON) as error:
            fix = "Start the command again"
            raise DataError(f"changed while it was read ({error})", where=str(self.folder), fix=fix) from None
        finally:
            if stream is not None:
                stream.close()
        return {each: responses[each] for each in wanted if each in responses}

    def responses(self) -> Iterator[ApiResponse]:
        """Yield all responses, each once."""
        self.refresh()
        ids = list(self._positions)
        for start in range(0, len(ids), 256):
            yield from self.find(ids[start : start + 256]).values()

    def refresh(self) -> None:
        """Index what processes have added since the last time."""
        for name, offset, line in self._lines.new_lines(self._reset):
            number = self._numbers.setdefault(name, len(self._segments))
            if number == len(self._segments):
                self._segments.append(name)
            try:
                custom_id = _decode(line).custom_id
            except UNREADABLE_JSON:
                self.damaged += 1
            else:
                self._place(custom_id, number, offset)

    def _reset(self) -> None:
        self._positions, self._segments, self._numbers, self.damaged = {}, [], {}, 0

    def _place(self, custom_id: str, number: int, offset: int) -> None:
        known = self._positions.get(custom_id)
        # The same line counts in whatever order processes read the segments.
        if known is None or self._segments[number] < self._segments[known >> _OFFSET_BITS]:
            self._positions[custom_id] = number << _OFFSET_BITS | offset

    def append(self, response: ApiResponse) -> None:
        """Write a response; it is stored when this returns.

        Raises:
            DataError: the response cannot be written, e.g. because the disk is full.
        """
        line = {
            "custom_id": response.custom_id,
            "response": {"status_code": response.status_code, "body": response.body},
            "error": None,
            "at": response.at or now(),
            "seconds": response.seconds,
        }
        self._lines.write(_encode(line) + b"\n")

    def append_raw(self, custom_id: str, status_code: int, body: bytes, seconds: float) -> None:
        """Write a response with a body that is a JSON object; see `append`."""
        if b"\n" in body or b"\r" in body:
            body = _encode(msgspec.json.decode(body))
        head = b'{"custom_id":%b,"response":{"status_code":%d,"body":' % (_encode(custom_id), status_code)
        self._lines.write(head + body + b'},"error":null,"at":"%b","seconds":%.3f}\n' % (now().encode(), seconds))

    def close(self) -> None:
        """End writing; a later response begins a new file."""
        self._lines.close()

    def lock(self, on_waiting: Callable[[], None] | None = None) -> AbstractContextManager[None]:
        """Return a context with the right to send requests, which one process has at a time.

        `on_waiting` is called repeatedly while another process has it; an exception that it raises ends the waiting.
        """
        return self._lines.lock(on_waiting)

    def add_batch_output(self, path: Path, known: Collection[str] | None = None) -> BatchCounts:
        """Add the responses of a downloaded batch output, packed or not.

        Args:
            path: the output file, or the error file, of a batch.
            known: ids of the requests; lines with other ids are counted and not added. None accepts all.

        Returns:
            The number of lines added, and of the others by reason.

        Raises:
            DataError: the file cannot be read, or the store cannot be written.
        """
        counts, reasons = BatchCounts(), dict[str, int]()
        self.refresh()
        present = set(self._positions)
        for block in blocks(path):
            for line in block.splitlines():
                if line.strip():
                    self._add_line(line, known, present, counts, reasons)
        counts.reasons = dict(sorted(reasons.items()))
        return counts

    def _add_line(
        self,
        line: bytes,
        known: Collection[str] | None,
        present: set[str],
        counts: BatchCounts,
        reasons: dict[str, int],
    ) -> None:
        try:
            entry = _decode_batch(line)
        except UNREADABLE_JSON:
            counts.damaged += 1
            return
        if known is not None and entry.custom_id not in known:
            counts.unknown += 1
        elif entry.custom_id in present:
            counts.already += 1
        elif (response := entry.response) is not None and is_final(response.status_code, response.body):
            self.append(
                ApiResponse(custom_id=entry.custom_id, status_code=response.status_code, body=response.body, at=now())
            )
            present.add(entry.custom_id)
            counts.added += 1
        else:
            counts.errors += 1
            text = server_error(_encode(response.body if response else entry.error)).text or "no response"
            reasons[text] = reasons.get(text, 0) + 1


def is_final(status_code: int, body: dict[str, Any]) -> bool:
    """Return True for an answer, and for a request that a content filter withheld; other errors may be repeated."""
    return has_right_shape(_encode(body)) if status_code == 200 else is_content_filter(body)


def _response(line: _StoredLine) -> ApiResponse:
    return ApiResponse(
        custom_id=line.custom_id,
        status_code=line.response.status_code,
        body=line.response.body,
        at=line.at,
        seconds=line.seconds,
    )
