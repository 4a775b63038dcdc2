"""Character-span F1: named entities without tokens.

An entity is (start, end, type) with half-open code-point offsets into the raw text and no whitespace at its
ends. It is correct when exactly that triple is in the gold; F1 is 2 correct / (predicted + gold) over all
entities of a language. Boundary-only F1 ignores the type. XTREME-R describes tokenization-free NER
but published no scorer: these scores are comparable with each other, not with published chunk F1.
"""

from collections.abc import Sequence

import numpy as np

from isogloss.errors import IsoglossError, PredictionError
from isogloss.metrics.chunks import extract
from isogloss.metrics.statistics import F1, Statistics

Span = tuple[int, int, str]
Offsets = Sequence[tuple[int, int]]


def f1(gold: Sequence[Sequence[Span]], predicted: Sequence[Sequence[Span]], *, boundaries_only: bool = False) -> float:
    """Return the micro F1, 0..1, over the spans of all examples; `boundaries_only` ignores the type."""
    return statistics(gold, predicted, boundaries_only=boundaries_only).score


def statistics(
    gold: Sequence[Sequence[Span]], predicted: Sequence[Sequence[Span]], *, boundaries_only: bool = False
) -> Statistics:
    """Return one row per example: spans that are correct, predicted, and in the gold; a repeated span counts once."""
    if len(gold) != len(predicted):
        raise PredictionError(f"spans for {len(gold)} gold examples but for {len(predicted)} predicted")
    parts = 2 if boundaries_only else 3
    rows = np.zeros((len(gold), 3))
    for row, (wanted, given) in enumerate(zip(gold, predicted, strict=True)):
        if wanted or given:
            gold_spans = {tuple(span[:parts]) for span in wanted}
            predicted_spans = {tuple(span[:parts]) for span in given}
            rows[row] = len(gold_spans & predicted_spans), len(predicted_spans), len(gold_spans)
    return Statistics(rows, F1)


def trim(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the half-open span without whitespace at its ends; one of whitespace only becomes empty."""
    if not 0 <= start <= end <= len(text):
        fix = "Offsets count code points from 0, and the end is one past the last"
        raise IsoglossError(f"span {start}:{end} does not lie in a text of {len(text)} characters", fix=fix)
    span = text[start:end]
    start = end - len(span.lstrip())
    return start, start + len(span.strip())


def from_sentences(
    sentences: Sequence[Sequence[str]], offsets: Sequence[Offsets], dialect: str = "conll"
) -> list[list[Span]]:
    """Return the chunks of tagged sentences as character spans, from half-open code-point offsets of each token."""
    if len(sentences) != len(offsets):
        raise PredictionError(f"{len(sentences)} tagged sentences but offsets for {len(offsets)}")
    for number, (tags, tokens) in enumerate(zip(sentences, offsets, strict=True)):
        if len(tags) != len(tokens):
            what = f"{len(tags)} tags for {len(tokens)} tokens"
            raise PredictionError(what, where=f"sentence {number}", fix="Provide one tag per token")
    return [
        [(tokens[first][0], tokens[last][1], kind) for kind, first, last in chunks]
        for chunks, tokens in zip(extract(sentences, dialect=dialect), offsets, strict=True)
    ]
