"""Which languages the first places of rankings are given to, against what they have of the pool."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np

from isogloss.metrics.statistics import RATIO, FloatArray, Statistics
from isogloss.tasks.kinds import Values


@dataclass(frozen=True, eq=False)
class TopLanguages:
    """Of every query how many of its first places each language has.

    Attributes:
        languages: in the order of the columns.
        counts: (queries, languages).
        pool: the share of the pool that each language has.
    """

    languages: list[str]
    counts: FloatArray
    pool: FloatArray

    def share(self, language: str) -> Statistics:
        """The statistics of a language's share of all first places."""
        own = self.counts[:, self.languages.index(language)]
        return Statistics(np.column_stack([own, self.counts.sum(axis=1)]), RATIO)

    def pool_share(self, language: str) -> float:
        """A language's share of the pool: what a ranking that is blind to language would give it, on average."""
        return float(self.pool[self.languages.index(language)])


def top_languages(rankings: Values, language_of: Mapping[str, str], k: int) -> TopLanguages:
    """The languages of the first k different candidates of every ranking; a query without one has no places."""
    sizes = Counter(language_of.values())
    languages = sorted(sizes)
    column = {language: place for place, language in enumerate(languages)}
    counts = np.zeros((len(rankings), len(languages)))
    for row, ranked in enumerate(rankings):
        for candidate in islice(dict.fromkeys(ranked or ()), k):
            counts[row, column[language_of[candidate]]] += 1
    return TopLanguages(languages, counts, np.array([sizes[code] for code in languages]) / sum(sizes.values()))


def found_in_top(rankings: Values, targets: Sequence[Sequence[str]], k: int) -> list[list[bool]]:
    """Of every target of every query whether it is among the first k candidates, none taken out."""
    tops = (set((ranked or ())[:k]) for ranked in rankings)
    return [[target in top for target in own] for top, own in zip(tops, targets, strict=True)]
