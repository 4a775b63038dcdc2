"""The gold entities of a cell: found or not, seen in English training or not, and what else sets them apart."""

import unicodedata
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from isogloss.analysis.matched import matched_difference
from isogloss.explain.tagging import TrainingEntities, entities
from isogloss.metrics.statistics import MEAN, FloatArray, IntArray, Statistics
from isogloss.metrics.student import ENOUGH
from isogloss.scoring.cells import Answered
from isogloss.tasks.kinds.tagging import SPANS

# Where numbers are cut, by factor: up to and including each of these, then all above.
CUTS = {"length": (1, 2, 3), "frequency": (1, 4)}
_BUCKETS = {"length": ("1", "2", "3", "4+"), "frequency": ("once", "2-4 times", "5+ times")}
FACTORS = ("length", "frequency", "script", "type")


@dataclass(frozen=True, eq=False)
class EntityStrata:
    """The entities of a system's cell.

    Attributes:
        found: of every gold entity whether it was found, 0 or 1.
        seen: whether English training has it.
        sentence: where it is.
        factors: the bucket of every gold entity, by factor: length in tokens (characters, where answers are spans),
            how often it is a gold entity of this test set, its script, its type.
        f1: statistics of F1 over the entities of gold and system that were seen, and over the others.
    """

    found: FloatArray
    seen: npt.NDArray[np.bool_]
    sentence: IntArray
    factors: dict[str, npt.NDArray[np.str_]]
    f1: dict[bool, Statistics]

    def recall(self, *, seen: bool, factor: str = "", bucket: str = "") -> Statistics | None:
        """The statistics of the share of gold entities that was found, seen ones or others; None without any."""
        chosen = self.seen == seen
        if factor:
            chosen = chosen & (self.factors[factor] == bucket)
        return Statistics(self.found[chosen, None], MEAN, self.sentence[chosen]) if chosen.any() else None

    def matched(self) -> Statistics | None:
        """Seen minus unseen among entities that are alike in all factors; None where they are in too few sentences."""
        _, codes = np.unique(np.column_stack([*self.factors.values()]), axis=0, return_inverse=True)
        stratum = codes.ravel().astype(np.int64)
        both = np.isin(stratum, stratum[self.seen]) & np.isin(stratum, stratum[~self.seen])
        if min(len(np.unique(self.sentence[both & side])) for side in (self.seen, ~self.seen)) < ENOUGH:
            return None
        return matched_difference(self.found[both], self.seen[both], stratum[both], self.sentence[both])


def entity_strata(answered: Answered, trained: TrainingEntities) -> EntityStrata:
    """The entities of a cell, against those of the English training set."""
    spans = answered.cell.judgement.dialect == SPANS
    found = entities(answered.task, answered.examples, [answered.values], spans=spans)
    forms = found.forms(answered.examples["text" if spans else "tokens"])
    seen = np.array([form in trained.forms for form in forms], dtype=bool)
    gold = found.gold
    own = [form for form, is_gold in zip(forms, gold, strict=True) if is_gold]
    often = Counter(own)
    numbers = {
        "length": (found.last - found.first + 1)[gold],
        "frequency": np.array([often[form] for form in own], dtype=np.int64),
    }
    cut = {name: np.array(_BUCKETS[name])[np.searchsorted(CUTS[name], values)] for name, values in numbers.items()}
    scripts = np.array([_script(form) for form in own], dtype=np.str_)
    statistics = found.statistics(0)
    return EntityStrata(
        found.predicted[0][gold].astype(np.float64),
        seen[gold],
        found.example[gold],
        {**cut, "script": scripts, "type": found.types[gold]},
        {side: statistics.select(seen == side) for side in (True, False)},
    )


@lru_cache(maxsize=2**14)
def _is_latin(character: str) -> bool:
    return unicodedata.name(character, "").startswith("LATIN ")


def _script(form: str) -> str:
    """Whether an entity has letters, and all of them are Latin."""
    letters = [character for character in form if character.isalpha()]
    return "no letters" if not letters else "Latin" if all(map(_is_latin, letters)) else "other"
