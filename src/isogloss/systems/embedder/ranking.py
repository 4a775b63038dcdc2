"""From vectors to answers: nearest candidates by cosine, or translation pairs by margin above a tuned threshold."""

import sys

from isogloss.errors import DataError
from isogloss.systems.base import SystemFailureError
from isogloss.tasks.examples import Examples, Pool
from isogloss.tasks.kinds import Vectors, kind_of
from isogloss.tasks.kinds.retrieval import pool_of as find_pool
from isogloss.tasks.task import Task

# The kinds of tasks that vectors answer.
RETRIEVAL = ("bitext", "pool", "mining")
# The ratio margin from which CCMatrix (Schwenk et al., 2021) takes two sentences for translations.
_USUAL_MARGIN = 1.06


def ranked(task: Task, examples: Examples, vectors: Vectors, *, quiet: bool = False) -> list[list[str]]:
    """Ranked candidate ids for every query; for mining the id of the translation, or an empty list.

    Raises:
        SystemFailureError: there is no pool.
    """
    pool_of(examples)
    before = len(examples.notes)
    answers = list(kind_of(task).answers_from_vectors(task, examples, vectors, margin=_USUAL_MARGIN))
    for note in () if quiet else examples.notes[before:]:
        sys.stderr.write(f"{examples.task}/{examples.language}: {note}\n")
    return answers


def pool_of(examples: Examples) -> Pool:
    """The candidates.

    Raises:
        SystemFailureError: there are none.
    """
    try:
        return find_pool(examples)
    except DataError as error:
        raise SystemFailureError(error.what, where=error.where, fix=error.fix) from None
