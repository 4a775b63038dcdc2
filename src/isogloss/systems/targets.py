"""Gold answers as training targets, with errors that name invalid answers."""

from collections.abc import Iterable, Sequence
from itertools import chain

import numpy as np

from isogloss.metrics.statistics import FloatArray, IntArray
from isogloss.systems.base import SystemFailureError, dataset_name
from isogloss.tasks.examples import Examples
from isogloss.tasks.task import Task

# Label of words and positions without one.
IGNORED = -100

# The questions of COPA and XCOPA, in English for every language: "<premise> What was the cause?". Other questions (of
# Social IQa, the first training stage) are used unchanged.
_QUESTIONS = {"cause": "What was the cause?", "effect": "What was the effect?"}


def premises_and_questions(examples: Examples) -> tuple[Sequence[str], Sequence[str]]:
    """Return the premise and the question of every multiple-choice example, "" where a task has none."""
    none = [""] * len(examples)
    premises, questions = (examples[name] if name in examples.columns else none for name in ("premise", "question"))
    return premises, questions


def question_texts(examples: Examples) -> list[str]:
    """Return the question of every multiple-choice example, in words."""
    return [_QUESTIONS.get(question, question) for question in premises_and_questions(examples)[1]]


def left_out_notes(train: Examples, used: int, why: str) -> list[str]:
    """Return a note on the number of training examples left out, or no note if all are used."""
    lost = len(train) - used
    return [f"{dataset_name(train)}: {lost:,} of {len(train):,} examples left out: {why}"] if lost else []


def label_ids(task: Task, labels: Iterable[str], examples: Examples) -> IntArray:
    """Return each label's index in the task's labels."""
    numbers = {label: number for number, label in enumerate(task.labels)}
    try:
        return np.fromiter(map(numbers.__getitem__, labels), np.int64)
    except KeyError as error:
        what, fix = f"unknown label {error.args[0]!r}", f"{task.id} has {', '.join(task.labels)}"
        raise SystemFailureError(what, where=dataset_name(examples), fix=fix) from None


def seen_labels(task: Task, numbers: IntArray, train: Examples) -> tuple[list[str], IntArray]:
    """Return the labels that occur in training, in the task's order, and each gold label's index in them."""
    if not len(numbers):
        raise SystemFailureError("the training set has no labels", where=dataset_name(train))
    seen, codes = np.unique(numbers, return_inverse=True)
    return [task.labels[number] for number in seen.tolist()], codes


def tag_ids(task: Task, train: Examples) -> IntArray:
    """Return the tag indices of all words, sentence after sentence; `IGNORED` for words that have none.

    Words of translated sentences lose their tags if they are not aligned.
    """
    tags = train[train.gold]
    for row, (words, labels) in enumerate(zip(train["tokens"], tags, strict=True)):
        if labels is None or len(words) != len(labels):
            what = f"{0 if labels is None else len(labels)} tags for {len(words)} words"
            where = f"{dataset_name(train)}, {train.ids[row]}"
            raise SystemFailureError(what, where=where, fix="Provide one tag per word")
    every = list(chain.from_iterable(tags))
    tagged = np.array([tag is not None for tag in every], dtype=np.bool_)
    numbers = np.full(len(every), IGNORED, np.int64)
    numbers[tagged] = label_ids(task, (tag for tag in every if tag is not None), train)
    return numbers


def choice_indices(train: Examples) -> IntArray:
    """Return the index of the correct choice of every example."""
    labels = train[train.gold]
    for label, choices in zip(labels, train["choices"], strict=True):
        if label not in range(len(choices)):
            what = f"label {label!r} is not an index into {len(choices)} choices"
            raise SystemFailureError(what, where=dataset_name(train), fix="Number the choices from 0")
    return np.array(labels, np.int64)


def label_table(task: Task, train: Examples) -> IntArray:
    """Return 1 for every label of every example, (n, labels), else 0."""
    sets = train[train.gold]
    owners = np.repeat(np.arange(len(sets)), [len(labels) for labels in sets])
    table = np.zeros((len(sets), len(task.labels)), np.int64)
    table[owners, label_ids(task, chain.from_iterable(sets), train)] = 1
    return table


def gold_numbers(train: Examples) -> FloatArray:
    """Return the gold number of every example, checked to be finite."""
    numbers: FloatArray = np.array([np.nan if value is None else value for value in train[train.gold]], np.float64)
    if not np.isfinite(numbers).all():
        row = int(np.argmin(np.isfinite(numbers)))
        where = f"{dataset_name(train)}, {train.ids[row]}"
        raise SystemFailureError("the gold is not a finite number", where=where, fix="Correct the training set")
    return numbers


def answer_spans(train: Examples) -> list[tuple[int, int]]:
    """Return the half-open character span of the first answer in every passage, or (-1, -1) if it is not there."""
    starts = train["answer_starts"] if "answer_starts" in train.columns else [None] * len(train)
    spans = []
    for context, answers, offsets in zip(train["context"], train[train.gold], starts, strict=True):
        answer, begin = answers[0] if answers else "", offsets[0] if offsets else -1
        if begin < 0 or not context.startswith(answer, begin):  # not at its annotated offset
            begin = context.find(answer)
        spans.append((begin, begin + len(answer)) if answer.strip() and begin >= 0 else (-1, -1))
    if all(begin < 0 for begin, _ in spans):
        fix = "Use answers that occur literally in their passages"
        raise SystemFailureError("no training answer occurs in its passage", where=dataset_name(train), fix=fix)
    return spans
