"""Scoring one submission: unpack, check, judge, and store the outcome in one step that only its owner can take."""

import logging
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import msgspec
from sqlalchemy import select
from sqlalchemy.orm import Session

from isogloss.board.metadata import public_metadata
from isogloss.board.server.archives import ArchiveError, unpack
from isogloss.board.server.audit import record
from isogloss.board.server.board import OpenBoard, scorer_version
from isogloss.board.server.database import reading, writing
from isogloss.board.server.models import WAITING, ScoreRecord, Submission, timestamp
from isogloss.board.server.queue import ClaimedJob, enqueue, owned
from isogloss.board.server.scratch import scratch_folder
from isogloss.data.location import cache_dir
from isogloss.errors import IsoglossError
from isogloss.escaping import printable
from isogloss.predictions.problems import LONGEST, Problem
from isogloss.predictions.validate import CheckedFile, validate
from isogloss.scoring.cells import Request
from isogloss.scoring.results import Results
from isogloss.scoring.score import score_request
from isogloss.tasks.kinds import kind_of
from isogloss.tasks.loading import data_folder
from isogloss.tasks.registry import task

LOG = logging.getLogger("isogloss.board")

# Of each kind of problem people need to see some; the rest is a number.
_LISTED = 500
_HERE = "the board's own data for it cannot be used now"


def score_submission(board: OpenBoard, job: ClaimedJob) -> None:
    """Do a scoring job; whatever the archive holds, it ends in scores or in a list of problems.

    Raises:
        LostJobError: another worker has the job by now.
        OSError: of this machine: a full disk, say.
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
            problems = find_problems(board, predictions)
            if any(not problem.warning for problem in problems):
                _finish(board, job, None, problems)
                return
            _enter(board, job, "scoring")
            results = _score(board, predictions, problems)
        except ArchiveError as error:
            _finish(board, job, None, error.problems)
        except IsoglossError as error:
            LOG.info("submission %s: %s", job.submission_id, error)
            _finish(board, job, None, [_shown(board, folder, Problem(error.where, error.what, error.fix))])
        except MemoryError:
            what = "takes more memory than the board gives to one submission"
            _finish(board, job, None, [Problem("archive", what, "Send answers instead of vectors")])
        else:
            _finish(board, job, msgspec.structs.replace(results, system=public_metadata(system)), problems)


def give_up(board: OpenBoard, job: ClaimedJob) -> None:
    """End a job that too many workers died of; its submission is rejected, and the keeper can have it tried again."""
    if job.submission_id is None:
        LOG.error("the pages could not be built: the old ones stay")
        with writing(board.engine) as session:
            owned(session, job).state = "failed"
        return
    what = f"scoring it ended {job.attempts - 1} times without a result"
    _finish(board, job, None, [Problem("archive", what, "Ask who keeps the board: its log says why")])


def _request(board: OpenBoard) -> Request:
    settings = board.settings
    return Request.of(settings.suite, data=settings.data or None, gold=settings.gold or None)


def find_problems(board: OpenBoard, predictions: Path) -> list[Problem]:
    """All that is wrong with a prediction folder, without a word about labels or about this machine."""
    request = _request(board)
    report = validate(predictions, request.data, tasks=list(request.tasks), gold=request.gold)
    found = [*report.problems, *(problem for cell in report.cells for problem in _of_cell(cell))]
    shown = list(dict.fromkeys(_shown(board, predictions, problem) for problem in found))
    shown.sort(key=lambda problem: problem.warning)
    if len(shown) > _LISTED:
        rest = Problem("", f"and {len(shown) - _LISTED} more", "isogloss validate lists all", shown[_LISTED].warning)
        shown = [*shown[:_LISTED], rest]
    return shown


def _of_cell(cell: CheckedFile) -> list[Problem]:
    """The problems of a cell; why labels cannot be used is the board's affair, and might quote them."""
    own = [problem for problem in cell.problems if not problem.where.startswith("left out: ")]
    if kind_of(task(cell.task)).ids_tell_gold:
        own = [_without_ids(problem) for problem in own]
    if cell.left_out is None:
        return own
    LOG.warning("%s", cell.left_out)
    return [*own, Problem(f"{cell.task}/{cell.language}", f"is left out: {_HERE}", warning=True)]


def _without_ids(problem: Problem) -> Problem:
    """A problem that names its line alone: the id of the example in it would be the right answer."""
    missing = problem.what.startswith("no answer for ")
    what = "not every example has an answer" if missing else problem.what
    return replace(problem, where=problem.where.split(" (")[0], what=what)


def _shown(board: OpenBoard, predictions: Path, problem: Problem) -> Problem:
    """A problem as the team may see it: paths begin at its own folder, and no text is longer than needed."""
    places = {f"{predictions}/": "", str(predictions): "the archive"}
    hidden = (board.settings.gold, data_folder(board.settings.data or None), cache_dir(), board.folder)
    places.update({str(place): "…" for place in hidden if str(place)})

    def cleaned(text: str) -> str:
        for place, instead in places.items():
            text = text.replace(place, instead)
        return printable(text, LONGEST)

    return replace(problem, where=cleaned(problem.where), what=cleaned(problem.what), fix=cleaned(problem.fix))


def _score(board: OpenBoard, predictions: Path, warnings: list[Problem]) -> Results:
    try:
        results = score_request(predictions, _request(board))
    except IsoglossError as error:
        # What it says may be of labels; what is wrong with the answers has been said before.
        LOG.warning("not scored: %s", error)
        raise ArchiveError([Problem("archive", "nothing in it can be scored here"), *warnings]) from error
    left_out = [
        msgspec.structs.replace(each, reason=_HERE if each.task else each.reason, fix="", path="")
        for each in results.left_out
    ]
    return msgspec.structs.replace(results, left_out=left_out)


def _is_scored(session: Session, submission_id: int) -> bool:
    """Whether the present scorer has scored a submission."""
    wanted = (ScoreRecord.submission_id == submission_id, ScoreRecord.scorer == scorer_version())
    return session.scalar(select(ScoreRecord.id).where(*wanted)) is not None


def _enter(board: OpenBoard, job: ClaimedJob, state: str) -> None:
    """Show where a new submission is; one that is scored again keeps its place on the board."""
    with writing(board.engine) as session:
        owned(session, job)
        submission = session.get_one(Submission, job.submission_id)
        if submission.state in WAITING:
            submission.state, submission.changed_at = state, timestamp()


def _finish(board: OpenBoard, job: ClaimedJob, results: Results | None, problems: list[Problem]) -> None:
    """Store the outcome and end the job: both, or neither."""
    with writing(board.engine) as session:
        row = owned(session, job)
        row.state = "done"
        submission = session.get_one(Submission, job.submission_id)
        is_new = submission.state in WAITING
        if results is not None:
            _store_scores(session, submission, results)
        elif is_new:
            _move(submission, "rejected")
            record(session, "worker", "reject", submission.key, f"{len(problems)} problems")
        if results is not None or is_new:
            submission.problems = msgspec.json.encode(problems).decode()


def _store_scores(session: Session, submission: Submission, results: Results) -> None:
    scores = ScoreRecord(
        submission_id=submission.id,
        scorer=scorer_version(),
        overall=results.overall.complete_value,
        record=msgspec.json.encode(results).decode(),
    )
    session.add(scores)
    record(session, "worker", "score", submission.key, scorer_version())
    if submission.state in WAITING:
        _move(submission, "preview")
        if submission.publish_when_scored:
            publish(session, submission, "worker")
    elif submission.state == "published":
        enqueue(session, "site")


def _move(submission: Submission, state: str) -> None:
    submission.state, submission.changed_at = state, timestamp()


def publish(session: Session, submission: Submission, actor: str) -> None:
    """Put a scored submission on the board; the pages follow."""
    _change(session, submission, actor, "published", ("preview", "withdrawn"))
    submission.published_at = submission.published_at or timestamp()


def withdraw(session: Session, submission: Submission, actor: str) -> None:
    """Take a submission off the board; its scores are kept."""
    _change(session, submission, actor, "withdrawn", ("preview", "published"))


def _change(session: Session, submission: Submission, actor: str, state: str, before: tuple[str, ...]) -> None:
    if submission.state == state:
        return
    if submission.state not in before:
        what = f"submission {submission.key} is {submission.state}: it cannot be {state}"
        raise StateError(what, fix=f"It can be once it is {' or '.join(before)}")
    was = submission.state
    _move(submission, state)
    record(session, actor, state, submission.key, f"was {was}")
    if "published" in (was, state):
        enqueue(session, "site")


class StateError(IsoglossError):
    """Something that cannot be done to a submission as it is now."""


def rescore(session: Session, actor: str, progress: Callable[[str], None] | None = None) -> list[str]:
    """Have everything scored again that the present scorer has not seen; the old values stay beside the new."""
    keys = []
    for submission in session.scalars(select(Submission).where(Submission.state.in_(("preview", "published")))):
        if not _is_scored(session, submission.id):
            enqueue(session, "score", submission.id)
            keys.append(submission.key)
            if progress is not None:
                progress(submission.key)
    if keys:
        record(session, actor, "rescore", f"{len(keys)} submissions", scorer_version())
    return keys


def retry(session: Session, submission: Submission, actor: str) -> None:
    """Have a rejected submission scored once more.

    Raises:
        StateError: it is not rejected.
    """
    if submission.state != "rejected":
        raise StateError(f"submission {submission.key} is {submission.state}, not rejected")
    _move(submission, "received")
    enqueue(session, "score", submission.id)
    record(session, actor, "retry", submission.key)
