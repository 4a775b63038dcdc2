"""Score a submission: unpack, validate, judge, and store the outcome in one transaction of the job's owner."""

import logging
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec
from sqlalchemy import select
from sqlalchemy.orm import Session

from isogloss.board.server.archives import ArchiveError, unpack
from isogloss.board.server.board import OpenBoard, scorer_version
from isogloss.board.server.budget import QuotaError, locked_team, team_budget
from isogloss.board.server.database import WAITING, ScoreRecord, Submission, reading, record, timestamp, writing
from isogloss.board.server.disclosure import BoardRecord, disclosure, sealed_cells, stored_record
from isogloss.board.server.parts import split_cells
from isogloss.board.server.probes import AnswerTrace, ProbeFlag
from isogloss.board.server.queue import ClaimedJob, enqueue, owned, scratch_folder
from isogloss.data.location import cache_dir
from isogloss.errors import IsoglossError
from isogloss.escaping import printable
from isogloss.predictions.folder import PredictionFolder
from isogloss.predictions.problems import LONGEST, Problem, ProblemCode, ProblemText
from isogloss.results.metadata import public_metadata
from isogloss.scoring.cells import Answered
from isogloss.scoring.request import Request
from isogloss.scoring.score import ValidatedPredictions, validate_and_judge
from isogloss.tasks.kinds import kind_of
from isogloss.tasks.loading import data_folder
from isogloss.tasks.registry import task

LOG = logging.getLogger("isogloss.board")

# Maximum number of problems in an answer; the rest is counted.
_LISTED = 500
# Number of a team's newest submissions to compare a new one with.
_COMPARED = 20
_UNUSABLE = "the board's data for this cell are currently unusable"


@dataclass(frozen=True)
class ScoredRecords:
    """Figures on the public part of the examples, by default all, and the private part if any; signs of a probe."""

    parts: list[BoardRecord]
    flags: list[ProbeFlag]


def score_submission(board: OpenBoard, job: ClaimedJob) -> None:
    """Run a scoring job; it ends in scores or in a list of problems.

    Raises:
        LostJobError: another worker owns the job now.
        OSError: this machine fails, e.g. its disk is full.
    """
    with reading(board.engine) as session:
        submission = session.scalars(select(Submission).where(Submission.id == job.submission_id)).one()
        archive, system = submission.archive, msgspec.json.decode(submission.system)
        is_done = _is_scored(session, submission.id)
    if is_done:
        _finish(board, job, None, [])
        return
    with scratch_folder(board, job) as folder:
        _enter(board, job, "validating")
        try:
            predictions = unpack(board.archive_path(archive), folder, board.settings)
            trace = AnswerTrace()
            validated, problems = read_submission(board, predictions, trace.observe)
            if any(not problem.warning for problem in problems):
                _finish(board, job, None, problems)
                return
            _enter(board, job, "scoring")
            records = score_validated(board, validated, trace, problems)
        except ArchiveError as error:
            _finish(board, job, None, [*(problem.text for problem in error.problems), *error.warnings])
        except IsoglossError as error:
            LOG.info("submission %s: %s", job.submission_id, error)
            _finish(board, job, None, [_shown(board, folder, Problem.of_error(error))])
        except MemoryError:
            what = "needs more memory than the board allows for a submission"
            _finish(board, job, None, [_not_scored(what, "Send answers instead of vectors").text])
        else:
            named = [msgspec.structs.replace(part, system=public_metadata(system)) for part in records]
            _finish(board, job, ScoredRecords(named, _flags(board, submission, trace)), problems)


def give_up(board: OpenBoard, job: ClaimedJob, what: str = "", fix: str = "") -> None:
    """End a job that killed too many workers; its submission is rejected, and an administrator can retry it.

    `what` and `fix` describe the reason, if it is known.
    """
    if job.submission_id is None:
        LOG.error("the pages could not be built; the old ones remain")
        with writing(board.engine) as session:
            owned(session, job).state = "failed"
        return
    what = what or f"scoring failed {job.attempts - 1} times without a result"
    problem = _not_scored(what, fix or "Ask the board's administrator; the reason is in the log")
    _finish(board, job, None, [problem.text])


def _not_scored(what: str, fix: str = "") -> Problem:
    return Problem(code=ProblemCode.NOT_SCORED, file="archive", detail=what, advice=fix)


def read_submission(
    board: OpenBoard, predictions: Path, observe: Callable[[Answered], None] | None = None
) -> tuple[ValidatedPredictions, list[ProblemText]]:
    """Validate and judge a prediction folder; return it with its problems, without labels or paths of this machine.

    `observe` gets every judged cell with its answers.
    """
    settings = board.settings
    request = Request.of(settings.suite, data=settings.data or None, gold=settings.gold or None)
    validated = validate_and_judge(PredictionFolder(predictions), request, observe)
    report = validated.report
    problems = [redacted(problem, ids_tell_gold=False) for problem in report.problems]
    for cell in report.cells:
        ids_tell_gold = kind_of(task(cell.task)).ids_tell_gold
        problems += [redacted(problem, ids_tell_gold=ids_tell_gold) for problem in cell.problems]
        if cell.left_out is not None:
            LOG.warning("%s", cell.left_out)
    shown = list(dict.fromkeys(_shown(board, predictions, problem) for problem in problems))
    shown.sort(key=lambda problem: problem.warning)
    if len(shown) > _LISTED:
        count, warning = len(shown) - _LISTED, shown[_LISTED].warning
        shown[_LISTED:] = [Problem(code=ProblemCode.MORE_PROBLEMS, count=count, warning=warning).text]
    return validated, shown


# Fields that teams may see: in every problem, by code, and those hidden if the ids would reveal the gold.
_ALWAYS_PUBLIC = frozenset({"code", "warning", "task", "language", "split", "file", "line"})
_PUBLIC: Mapping[ProblemCode, frozenset[str]] = {
    ProblemCode.DUPLICATE_ID: frozenset({"ids", "detail"}),
    ProblemCode.UNANSWERED: frozenset({"ids", "count", "total"}),
    ProblemCode.NULL_ANSWERS: frozenset({"count", "total"}),
    ProblemCode.UNKNOWN_IDS: frozenset({"ids", "count", "total"}),
    ProblemCode.INVALID_ANSWER: frozenset({"ids", "count", "detail", "advice"}),
    ProblemCode.UNLIKELY_ANSWERS: frozenset({"detail", "advice"}),
    ProblemCode.INVALID_LINE: frozenset({"count", "detail", "advice"}),
    ProblemCode.INVALID_CONFIDENCE: frozenset({"detail", "advice"}),
    ProblemCode.INVALID_REPLY: frozenset({"detail", "count", "total"}),
    ProblemCode.TOO_MANY_PROBLEMS: frozenset({"count"}),
    ProblemCode.ZERO_VECTORS: frozenset({"count", "total"}),
    ProblemCode.UNREADABLE_FILE: frozenset({"detail", "advice"}),
    ProblemCode.SEVERAL_FILES: frozenset({"detail"}),
    ProblemCode.CHANGED_FILE: frozenset({"detail"}),
    ProblemCode.UNKNOWN_TASK: frozenset({"detail", "advice"}),
    ProblemCode.UNKNOWN_LANGUAGE: frozenset({"advice"}),
}
_TELLS_GOLD: Mapping[ProblemCode, frozenset[str]] = {
    ProblemCode.DUPLICATE_ID: frozenset({"ids"}),
    ProblemCode.UNANSWERED: frozenset({"ids", "count", "total"}),
    ProblemCode.UNKNOWN_IDS: frozenset({"ids", "count", "total"}),
    ProblemCode.INVALID_ANSWER: frozenset({"ids", "count"}),
}


def redacted(problem: Problem, *, ids_tell_gold: bool) -> Problem:
    """Return a problem with only the fields that teams may see; codes without an entry show no text.

    The reason why labels cannot be used is replaced, because it may quote them or name files of this machine.
    """
    if problem.code is ProblemCode.LEFT_OUT:
        return Problem(code=problem.code, task=problem.task, language=problem.language, detail=_UNUSABLE, warning=True)
    public = _ALWAYS_PUBLIC | _PUBLIC.get(problem.code, frozenset())
    if ids_tell_gold:
        public -= _TELLS_GOLD.get(problem.code, frozenset())
    return Problem(**{name: getattr(problem, name) for name in public})


def _shown(board: OpenBoard, folder: Path, problem: Problem) -> ProblemText:
    """Return the text of a problem, shortened, with paths relative to the submission."""
    replacements = {f"{folder}/": "", str(folder): "the archive"}
    hidden = (board.settings.gold, data_folder(board.settings.data or None), cache_dir(), board.folder)
    replacements.update({str(path): "…" for path in hidden if str(path)})

    def cleaned(text: str) -> str:
        for path, replacement in replacements.items():
            text = text.replace(path, replacement)
        return printable(text, LONGEST)

    text = problem.text
    return msgspec.structs.replace(text, where=cleaned(text.where), what=cleaned(text.what), fix=cleaned(text.fix))


def score_validated(
    board: OpenBoard, validated: ValidatedPredictions, trace: AnswerTrace, warnings: list[ProblemText]
) -> list[BoardRecord]:
    """Score the validated cells on the public and the private part; raise ArchiveError if none can be scored."""
    cells = sealed_cells(board, validated.cells)
    public, private = split_cells(board, cells) if board.settings.private_share else (cells, {})
    try:
        records = [_shown_record(board, replace(validated, cells=public), trace)]
        return records + [_shown_record(board, replace(validated, cells=part), trace) for part in (private,) if part]
    except IsoglossError as error:
        # The message may quote labels; problems of the answers are listed already.
        LOG.warning("not scored: %s", error)
        raise ArchiveError([_not_scored("no prediction can be scored here")], warnings) from error


def _shown_record(board: OpenBoard, validated: ValidatedPredictions, trace: AnswerTrace) -> BoardRecord:
    results = validated.score()
    left_out = [
        msgspec.structs.replace(entry, reason=_UNUSABLE if entry.task else entry.reason, fix="", path="")
        for entry in results.left_out
    ]
    rule = disclosure(board, validated.request.suite, validated.cells, trace.digests)
    return rule.shown(msgspec.structs.replace(results, left_out=left_out), trace.sketches)


def _flags(board: OpenBoard, submission: Submission, trace: AnswerTrace) -> list[ProbeFlag]:
    """Return the signs of a probe in a submission, also by comparison with the team's earlier ones."""
    query = select(Submission.key, ScoreRecord).join(ScoreRecord).order_by(ScoreRecord.id.desc()).limit(_COMPARED)
    same_team = query.where(Submission.team_id == submission.team_id, Submission.id < submission.id)
    with reading(board.engine) as session:
        earlier = {key: stored_record(scores).sketches for key, scores in session.execute(same_team)}
    return trace.flags(earlier)


def _is_scored(session: Session, submission_id: int) -> bool:
    conditions = (ScoreRecord.submission_id == submission_id, ScoreRecord.scorer == scorer_version())
    return session.scalar(select(ScoreRecord.id).where(*conditions)) is not None


def _enter(board: OpenBoard, job: ClaimedJob, state: str) -> None:
    """Set the state of a new submission; a submission that is scored again keeps its state."""
    with writing(board.engine) as session:
        owned(session, job)
        submission = session.get_one(Submission, job.submission_id)
        if submission.state in WAITING:
            _move(submission, state)


def _finish(board: OpenBoard, job: ClaimedJob, scored: ScoredRecords | None, problems: list[ProblemText]) -> None:
    """Store the outcome and end the job in one transaction."""
    with writing(board.engine) as session:
        owned(session, job).state = "done"
        submission = session.get_one(Submission, job.submission_id)
        locked_team(session, submission.team_id)
        is_new = submission.state in WAITING
        if scored is not None:
            _store(session, submission, scored, is_new=is_new)
            if submission.state == "published":
                enqueue(session, "site")
            elif is_new:
                _move(submission, "preview")
                if submission.publish_when_scored:
                    with suppress(StateError, QuotaError):  # it stays a preview
                        publish_for_team(board, session, submission, "worker")
        elif is_new:
            _move(submission, "rejected")
            record(session, "worker", "reject", submission.key, f"{len(problems)} problems")
        if scored is not None or is_new:
            submission.problems = msgspec.json.encode(problems).decode()


def _store(session: Session, submission: Submission, scored: ScoredRecords, *, is_new: bool) -> None:
    public, *private = (msgspec.json.encode(part).decode() for part in scored.parts)
    scores = ScoreRecord(
        submission_id=submission.id,
        scorer=scorer_version(),
        overall=scored.parts[0].overall.complete_value,
        record=public,
        private_record=private[0] if private else None,
    )
    session.add(scores)
    record(session, "worker", "score", submission.key, scorer_version())
    if is_new and scored.flags:
        submission.flags = msgspec.json.encode(scored.flags).decode()
        codes = ", ".join(dict.fromkeys(flag.code for flag in scored.flags))
        record(session, "worker", "flag", submission.key, codes)


def _move(submission: Submission, state: str) -> None:
    submission.state, submission.changed_at = state, timestamp()


def publish_for_team(board: OpenBoard, session: Session, submission: Submission, actor: str) -> None:
    """Publish a scored submission on behalf of its team, within its budget; see `publish`.

    Raises:
        StateError: the submission is not scored, is flagged and was never published, or the board is closed.
        QuotaError: the team has no publication left.
    """
    if board.settings.closed:
        raise StateError("the board is closed")
    team = locked_team(session, submission.team_id)
    if submission.state in ("preview", "withdrawn") and submission.published_at is None:
        if msgspec.json.decode(submission.flags):
            raise StateError("publication awaits the administrator", where=submission.key)
        team_budget(session, board, team).check_publication()
    publish(session, submission, actor)


def publish(session: Session, submission: Submission, actor: str) -> None:
    """Publish a scored submission and rebuild the pages."""
    _change(session, submission, actor, "published", ("preview", "withdrawn"))
    submission.published_at = submission.published_at or timestamp()


def withdraw(session: Session, submission: Submission, actor: str) -> None:
    """Remove a submission from the board; its scores are kept."""
    _change(session, submission, actor, "withdrawn", ("preview", "published"))


def _change(session: Session, submission: Submission, actor: str, state: str, before: tuple[str, ...]) -> None:
    if submission.state == state:
        return
    if submission.state not in before:
        what = f"submission {submission.key} is {submission.state}, so it cannot be {state}"
        raise StateError(what, fix=f"Wait until it is {' or '.join(before)}")
    was = submission.state
    _move(submission, state)
    record(session, actor, state, submission.key, f"was {was}")
    if "published" in (was, state):
        enqueue(session, "site")


class StateError(IsoglossError):
    """An action that the state of a submission does not allow."""


def rescore(session: Session, actor: str, progress: Callable[[str], None] | None = None) -> list[str]:
    """Queue all submissions that the current scorer has not scored, except those with removed archives."""
    keys = []
    conditions = (Submission.state.in_(("preview", "published")), Submission.archive_removed_at.is_(None))
    for submission in session.scalars(select(Submission).where(*conditions)):
        if not _is_scored(session, submission.id):
            enqueue(session, "score", submission.id)
            keys.append(submission.key)
            if progress is not None:
                progress(submission.key)
    if keys:
        record(session, actor, "rescore", f"{len(keys)} submissions", scorer_version())
    return keys


def retry(session: Session, submission: Submission, actor: str) -> None:
    """Queue a rejected submission again; raise StateError in any other state."""
    if submission.state != "rejected":
        raise StateError(f"submission {submission.key} is {submission.state}, not rejected")
    if submission.archive_removed_at is not None:
        what = f"the archive of submission {submission.key} was removed at {submission.archive_removed_at}"
        raise StateError(what, fix="Ask the team to submit it again")
    _move(submission, "received")
    enqueue(session, "score", submission.id)
    record(session, actor, "retry", submission.key)
