"""Training data of a dual encoder: queries with the texts that answer them.

The answer to a question is a sentence of its paragraph. A sentence ends at `.`, `!`, `?` or `…` with any closing quotes
and brackets, before whitespace and something that can start a sentence. A full stop after an initial, or after or
inside an abbreviation ("U.S. Army"), does not end it. Arabic, Urdu and Indic marks work like Latin ones; full-width
Chinese and Japanese marks need no whitespace. Languages without marks (Thai) have one sentence per line.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from isogloss.systems.base import SystemFailureError, dataset_name
from isogloss.systems.targets import left_out_notes
from isogloss.systems.tokens.subwords import unique
from isogloss.tasks.examples import Examples
from isogloss.training.objective import Ints

_CLOSING = "\"'”’»)\\]}"
_END = re.compile(rf"(?:[.!?…؟۔।॥]+[{_CLOSING}]*(?:\[\d+\])*(?=\s)|[。！？｡]+[」』）”’]*)\s*|\s*\n\s*")
# Text before a full stop that does not end a sentence: one letter, letters separated by full stops, or one of these.
_INSIDE = re.compile(
    r"(?:\b[^\W\d_]|(?:\b[^\W\d_]\.)+[^\W\d_]|\b(?:[MD]rs?|Ms|St|Mt|Ft|Prof|Rev|Hon|Gen|Col|Capt|Cmdr|Lt|Maj|Sgt|Adm|Gov|"
    r"Sen|Rep|Pres|Sr|vs|cf|ca|al|approx|est|no|No|Nos|vol|Vol|pp|fig|Fig|Op|op|Bros|"
    r"Jan|Feb|Mar|Apr|Aug|Sept?|Oct|Nov|Dec))$"
)
_LOWER = re.compile(r"[\"'“‘«(\[]*[a-z,;:]")


class TrainingPairs(NamedTuple):
    """Distinct queries and distinct texts that answer them, the indices (pairs, 2) of both, and notes on omissions."""

    queries: list[str]
    answers: list[str]
    numbers: Ints
    notes: Sequence[str]


def training_pairs(train: Examples) -> TrainingPairs:
    """Return the pairs of a training set: questions with passages, or queries with targets in a pool.

    The answer to a question is the sentence in which its first answer begins, followed by its whole paragraph, without
    line breaks, like LAReQA's candidates. As in the reference, a question with an answer outside every sentence is
    skipped.
    """
    pairs = list(_pairs(train))
    if not pairs:
        fix = "Use questions with answers and their offsets, or queries with a pool and targets"
        raise SystemFailureError("no query-answer pairs to learn from", where=dataset_name(train), fix=fix)
    rows, *texts = zip(*pairs, strict=True)
    (queries, query_of), (answers, answer_of) = map(unique, texts)
    notes = left_out_notes(train, len(set(rows)), "the answer is outside every sentence, or not a candidate")
    return TrainingPairs(queries, answers, np.stack([query_of, answer_of], axis=1), notes)


def _pairs(train: Examples) -> Iterator[tuple[int, str, str]]:
    """Yield the row, query and answer of every pair."""
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


def sentences(text: str) -> list[tuple[int, int]]:
    """Return the [start, end) of every sentence, in order, without surrounding whitespace."""
    spans: list[tuple[int, int]] = []
    start = len(text) - len(text.lstrip())
    for mark in _END.finditer(text):
        # A lower-case letter or a comma continues a sentence, and a line starting with a number may be a formula.
        if mark.start() < start or _LOWER.match(text, mark.end()):
            continue
        if "\n" in mark.group():
            ends = not text[mark.end() : mark.end() + 1].isdigit()
        else:
            before = text[max(start, mark.start() - 16) : mark.start()]
            ends = mark.group().rstrip() != "." or not _INSIDE.search(before)
        if ends:
            spans.append((start, mark.start() + len(mark.group().rstrip())))
            start = mark.end()
    end = len(text.rstrip())
    return [*spans, (start, end)] if start < end else spans


def sentence_at(spans: list[tuple[int, int]], character: int) -> int:
    """Return the index of the sentence that contains a character, or -1."""
    number = bisect_right(spans, character, key=lambda span: span[0]) - 1
    return number if number >= 0 and character < spans[number][1] else -1
