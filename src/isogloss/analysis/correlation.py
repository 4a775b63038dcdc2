"""Pearson's and Spearman's correlations across languages, with intervals bootstrapped over languages."""

from collections.abc import Hashable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from isogloss.analysis.finding import AnalysisError
from isogloss.metrics.intervals import bootstrap
from isogloss.metrics.statistics import FloatArray, IntArray, Statistics, Value

# With fewer pairs the interval covers nearly the whole range.
FEWEST_PAIRS = 5
# Minimum for an interval over families.
FEWEST_FAMILIES = 6
RESAMPLES = 1000
# Smaller values are rounding errors of standardised columns.
_NOTHING = 1e-12


class Correlation(NamedTuple):
    """A correlation, -1..1, with its 95 % interval."""

    value: float
    low: float
    high: float


def pearson(x: npt.ArrayLike, y: npt.ArrayLike, families: Sequence[Hashable] | None = None) -> Correlation:
    """Return Pearson's correlation of two columns, with its interval over languages.

    Args:
        x: one number per language.
        y: one number per language.
        families: family of each language; if given, families are drawn whole because related languages are dependent.

    Raises:
        AnalysisError: the columns are too short, constant or not finite.
    """
    units = None if families is None else group_numbers(families)
    return _correlation(_standardised(x), _standardised(y), units)


def spearman(x: npt.ArrayLike, y: npt.ArrayLike) -> Correlation:
    """Return Spearman's correlation of two columns: Pearson's of their ranks among all languages.

    Raises:
        AnalysisError: the columns are too short, constant or not finite.
    """
    _standardised(x), _standardised(y)
    return _correlation(_standardised(ranks(x)), _standardised(ranks(y)), None)


def ranks(values: npt.ArrayLike) -> FloatArray:
    """Return ranks from 1; ties share their mean rank."""
    _, indices, counts = np.unique(np.asarray(values, np.float64), return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    shared: FloatArray = (last - (counts - 1) / 2)[indices]
    return shared


def group_numbers(names: Sequence[Hashable]) -> IntArray:
    """Return a number per name; equal names share a number."""
    numbers = {name: number for number, name in enumerate(dict.fromkeys(names))}
    return np.array([numbers[name] for name in names])


def standardised(values: npt.ArrayLike) -> FloatArray | None:
    """Scale numbers to mean 0 and standard deviation 1; return None if all are equal."""
    column = np.asarray(values, np.float64)
    centred = column - column.mean()
    spread = float(np.sqrt((centred**2).mean()))
    return centred / spread if spread > _NOTHING * max(1.0, float(np.abs(column).max())) else None


def _standardised(values: npt.ArrayLike) -> FloatArray:
    column = np.asarray(values, np.float64)
    if column.ndim != 1 or len(column) < FEWEST_PAIRS:
        raise AnalysisError(f"a correlation needs {FEWEST_PAIRS} languages, got {column.size}")
    if not np.isfinite(column).all():
        raise AnalysisError("a correlation needs finite numbers", fix="Leave out languages with NaN or infinity")
    scaled = standardised(column)
    if scaled is None:
        raise AnalysisError("a correlation needs numbers that differ; all are equal")
    return scaled


def _correlation(x: FloatArray, y: FloatArray, units: IntArray | None) -> Correlation:
    statistics = Statistics(np.stack([x, y, x * x, y * y, x * y], axis=1), _PEARSON, units)
    low, high = bootstrap(statistics, resamples=RESAMPLES)
    return Correlation(statistics.score, max(low, -1.0), min(high, 1.0))


def _of_sums(sums: FloatArray, count: FloatArray) -> FloatArray:
    """Return Pearson's correlation from sums of x, y, their squares and product; 0 if one does not vary."""
    x, y, xx, yy, xy = np.moveaxis(sums, -1, 0)
    n = np.broadcast_to(count, x.shape)
    spread = np.sqrt(np.maximum(xx - x * x / n, 0) * np.maximum(yy - y * y / n, 0))
    together = np.divide(xy - x * y / n, spread, out=np.zeros_like(spread), where=spread > _NOTHING)
    clipped: FloatArray = np.clip(together, -1, 1)
    return clipped


_PEARSON = Value("pearson", ("x", "y", "xx", "yy", "xy"), _of_sums, is_share=False)
