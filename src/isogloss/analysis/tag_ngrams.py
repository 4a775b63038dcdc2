"""Runs of part-of-speech tags: which of them a training set has, and how often each is tagged right."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from isogloss.metrics.statistics import MEAN, IntArray, Statistics
from isogloss.tasks.kinds import Values

TagNgram = tuple[str, ...]


def tag_ngrams(sentences: Iterable[Sequence[str]], order: int) -> set[TagNgram]:
    """The different n-grams of tags within sentences."""
    return {tuple(tags[start : start + order]) for tags in sentences for start in range(len(tags) - order + 1)}


@dataclass(frozen=True, eq=False)
class NgramOccurrences:
    """The n-grams of gold tags of a test set, one by one.

    Attributes:
        sentence: the sentence each is in.
        right: whether all its tags were predicted.
        seen: whether the training set has it.
    """

    sentence: IntArray
    right: npt.NDArray[np.bool_]
    seen: npt.NDArray[np.bool_]

    def accuracy(self, *, seen: bool) -> Statistics | None:
        """The statistics of the accuracy of those that were seen in training, or of the others; None without any."""
        chosen = self.seen == seen
        if not chosen.any():
            return None
        return Statistics(self.right[chosen, None].astype(np.float64), MEAN, self.sentence[chosen])


def ngram_occurrences(
    gold: Sequence[Sequence[str]], predicted: Values, known: set[TagNgram], order: int
) -> NgramOccurrences:
    """Every n-gram of gold tags within a sentence; a sentence without an answer is all wrong."""
    sentence: list[int] = []
    right: list[bool] = []
    seen: list[bool] = []
    for row, (tags, answer) in enumerate(zip(gold, predicted, strict=True)):
        said = answer or [""] * len(tags)
        for start in range(len(tags) - order + 1):
            wanted = tuple(tags[start : start + order])
            sentence.append(row)
            seen.append(wanted in known)
            right.append(wanted == tuple(said[start : start + order]))
    return NgramOccurrences(np.array(sentence, np.int64), np.array(right, bool), np.array(seen, bool))
