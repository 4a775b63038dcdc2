"""Public routes: the board, its systems, its queue, and Every Eval Ever records."""

from datetime import UTC, datetime
from functools import cache
from typing import Annotated, Any

import msgspec
from fastapi import APIRouter, Depends, Path, Query
from sqlalchemy import func, select
from sqlalchemy.orm import selectinload
from starlette.responses import Response

from isogloss.board.server import answers
from isogloss.board.server.access import board_of
from isogloss.board.server.board import OpenBoard, scorer_version
from isogloss.board.server.database import reading
from isogloss.board.server.models import WAITING, Submission
from isogloss.board.server.pages import PublishedSystem, public_facts, published_systems
from isogloss.results.metadata import metadata_schema, public_metadata
from isogloss.scoring.main_score import lower_is_better
from isogloss.scoring.names import language_name
from isogloss.scoring.results import CellScore, Number
from isogloss.tasks.registry import task
from isogloss.tasks.suites import suite as find_suite

router = APIRouter(responses=answers.REFUSALS)

# Version of the Every Eval Ever format, which collects evaluations from many sources.
EVERY_EVAL_EVER = "0.2.1"

TheBoard = Annotated[OpenBoard, Depends(board_of)]
SystemId = Annotated[str, Path(pattern="^[a-z0-9-]{1,80}$", description="System id")]


@router.get("/board")
def show_board(board: TheBoard) -> answers.BoardAnswer:
    """Return the suite, the scorer, the limits and the schema of submission metadata."""
    with reading(board.engine) as session:
        count = session.scalar(select(func.count()).where(Submission.state == "published")) or 0
    settings = board.settings
    tasks, languages = _suite_names(settings.suite)
    return answers.BoardAnswer(
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
    """Return the titles of a suite's tasks and the names of its languages, by id."""
    suite = find_suite(name)
    codes = {code for task_id in suite.tasks for code in suite.languages_of(task_id)}
    return {id_: task(id_).title for id_ in suite.tasks}, {code: language_name(code) for code in sorted(codes)}


@router.get("/systems")
def list_systems(
    board: TheBoard,
    after: Annotated[int, Query(ge=0, le=2**31 - 1, description="`next` of the previous page")] = 0,
    limit: Annotated[int, Query(ge=1, le=200)] = 100,
) -> answers.SystemList:
    """List published systems in the order of submission."""
    query = select(Submission).where(Submission.state == "published", Submission.id > after)
    loaded = query.options(selectinload(Submission.scores), selectinload(Submission.team))
    with reading(board.engine) as session:
        page = session.scalars(loaded.order_by(Submission.id).limit(limit)).all()
        systems = [
            answers.SystemSummary(
                **public_facts(session, submission),
                name=msgspec.json.decode(submission.system)["name"],
                overall=answers.published_score(submission.scores[-1].overall),
            )
            for submission in page
        ]
    return answers.SystemList(systems=systems, next=page[-1].id if len(page) == limit else None)


@router.get("/systems/{system_id}", responses=answers.UNKNOWN)
def show_system(system_id: SystemId, board: TheBoard) -> answers.SystemAnswer:
    """Return a system's public metadata and its scores by scorer version."""
    with reading(board.engine) as session:
        query = select(Submission).where(Submission.system_id == system_id, Submission.state == "published")
        submission = session.scalar(query)
        if submission is None:
            raise _no_system(system_id)
        return answers.SystemAnswer(
            **public_facts(session, submission),
            system=public_metadata(msgspec.json.decode(submission.system)),
            scores=answers.score_answers(submission),
        )


def _no_system(system_id: str) -> Exception:
    return answers.refusal(404, f"unknown system {system_id}")


@router.get("/systems/{system_id}/every-eval-ever", responses=answers.UNKNOWN)
def export_system(system_id: SystemId, board: TheBoard) -> dict[str, object]:
    """Return a system's scores as an Every Eval Ever record."""
    with reading(board.engine) as session:
        systems = published_systems(session, system_id)
    if not systems:
        raise _no_system(system_id)
    return evaluation_record(systems[0], board.settings.title)


@router.get("/every-eval-ever", response_class=Response, responses={200: {"content": {"application/jsonl": {}}}})
def export_all(board: TheBoard) -> Response:
    """Return all systems as Every Eval Ever records, one per line."""
    with reading(board.engine) as session:
        records = [evaluation_record(system, board.settings.title) for system in published_systems(session)]
    return Response(b"".join(msgspec.json.encode(record) + b"\n" for record in records), media_type="application/jsonl")


@router.get("/queue")
def show_queue(board: TheBoard) -> answers.QueueAnswer:
    """List submissions that are waiting or being scored, oldest first, at most 200."""
    with reading(board.engine) as session:
        waiting = session.execute(
            select(Submission.state, Submission.changed_at).where(Submission.state.in_(WAITING)).order_by(Submission.id)
        ).all()
    entries = [
        answers.QueueEntry(position=position, state=state, since=at) for position, (state, at) in enumerate(waiting, 1)
    ]
    queued = sum(entry.state == "received" for entry in entries)
    return answers.QueueAnswer(waiting=queued, running=len(entries) - queued, entries=entries[:200])


def evaluation_record(system: PublishedSystem, board: str) -> dict[str, Any]:
    """Return the record of a published system: one result per task, language and metric."""
    at = datetime.strptime(system.published_at, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC)
    seconds = str(int(at.timestamp()))
    details = {name: str(value) for name, value in system.system.items() if name != "name"}
    return {
        "schema_version": EVERY_EVAL_EVER,
        "evaluation_id": f"{system.results.suite}/{system.id}/{seconds}",
        "evaluation_timestamp": system.published_at,
        "retrieved_timestamp": seconds,
        "source_metadata": {
            "source_name": board,
            "source_type": "evaluation_run",
            "source_organization_name": board,
            "evaluator_relationship": "third_party",
            "additional_details": {"team": system.team, "submissions_scored_by_then": str(system.attempts)},
        },
        "eval_library": {
            "name": "isogloss",
            "version": system.results.isogloss,
            "additional_details": {"suite": system.results.suite, "rule": system.results.overall.rule},
        },
        "model_info": {"name": system.system["name"], "id": system.id, "additional_details": details},
        "evaluation_results": [
            _result(cell, metric, number) for cell in system.results.cells for metric, number in cell.metrics.items()
        ],
    }


def _result(cell: CellScore, metric: str, number: Number) -> dict[str, Any]:
    entry = task(cell.task)
    source: dict[str, Any] = {"dataset_name": cell.task, "source_type": "other"}
    if entry.homepage:
        source = {"dataset_name": cell.task, "source_type": "url", "url": [entry.homepage]}
    uncertainty: dict[str, Any] = {"num_samples": number.n}
    if number.low is not None and number.high is not None:
        interval = {"lower": number.low, "upper": number.high, "confidence_level": 0.95, "method": "bootstrap"}
        uncertainty["confidence_interval"] = interval
    return {
        "evaluation_name": f"{cell.task}/{cell.language}/{metric}",
        "source_data": source,
        "metric_config": {
            "evaluation_description": f"{metric} of {entry.title} in {cell.language}, {cell.split}",
            "lower_is_better": lower_is_better(cell.task, metric),
            "score_type": "continuous",
            "min_score": 0,
            "max_score": 100,
        },
        "score_details": {
            "score": number.value,
            "details": {"language": cell.language, "signature": cell.signature},
            "uncertainty": uncertainty,
        },
    }
