"""A worker: takes jobs from the queue, one after the other, and can be killed at any moment."""

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
from isogloss.board.server.queue import ClaimedJob, JobClaims, LostJobError, beat, put_back
from isogloss.board.server.scoring import LOG, give_up, score_submission
from isogloss.board.server.scratch import remove_leftovers

# Seconds between two looks at an empty queue, and after trouble that is not a job's fault.
_IDLE = 0.5
_TROUBLE = 5.0
# Heartbeats in a lease: a late one or two are no death.
_BEATS = 5
_OVERTIME = 75  # exit code


def run_worker(folder: Path, parent: int | None = None) -> None:
    """Work until told to stop (SIGTERM), or until the process that started this one is gone."""
    write_log()
    signal.signal(signal.SIGTERM, _stop)
    signal.signal(signal.SIGINT, _stop)
    board = open_board(folder)
    if board.settings.worker_bytes:
        with suppress(ValueError, OSError):  # less may be set already
            resource.setrlimit(resource.RLIMIT_AS, (board.settings.worker_bytes, board.settings.worker_bytes))
    claims = JobClaims(board)
    while parent is None or os.getppid() == parent:
        if not work_once(claims, parent):
            time.sleep(_IDLE)


def write_log() -> None:
    """Write what happens to the error stream, with the time and the process."""
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(process)d %(message)s")
    logging.getLogger("alembic").setLevel(logging.WARNING)


def _stop(*_: object) -> None:
    raise SystemExit(0)


def work_once(claims: JobClaims, parent: int | None = None) -> bool:
    """Do one job, if there is any; whatever happens in it, the worker goes on."""
    board = claims.board
    try:
        job = claims.claim()
        if job is None:
            remove_leftovers(board)
            return False
    except (OSError, SQLAlchemyError) as error:
        LOG.warning("the queue cannot be read: %s", error)
        time.sleep(_TROUBLE)
        return False
    try:
        with _beating(board, job, parent):
            _do(board, job)
    except LostJobError:
        LOG.warning("job %s was taken over by another worker", job.id)
    except (OSError, SQLAlchemyError) as error:
        LOG.error("job %s is put back: %s", job.id, error)
        _put_back(board, job, counts=False)
        time.sleep(_TROUBLE)
    except SystemExit:
        _put_back(board, job, counts=False)
        raise
    except Exception:
        LOG.exception("job %s failed", job.id)
        _put_back(board, job, counts=True)
    return True


def _do(board: OpenBoard, job: ClaimedJob) -> None:
    if job.attempts > board.settings.attempts:
        give_up(board, job)
    elif job.kind == "site":
        rebuild_pages(board, job)
    else:
        score_submission(board, job)


def _put_back(board: OpenBoard, job: ClaimedJob, *, counts: bool) -> None:
    # If not even this can be done, the lease runs out.
    with suppress(SQLAlchemyError, LostJobError, OSError):
        put_back(board, job, counts=counts)


@contextmanager
def _beating(board: OpenBoard, job: ClaimedJob, parent: int | None) -> Iterator[None]:
    """Show in the database, from a thread, that the worker lives; a job without end takes the worker with it."""
    ended = threading.Event()
    started = time.monotonic()

    def go_on() -> None:
        while not ended.wait(board.settings.lease_seconds / _BEATS):
            orphaned = parent is not None and os.getppid() != parent
            if orphaned or time.monotonic() - started > board.settings.job_seconds:
                os._exit(_OVERTIME)
            with suppress(SQLAlchemyError):
                beat(board, job)  # if it is another's by now, its time here is watched nevertheless

    thread = threading.Thread(target=go_on, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


if __name__ == "__main__":
    run_worker(Path(sys.argv[1]), int(sys.argv[2]))
