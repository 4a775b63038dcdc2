"""Scores from a subset of the examples, with a cheap system's statistics on all of them as control variate.

Units are drawn at random within strata. Every unit gets a row: a prediction from the guide's row if it was not drawn;
otherwise its own row, plus its share of the error of these predictions. The sums of the rows are unbiased estimates
of those that all answers would give. Everything computed from rows - scores, intervals for new sources, averages,
comparisons - follows as if all had been answered, including the error of the draw.
"""

from dataclasses import dataclass
from functools import cached_property
from math import sqrt

import numpy as np
import numpy.typing as npt

from isogloss.metrics.estimate import ROUNDING, Estimate, SourceErrors, UnevenErrors, sum_of_squares
from isogloss.metrics.statistics import DrawnRows, FloatArray, IntArray, Statistics, sums_by_place

# A fit that depends on one unit this much cannot be corrected for leaving it out.
_INDISPENSABLE = 1 - 1e-4
# Directions in which the guide's rows vary less than this, relative to the main one, are ignored.
_SMALLEST = 1e-10


@dataclass(frozen=True)
class Draw:
    """A random draw of units within strata."""

    strata: IntArray  # stratum of every unit, 0, 1, …
    drawn: npt.NDArray[np.bool_]  # True for every unit drawn

    @cached_property
    def sizes(self) -> IntArray:
        """Number of units in each stratum."""
        return np.bincount(self.strata)

    @cached_property
    def counts(self) -> IntArray:
        """Number of drawn units in each stratum."""
        return np.bincount(self.strata, weights=self.drawn, minlength=len(self.sizes)).astype(np.int64)

    @property
    def possible(self) -> bool:
        """True if every stratum shows its variation: at least two of its units are drawn, or all."""
        return bool(((self.counts > 1) | (self.counts == self.sizes)).all())


def extrapolate(answers: FloatArray, guide: FloatArray, draw: Draw) -> tuple[FloatArray, FloatArray]:
    """Return a row for every unit, and the part of each row's error due to the draw.

    `answers` (n, k) are the rows of the drawn units in order, `guide` (N, j) the guide's rows of all units. The slopes
    that predict a unit are fitted to the other units, which makes the sums unbiased (Mickey 1959); they are those of
    least variance (Montanari 1987). Squares of the rows' deviations sum to the variance for new units, squares of the
    errors to that for other draws.
    """
    chosen = np.flatnonzero(draw.drawn)
    strata, sizes, counts = draw.strata[chosen], draw.sizes, draw.counts
    weights = (sizes / counts)[strata]
    slopes = _slopes_without_each(answers, guide[chosen], strata, weights * (weights - 1))
    rest = answers - np.einsum("nj,njk->nk", guide[chosen], slopes)
    levels = _means(rest, strata, counts)
    shape = (len(counts), *slopes.shape[1:])
    mean_slopes = _means(slopes.reshape(len(slopes), -1), strata, counts).reshape(shape)
    rows = np.einsum("nj,njk->nk", guide, mean_slopes[draw.strata]) + levels[draw.strata]
    residuals = rest - levels[strata]
    # Squares of residuals from their own mean are too small by (n - 1) / n. In the rows, their predictions make up for
    # a part of that: for all of it, if all units are drawn.
    left = np.maximum(counts - 1, 1)
    in_rows, in_errors = np.sqrt((counts - counts / sizes) / left)[strata], np.sqrt(counts / left)[strata]
    rows[chosen] = answers + (weights * in_rows - 1)[:, None] * residuals
    errors = np.zeros_like(rows)
    errors[chosen] = (np.sqrt(weights * (weights - 1)) * in_errors)[:, None] * residuals
    return rows, errors


def _means(rows: FloatArray, strata: IntArray, counts: IntArray) -> FloatArray:
    return sums_by_place(rows, strata, len(counts)) / counts[:, None]


def _centred(rows: FloatArray, strata: IntArray) -> FloatArray:
    """Subtract the mean of each stratum."""
    return rows - _means(rows, strata, np.maximum(np.bincount(strata), 1))[strata]


def _slopes_without_each(answers: FloatArray, guide: FloatArray, strata: IntArray, weights: FloatArray) -> FloatArray:
    """Return the slopes (n, j, k) of answers on the guide's rows within strata, fitted without each unit."""
    x, y = (_centred(rows, strata) for rows in (guide, answers))
    slopes, pull = _fitted(x, y, weights)
    # Leaving out a unit moves the slopes in proportion to its residual, and to its own influence on that.
    leverage = (pull * x).sum(axis=1) + 1 / np.bincount(strata)[strata]
    kept = np.where(leverage < _INDISPENSABLE, 1 - leverage, np.inf)
    residuals = (y - np.einsum("nj,jk->nk", x, slopes)) / kept[:, None]
    without: FloatArray = slopes - pull[:, :, None] * residuals[:, None, :]
    for unit in np.flatnonzero(np.isinf(kept) & pull.any(axis=1)):
        others = np.arange(len(strata)) != unit
        x, y = (_centred(rows[others], strata[others]) for rows in (guide, answers))
        without[unit] = _fitted(x, y, weights[others])[0]
    return without


def _fitted(x: FloatArray, y: FloatArray, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return weighted least-squares slopes (j, k), and each unit's pull (n, j) on them."""
    # einsum adds in a fixed order, BLAS does not.
    weighted = x * weights[:, None]
    inverse = np.linalg.pinv(np.einsum("ni,nj->ij", weighted, x), rcond=_SMALLEST, hermitian=True)
    pull = np.einsum("ni,ij->nj", weighted, inverse)
    return np.einsum("nj,nk->jk", pull, y), pull


def extrapolated(answered: Statistics, guide: Statistics, units: IntArray, draw: Draw) -> Statistics | None:
    """Return statistics of all examples from those of the answered ones; None if a stratum is not answered.

    Args:
        answered: statistics of the answered examples only, in their order.
        guide: statistics of all examples, with the same rows for each.
        units: unit of every example: the examples that are drawn together.
        draw: strata of the units, and which are drawn.
    """
    examples = np.arange(len(guide)) if guide.units is None else guide.units
    row_units = units[examples]
    # A metric may have no row for some units: they are not part of its population.
    own, first = np.unique(row_units, return_index=True)
    part = Draw(np.unique(draw.strata[own], return_inverse=True)[1].astype(np.int64), draw.drawn[own])
    unit_of_row = np.searchsorted(own, row_units)
    is_answered = draw.drawn[row_units]
    if np.count_nonzero(is_answered) != len(answered):
        raise ValueError(f"{len(answered)} rows of answers, {np.count_nonzero(is_answered)} of the guide")
    if not part.possible:
        return None
    sums = sums_by_place(guide.rows, unit_of_row, len(own))
    answers = sums_by_place(answered.rows, unit_of_row[is_answered], len(own))[part.drawn]
    by_unit, errors_by_unit = extrapolate(answers, sums, part)
    # Only sums over units matter: the first row of a unit has them.
    rows, errors = np.zeros((2, *guide.rows.shape))
    rows[first], errors[first] = by_unit, errors_by_unit
    return Statistics(rows, guide.value, guide.units, DrawnRows(is_answered, errors))


def draw_estimate(statistics: Statistics, space: str) -> Estimate:
    """Return the estimate of the score on all examples, for which the draw is the only error.

    If the guide predicts every answer, the error is that of a plain subset: agreement on few examples proves little.
    """
    total, count, value = statistics.sums, len(statistics), statistics.value
    score = float(value(total, count))
    drawn = statistics.drawn
    errors: dict[str, SourceErrors] = {}
    if drawn is not None:
        moved = score - value(total - drawn.errors[drawn.answered], count)
        if value.is_share and sum_of_squares(moved) < ROUNDING**2:
            spread = max(0.0, score * (1 - score)) * (1 - len(moved) / count)
            moved = np.full(len(moved), sqrt(spread) / len(moved))
        errors[space] = UnevenErrors(moved, np.ones(len(moved), dtype=bool))
    return Estimate(
        value=score,
        centre=score,
        n=count,
        errors=errors,
        unseen=0.0,
        is_share=value.is_share,
        limits=value.limits,
    )
