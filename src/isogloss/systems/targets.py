"""Gold answers as the numbers a model is trained on; errors say which answer cannot be."""

from collections.abc import Iterable
from itertools import chain

import numpy as np

from isogloss.metrics.statistics import IntArray
from isogloss.systems.base import SystemFailureError, dataset_name
from isogloss.tasks.examples import Examples
from isogloss.tasks.task import Task

# The questions of COPA and XCOPA, in English whatever the language: "<premise> What was the cause?". Any other (Social
# IQa's, the first stage of training) stays as it is.
_QUESTIONS = {"cause": "What was the cause?", "effect": "What was the effect?"}


def question_texts(examples: Examples) -> list[str]:
    """The question of every example of multiple choice, in words."""
    return [_QUESTIONS.get(question, question) for question in examples["question"]]


def left_out_notes(train: Examples, used: int, why: str) -> list[str]:
    """A note on how many training examples are left out; none where all are used."""
    lost = len(train) - used
    return [f"{dataset_name(train)}: {lost:,} of {len(train):,} examples left out: {why}"] if lost else []


def label_ids(task: Task, labels: Iterable[str], examples: Examples) -> IntArray:
    """The place of each label among the task's."""
    numbers = {label: number for number, label in enumerate(task.labels)}
    try:
        return np.fromiter(map(numbers.__getitem__, labels), np.int64)
    except KeyError as error:
        what, fix = f"label {error.args[0]!r} is not one of the task's", f"{task.id} has {', '.join(task.labels)}"
        raise SystemFailureError(what, where=dataset_name(examples), fix=fix) from None


def seen_labels(task: Task, numbers: IntArray, train: Examples) -> tuple[list[str], IntArray]:
    """The labels that occur in training, in the task's order, and the numbers of the gold labels among these."""
    if not len(numbers):
        raise SystemFailureError("the training set has no labels", where=dataset_name(train))
    seen, codes = np.unique(numbers, return_inverse=True)
    return [task.labels[number] for number in seen.tolist()], codes


def tag_ids(task: Task, train: Examples) -> IntArray:
    """The numbers of the tags of all words, sentence after sentence."""
    tags = train[train.gold]
    for row, (words, given) in enumerate(zip(train["tokens"], tags, strict=True)):
        if given is None or len(words) != len(given):
            what = f"{0 if given is None else len(given)} tags for {len(words)} words"
            where = f"{dataset_name(train)}, {train.ids[row]}"
            raise SystemFailureError(what, where=where, fix="Give each word its tag")
    return label_ids(task, chain.from_iterable(tags), train)


def choice_indices(train: Examples) -> IntArray:
    """Which of its choices is right, for every example."""
    labels = train[train.gold]
    for label, choices in zip(labels, train["choices"], strict=True):
        if label not in range(len(choices)):
            what = f"label {label!r} is not the number of one of {len(choices)} choices"
            raise SystemFailureError(what, where=dataset_name(train), fix="Count the choices from 0")
    return np.array(labels, np.int64)


def answer_spans(train: Examples) -> list[tuple[int, int]]:
    """The half-open characters of the first answer in every passage, (-1, -1) where it is not there.

    An answer is where it is said to begin, or else where it first occurs.
    """
    starts = train["answer_starts"] if "answer_starts" in train.columns else [None] * len(train)
    columns = zip(train["context"], train[train.gold], starts, strict=True)
    spans = [_span(text, answers[0], *(start or ())[:1]) if answers else (-1, -1) for text, answers, start in columns]
    if all(begin < 0 for begin, _ in spans):
        fix = "Give answers that are written just so in their passages"
        raise SystemFailureError("no training answer is a span of its passage", where=dataset_name(train), fix=fix)
    return spans


def _span(context: str, answer: str, start: int = -1) -> tuple[int, int]:
    begin = start if start >= 0 and context.startswith(answer, start) else context.find(answer)
    return (begin, begin + len(answer)) if answer.strip() and begin >= 0 else (-1, -1)
