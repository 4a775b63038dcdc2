"""Response models of the API, and error responses."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from fastapi import HTTPException
from pydantic import BaseModel, Field
from starlette.responses import JSONResponse

from isogloss.board.server.database import ScoreRecord, Submission
from isogloss.board.server.disclosure import stored_record
from isogloss.errors import IsoglossError
from isogloss.predictions.problems import Problem


class ProblemAnswer(BaseModel):
    """A problem in a submission; warnings do not prevent scoring."""

    where: str
    what: str
    fix: str = ""
    warning: bool = False
    code: str = ""


class ErrorAnswer(BaseModel):
    """Reason for a refused request, its location, a fix, and all problems of an upload."""

    what: str
    where: str = ""
    fix: str = ""
    problems: list[ProblemAnswer] = []


class ScoredCell(BaseModel):
    """Scores of a task in a language, 0 to 100, rounded, with approximate 95 % intervals and the signature."""

    task: str
    language: str
    n: int
    metrics: dict[str, list[float | None]] = Field(description="metric: [value, low, high]")
    signature: str


class ScoresAnswer(BaseModel):
    """Scores of a submission by one scorer version, without per-example results."""

    scorer: str
    at: str
    overall: float | None = Field(description="null if any part of the suite is missing")
    rule: str
    missing: list[str]
    categories: dict[str, float] = Field(description="over the cells present; `incomplete` lists missing ones")
    tasks: dict[str, float] = Field(description="over the cells present; `incomplete` lists missing ones")
    incomplete: dict[str, list[str]] = Field(description="missing cells by task and category")
    cells: list[ScoredCell] = Field(description="only of published systems")
    part: str = Field(description="examples that the scores are of: all, public or private")


class SubmissionAnswer(BaseModel):
    """A submission, as shown to its team."""

    key: str
    state: str = Field(description="received, validating, scoring, preview, published, rejected, withdrawn or deleted")
    queue_position: int | None = Field(description="position in the queue, 1 for the next; null once scored")
    system_id: str
    system: dict[str, Any]
    created_at: str
    changed_at: str
    archive_sha256: str
    problems: list[ProblemAnswer]
    scores: list[ScoresAnswer] = Field(description="one per scorer version, newest last")


class SubmissionList(BaseModel):
    """A team's submissions, newest first."""

    submissions: list[SubmissionAnswer]


class TeamAnswer(BaseModel):
    """A team's quotas and its use of them in this month and in the last 365 days."""

    team: str
    scopes: list[str]
    month: str
    monthly_submissions: int
    used: int = Field(description="submissions of this month, without rejected ones")
    left: int = Field(description="submissions that can be scored now")
    monthly_rejections: int
    rejected: int = Field(description="rejected submissions of this month")
    yearly_submissions: int
    used_in_year: int
    yearly_publications: int
    published_in_year: int
    scored_in_all: int = Field(description="number of scored submissions, shown with every published system")


class QueueEntry(BaseModel):
    """A submission in the queue, without its team."""

    position: int
    state: str
    since: str


class QueueAnswer(BaseModel):
    """The public queue."""

    waiting: int
    running: int
    entries: list[QueueEntry]


class SystemSummary(BaseModel):
    """Summary of a published system."""

    id: str
    name: str
    team: str
    overall: float | None
    attempts: int = Field(description="number of submissions the team had scored by then, including this one")
    published_at: str


class SystemList(BaseModel):
    """Published systems in the order of submission; `next` is the start of the next page."""

    systems: list[SystemSummary]
    next: int | None


class EvaluationList(BaseModel):
    """Every Eval Ever records of published systems; `next` is the start of the next page."""

    records: list[dict[str, Any]]
    next: int | None


class SystemAnswer(BaseModel):
    """Public data of a system."""

    id: str
    team: str
    system: dict[str, Any]
    attempts: int
    published_at: str
    scores: list[ScoresAnswer]


class BoardAnswer(BaseModel):
    """Description of the board."""

    title: str
    suite: str
    scorer: str
    systems: int
    upload_bytes: int
    monthly_submissions: int
    yearly_submissions: int
    yearly_publications: int
    average_step: float = Field(description="examples that a step of a task average is worth; 0 for two decimals")
    cell_step: float = Field(description="examples that a step of a cell with parallel languages is worth")
    private_share: float = Field(description="share of the examples with scores hidden until the board is closed")
    closed: bool
    task_titles: dict[str, str] = Field(description="by task id")
    language_names: dict[str, str] = Field(description="by language code")
    metadata_schema: dict[str, Any] = Field(description="JSON schema of submission metadata")


# Errors of a route by status, as FastAPI documents them.
Refusals = dict[int | str, dict[str, Any]]


def refusals(descriptions: Mapping[int, str]) -> Refusals:
    """Return the errors of a route from their descriptions."""
    return {status: {"model": ErrorAnswer, "description": words} for status, words in descriptions.items()}


# Errors of every route, of routes with a key, and of routes with a token.
REFUSALS = refusals(
    {400: "Malformed request", 413: "Request too large", 422: "Invalid request; all problems are listed"}
)
REFUSALS |= refusals({429: "Too many requests; see Retry-After", 503: "Database unavailable"})
UNKNOWN = refusals({404: "Not found"})
GUARDED = refusals({401: "Missing or invalid token", 403: "The token lacks the scope, or the team is disabled"})


def refusal(
    status: int,
    what: str | IsoglossError,
    *,
    fix: str = "",
    problems: Sequence[Problem] = (),
    headers: dict[str, str] | None = None,
) -> HTTPException:
    """Return the HTTP error with a message and a fix, or those of an exception."""
    if isinstance(what, IsoglossError):
        answer = ErrorAnswer(what=what.what, where=what.where, fix=what.fix)
    else:
        listed = [ProblemAnswer(where=p.where, what=p.what, fix=p.fix, warning=p.warning) for p in problems]
        answer = ErrorAnswer(what=what, fix=fix, problems=listed)
    return HTTPException(status, answer.model_dump(), headers)


def error_response(status: int, what: str, fix: str = "", headers: dict[str, str] | None = None) -> JSONResponse:
    """Return an error response for use outside routes."""
    return JSONResponse(ErrorAnswer(what=what, fix=fix).model_dump(), status, headers)


def submission_answer(
    submission: Submission,
    queue: Sequence[int],
    *,
    with_scores: bool = True,
    with_problems: bool = True,
    closed: bool = False,
) -> SubmissionAnswer:
    """Return a submission as shown to its team; `queue` lists the waiting ids in order.

    Scores of cells are included only once it is published.
    """
    same = ("key", "state", "system_id", "created_at", "changed_at")
    return SubmissionAnswer(
        **{name: getattr(submission, name) for name in same},
        queue_position=queue.index(submission.id) + 1 if submission.id in queue else None,
        system=msgspec.json.decode(submission.system),
        archive_sha256=submission.archive,
        problems=msgspec.json.decode(submission.problems) if with_problems else [],
        scores=score_answers(submission, closed=closed) if with_scores else [],
    )


def score_answers(submission: Submission, *, closed: bool = False) -> list[ScoresAnswer]:
    """Return the scores of a submission by scorer version; a closed board shows the private part if published."""
    is_public = submission.state == "published"
    return [_scores(entry, with_cells=is_public, closed=closed and is_public) for entry in submission.scores]


def _scores(scored: ScoreRecord, *, with_cells: bool, closed: bool) -> ScoresAnswer:
    results = stored_record(scored, closed=closed)
    overall, averages = results.overall, [*results.tasks, *results.categories]
    cells = []
    for cell in results.cells if with_cells else ():
        same, n = ("task", "language", "signature"), max(number.n for number in cell.metrics.values())
        metrics = {name: [number.value, number.low, number.high] for name, number in cell.metrics.items()}
        cells.append(ScoredCell(**{name: getattr(cell, name) for name in same}, n=n, metrics=metrics))
    return ScoresAnswer(
        scorer=scored.scorer,
        at=scored.created_at,
        overall=overall.complete_value,
        rule=overall.rule,
        missing=overall.missing,
        categories={average.name: average.score.value for average in results.categories},
        tasks={average.name: average.score.value for average in results.tasks},
        incomplete={average.name: average.missing for average in averages if average.missing},
        cells=cells,
        part="all" if scored.private_record is None else "private" if closed else "public",
    )
