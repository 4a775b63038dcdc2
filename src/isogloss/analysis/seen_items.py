"""Tag n-grams and gold entities of a cell: predicted or not, seen or unseen in English training."""

import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from isogloss.explain.tagging import TrainingEntities, entities
from isogloss.metrics.statistics import MEAN, FloatArray, IntArray, Statistics, Value
from isogloss.metrics.student import ENOUGH
from isogloss.scoring.cells import Answered
from isogloss.tasks.kinds import Values
from isogloss.tasks.kinds.tagging import SPANS

# Upper bounds of the buckets, by factor.
CUTS = {"length": (1, 2, 3), "frequency": (1, 4)}
_BUCKETS = {"length": ("1", "2", "3", "4+"), "frequency": ("once", "2-4 times", "5+ times")}
FACTORS = ("length", "frequency", "script", "type")
TagNgram = tuple[str, ...]


def tag_ngrams(sentences: Iterable[Sequence[str]], order: int) -> set[TagNgram]:
    """Return the distinct n-grams of tags within sentences."""
    return {tuple(tags[start : start + order]) for tags in sentences for start in range(len(tags) - order + 1)}


@dataclass(frozen=True, eq=False)
class NgramOccurrences:
    """N-grams of gold tags and their sentences; `right` if all tags were predicted, `seen` in the training set."""

    sentence: IntArray
    right: npt.NDArray[np.bool_]
    seen: npt.NDArray[np.bool_]

    def accuracy(self, *, seen: bool) -> Statistics | None:
        """Return the statistics of accuracy on seen or unseen n-grams, or None without any."""
        chosen = self.seen == seen
        rows = self.right[chosen, None].astype(np.float64)
        return Statistics(rows, MEAN, self.sentence[chosen]) if chosen.any() else None


def ngram_occurrences(
    gold: Sequence[Sequence[str]], predicted: Values, training: set[TagNgram], order: int
) -> NgramOccurrences:
    """Return every n-gram of gold tags within sentences; missing predictions count as wrong."""
    ngrams: list[tuple[int, bool, bool]] = []
    for row, (tags, answer) in enumerate(zip(gold, predicted, strict=True)):
        predicted_tags = answer or [""] * len(tags)
        for start in range(len(tags) - order + 1):
            ngram = tuple(tags[start : start + order])
            ngrams.append((row, ngram == tuple(predicted_tags[start : start + order]), ngram in training))
    sentence, right, seen = np.array(ngrams, np.int64).reshape(-1, 3).T
    return NgramOccurrences(sentence, right.astype(bool), seen.astype(bool))


def matched_difference(
    score: FloatArray, first: npt.NDArray[np.bool_], stratum: IntArray, units: IntArray | None = None
) -> Statistics | None:
    """Return the difference of group means, with the first group reweighted to the second's strata.

    Strata with only one group are left out. This is direct standardisation (Kitagawa 1955). As a function of the sums
    within strata, its error follows from the jackknife over sources, which leaves out whole units. Return None if no
    stratum has both groups.
    """
    both = [key for key in np.unique(stratum) if 0 < first[stratum == key].sum() < (stratum == key).sum()]
    if not both:
        return None
    inside = [(group & (stratum == key)).astype(np.float64) for key in both for group in (first, ~first)]
    columns = [column for group in inside for column in (group * score, group)]
    return Statistics(np.column_stack(columns), _MATCHED, units)


def _matched(sums: FloatArray, count: FloatArray) -> FloatArray:
    parts = sums.reshape(*sums.shape[:-1], -1, 4)
    first, first_size, second, second_size = (parts[..., index] for index in range(4))
    # Leaving out a source can remove a group from a stratum.
    whole = (first_size > 0) & (second_size > 0)
    apart = np.divide(first, first_size, out=np.zeros_like(first), where=whole)
    apart -= np.divide(second, second_size, out=np.zeros_like(second), where=whole)
    weights = np.where(whole, second_size, 0.0)
    total = weights.sum(axis=-1)
    summed = (weights * apart).sum(axis=-1)
    difference: FloatArray = np.divide(summed, total, out=np.full(total.shape, np.nan), where=total > 0)
    return difference


_MATCHED = Value("matched difference", (), _matched, is_share=False)


@dataclass(frozen=True, eq=False, kw_only=True)
class EntityStrata:
    """Gold entities of a system's cell.

    Attributes:
        recalled: 1 for each entity that was predicted, else 0.
        seen: True for each entity in the English training set.
        factors: bucket of each entity, by factor: length in tokens (characters for spans), frequency as a gold entity
            of the test set, script, type.
        f1: statistics of F1 over seen (True) and unseen (False) entities, also predicted ones.
    """

    recalled: FloatArray
    seen: npt.NDArray[np.bool_]
    sentence: IntArray
    factors: dict[str, npt.NDArray[np.str_]]
    f1: dict[bool, Statistics]

    def recall(self, *, seen: bool, factor: str = "", bucket: str = "") -> Statistics | None:
        """Return the statistics of recall on seen or unseen entities, or None without any."""
        chosen = self.seen == seen
        if factor:
            chosen = chosen & (self.factors[factor] == bucket)
        return Statistics(self.recalled[chosen, None], MEAN, self.sentence[chosen]) if chosen.any() else None

    def matched(self) -> Statistics | None:
        """Return seen minus unseen among entities equal in all factors, or None if they are in too few sentences."""
        _, codes = np.unique(np.column_stack([*self.factors.values()]), axis=0, return_inverse=True)
        stratum = codes.ravel().astype(np.int64)
        both = np.isin(stratum, stratum[self.seen]) & np.isin(stratum, stratum[~self.seen])
        if min(len(np.unique(self.sentence[both & side])) for side in (self.seen, ~self.seen)) < ENOUGH:
            return None
        return matched_difference(self.recalled[both], self.seen[both], stratum[both], self.sentence[both])


def entity_strata(answered: Answered, trained: TrainingEntities) -> EntityStrata:
    """Compare the entities of a cell with those of the English training set."""
    spans = answered.cell.judgement.dialect == SPANS
    matches = entities(answered.task, answered.examples, [answered.values], spans=spans)
    forms = matches.forms(answered.examples["text" if spans else "tokens"])
    seen = np.array([form in trained.forms for form in forms], dtype=bool)
    gold = matches.gold
    own = [form for form, is_gold in zip(forms, gold, strict=True) if is_gold]
    often = Counter(own)
    lengths, times = (matches.last - matches.first + 1)[gold], np.array([often[form] for form in own], dtype=np.int64)
    numbers = {"length": lengths, "frequency": times}
    cut = {name: np.array(_BUCKETS[name])[np.searchsorted(CUTS[name], values)] for name, values in numbers.items()}
    scripts = np.array([_script(form) for form in own], dtype=np.str_)
    statistics = matches.statistics(0)
    return EntityStrata(
        recalled=matches.predicted[0][gold].astype(np.float64),
        seen=seen[gold],
        sentence=matches.example[gold],
        factors={**cut, "script": scripts, "type": matches.types[gold]},
        f1={side: statistics.select(seen == side) for side in (True, False)},
    )


@lru_cache(maxsize=2**14)
def _is_latin(character: str) -> bool:
    return unicodedata.name(character, "").startswith("LATIN ")


def _script(form: str) -> str:
    """Return "Latin" if all letters are Latin, "other", or "no letters"."""
    letters = [character for character in form if character.isalpha()]
    return "no letters" if not letters else "Latin" if all(map(_is_latin, letters)) else "other"
