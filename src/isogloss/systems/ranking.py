"""Retrieval by vectors: the task's kind ranks or mines, the systems bring the vectors."""

import sys

from isogloss.escaping import printable
from isogloss.tasks.examples import Examples
from isogloss.tasks.kinds import Vectors, kind_of
from isogloss.tasks.task import Task

# The ratio margin from which CCMatrix (Schwenk et al., 2021) takes two sentences for translations.
_USUAL_MARGIN = 1.06


def retrieval_refusal(name: str, task: Task) -> str:
    """Why a system whose only answers are vectors of whole texts cannot do a task, "" if it can."""
    return "" if kind_of(task).retrieval else f"{name} does retrieval only, and {task.id} is {task.kind}"


def rank_by_vectors(task: Task, examples: Examples, vectors: Vectors, *, quiet: bool = False) -> list[list[str]]:
    """Ranked candidate ids for every query; for mining the id of the translation, or an empty list.

    What there is to say about the threshold of mining goes to the error stream, unless it is to be quiet.
    """
    before = len(examples.notes)
    answers = list(kind_of(task).answers_from_vectors(task, examples, vectors, margin=_USUAL_MARGIN))
    for note in () if quiet else examples.notes[before:]:
        sys.stderr.write(f"{printable(f'{examples.task}/{examples.language}: {note}')}\n")
    return answers
