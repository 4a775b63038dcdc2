"""The built pages of a board: made anew when something is published, and changed for the old ones in one step."""

import gzip
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
from sqlalchemy import select
from sqlalchemy.orm import Session, selectinload

from isogloss.board.build import make_board
from isogloss.board.entries import BoardEntry
from isogloss.board.metadata import known_facts, public_metadata
from isogloss.board.published import published_entries
from isogloss.board.server.answers import DECIMALS
from isogloss.board.server.board import OpenBoard
from isogloss.board.server.database import reading, writing
from isogloss.board.server.file_lock import file_lock
from isogloss.board.server.intake import scored_before
from isogloss.board.server.models import Submission
from isogloss.board.server.queue import ClaimedJob, owned
from isogloss.board.server.scratch import scratch_folder
from isogloss.board.site import write_site
from isogloss.board.sources import entry_of_record
from isogloss.figures import rounded
from isogloss.scoring.results import Results
from isogloss.tasks.suites import Suite
from isogloss.tasks.suites import suite as find_suite

# So many older sites stay, for readers who are in the middle of one.
_KEPT = 2


@dataclass(frozen=True)
class PublishedSystem:
    """A system on the board.

    Attributes:
        id: its name in addresses.
        team: who submitted it.
        system: its public metadata.
        results: the newest result record, with figures of two decimals.
        scorers: every scorer that scored it, oldest first, with its overall figure.
        attempts: it is the best of how many submissions, or any of them: so many its team had scored by then.
        published_at: when it was first published.
    """

    id: str
    team: str
    system: dict[str, Any]
    results: Results
    scorers: list[tuple[str, float | None]]
    attempts: int
    published_at: str


def published_systems(session: Session, system_id: str | None = None) -> list[PublishedSystem]:
    """All systems on the board, or the one of an id, in the order they were submitted."""
    query = select(Submission).where(Submission.state == "published").order_by(Submission.id)
    if system_id is not None:
        query = query.where(Submission.system_id == system_id)
    found = session.scalars(query.options(selectinload(Submission.scores), selectinload(Submission.team)))
    return [_published(session, submission) for submission in found]


def _published(session: Session, submission: Submission) -> PublishedSystem:
    return PublishedSystem(
        submission.system_id,
        submission.team.name,
        public_metadata(msgspec.json.decode(submission.system)),
        msgspec.convert(_coarse(msgspec.json.decode(submission.scores[-1].record)), Results),
        [(scores.scorer, scores.overall) for scores in submission.scores],
        scored_before(session, submission),
        submission.published_at or submission.changed_at,
    )


def _coarse(value: Any) -> Any:
    """A record without the digits that no figure has that leaves the server."""
    if isinstance(value, dict):
        return {key: _coarse(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_coarse(inner) for inner in value]
    return rounded(value, DECIMALS) if isinstance(value, float) else value


def rebuild_pages(board: OpenBoard, job: ClaimedJob) -> None:
    """Build the pages of all that is published now, then show them instead of the old ones."""
    with reading(board.engine) as session:
        systems = published_systems(session)
    suite = find_suite(board.settings.suite)
    entries = [page_entry(system, suite) for system in systems] + published_entries("published:all", suite)
    made = make_board(entries, suite, title=board.settings.title, submit="submit.html")
    with scratch_folder(board, job) as folder:
        write_site(made, folder / "site")
        pack_files(folder / "site")
        _show(board, folder / "site", job.id)
    with writing(board.engine) as session:
        owned(session, job).state = "done"


def page_entry(system: PublishedSystem, suite: Suite) -> BoardEntry:
    """A system with its scores and what its page says of it."""
    count = f"submission {system.attempts} of its team" if system.attempts > 1 else "the first submission of its team"
    notes = [f"Scored here from predictions of {system.team}, {count}"]
    known = known_facts(system.system)
    notes += known.pop("notes", [])
    facts = {"id": system.id, "date": system.published_at[:10], "notes": notes, **known}
    entry = entry_of_record(msgspec.structs.replace(system.results, system=facts), "", suite)
    entry.id = system.id
    return entry


def _show(board: OpenBoard, built: Path, number: int) -> None:
    """Show pages under a number; those of a lower number never replace those of a higher one."""
    folder, current = board.site / f"site-{number}", board.site / "current"
    with file_lock(board.site / ".lock"):
        shutil.rmtree(folder, ignore_errors=True)  # of a worker that died before it was shown
        built.rename(folder)
        if site_number(current) <= number:
            link = board.site / ".current"
            link.unlink(missing_ok=True)
            link.symlink_to(folder.name)
            link.replace(current)
        for old in sorted(board.site.glob("site-*"), key=site_number)[: -_KEPT - 1]:
            shutil.rmtree(old, ignore_errors=True)


def pack_files(folder: Path) -> None:
    """Pack every file beside itself, so that no reader has to wait for it."""
    for path in [path for path in folder.rglob("*") if path.is_file()]:
        path.with_name(f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes(), 9, mtime=0))


def site_number(folder: Path) -> int:
    """The number under which pages were built; -1 where there are none."""
    return int(folder.resolve().name.removeprefix("site-")) if folder.is_dir() else -1
