"""How much two texts have in common: the Jaccard index of words or character trigrams."""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from isogloss.explain.attributes.lengths import spaced
from isogloss.explain.attributes.lexicon import plain
from isogloss.metrics.statistics import FloatArray


def _trigrams(text: str) -> set[str]:
    packed = "".join(text.split())
    return {packed[start : start + 3] for start in range(max(len(packed) - 2, 1))} if packed else set()


def _jaccards(first: Iterable[set[str]], second: Iterable[set[str]]) -> Iterator[float]:
    for ours, theirs in zip(first, second, strict=True):
        common = len(ours & theirs)
        yield common / (len(ours) + len(theirs) - common) if common else 0.0


def overlaps(first: Sequence[str], second: Sequence[str], language: str) -> FloatArray:
    """The Jaccard index of each pair's sets of words, or of character trigrams in unsegmented scripts."""
    if not spaced(language):
        return trigram_overlaps(first, second)
    words = ([set(text.split()) for text in plain(texts)] for texts in (first, second))
    return np.fromiter(_jaccards(*words), np.float64, len(first))


def trigram_overlaps(first: Sequence[str], second: Sequence[str]) -> FloatArray:
    """The Jaccard index of each pair's sets of character trigrams, whatever the languages.

    Case, punctuation and spaces do not count; a text of one or two characters is its own trigram.
    """
    grams = (map(_trigrams, plain(texts)) for texts in (first, second))
    return np.fromiter(_jaccards(*grams), np.float64, len(first))
