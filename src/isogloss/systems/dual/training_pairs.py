"""What a dual encoder learns from: queries, each with the text that answers it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from isogloss.systems.base import SystemFailureError, dataset_name
from isogloss.systems.dual.sentences import sentence_at, sentences
from isogloss.systems.targets import left_out_notes
from isogloss.systems.tokens.subwords import unique
from isogloss.tasks.examples import Examples
from isogloss.training.objective import Ints


@dataclass(frozen=True)
class TrainingPairs:
    """Queries and the texts that answer them, every different one once.

    Attributes:
        queries: questions, or mentions.
        answers: passages, or entities.
        places: (pairs, 2), which query goes with which answer.
        notes: how many examples were passed over.
    """

    queries: list[str]
    answers: list[str]
    places: Ints
    notes: Sequence[str]


def training_pairs(train: Examples) -> TrainingPairs:
    """The pairs of a training set: questions with passages, or queries with targets in a pool.

    The answer to a question is the sentence in which its first answer begins, immediately followed by its whole
    paragraph, without line breaks: what LAReQA's candidates look like. A question whose answer lies in no sentence is
    passed over, as the reference does.
    """
    found = list(_pairs(train))
    if not found:
        fix = "Give questions with answers and their offsets, or queries with a pool and targets"
        raise SystemFailureError(
            "there is no pair of query and answer to learn from", where=dataset_name(train), fix=fix
        )
    rows, *texts = zip(*found, strict=True)
    (queries, query_of), (answers, answer_of) = map(unique, texts)
    notes = left_out_notes(train, len(set(rows)), "their answer lies in no sentence, or is no candidate")
    return TrainingPairs(queries, answers, np.stack([query_of, answer_of], axis=1), notes)


def _pairs(train: Examples) -> Iterator[tuple[int, str, str]]:
    """The row, the query and the answer of every pair."""
    if {"question", "context", "answer_starts"} <= train.columns.keys():
        split = lru_cache(maxsize=8)(sentences)  # questions about one paragraph follow each other
        questions = zip(train["question"], train["context"], train["answer_starts"], strict=True)
        for row, (question, context, starts) in enumerate(questions):
            spans = split(context)
            if starts and (number := sentence_at(spans, starts[0])) >= 0:
                start, end = spans[number]
                yield row, question, (context[start:end] + context).replace("\n", "")
    elif train.pool is not None and train.has_gold:
        text_of = dict(zip(train.pool.ids, train.pool.text, strict=True))
        for row, (query, targets) in enumerate(zip(train["text"], train[train.gold], strict=True)):
            yield from ((row, query, text_of[target]) for target in targets or () if target in text_of)
