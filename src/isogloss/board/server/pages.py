"""Build a board's pages whenever the published systems change, and replace the old ones atomically."""

import gzip
import shutil
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import msgspec
from filelock import FileLock
from sqlalchemy import select
from sqlalchemy.orm import Session, selectinload

from isogloss.board.build import make_board
from isogloss.board.server.board import OpenBoard
from isogloss.board.server.database import Submission, reading, writing
from isogloss.board.server.disclosure import stored_record
from isogloss.board.server.evaluations import write_records
from isogloss.board.server.intake import scored_before
from isogloss.board.server.queue import ClaimedJob, owned, scratch_folder
from isogloss.board.site import write_site
from isogloss.results.metadata import known_facts, public_metadata
from isogloss.results.published_scores import read_published
from isogloss.results.readers import read_results
from isogloss.results.system import SystemResult
from isogloss.scoring.results import Results
from isogloss.tasks.suites import Suite
from isogloss.tasks.suites import suite as find_suite

# Number of older sites kept for clients that are still loading one.
_KEPT = 2


@dataclass(frozen=True, kw_only=True)
class PublishedSystem:
    """A published system: its newest record, with the figures to show, and the team's scored submissions up to it."""

    id: str
    team: str
    system: dict[str, Any]
    results: Results
    attempts: int
    published_at: str


def published_systems(session: Session, system_id: str | None = None, *, closed: bool = False) -> list[PublishedSystem]:
    """Return all published systems, or the one with an id, in the order of submission.

    The scores of a closed board are those on the private part of the examples, if it has one.
    """
    query = select(Submission).where(Submission.state == "published").order_by(Submission.id)
    if system_id is not None:
        query = query.where(Submission.system_id == system_id)
    submissions = session.scalars(query.options(selectinload(Submission.scores), selectinload(Submission.team)))
    return [
        PublishedSystem(
            **public_facts(session, submission),
            system=public_metadata(msgspec.json.decode(submission.system)),
            results=stored_record(submission.scores[-1], closed=closed),
        )
        for submission in submissions
    ]


def public_facts(session: Session, submission: Submission) -> dict[str, Any]:
    """Return the id, team, number of attempts and time of publication of a published system."""
    return {
        "id": submission.system_id,
        "team": submission.team.name,
        "attempts": scored_before(session, submission),
        "published_at": submission.published_at or submission.changed_at,
    }


def rebuild_pages(board: OpenBoard, job: ClaimedJob) -> None:
    """Build the pages of all published systems and replace the old ones."""
    with reading(board.engine) as session:
        systems = published_systems(session, closed=board.settings.closed)
        ids = dict(session.execute(select(Submission.system_id, Submission.id)).all())
    suite = find_suite(board.settings.suite)
    entries = [_entry(system, suite) for system in systems] + read_published("published:all", suite)
    site = make_board(entries, suite, title=board.settings.title, submit="submit.html")
    with scratch_folder(board, job) as folder:
        write_site(site, folder / "site")
        pack_files(folder / "site")
        write_records(((ids[system.id], system) for system in systems), board.settings.title, folder / "site")
        _show(board, folder / "site", job.id)
    with writing(board.engine) as session:
        owned(session, job).state = "done"


def _entry(system: PublishedSystem, suite: Suite) -> SystemResult:
    count = f"the team's submission no. {system.attempts}" if system.attempts > 1 else "the team's first submission"
    notes = [f"Scored on this board from predictions by {system.team}, {count}"]
    facts = known_facts(system.system)
    notes += facts.pop("notes", [])
    facts = {"id": system.id, "date": system.published_at[:10], "notes": notes, **facts}
    (entry,) = read_results([msgspec.structs.replace(system.results, system=facts)], suite)
    return replace(entry, source="", id=system.id)


def _show(board: OpenBoard, built: Path, number: int) -> None:
    """Publish pages under a number; a lower number never replaces a higher one."""
    folder, current = board.site / f"site-{number}", board.site / "current"
    with FileLock(board.site / ".lock"):
        shutil.rmtree(folder, ignore_errors=True)  # left by a worker that died
        built.rename(folder)
        if site_number(current) <= number:
            link = board.site / ".current"
            link.unlink(missing_ok=True)
            link.symlink_to(folder.name)
            link.replace(current)
        for old in sorted(board.site.glob("site-*"), key=site_number)[: -_KEPT - 1]:
            shutil.rmtree(old, ignore_errors=True)


def pack_files(folder: Path) -> None:
    """Write a gzip file next to every file."""
    for path in [path for path in folder.rglob("*") if path.is_file()]:
        path.with_name(f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes(), 9, mtime=0))


def site_number(folder: Path) -> int:
    """Return the build number of a site folder; -1 if it is missing."""
    return int(folder.resolve().name.removeprefix("site-")) if folder.is_dir() else -1
