"""Routes of the API: the public board with its systems, queue and Every Eval Ever records, and submissions of teams."""

from functools import cache, partial
from typing import Annotated, Any

import msgspec
from fastapi import APIRouter, Depends, Path, Query, Request
from sqlalchemy import func, select
from sqlalchemy.orm import Session, selectinload
from starlette.concurrency import run_in_threadpool
from starlette.responses import JSONResponse, Response

from isogloss.board.server import answers, intake
from isogloss.board.server.access import bearer_with, board_of, check_scope
from isogloss.board.server.board import Bearer, BoardSettings, OpenBoard, scorer_version
from isogloss.board.server.budget import QuotaError, check_upload, locked_team, team_budget
from isogloss.board.server.database import Submission, Team, reading, writing
from isogloss.board.server.disclosure import stored_record
from isogloss.board.server.evaluations import evaluation_record, record_page
from isogloss.board.server.pages import public_facts, published_systems
from isogloss.board.server.queue import waiting_submissions
from isogloss.board.server.scoring import StateError, publish_for_team, withdraw
from isogloss.decoding import decode_json
from isogloss.errors import DataError
from isogloss.predictions.problems import Problem, ProblemCode
from isogloss.results.metadata import metadata_schema, public_metadata, read_metadata
from isogloss.scoring.names import language_name
from isogloss.tasks.registry import task
from isogloss.tasks.suites import suite as find_suite

public = APIRouter(responses=answers.REFUSALS)
teams = APIRouter(responses={**answers.REFUSALS, **answers.GUARDED})


class JSONBytes(JSONResponse):
    """Response with JSON that is encoded already."""

    def render(self, content: bytes) -> bytes:
        """Return the content."""
        return content


TheBoard = Annotated[OpenBoard, Depends(board_of)]
SystemId = Annotated[str, Path(pattern="^[a-z0-9-]{1,80}$", description="System id")]
Key = Annotated[str, Path(pattern="^[0-9a-f]{12}$", description="Submission key")]
Reader = Annotated[Bearer, Depends(bearer_with("read"))]
Submitter = Annotated[Bearer, Depends(bearer_with("submit"))]
Publisher = Annotated[Bearer, Depends(bearer_with("publish"))]


@public.get("/board")
def show_board(board: TheBoard) -> answers.BoardAnswer:
    """Return the suite, the scorer, the limits and the schema of submission metadata."""
    with reading(board.engine) as session:
        count = session.scalar(select(func.count()).where(Submission.state == "published")) or 0
    tasks, languages = _suite_names(board.settings.suite)
    own = set(answers.BoardAnswer.model_fields) & set(BoardSettings.__dataclass_fields__)
    return answers.BoardAnswer(
        **{name: getattr(board.settings, name) for name in own},
        scorer=scorer_version(),
        systems=count,
        task_titles=tasks,
        language_names=languages,
        metadata_schema=metadata_schema(),
    )


@cache
def _suite_names(name: str) -> tuple[dict[str, str], dict[str, str]]:
    suite = find_suite(name)
    codes = {code for task_id in suite.tasks for code in suite.languages_of(task_id)}
    return {id_: task(id_).title for id_ in suite.tasks}, {code: language_name(code) for code in sorted(codes)}


@public.get("/systems")
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
                overall=stored_record(submission.scores[-1], closed=board.settings.closed).overall.complete_value,
            )
            for submission in page
        ]
    return answers.SystemList(systems=systems, next=page[-1].id if len(page) == limit else None)


@public.get("/systems/{system_id}", responses=answers.UNKNOWN)
def show_system(system_id: SystemId, board: TheBoard) -> answers.SystemAnswer:
    """Return a system's public metadata and its scores by scorer version."""
    with reading(board.engine) as session:
        query = select(Submission).where(Submission.system_id == system_id, Submission.state == "published")
        submission = session.scalar(query)
        if submission is None:
            raise answers.refusal(404, f"unknown system {system_id}")
        return answers.SystemAnswer(
            **public_facts(session, submission),
            system=public_metadata(msgspec.json.decode(submission.system)),
            scores=answers.score_answers(submission, closed=board.settings.closed),
        )


@public.get("/systems/{system_id}/every-eval-ever", responses=answers.UNKNOWN)
def export_system(system_id: SystemId, board: TheBoard) -> dict[str, object]:
    """Return a system's scores as an Every Eval Ever record."""
    with reading(board.engine) as session:
        systems = published_systems(session, system_id, closed=board.settings.closed)
    if not systems:
        raise answers.refusal(404, f"unknown system {system_id}")
    return evaluation_record(systems[0], board.settings.title)


@public.get("/every-eval-ever", response_class=JSONBytes, responses={200: {"model": answers.EvaluationList}})
def export_systems(
    board: TheBoard,
    after: Annotated[int, Query(ge=0, le=2**31 - 1, description="`next` of the previous page")] = 0,
    limit: Annotated[int, Query(ge=1, le=100)] = 20,
) -> JSONBytes:
    """List the systems of the built pages as Every Eval Ever records; /every-eval-ever.jsonl.gz has all of them."""
    records, following = record_page(board.site / "current", after, limit)
    return JSONBytes(b'{"records":[%b],"next":%b}' % (b",".join(records), msgspec.json.encode(following)))


@public.get("/queue")
def show_queue(board: TheBoard) -> answers.QueueAnswer:
    """List submissions that are waiting or being scored, next first, at most 200; teams take turns."""
    with reading(board.engine) as session:
        waiting = waiting_submissions(session)
    entries = [
        answers.QueueEntry(position=row, state=entry.state, since=entry.since) for row, entry in enumerate(waiting, 1)
    ]
    queued = sum(entry.state == "received" for entry in entries)
    return answers.QueueAnswer(waiting=queued, running=len(entries) - queued, entries=entries[:200])


# Declared by hand: the form is streamed after the token check, not parsed by the framework.
_FIELDS = {
    "metadata": metadata_schema(),
    "publish": {"type": "string", "enum": ["true", "false"], "default": "false"},
    "archive": {"type": "string", "format": "binary", "minLength": 1, "description": "Zip or tar of predictions"},
}
_SCHEMA = {"type": "object", "required": ["metadata", "archive"], "additionalProperties": False, "properties": _FIELDS}
_CONTENT = {"schema": _SCHEMA, "encoding": {"metadata": {"contentType": "application/json"}}}
_FORM = {"requestBody": {"required": True, "content": {"multipart/form-data": _CONTENT}}}
_SUBMITTED: answers.Refusals = {
    200: {"model": answers.SubmissionAnswer, "description": "Identical to an earlier submission; not counted again"},
    **answers.refusals({408: "Request timed out", 409: "The earlier submission cannot be published"}),
    **answers.refusals({507: "The board's disk is full"}),
}


@teams.post("/submissions", status_code=201, openapi_extra=_FORM, responses=_SUBMITTED)
async def submit(request: Request, response: Response, board: TheBoard, bearer: Submitter) -> answers.SubmissionAnswer:
    """Submit predictions and system metadata. Resubmitting identical predictions creates no duplicate.

    Quotas and free space are checked before the body is read. Without the scope read, the answer has neither problems
    nor scores.
    """
    form = intake.UploadForm(board=board)
    length = request.headers.get("content-length")
    try:
        await run_in_threadpool(check_upload, board, bearer.team_id, None if length is None else int(length))
        await intake.read_form(request, form)
        key, is_new = await run_in_threadpool(_accept, board, bearer, form)
    except (intake.FormError, QuotaError) as error:
        raise answers.refusal(error.status, error) from None
    except StateError as error:
        raise answers.refusal(409, error) from None
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


@teams.get("/submissions")
def list_submissions(board: TheBoard, bearer: Reader) -> answers.SubmissionList:
    """List the team's submissions without scores, newest first, at most 200."""
    newest = select(Submission).where(Submission.team_id == bearer.team_id).order_by(Submission.id.desc()).limit(200)
    with reading(board.engine) as session:
        queue = intake.queue_ids(session)
        submissions = [answers.submission_answer(entry, queue, with_scores=False) for entry in session.scalars(newest)]
    return answers.SubmissionList(submissions=submissions)


@teams.get("/submissions/{key}", responses=answers.UNKNOWN)
def show_submission(key: Key, board: TheBoard, bearer: Reader) -> answers.SubmissionAnswer:
    """Return the state, problems and scores of a submission."""
    return _one(board, bearer, key)


_CONFLICT = answers.UNKNOWN | answers.refusals({409: "Not allowed in the current state"})


@teams.post("/submissions/{key}/publish", responses=_CONFLICT)
def publish_submission(key: Key, board: TheBoard, bearer: Publisher) -> answers.SubmissionAnswer:
    """Publish a scored submission."""
    return _changed(board, bearer, key, partial(publish_for_team, board))


@teams.post("/submissions/{key}/withdraw", responses=_CONFLICT)
def withdraw_submission(key: Key, board: TheBoard, bearer: Publisher) -> answers.SubmissionAnswer:
    """Remove a submission from the board; it still counts against the quota."""
    return _changed(board, bearer, key, withdraw)


def _changed(board: OpenBoard, bearer: Bearer, key: str, change: Any) -> answers.SubmissionAnswer:
    try:
        with writing(board.engine) as session:
            locked_team(session, bearer.team_id)
            change(session, _find(session, bearer, key, lock=True), bearer.actor)
    except StateError as error:
        raise answers.refusal(409, error) from None
    except QuotaError as error:
        raise answers.refusal(error.status, error) from None
    return _one(board, bearer, key)


def _one(board: OpenBoard, bearer: Bearer, key: str) -> answers.SubmissionAnswer:
    with reading(board.engine) as session:
        submission, queue = _find(session, bearer, key), intake.queue_ids(session)
        if "read" not in bearer.scopes:
            return answers.submission_answer(submission, queue, with_scores=False, with_problems=False)
        return answers.submission_answer(submission, queue, closed=board.settings.closed)


def _find(session: Session, bearer: Bearer, key: str, *, lock: bool = False) -> Submission:
    """Return a submission of the team; keys of other teams are reported as unknown."""
    query = select(Submission).where(Submission.key == key, Submission.team_id == bearer.team_id)
    submission = session.scalar(query.with_for_update() if lock else query)
    if submission is None:
        raise answers.refusal(404, f"your team has no submission {key}")
    return submission


@teams.get("/team")
def show_team(board: TheBoard, bearer: Reader) -> answers.TeamAnswer:
    """Return the token's scopes and the team's quotas for this month and year."""
    with reading(board.engine) as session:
        team = session.get_one(Team, bearer.team_id)
        budget = team_budget(session, board, team)
    names = set(answers.TeamAnswer.model_fields) - {"team", "scopes"}
    return answers.TeamAnswer(
        team=team.name, scopes=sorted(bearer.scopes), **{name: getattr(budget, name) for name in names}
    )
