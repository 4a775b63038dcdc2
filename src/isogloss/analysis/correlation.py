"""Correlations across languages, each with its interval: Pearson's and Spearman's, bootstrapped over languages."""

from collections.abc import Hashable, Sequence

import msgspec
import numpy as np
import numpy.typing as npt

from isogloss.analysis.finding import AnalysisError
from isogloss.metrics.intervals import bootstrap
from isogloss.metrics.statistics import FloatArray, IntArray, Statistics, Value

# Of fewer pairs no correlation is given: the interval of a few covers all that is possible.
FEWEST_PAIRS = 5
# Of fewer families no interval over families is given.
FEWEST_FAMILIES = 6
RESAMPLES = 1000
# What is smaller is rounding: columns are standardised before they are summed.
_NOTHING = 1e-12


class Correlation(msgspec.Struct, frozen=True):
    """A correlation, -1..1, with its 95 % interval."""

    value: float
    low: float
    high: float


def pearson(x: npt.ArrayLike, y: npt.ArrayLike, families: Sequence[Hashable] | None = None) -> Correlation:
    """Pearson's correlation of two columns, with its interval over languages.

    Args:
        x: a number for each language.
        y: another.
        families: drawn whole where they are given, as languages of one family are no independent observations.

    Raises:
        AnalysisError: the columns are too short, constant or not finite.
    """
    units = None if families is None else group_numbers(families)
    return _correlation(_standardised(x), _standardised(y), units)


def spearman(x: npt.ArrayLike, y: npt.ArrayLike) -> Correlation:
    """Spearman's correlation of two columns, Pearson's of their ranks; ranks are those among all languages.

    Raises:
        AnalysisError: the columns are too short, constant or not finite.
    """
    _standardised(x), _standardised(y)
    return _correlation(_standardised(ranks(x)), _standardised(ranks(y)), None)


def ranks(values: npt.ArrayLike) -> FloatArray:
    """The ranks of numbers from 1; equal ones share their mean rank."""
    _, places, counts = np.unique(np.asarray(values, np.float64), return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    shared: FloatArray = (last - (counts - 1) / 2)[places]
    return shared


def group_numbers(names: Sequence[Hashable]) -> IntArray:
    """A number for each name, the same for the same."""
    numbers = {name: number for number, name in enumerate(dict.fromkeys(names))}
    return np.array([numbers[name] for name in names])


def standardised(values: npt.ArrayLike) -> FloatArray | None:
    """Numbers with mean 0 and standard deviation 1; None where they are all the same."""
    column = np.asarray(values, np.float64)
    centred = column - column.mean()
    spread = float(np.sqrt((centred**2).mean()))
    return centred / spread if spread > _NOTHING * max(1.0, float(np.abs(column).max())) else None


def _standardised(values: npt.ArrayLike) -> FloatArray:
    column = np.asarray(values, np.float64)
    if column.ndim != 1 or len(column) < FEWEST_PAIRS:
        raise AnalysisError(f"a correlation needs {FEWEST_PAIRS} languages, and there are {column.size}")
    if not np.isfinite(column).all():
        raise AnalysisError("a correlation needs numbers, and one is NaN or infinite", fix="Leave that language out")
    found = standardised(column)
    if found is None:
        raise AnalysisError("a correlation needs numbers that differ, and all are the same")
    return found


def _correlation(x: FloatArray, y: FloatArray, units: IntArray | None) -> Correlation:
    statistics = Statistics(np.stack([x, y, x * x, y * y, x * y], axis=1), _PEARSON, units)
    low, high = bootstrap(statistics, resamples=RESAMPLES)
    return Correlation(statistics.score, max(low, -1.0), min(high, 1.0))


def _of_sums(sums: FloatArray, count: FloatArray) -> FloatArray:
    """Pearson's correlation from the sums of x, y, their squares and their product; 0 where one does not vary."""
    x, y, xx, yy, xy = np.moveaxis(sums, -1, 0)
    n = np.broadcast_to(count, x.shape)
    spread = np.sqrt(np.maximum(xx - x * x / n, 0) * np.maximum(yy - y * y / n, 0))
    together = np.divide(xy - x * y / n, spread, out=np.zeros_like(spread), where=spread > _NOTHING)
    clipped: FloatArray = np.clip(together, -1, 1)
    return clipped


_PEARSON = Value("pearson", ("x", "y", "xx", "yy", "xy"), _of_sums, is_share=False)
