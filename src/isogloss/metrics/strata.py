"""Strata of examples and the order in which they are drawn, before any answer of the system to score is known.

A cheap system that answered everything, the guide, tells which answers are likely to move the score: those it got wrong
while most are right, and examples with many items. These are drawn more often. The order is fixed by a random number
per example, so that a smaller subset is the beginning of a larger one.
"""

import numpy as np

from isogloss.metrics.statistics import FloatArray, IntArray, Statistics, sums_by_place

# Maximum number of strata by rate.
MOST_STRATA = 4
# Examples that every stratum has before the rates decide; a smaller stratum is drawn whole.
LEAST_DRAWN = 5
# Weight of an example's size against the guide's error on it. Precision varies little between 0.25 and 1.
_SIZE = 0.5
# Rates stay within this factor of their root mean square, which bounds the weights.
_RANGE = 3.0


def movements(rows: FloatArray, value_of: Statistics) -> FloatArray:
    """Return how far rows (n, k) move a score: half its difference with one row more and one row less."""
    total, count, value = value_of.sums, len(value_of), value_of.value
    moved: FloatArray = (value(total + rows, count + 1) - value(total - rows, count - 1)) / 2
    return np.nan_to_num(moved, posinf=0.0, neginf=0.0)


def expected_movements(guide: Statistics, skipped: Statistics, examples: int) -> FloatArray:
    """Return how far the answer to each example is expected to move the score away from the guide's.

    An answer that moves the guide's own score much is uncertain, as are examples of great weight: those that cost much
    if skipped. `skipped` has the statistics of a system without answers. The relation is that of a variance to a mean.
    """
    own, without = (_by_example(part, examples) for part in (guide, skipped))
    return np.abs(movements(own, guide)) + _SIZE * np.abs(movements(without, guide))


def _by_example(statistics: Statistics, examples: int) -> FloatArray:
    return statistics.rows if statistics.units is None else sums_by_place(statistics.rows, statistics.units, examples)


def rates_of(movement: FloatArray) -> FloatArray:
    """Return relative sampling rates for expected movements (Neyman 1934): their roots, bounded."""
    rates: FloatArray = np.sqrt(movement)
    typical = float(np.sqrt((rates**2).mean()))
    if not typical:
        return np.ones_like(rates)
    # Rounded, so that equal examples stay in one stratum.
    bounded: FloatArray = np.clip(rates / typical, 1 / _RANGE, _RANGE).round(9)
    return bounded


def strata_of(rates: FloatArray) -> IntArray:
    """Return the stratum of each unit, 0, 1, …: units of similar rates, each stratum with about equal draws."""
    levels, level_of, sizes = np.unique(rates, return_inverse=True, return_counts=True)
    drawn = levels * sizes
    middle = (drawn.cumsum() - drawn / 2) / drawn.sum()
    stratum = np.minimum((middle * MOST_STRATA).astype(np.int64), MOST_STRATA - 1)
    return np.unique(stratum, return_inverse=True)[1].astype(np.int64)[level_of]


def drawing_order(strata: IntArray, rates: FloatArray, numbers: FloatArray) -> IntArray:
    """Return all units in the order in which they are drawn, by their random numbers.

    The first `LEAST_DRAWN` of every stratum come first, in turns. Then strata take turns in proportion to their size
    and mean rate (the method of Sainte-Laguë, which never withdraws a turn as the sample grows).
    """
    round_of, turn = np.empty(len(strata)), np.empty(len(strata))
    for stratum in range(int(strata.max(initial=-1)) + 1):
        members = np.flatnonzero(strata == stratum)
        members = members[np.argsort(numbers[members], kind="stable")]
        position = np.arange(len(members))
        round_of[members] = np.minimum(position, LEAST_DRAWN)
        turn[members] = (position + 0.5) / (len(members) * rates[members].mean())
    return np.lexsort((numbers, turn, round_of))
