"""Routes for teams: submit predictions, follow their state, publish or withdraw them."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Request, Response
from sqlalchemy import func, select
from sqlalchemy.orm import Session
from starlette.concurrency import run_in_threadpool

from isogloss.board.server import answers, intake
from isogloss.board.server.access import bearer_with, board_of, check_scope
from isogloss.board.server.board import OpenBoard
from isogloss.board.server.database import reading, writing
from isogloss.board.server.models import SCORED, Submission, Team, timestamp
from isogloss.board.server.scoring import StateError, publish, withdraw
from isogloss.board.server.tokens import Bearer
from isogloss.decoding import decode_json
from isogloss.errors import DataError
from isogloss.predictions.problems import Problem, ProblemCode
from isogloss.results.metadata import metadata_schema, read_metadata

router = APIRouter(responses={**answers.REFUSALS, **answers.GUARDED})

TheBoard = Annotated[OpenBoard, Depends(board_of)]
Key = Annotated[str, Path(pattern="^[0-9a-f]{12}$", description="Submission key")]
Reader = Annotated[Bearer, Depends(bearer_with("read"))]
Submitter = Annotated[Bearer, Depends(bearer_with("submit"))]
Publisher = Annotated[Bearer, Depends(bearer_with("publish"))]

# Declared by hand: the form is streamed after the token check, not parsed by the framework.
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
                            "description": "Zip or tar of predictions",
                        },
                    },
                },
                "encoding": {"metadata": {"contentType": "application/json"}},
            }
        },
    }
}
_SUBMITTED: answers.Refusals = {
    200: {"model": answers.SubmissionAnswer, "description": "Identical to an earlier submission; not counted again"},
    **answers.refusals({408: "Request timed out", 507: "The board's disk is full"}),
}


@router.post("/submissions", status_code=201, openapi_extra=_FORM, responses=_SUBMITTED)
async def submit(request: Request, response: Response, board: TheBoard, bearer: Submitter) -> answers.SubmissionAnswer:
    """Submit predictions and system metadata. Resubmitting identical predictions creates no duplicate."""
    form = intake.UploadForm(board=board)
    try:
        await intake.read_form(request, form)
        key, is_new = await run_in_threadpool(_accept, board, bearer, form)
    except intake.FormError as error:
        raise answers.refusal(422, error) from None
    except intake.UploadLimitError as error:
        raise answers.refusal(413, error) from None
    except intake.MonthlyLimitError as error:
        raise answers.refusal(429, error) from None
    except OSError as error:
        raise answers.refusal(507, f"cannot store the upload ({error.strerror})", fix="Try again later") from error
    finally:
        await run_in_threadpool(form.close)
    if not is_new:
        response.status_code = 200
    return await run_in_threadpool(_one, board, bearer, key)


def _accept(board: OpenBoard, bearer: Bearer, form: intake.UploadForm) -> tuple[str, bool]:
    metadata, problems = _read_fields(form)
    if metadata is None or problems or form.archive is None:
        raise answers.refusal(422, "invalid submission", problems=problems)
    publish_when_scored = bytes(form.fields.get("publish", b"")) == b"true"
    if publish_when_scored:
        check_scope(bearer, "publish")
    return intake.accept(board, bearer, metadata, form.archive, publish=publish_when_scored)


def _form_problem(field: str, what: str, fix: str = "") -> Problem:
    return Problem(code=ProblemCode.INVALID_FORM, file=field, detail=what, advice=fix)


def _read_fields(form: intake.UploadForm) -> tuple[dict[str, Any] | None, list[Problem]]:
    try:
        sent = bytes(form.fields["metadata"])
        metadata, problems = read_metadata(decode_json(sent, "metadata"))
    except KeyError:
        metadata, problems = None, [_form_problem("metadata", "is missing", "A field of the form: a JSON object")]
    except DataError as error:
        metadata, problems = None, [_form_problem("metadata", error.what, "Send the metadata as one JSON object")]
    if bytes(form.fields.get("publish", b"false")) not in (b"true", b"false"):
        problems.append(_form_problem("publish", "expected true or false"))
    if form.archive is None:
        problems.append(_form_problem("archive", "is missing", "A field of the form: a zip or tar of predictions"))
    elif not form.archive.size:
        problems.append(_form_problem("archive", "is empty", "A zip or tar of predictions"))
    return metadata, problems


@router.get("/submissions")
def list_submissions(board: TheBoard, bearer: Reader) -> answers.SubmissionList:
    """List the team's submissions without scores, newest first, at most 200."""
    newest = select(Submission).where(Submission.team_id == bearer.team_id).order_by(Submission.id.desc()).limit(200)
    with reading(board.engine) as session:
        queue = intake.queue_ids(session)
        submissions = [answers.submission_answer(entry, queue, with_scores=False) for entry in session.scalars(newest)]
    return answers.SubmissionList(submissions=submissions)


@router.get("/submissions/{key}", responses=answers.UNKNOWN)
def show_submission(key: Key, board: TheBoard, bearer: Reader) -> answers.SubmissionAnswer:
    """Return the state, problems and scores of a submission."""
    return _one(board, bearer, key)


_CONFLICT = answers.UNKNOWN | answers.refusals({409: "Not allowed in the current state"})


@router.post("/submissions/{key}/publish", responses=_CONFLICT)
def publish_submission(key: Key, board: TheBoard, bearer: Publisher) -> answers.SubmissionAnswer:
    """Publish a scored submission."""
    return _changed(board, bearer, key, publish)


@router.post("/submissions/{key}/withdraw", responses=_CONFLICT)
def withdraw_submission(key: Key, board: TheBoard, bearer: Publisher) -> answers.SubmissionAnswer:
    """Remove a submission from the board; it still counts against the quota."""
    return _changed(board, bearer, key, withdraw)


def _changed(board: OpenBoard, bearer: Bearer, key: str, change: Any) -> answers.SubmissionAnswer:
    try:
        with writing(board.engine) as session:
            change(session, _find(session, bearer, key, lock=True), bearer.actor)
    except StateError as error:
        raise answers.refusal(409, error) from None
    return _one(board, bearer, key)


def _one(board: OpenBoard, bearer: Bearer, key: str) -> answers.SubmissionAnswer:
    with reading(board.engine) as session:
        return answers.submission_answer(_find(session, bearer, key), intake.queue_ids(session))


def _find(session: Session, bearer: Bearer, key: str, *, lock: bool = False) -> Submission:
    """Return a submission of the team; keys of other teams are reported as unknown."""
    query = select(Submission).where(Submission.key == key, Submission.team_id == bearer.team_id)
    submission = session.scalar(query.with_for_update() if lock else query)
    if submission is None:
        raise answers.refusal(404, f"your team has no submission {key}")
    return submission


@router.get("/team")
def show_team(board: TheBoard, bearer: Reader) -> answers.TeamAnswer:
    """Return the token's scopes and the team's quota for this month."""
    month = timestamp()[:7]
    with reading(board.engine) as session:
        team = session.get_one(Team, bearer.team_id)
        used, _ = intake.submissions_in_month(session, team.id, month)
        scored = select(func.count()).where(Submission.team_id == team.id, Submission.state.in_(SCORED))
        limit = intake.monthly_limit(board, team)
        return answers.TeamAnswer(
            team=team.name,
            scopes=sorted(bearer.scopes),
            month=month,
            monthly_submissions=limit,
            used=used,
            left=max(0, limit - used),
            scored_in_all=session.scalar(scored) or 0,
        )
