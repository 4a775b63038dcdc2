"""What the API says: the shapes of its answers, and how every refusal looks."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from fastapi import HTTPException
from pydantic import BaseModel, Field

from isogloss.board.server.models import Submission
from isogloss.errors import IsoglossError
from isogloss.figures import rounded
from isogloss.predictions.problems import Problem
from isogloss.scoring.results import Results


class ProblemAnswer(BaseModel):
    """One thing that is wrong with a submission; a warning does not keep it from being scored."""

    where: str
    what: str
    fix: str = ""
    warning: bool = False


class ErrorAnswer(BaseModel):
    """Why a request was refused: what is wrong, where, what to do; and everything that is wrong with an upload."""

    what: str
    where: str = ""
    fix: str = ""
    problems: list[ProblemAnswer] = []


class ScoredCell(BaseModel):
    """A task in a language: each metric, 0 to 100, with its 95 % interval, and how it was scored."""

    task: str
    language: str
    n: int
    metrics: dict[str, list[float | None]] = Field(description="metric: [value, low, high]")
    signature: str


class ScoresAnswer(BaseModel):
    """The scores of a submission by one version of the scorer; nothing in it speaks of a single example."""

    scorer: str
    at: str
    overall: float | None = Field(description="null where anything of the suite is missing")
    rule: str
    missing: list[str]
    categories: dict[str, float] = Field(description="over what there is: `incomplete` says what each lacks")
    tasks: dict[str, float] = Field(description="over what there is: `incomplete` says what each lacks")
    incomplete: dict[str, list[str]] = Field(description="tasks and categories that lack something, and what")
    cells: list[ScoredCell]


class SubmissionAnswer(BaseModel):
    """A submission, to its own team."""

    key: str
    state: str = Field(description="received, validating, scoring, preview, published, rejected or withdrawn")
    queue_position: int | None = Field(description="its place in the queue, 1 for the next; null once it is scored")
    system_id: str
    system: dict[str, Any]
    created_at: str
    changed_at: str
    archive_sha256: str
    problems: list[ProblemAnswer]
    scores: list[ScoresAnswer] = Field(description="one for every scorer's version, the newest last")


class SubmissionList(BaseModel):
    """A team's submissions, the newest first."""

    submissions: list[SubmissionAnswer]


class TeamAnswer(BaseModel):
    """What a team may still do this month."""

    team: str
    scopes: list[str]
    month: str
    monthly_submissions: int
    used: int
    left: int
    scored_in_all: int = Field(description="what every published system says: the best of how many")


class QueueEntry(BaseModel):
    """A submission on its way; whose it is is nobody's business yet."""

    position: int
    state: str
    since: str


class QueueAnswer(BaseModel):
    """The queue, as everybody may see it."""

    waiting: int
    running: int
    entries: list[QueueEntry]


class SystemSummary(BaseModel):
    """A system on the board, in a line."""

    id: str
    name: str
    team: str
    overall: float | None
    attempts: int = Field(description="submissions that its team had scored when this one was, itself included")
    published_at: str


class SystemList(BaseModel):
    """Systems on the board in the order they were submitted; `next` is where the following page begins."""

    systems: list[SystemSummary]
    next: int | None


class SystemAnswer(BaseModel):
    """All that is public of a system."""

    id: str
    team: str
    system: dict[str, Any]
    attempts: int
    published_at: str
    scores: list[ScoresAnswer]


class BoardAnswer(BaseModel):
    """What this board is."""

    title: str
    suite: str
    scorer: str
    systems: int
    upload_bytes: int
    monthly_submissions: int
    task_titles: dict[str, str] = Field(description="by the ids of the suite's tasks")
    language_names: dict[str, str] = Field(description="by the codes of the suite's languages")
    metadata_schema: dict[str, Any] = Field(description="JSON schema of what a submission says of its system")


# Of every figure that leaves the server: more would tell apart answers to single examples.
DECIMALS = 2

# Every route may give these; a route adds what is its own.
REFUSALS: dict[int | str, dict[str, Any]] = {
    400: {"model": ErrorAnswer, "description": "The request is not HTTP as it should be"},
    413: {"model": ErrorAnswer, "description": "More bytes than the board takes"},
    422: {"model": ErrorAnswer, "description": "Something in the request is wrong; all problems are listed"},
    429: {"model": ErrorAnswer, "description": "Too often; Retry-After says when to come back"},
    503: {"model": ErrorAnswer, "description": "The database cannot be used now"},
}
UNKNOWN: dict[int | str, dict[str, Any]] = {404: {"model": ErrorAnswer, "description": "There is no such thing"}}
GUARDED: dict[int | str, dict[str, Any]] = {
    401: {"model": ErrorAnswer, "description": "No token, or one that opens no door"},
    403: {"model": ErrorAnswer, "description": "The token is not for this"},
}


def refusal(status: int, error: IsoglossError, headers: Mapping[str, str] | None = None) -> HTTPException:
    """An error of ours as an answer."""
    return listed_refusal(status, ErrorAnswer(what=error.what, where=error.where, fix=error.fix), headers)


def listed_refusal(status: int, answer: ErrorAnswer, headers: Mapping[str, str] | None = None) -> HTTPException:
    """An answer that refuses."""
    return HTTPException(status, answer.model_dump(), None if headers is None else dict(headers))


def problem_answers(problems: Sequence[Problem]) -> list[ProblemAnswer]:
    """Problems as the API shows them."""
    return [ProblemAnswer(where=each.where, what=each.what, fix=each.fix, warning=each.warning) for each in problems]


def submission_answer(submission: Submission, queue: Sequence[int], *, with_scores: bool = True) -> SubmissionAnswer:
    """A submission for its own team; `queue` has the ids of all that wait, the next first."""
    return SubmissionAnswer(
        key=submission.key,
        state=submission.state,
        queue_position=queue.index(submission.id) + 1 if submission.id in queue else None,
        system_id=submission.system_id,
        system=msgspec.json.decode(submission.system),
        created_at=submission.created_at,
        changed_at=submission.changed_at,
        archive_sha256=submission.archive,
        problems=msgspec.json.decode(submission.problems),
        scores=score_answers(submission) if with_scores else [],
    )


def score_answers(submission: Submission) -> list[ScoresAnswer]:
    """What every scorer gave."""
    return [_scores(each.scorer, each.created_at, each.record) for each in submission.scores]


def _scores(scorer: str, at: str, record: str) -> ScoresAnswer:
    results = msgspec.json.decode(record, type=Results)
    overall, averages = results.overall, [*results.tasks, *results.categories]
    cells = [
        ScoredCell(
            task=cell.task,
            language=cell.language,
            n=max(number.n for number in cell.metrics.values()),
            metrics={
                name: [_figure(each) for each in (number.value, number.low, number.high)]
                for name, number in cell.metrics.items()
            },
            signature=cell.signature,
        )
        for cell in results.cells
    ]
    return ScoresAnswer(
        scorer=scorer,
        at=at,
        overall=_figure(overall.complete_value),
        rule=overall.rule,
        missing=overall.missing,
        categories={each.name: rounded(each.score.value, DECIMALS) for each in results.categories},
        tasks={each.name: rounded(each.score.value, DECIMALS) for each in results.tasks},
        incomplete={each.name: each.missing for each in averages if each.missing},
        cells=cells,
    )


def _figure(value: float | None) -> float | None:
    return None if value is None else rounded(value, DECIMALS)
