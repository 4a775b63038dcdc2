"""False discovery rates: the expected share of false statements among those that are listed.

Holm's correction keeps the chance of a single false alarm below 5 %, at a price that grows with the number of tests.
In a list of hundreds of findings, the share of false ones matters instead.
"""

from collections.abc import Sequence

import numpy as np

from isogloss.metrics.statistics import FloatArray


def false_discovery_rates(families: Sequence[Sequence[float]]) -> list[list[float]]:
    """Return q of every p-value of some families: the false discovery rate at which its statement can be listed.

    Listing all statements with q < 0.05 keeps the expected share of families with a false statement, among those with
    any statement listed, below 5 %. A family is what a reader takes as one finding, such as a sentence; its p-values
    must be corrected within it (by Holm, say). Families of one p-value each give the adjusted p-values of Benjamini
    and Hochberg (1995); with several, a statement must pass the threshold that the families' smallest p-values set
    (Benjamini and Bogomolov 2014).

    The proof requires independent or positively dependent families. Two-sided tests on shared examples are close to
    that: in simulations with correlated attributes, metrics and languages the rate stays below 5 %
    (benchmarks/README.md). The factor 1 + 1/2 + … + 1/m of Benjamini and Yekutieli (2001) for arbitrary dependence
    would raise every q six- to eightfold and find little.

    Raises:
        ValueError: an empty family, or a number outside 0..1.
    """
    sizes = [len(family) for family in families]
    p = np.array([one for family in families for one in family], dtype=np.float64)
    if not all(sizes) or not ((p >= 0) & (p <= 1)).all():
        raise ValueError("every family needs at least one p-value, all within 0..1")
    smallest = np.sort([min(family) for family in families])
    rates = iter(_rates(p, smallest).tolist())
    return [[next(rates) for _ in range(size)] for size in sizes]


def _rates(p: FloatArray, smallest: FloatArray) -> FloatArray:
    """Return q of each p-value from the smallest p-value of every family, ascending.

    Up to a threshold t, chance alone lets m * t of m families pass. Their share among all that pass is the rate at t;
    q is the lowest rate at the p-value itself or at any larger threshold.
    """
    m = len(smallest)
    passing = np.searchsorted(smallest, p, side="right")
    at_each = m * smallest / np.arange(1, m + 1)
    above = np.append(np.minimum.accumulate(at_each[::-1])[::-1], np.inf)[passing]
    rates: FloatArray = np.minimum(1.0, np.minimum(m * p / passing, above))
    return rates
