"""Accept submissions: stream the form, with the archive to disk, and acknowledge it only once it is stored durably."""

import hashlib
import os
import secrets
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec
from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header
from sqlalchemy import func, select
from sqlalchemy.orm import Session
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request

from isogloss.board.facts import slug
from isogloss.board.server.board import Bearer, OpenBoard
from isogloss.board.server.budget import check_space, locked_team, team_budget
from isogloss.board.server.database import SCORED, WAITING, Submission, record, writing
from isogloss.board.server.middleware import BODY_BYTES
from isogloss.board.server.queue import enqueue, waiting_submissions
from isogloss.board.server.scoring import publish_for_team
from isogloss.errors import PredictionError

FIELDS = ("metadata", "publish", "archive")
# The free space is checked again whenever this many bytes have arrived.
_SPACE_CHECKS = 16 << 20
# Maximum number and bytes of the headers of a part; browsers and libraries send two to four, of less than a kilobyte.
_PART_HEADERS = 6
_PART_HEADER_BYTES = 4_000


class FormError(PredictionError):
    """Invalid form."""

    status = 422


class UploadLimitError(FormError):
    """Archive over the size limit."""

    status = 413


class IncomingArchive:
    """An upload being written to disk; `close` removes it unless `keep` was called."""

    def __init__(self, board: OpenBoard) -> None:
        self._board = board
        self._path = board.incoming / f"{secrets.token_hex(8)}.part"
        self._stream = self._path.open("xb")
        self._digest = hashlib.sha256()
        self.size = 0

    def write(self, chunk: bytes) -> None:
        """Append bytes; raise UploadLimitError if the archive is too large, QuotaError if the disk is nearly full."""
        if self.size // _SPACE_CHECKS != (self.size + len(chunk)) // _SPACE_CHECKS:
            check_space(self._board)
        self.size += len(chunk)
        if self.size > self._board.settings.upload_bytes:
            what = f"the archive is larger than {self._board.settings.upload_bytes:,} bytes"
            raise UploadLimitError(what, where="archive", fix="Pack only the predictions, as .tar.xz or .zip")
        self._digest.update(chunk)
        self._stream.write(chunk)

    def sync(self) -> str:
        """Flush the archive to disk; return its sha256."""
        self._stream.flush()
        os.fsync(self._stream.fileno())
        return self._digest.hexdigest()

    def keep(self) -> None:
        """Move the upload to its final path."""
        path = self._board.archive_path(self._digest.hexdigest())
        path.parent.mkdir(parents=True, exist_ok=True)
        self._path.replace(path)
        descriptor = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def close(self) -> None:
        """Close the file and remove it unless kept."""
        self._stream.close()
        self._path.unlink(missing_ok=True)


@dataclass(kw_only=True)
class UploadForm:
    """The part of a form received so far: small fields and the archive."""

    board: OpenBoard
    fields: dict[str, bytearray] = field(default_factory=dict)
    archive: IncomingArchive | None = None
    ended: bool = False
    _headers: list[list[bytearray]] = field(default_factory=list)
    _name: str = ""

    def callbacks(self) -> Any:
        """Return the parser's callbacks by event."""
        return {
            "on_part_begin": self._headers.clear,
            "on_header_begin": self._begin_header,
            "on_header_field": lambda data, start, end: self._extend_header(0, data[start:end]),
            "on_header_value": lambda data, start, end: self._extend_header(1, data[start:end]),
            "on_headers_finished": self._begin_field,
            "on_part_data": lambda data, start, end: self._take(data[start:end]),
            "on_end": lambda: setattr(self, "ended", True),
        }

    def close(self) -> None:
        """Remove the archive unless kept."""
        if self.archive is not None:
            self.archive.close()

    def _begin_header(self) -> None:
        self._headers.append([bytearray(), bytearray()])
        if len(self._headers) > _PART_HEADERS:
            raise FormError(f"a part has more than {_PART_HEADERS} headers", fix="Send only its name and type")

    def _extend_header(self, side: int, data: bytes) -> None:
        self._headers[-1][side].extend(data)
        if sum(len(name) + len(value) for name, value in self._headers) > _PART_HEADER_BYTES:
            what = f"the headers of a part are longer than {_PART_HEADER_BYTES:,} bytes"
            raise FormError(what, fix="Send only its name and type")

    def _begin_field(self) -> None:
        headers = {bytes(name).lower(): bytes(value) for name, value in self._headers}
        _, options = parse_options_header(headers.get(b"content-disposition", b""))
        self._name = options.get(b"name", b"").decode("utf-8", "replace")
        if self._name not in FIELDS:
            raise FormError(f"unknown field {self._name[:60]!r}", fix=f"Valid fields are {', '.join(FIELDS)}")
        if self._name in self.fields:
            raise FormError(f"duplicate field {self._name!r}", fix="Send each field once")
        self.fields[self._name] = bytearray()
        if self._name == "archive":
            self.archive = IncomingArchive(self.board)

    def _take(self, data: bytes) -> None:
        if self._name == "archive" and self.archive is not None:
            self.archive.write(data)
            return
        value = self.fields[self._name]
        value.extend(data)
        if len(value) > BODY_BYTES:
            raise FormError(f"the field {self._name} is larger than {BODY_BYTES:,} bytes")


async def read_form(request: Request, form: UploadForm) -> None:
    """Read a whole multipart form; raise FormError if it is invalid, incomplete or too large."""
    kind, options = parse_options_header(request.headers.get("content-type", ""))
    boundary = options.get(b"boundary", b"")
    if kind != b"multipart/form-data" or not 1 <= len(boundary) <= 70:
        fix = f"Send the fields {', '.join(FIELDS)}"
        raise FormError("expected multipart/form-data", fix=fix)
    try:
        parser = MultipartParser(boundary, form.callbacks(), max_size=form.board.settings.upload_bytes + BODY_BYTES)
        async for chunk in request.stream():
            await run_in_threadpool(parser.write, chunk)
        parser.finalize()
    except FormParserError as error:
        raise FormError(f"invalid form ({error})", fix="Send valid multipart/form-data") from None
    if not form.ended:
        raise FormError("incomplete form", fix="Send it again")


def accept(
    board: OpenBoard, bearer: Bearer, metadata: Mapping[str, Any], archive: IncomingArchive, *, publish: bool
) -> tuple[str, bool]:
    """Queue a submission; return its key, and False if it duplicates an earlier one.

    The complete upload is kept only with a submission. `publish` publishes it when scored, without a preview; it also
    applies to the earlier duplicate.

    Raises:
        QuotaError: the team's quota is exhausted.
        StateError: the earlier duplicate cannot be published.
    """
    sha256 = archive.sync()
    system = msgspec.json.encode(metadata, order="sorted").decode()
    digest = hashlib.sha256(f"{board.settings.suite}\n{sha256}\n{system}".encode()).hexdigest()
    with writing(board.engine) as session:
        team = locked_team(session, bearer.team_id)
        same = select(Submission).where(Submission.team_id == team.id, Submission.digest == digest)
        earlier, budget = session.scalar(same), team_budget(session, board, team)
        if earlier is None:
            budget.check_submission()
        archive.keep()
        if earlier is not None:
            if publish and earlier.state in WAITING:
                earlier.publish_when_scored = True
            elif publish and earlier.state == "preview":
                publish_for_team(board, session, earlier, bearer.actor)
            return earlier.key, False
        key = secrets.token_hex(6)
        plain_name = unicodedata.normalize("NFKD", metadata["name"]).encode("ascii", "ignore").decode()
        submission = Submission(
            key=key,
            team_id=team.id,
            digest=digest,
            month=budget.month,
            system_id=f"{slug(plain_name) or 'system'}-{key[:6]}",
            system=system,
            archive=sha256,
            archive_bytes=archive.size,
            publish_when_scored=publish,
        )
        session.add(submission)
        session.flush()
        enqueue(session, "score", submission.id)
        record(session, bearer.actor, "submit", key, f"archive {sha256}")
    return key, True


def queue_ids(session: Session) -> list[int]:
    """Return the ids of submissions that are waiting or being scored, next first."""
    return [row.id for row in waiting_submissions(session)]


def scored_before(session: Session, submission: Submission) -> int:
    """Return the number of submissions the team had scored by this one, including it."""
    earlier = select(func.count()).where(
        Submission.team_id == submission.team_id, Submission.id <= submission.id, Submission.state.in_(SCORED)
    )
    return session.scalar(earlier) or 0
