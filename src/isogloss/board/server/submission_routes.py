"""What teams do: send a submission, see what became of it, publish it or take it back."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Request, Response
from sqlalchemy import func, select
from sqlalchemy.orm import Session
from starlette.concurrency import run_in_threadpool

from isogloss.board.metadata import SystemMetadata, metadata_schema, read_metadata
from isogloss.board.server.access import bearer_with, board_of, check_scope
from isogloss.board.server.answers import (
    GUARDED,
    REFUSALS,
    UNKNOWN,
    ErrorAnswer,
    SubmissionAnswer,
    SubmissionList,
    TeamAnswer,
    listed_refusal,
    problem_answers,
    refusal,
    submission_answer,
)
from isogloss.board.server.board import OpenBoard
from isogloss.board.server.database import reading, writing
from isogloss.board.server.intake import (
    MonthlyLimitError,
    UploadLimitError,
    accept,
    monthly_limit,
    queue_ids,
    submissions_in_month,
)
from isogloss.board.server.models import SCORED, Submission, Team, timestamp
from isogloss.board.server.scoring import StateError, publish, withdraw
from isogloss.board.server.tokens import Bearer
from isogloss.board.server.uploads import FormError, UploadForm, read_form
from isogloss.decoding import decode_json
from isogloss.errors import DataError
from isogloss.predictions.problems import Problem

router = APIRouter(responses={**REFUSALS, **GUARDED})

TheBoard = Annotated[OpenBoard, Depends(board_of)]
Key = Annotated[str, Path(pattern="^[0-9a-f]{12}$", description="A submission's key")]
Reader = Annotated[Bearer, Depends(bearer_with("read"))]
Submitter = Annotated[Bearer, Depends(bearer_with("submit"))]
Publisher = Annotated[Bearer, Depends(bearer_with("publish"))]

# As the form is read while it comes, after the token has been looked at, its shape is told by hand.
_FORM = {
    "requestBody": {
        "required": True,
        "content": {
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "required": ["metadata", "archive"],
                    "additionalProperties": False,
                    "properties": {
                        "metadata": metadata_schema(),
                        "publish": {"type": "string", "enum": ["true", "false"], "default": "false"},
                        "archive": {
                            "type": "string",
                            "format": "binary",
                            "minLength": 1,
                            "description": "A zip or tar of predictions",
                        },
                    },
                },
                "encoding": {"metadata": {"contentType": "application/json"}},
            }
        },
    }
}
_SUBMITTED: dict[int | str, dict[str, Any]] = {
    200: {"model": SubmissionAnswer, "description": "The same submission was here before: nothing new is counted"},
    408: {"model": ErrorAnswer, "description": "The client fell silent"},
    507: {"model": ErrorAnswer, "description": "The board's disk is full"},
}


@router.post("/submissions", status_code=201, openapi_extra=_FORM, responses=_SUBMITTED)
async def submit(request: Request, response: Response, board: TheBoard, bearer: Submitter) -> SubmissionAnswer:
    """Send predictions with what their system is. The same upload, sent again, is the same submission."""
    form = UploadForm(board)
    try:
        await read_form(request, form)
        key, is_new = await run_in_threadpool(_accept, board, bearer, form)
    except FormError as error:
        raise refusal(422, error) from None
    except UploadLimitError as error:
        raise refusal(413, error) from None
    except MonthlyLimitError as error:
        raise refusal(429, error) from None
    except OSError as error:
        answer = ErrorAnswer(what=f"the board cannot store it now ({error.strerror})", fix="Try again later")
        raise listed_refusal(507, answer) from error
    finally:
        await run_in_threadpool(form.close)
    if not is_new:
        response.status_code = 200
    return await run_in_threadpool(_one, board, bearer, key)


def _accept(board: OpenBoard, bearer: Bearer, form: UploadForm) -> tuple[str, bool]:
    metadata, problems = _read_fields(form)
    if metadata is None or problems or form.archive is None:
        answer = ErrorAnswer(what="the submission cannot be taken", problems=problem_answers(problems))
        raise listed_refusal(422, answer)
    wanted = bytes(form.fields.get("publish", b"")) == b"true"
    if wanted:
        check_scope(bearer, "publish")
    return accept(board, bearer, metadata, form.archive, publish=wanted)


def _read_metadata(form: UploadForm) -> tuple[SystemMetadata | None, list[Problem]]:
    if "metadata" not in form.fields:
        return None, [Problem("metadata", "is missing", "A field of the form: a JSON object")]
    try:
        return read_metadata(decode_json(bytes(form.fields["metadata"]), "metadata"))
    except DataError as error:
        return None, [Problem("metadata", error.what, "Metadata are one JSON object")]


def _read_fields(form: UploadForm) -> tuple[SystemMetadata | None, list[Problem]]:
    metadata, problems = _read_metadata(form)
    if bytes(form.fields.get("publish", b"false")) not in (b"true", b"false"):
        problems.append(Problem("publish", "is neither true nor false"))
    if form.archive is None:
        problems.append(Problem("archive", "is missing", "A field of the form: a zip or tar of predictions"))
    elif not form.archive.size:
        problems.append(Problem("archive", "is empty", "A zip or tar of predictions"))
    return metadata, problems


@router.get("/submissions")
def list_submissions(board: TheBoard, bearer: Reader) -> SubmissionList:
    """The team's submissions, the newest first, at most 200; scores are with each of them alone."""
    newest = select(Submission).where(Submission.team_id == bearer.team_id).order_by(Submission.id.desc()).limit(200)
    with reading(board.engine) as session:
        queue = queue_ids(session)
        found = [submission_answer(submission, queue, with_scores=False) for submission in session.scalars(newest)]
    return SubmissionList(submissions=found)


@router.get("/submissions/{key}", responses=UNKNOWN)
def show_submission(key: Key, board: TheBoard, bearer: Reader) -> SubmissionAnswer:
    """A submission of the team: its state, its problems, and its scores once it has any."""
    return _one(board, bearer, key)


_CONFLICT: dict[int | str, dict[str, Any]] = {
    **UNKNOWN,
    409: {"model": ErrorAnswer, "description": "Not in its present state"},
}


@router.post("/submissions/{key}/publish", responses=_CONFLICT)
def publish_submission(key: Key, board: TheBoard, bearer: Publisher) -> SubmissionAnswer:
    """Put a submission on the board that was scored and looked at."""
    return _changed(board, bearer, key, publish)


@router.post("/submissions/{key}/withdraw", responses=_CONFLICT)
def withdraw_submission(key: Key, board: TheBoard, bearer: Publisher) -> SubmissionAnswer:
    """Take a submission off the board; it still counts."""
    return _changed(board, bearer, key, withdraw)


def _changed(board: OpenBoard, bearer: Bearer, key: str, change: Any) -> SubmissionAnswer:
    try:
        with writing(board.engine) as session:
            change(session, _find(session, bearer, key, lock=True), bearer.actor)
    except StateError as error:
        raise refusal(409, error) from None
    return _one(board, bearer, key)


def _one(board: OpenBoard, bearer: Bearer, key: str) -> SubmissionAnswer:
    with reading(board.engine) as session:
        return submission_answer(_find(session, bearer, key), queue_ids(session))


def _find(session: Session, bearer: Bearer, key: str, *, lock: bool = False) -> Submission:
    """A submission of the team; that another team has one of that key is not told."""
    query = select(Submission).where(Submission.key == key, Submission.team_id == bearer.team_id)
    found = session.scalar(query.with_for_update() if lock else query)
    if found is None:
        raise listed_refusal(404, ErrorAnswer(what=f"your team has no submission {key}"))
    return found


@router.get("/team")
def show_team(board: TheBoard, bearer: Reader) -> TeamAnswer:
    """What the token is for, and what the team may still submit this month."""
    month = timestamp()[:7]
    with reading(board.engine) as session:
        team = session.get_one(Team, bearer.team_id)
        used, _ = submissions_in_month(session, team.id, month)
        scored = select(func.count()).where(Submission.team_id == team.id, Submission.state.in_(SCORED))
        limit = monthly_limit(board, team)
        return TeamAnswer(
            team=team.name,
            scopes=sorted(bearer.scopes),
            month=month,
            monthly_submissions=limit,
            used=used,
            left=max(0, limit - used),
            scored_in_all=session.scalar(scored) or 0,
        )
