"""Retrieval by cosine between vectors of weighted character n-grams."""

from collections.abc import Sequence

import numpy as np

from isogloss.metrics.search import normalize_rows, search
from isogloss.metrics.statistics import IntArray
from isogloss.systems.ngram.hashing import char_ngrams
from isogloss.systems.ngram.linear_model import Floats
from isogloss.tasks.examples import Examples
from isogloss.tasks.kinds.retrieval import pool_of

_SHORTEST, _LONGEST = 2, 5
_BITS = 20  # n-grams are distinguished and weighted by rarity at this resolution,
_DIMENSION = 2048  # and then folded, with random signs, into vectors of this dimension
_SAMPLE = 1 << 15  # candidates used to estimate the rarity
_BLOCK = 1 << 14  # candidate vectors in memory
_TEXTS = 256  # texts with their n-grams in memory


class NgramRetriever:
    """Ranks `depth` candidates of the pool by cosine; n-grams are weighted by (1 + log tf) x idf in the pool."""

    together = 0

    def __init__(self, depth: int) -> None:
        self.depth = depth
        self._last: tuple[Sequence[str], Floats, Floats] | None = None

    def predict(self, examples: Examples) -> list[list[str]]:
        """Return the nearest candidates of every query, best first, without duplicates."""
        pool = pool_of(examples)
        if self._last is None or self._last[0] != pool.text:  # languages often share a pool
            rarity = _rarity(pool.text[:: -(-len(pool) // _SAMPLE)])
            self._last = pool.text, rarity, _vectors(pool.text[:_BLOCK], rarity)
        _, rarity, beginning = self._last
        queries = _vectors(examples["text"], rarity)
        depth = min(self.depth, len(pool))
        rows, scores = search(queries, beginning, min(depth, len(beginning)))
        for start in range(_BLOCK, len(pool), _BLOCK):
            block_rows, cosines = search(queries, _vectors(pool.text[start : start + _BLOCK], rarity), depth)
            rows, scores = np.hstack([rows, block_rows + start]), np.hstack([scores, cosines])
            order = np.argsort(-scores, axis=1, kind="stable")[:, :depth]
            rows, scores = np.take_along_axis(rows, order, axis=1), np.take_along_axis(scores, order, axis=1)
        ids = pool.ids
        return [[ids[row] for row in ranked] for ranked in rows.tolist()]


def _counts(texts: Sequence[str]) -> tuple[IntArray, IntArray, Floats]:
    """Return the row, bucket and number of occurrences of the n-grams of some texts."""
    rows, hashes = char_ngrams(texts, _SHORTEST, _LONGEST)
    keys = rows << _BITS | (hashes >> np.uint64(64 - _BITS)).astype(np.int64)
    keys, counts = np.unique(keys, return_counts=True)
    return keys >> _BITS, keys & ((1 << _BITS) - 1), counts.astype(np.float32)


def _rarity(texts: Sequence[str]) -> Floats:
    """Return log((1 + n) / (1 + df)) + 1 of each bucket over n texts."""
    frequency = np.zeros(1 << _BITS, np.int64)
    for start in range(0, len(texts), _TEXTS):
        frequency += np.bincount(_counts(texts[start : start + _TEXTS])[1], minlength=1 << _BITS)
    return (np.log((1 + len(texts)) / (1 + frequency)) + 1).astype(np.float32)


def _vectors(texts: Sequence[str], rarity: Floats) -> Floats:
    """Return unit vectors; a text without n-grams is zero."""
    vectors = np.empty((len(texts), _DIMENSION), np.float32)
    for start in range(0, len(texts), _TEXTS):
        part = texts[start : start + _TEXTS]
        rows, gram_buckets, counts = _counts(part)
        # The lowest bits choose the dimension, the next one the sign, so that collisions cancel on average.
        signs = 1 - 2 * (gram_buckets // _DIMENSION % 2)
        weights = signs * (1 + np.log(counts)) * rarity[gram_buckets]
        cells = np.bincount(rows * _DIMENSION + gram_buckets % _DIMENSION, weights, len(part) * _DIMENSION)
        vectors[start : start + _TEXTS] = cells.reshape(len(part), _DIMENSION)
    unit: Floats = normalize_rows(vectors)
    return unit
