"""What everybody may read: the board, its systems, its queue, and the records that other collections take."""

from collections.abc import Iterator
from functools import cache
from typing import Annotated

import msgspec
from fastapi import APIRouter, Depends, Path, Query
from sqlalchemy import func, select
from sqlalchemy.orm import Session, selectinload
from starlette.responses import Response

from isogloss.board.metadata import metadata_schema, public_metadata
from isogloss.board.server.access import board_of
from isogloss.board.server.answers import (
    DECIMALS,
    REFUSALS,
    UNKNOWN,
    BoardAnswer,
    ErrorAnswer,
    QueueAnswer,
    QueueEntry,
    SystemAnswer,
    SystemList,
    SystemSummary,
    listed_refusal,
    score_answers,
)
from isogloss.board.server.board import OpenBoard, scorer_version
from isogloss.board.server.database import reading
from isogloss.board.server.every_eval_ever import evaluation_record
from isogloss.board.server.intake import scored_before
from isogloss.board.server.models import WAITING, Submission
from isogloss.board.server.pages import published_systems
from isogloss.figures import rounded
from isogloss.scoring.names import language_name
from isogloss.tasks.registry import task
from isogloss.tasks.suites import suite as find_suite

router = APIRouter(responses=REFUSALS)

TheBoard = Annotated[OpenBoard, Depends(board_of)]
SystemId = Annotated[str, Path(pattern="^[a-z0-9-]{1,80}$", description="A system's id")]


@router.get("/board")
def show_board(board: TheBoard) -> BoardAnswer:
    """What is scored here, with what, and what a submission must say."""
    with reading(board.engine) as session:
        count = session.scalar(select(func.count()).where(Submission.state == "published")) or 0
    settings = board.settings
    tasks, languages = _suite_names(settings.suite)
    return BoardAnswer(
        title=settings.title,
        suite=settings.suite,
        scorer=scorer_version(),
        systems=count,
        upload_bytes=settings.upload_bytes,
        monthly_submissions=settings.monthly_submissions,
        task_titles=tasks,
        language_names=languages,
        metadata_schema=metadata_schema(),
    )


@cache
def _suite_names(name: str) -> tuple[dict[str, str], dict[str, str]]:
    """The titles of a suite's tasks and the names of its languages, by their ids."""
    of = find_suite(name)
    codes = {code for each in of.tasks for code in of.languages_of(each)}
    return {each: task(each).title for each in of.tasks}, {code: language_name(code) for code in sorted(codes)}


@router.get("/systems")
def list_systems(
    board: TheBoard,
    after: Annotated[int, Query(ge=0, le=2**31 - 1, description="`next` of the page before")] = 0,
    limit: Annotated[int, Query(ge=1, le=200)] = 100,
) -> SystemList:
    """The systems on the board, in the order they were submitted."""
    query = select(Submission).where(Submission.state == "published", Submission.id > after)
    loaded = query.options(selectinload(Submission.scores), selectinload(Submission.team))
    with reading(board.engine) as session:
        found = session.scalars(loaded.order_by(Submission.id).limit(limit)).all()
        systems = [_summary(session, submission) for submission in found]
    return SystemList(systems=systems, next=found[-1].id if len(found) == limit else None)


def _summary(session: Session, submission: Submission) -> SystemSummary:
    overall = submission.scores[-1].overall
    return SystemSummary(
        id=submission.system_id,
        name=msgspec.json.decode(submission.system)["name"],
        team=submission.team.name,
        overall=None if overall is None else rounded(overall, DECIMALS),
        attempts=scored_before(session, submission),
        published_at=submission.published_at or submission.changed_at,
    )


@router.get("/systems/{system_id}", responses=UNKNOWN)
def show_system(system_id: SystemId, board: TheBoard) -> SystemAnswer:
    """All that is public of a system: metadata, and its scores by every scorer's version."""
    with reading(board.engine) as session:
        query = select(Submission).where(Submission.system_id == system_id, Submission.state == "published")
        found = session.scalar(query)
        if found is None:
            raise _no_system(system_id)
        return SystemAnswer(
            id=found.system_id,
            team=found.team.name,
            system=public_metadata(msgspec.json.decode(found.system)),
            attempts=scored_before(session, found),
            published_at=found.published_at or found.changed_at,
            scores=score_answers(found),
        )


def _no_system(system_id: str) -> Exception:
    return listed_refusal(404, ErrorAnswer(what=f"there is no system {system_id} on the board"))


@router.get("/systems/{system_id}/every-eval-ever", responses=UNKNOWN)
def export_system(system_id: SystemId, board: TheBoard) -> dict[str, object]:
    """A system's scores as a record of Every Eval Ever."""
    with reading(board.engine) as session:
        found = published_systems(session, system_id)
    if not found:
        raise _no_system(system_id)
    return evaluation_record(found[0], board.settings.title)


@router.get("/every-eval-ever", response_class=Response, responses={200: {"content": {"application/jsonl": {}}}})
def export_all(board: TheBoard) -> Response:
    """All systems as records of Every Eval Ever, one a line."""
    with reading(board.engine) as session:
        systems = published_systems(session)

    def lines() -> Iterator[bytes]:
        for system in systems:
            yield msgspec.json.encode(evaluation_record(system, board.settings.title)) + b"\n"

    return Response(b"".join(lines()), media_type="application/jsonl")


@router.get("/queue")
def show_queue(board: TheBoard) -> QueueAnswer:
    """What waits and what is being scored, the oldest first, at most 200."""
    with reading(board.engine) as session:
        waiting = session.execute(
            select(Submission.state, Submission.changed_at).where(Submission.state.in_(WAITING)).order_by(Submission.id)
        ).all()
    entries = [QueueEntry(position=place, state=state, since=at) for place, (state, at) in enumerate(waiting, 1)]
    queued = sum(entry.state == "received" for entry in entries)
    return QueueAnswer(waiting=queued, running=len(entries) - queued, entries=entries[:200])
