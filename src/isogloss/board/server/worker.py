"""A worker that processes jobs from the queue; it can be killed at any time."""

import logging
import os
import resource
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from sqlalchemy.exc import SQLAlchemyError

from isogloss.board.server.board import OpenBoard, open_board
from isogloss.board.server.pages import rebuild_pages
from isogloss.board.server.queue import ClaimedJob, JobClaims, LostJobError, beat, put_back, remove_leftovers
from isogloss.board.server.scoring import LOG, give_up, score_submission
from isogloss.data.files import keep_files_private

# Seconds between polls of an empty queue, and after failures unrelated to the job.
_IDLE = 0.5
_RETRY = 5.0
# Heartbeats per lease; one or two may be late.
_BEATS = 5
# Exit codes of a worker without its server, and of one with a job over its time.
_ORPHANED = 0
_OVERTIME = 75
# Failures to requeue a job; then its lease expires.
_NOT_STORED = (SQLAlchemyError, LostJobError, OSError)


def run_worker(folder: Path, parent: int | None = None) -> None:
    """Process jobs until SIGTERM, or until the parent process is gone."""
    keep_files_private()
    write_log()
    board = open_board(folder)
    signal.signal(signal.SIGTERM, _stop)
    signal.signal(signal.SIGINT, _stop)
    if board.settings.worker_bytes:
        with suppress(ValueError, OSError):  # a lower limit may be set already
            resource.setrlimit(resource.RLIMIT_AS, (board.settings.worker_bytes, board.settings.worker_bytes))
    claims = JobClaims(board)
    while parent is None or os.getppid() == parent:
        if not work_once(claims, parent):
            time.sleep(_IDLE)


def write_log() -> None:
    """Log to stderr, with time and process id."""
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(process)d %(message)s")
    logging.getLogger("alembic").setLevel(logging.WARNING)


def _stop(*_: object) -> None:
    raise SystemExit(0)


def work_once(claims: JobClaims, parent: int | None = None) -> bool:
    """Process one job; return False if the queue is empty. A failing job does not stop the worker."""
    board = claims.board
    try:
        job = claims.claim()
        if job is None:
            remove_leftovers(board)
            return False
    except (OSError, SQLAlchemyError) as error:
        LOG.warning("cannot read the queue: %s", error)
        time.sleep(_RETRY)
        return False
    try:
        with _beating(board, job, parent):
            if job.attempts > board.settings.attempts:
                give_up(board, job)
            elif job.kind == "site":
                rebuild_pages(board, job)
            else:
                score_submission(board, job)
    except LostJobError:
        LOG.warning("job %s was taken over by another worker", job.id)
    except OSError as error:
        LOG.error("deferring job %s: %s", job.id, error)
        with suppress(*_NOT_STORED):
            claims.defer(job)
    except SQLAlchemyError as error:
        LOG.error("requeueing job %s: %s", job.id, error)
        _put_back(board, job, counts=False)
        time.sleep(_RETRY)
    except SystemExit:
        _put_back(board, job, counts=False)
        raise
    except Exception:
        LOG.exception("job %s failed", job.id)
        _put_back(board, job, counts=True)
    return True


def _put_back(board: OpenBoard, job: ClaimedJob, *, counts: bool) -> None:
    with suppress(*_NOT_STORED):
        put_back(board, job, counts=counts)


def _end_overtime(board: OpenBoard, job: ClaimedJob) -> None:
    """Requeue a job over its time; after the last attempt, reject its submission."""
    limit = f"{board.settings.job_seconds:,.0f} seconds"
    LOG.error("job %s took longer than %s", job.id, limit)
    if job.attempts < board.settings.attempts:
        _put_back(board, job, counts=True)
        return
    with suppress(*_NOT_STORED):
        give_up(board, job, f"scoring takes longer than {limit}", "Send fewer or smaller files")


@contextmanager
def _beating(board: OpenBoard, job: ClaimedJob, parent: int | None) -> Iterator[None]:
    """Send heartbeats to the database from a thread; exit the process if the job exceeds its time limit."""
    ended = threading.Event()
    started = time.monotonic()

    def send_heartbeats() -> None:
        while not ended.wait(board.settings.lease_seconds / _BEATS):
            if parent is not None and os.getppid() != parent:
                _put_back(board, job, counts=False)
                os._exit(_ORPHANED)
            if time.monotonic() - started > board.settings.job_seconds:
                _end_overtime(board, job)
                os._exit(_OVERTIME)
            with suppress(SQLAlchemyError):
                beat(board, job)  # the time limit applies even if another worker has taken over

    thread = threading.Thread(target=send_heartbeats, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


if __name__ == "__main__":
    run_worker(Path(sys.argv[1]), int(sys.argv[2]))
