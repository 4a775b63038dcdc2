"""Folders in which jobs are worked on: each is removed when its job has ended, whoever died meanwhile."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkdtemp

from sqlalchemy import select

from isogloss.board.server.board import OpenBoard
from isogloss.board.server.database import reading
from isogloss.board.server.models import ScoringJob
from isogloss.board.server.queue import ClaimedJob


@contextmanager
def scratch_folder(board: OpenBoard, job: ClaimedJob) -> Iterator[Path]:
    """A new folder for a job; what an earlier worker left of the job is removed."""
    for left in board.work.glob(f"{job.id}-*"):
        shutil.rmtree(left, ignore_errors=True)
    folder = Path(mkdtemp(prefix=f"{job.id}-", dir=board.work))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def remove_leftovers(board: OpenBoard) -> None:
    """Remove what workers left that died just after their job had ended; what runs is left alone."""
    left = list(board.work.iterdir())
    if not left:
        return
    with reading(board.engine) as session:
        jobs = session.scalars(select(ScoringJob.id).where(ScoringJob.state.in_(("queued", "running"))))
        kept = {str(job) for job in jobs}
    for folder in left:
        if folder.name.partition("-")[0] not in kept:
            shutil.rmtree(folder, ignore_errors=True)
