"""The right answers of a training set, as a model learns them; errors say where an answer cannot be learnt from."""

from collections.abc import Iterable
from itertools import chain

import numpy as np

from isogloss.systems.base import SystemFailureError
from isogloss.tasks.examples import Examples
from isogloss.tasks.task import Task
from isogloss.training.objective import Ints


def where(examples: Examples) -> str:
    """What examples are called in messages."""
    return f"{examples.task}/{examples.language} {examples.split}"


def left_out(train: Examples, used: int, why: str) -> list[str]:
    """A note on how many training examples are not learnt from; none where all are."""
    lost = len(train) - used
    return [f"{where(train)}: {lost:,} of {len(train):,} examples left out: {why}"] if lost else []


def label_numbers(task: Task, labels: Iterable[str], examples: Examples) -> Ints:
    """The place of each label among the task's.

    Raises:
        SystemFailureError: one is not among them.
    """
    numbers = {label: number for number, label in enumerate(task.labels)}
    try:
        return np.fromiter(map(numbers.__getitem__, labels), np.int64)
    except KeyError as error:
        what = f"label {error.args[0]!r} is not one of the task's"
        raise SystemFailureError(what, where=where(examples), fix=f"{task.id} has {', '.join(task.labels)}") from None


def tag_numbers(task: Task, train: Examples) -> Ints:
    """The numbers of the tags of all words, sentence after sentence.

    Raises:
        SystemFailureError: a sentence does not have as many tags as words, or a tag is not the task's.
    """
    tags = train[train.gold]
    for row, (words, given) in enumerate(zip(train["tokens"], tags, strict=True)):
        if given is None or len(words) != len(given):
            what = f"{0 if given is None else len(given)} tags for {len(words)} words"
            raise SystemFailureError(what, where=f"{where(train)}, {train.ids[row]}", fix="Give each word its tag")
    return label_numbers(task, chain.from_iterable(tags), train)


def answer_places(train: Examples) -> list[tuple[int, int]]:
    """The half-open characters of the first answer in every passage, (-1, -1) where it is not there.

    An answer is where it is said to begin, or else where it first stands.

    Raises:
        SystemFailureError: no answer stands in its passage.
    """
    starts = train["answer_starts"] if "answer_starts" in train.columns else [None] * len(train)
    asked = zip(train["context"], train[train.gold], starts, strict=True)
    places = [_place(text, answers[0], *(said or ())[:1]) if answers else (-1, -1) for text, answers, said in asked]
    if all(begin < 0 for begin, _ in places):
        fix = "Give answers that are written just so in their passages"
        raise SystemFailureError("no training answer is a span of its passage", where=where(train), fix=fix)
    return places


def _place(context: str, answer: str, said: int = -1) -> tuple[int, int]:
    begin = said if said >= 0 and context.startswith(answer, said) else context.find(answer)
    return (begin, begin + len(answer)) if answer.strip() and begin >= 0 else (-1, -1)
