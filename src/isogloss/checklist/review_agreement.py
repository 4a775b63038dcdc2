"""How far speakers agree: percent agreement, Cohen's kappa of two, Fleiss' of more."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import fmean


@dataclass(frozen=True)
class Agreement:
    """How far speakers agree on the items that at least two of them judged.

    Attributes:
        items: so many.
        speakers: who judged any of them, counted.
        percent: the share of pairs of speakers that agree, mean over items; None without items.
        kappa: the same beyond what chance makes: Cohen's for two speakers, Fleiss' for more; None where there is
            nothing to compute it from, and where all verdicts are alike, so that chance would agree as well.
        statistic: which kappa it is.
    """

    items: int
    speakers: int
    percent: float | None
    kappa: float | None
    statistic: str


def agreement(verdicts: Mapping[str, Mapping[str, str]]) -> Agreement:
    """How far speakers agree.

    Args:
        verdicts: for each item, the verdict of each speaker who judged it.
    """
    shared = [given for given in verdicts.values() if len(given) > 1]
    speakers = list(dict.fromkeys(speaker for given in shared for speaker in given))
    percent = 100 * fmean(map(_agreeing_pairs, shared)) if shared else None
    if len(speakers) > 2:
        return Agreement(
            len(shared), len(speakers), percent, fleiss_kappa([Counter(g.values()) for g in shared]), "Fleiss"
        )
    kappa = cohen_kappa([(given[speakers[0]], given[speakers[1]]) for given in shared]) if shared else None
    return Agreement(len(shared), len(speakers), percent, kappa, "Cohen" if shared else "")


def _agreeing_pairs(given: Mapping[str, str]) -> float:
    return fmean(one == other for one, other in combinations(given.values(), 2))


def cohen_kappa(pairs: Sequence[tuple[str, str]]) -> float | None:
    """Cohen's kappa of two speakers, from their verdicts on each item; None where chance alone agrees always."""
    observed = fmean(one == other for one, other in pairs)
    first, second = (Counter(verdicts) for verdicts in zip(*pairs, strict=True))
    expected = sum(first[verdict] * second[verdict] for verdict in first) / len(pairs) ** 2
    return None if expected == 1 else (observed - expected) / (1 - expected)


def fleiss_kappa(counts: Sequence[Mapping[str, int]]) -> float | None:
    """Fleiss' kappa from how many speakers gave each item each verdict; None where chance alone agrees always.

    Items may be judged by different numbers of speakers, two at least: each has the share of its own pairs that agree.
    """
    totals = Counter[str]()
    observed = []
    for given in counts:
        totals.update(given)
        n = sum(given.values())
        observed.append(sum(count * (count - 1) for count in given.values()) / (n * (n - 1)))
    expected = sum((count / totals.total()) ** 2 for count in totals.values())
    return None if expected == 1 else (fmean(observed) - expected) / (1 - expected)
