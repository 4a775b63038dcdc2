"""Numbers against gold numbers: Pearson's and Spearman's correlation, and errors relative to the scale.

Both correlations are functions of five sums. A correlation depends neither on the unit nor on the origin of numbers, so
each side is first brought to mean 0 and variance 1 over the whole set: no digits are lost, and answers on different
scales can be exchanged between systems. The score of a single row is 1 - (x - y)² / 2; the mean is the correlation.

Spearman's is Pearson's of midranks, which are taken once over the whole set. Resampling and buckets then work on these
ranks, as if they were given: an approximation for intervals, with the coverage stated in docs/scoring.md.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from isogloss.metrics.statistics import MEAN, FloatArray, Statistics, Value

# Variances below this share of the sum of squares are rounding errors.
_CONSTANT = 1e-13


def _correlation(sums: FloatArray, count: FloatArray) -> FloatArray:
    """Return the correlation of each set of sums, or 0 if one side is constant."""
    x, y, xx, yy, xy = np.moveaxis(sums, -1, 0)
    spread_x, spread_y = count * xx - x * x, count * yy - y * y
    varies = (spread_x > _CONSTANT * count * xx) & (spread_y > _CONSTANT * count * yy)
    spread = np.sqrt(np.maximum(spread_x, 0.0) * np.maximum(spread_y, 0.0))
    quotient = np.divide(count * xy - x * y, spread, out=np.zeros_like(spread), where=varies & (spread > 0))
    correlation: FloatArray = np.clip(quotient, -1.0, 1.0)
    return correlation


def _closeness(rows: FloatArray) -> FloatArray:
    """Return 1 minus half the squared distance of both sides of a row."""
    _, _, xx, yy, xy = np.moveaxis(rows, -1, 0)
    closeness: FloatArray = 1 - (xx + yy - 2 * xy) / 2
    return closeness


CORRELATION = Value(
    "correlation",
    ("gold", "answer", "gold_squared", "answer_squared", "product"),
    _correlation,
    is_share=False,
    bounds=(-1.0, 1.0),
    row_score=_closeness,
    whole_set=True,
)


def pearson(gold: Sequence[float], answers: Sequence[float]) -> Statistics:
    """Return the statistics of Pearson's correlation; the score is 0 if one side is constant.

    Args:
        gold: finite numbers.
        answers: as many finite numbers, in the same order.
    """
    if len(gold) != len(answers):
        raise ValueError(f"{len(gold)} gold numbers but {len(answers)} answers")
    x, y = standardized(gold), standardized(answers)
    return Statistics(np.stack([x, y, x * x, y * y, x * y], axis=1), CORRELATION)


def spearman(gold: Sequence[float], answers: Sequence[float]) -> Statistics:
    """Return the statistics of Spearman's correlation, Pearson's of the midranks; arguments as in `pearson`."""
    return pearson(midranks(gold).tolist(), midranks(answers).tolist())


def midranks(numbers: npt.ArrayLike) -> FloatArray:
    """Return the rank of each number, from 1; equal numbers share their mean rank."""
    values = np.asarray(numbers, dtype=np.float64)
    ordered = np.sort(values)
    ranks: FloatArray = (np.searchsorted(ordered, values) + np.searchsorted(ordered, values, side="right") + 1) / 2
    return ranks


def standardized(numbers: npt.ArrayLike) -> FloatArray:
    """Return numbers with mean 0 and variance 1, or zeros if all are equal."""
    values = np.asarray(numbers, dtype=np.float64)
    if not len(values) or values.min() == values.max():
        return np.zeros(len(values))
    # Halving before subtracting keeps the largest floats finite; dividing by the spread keeps their squares so.
    middle, half = values.min() / 2 + values.max() / 2, values.max() / 2 - values.min() / 2
    if half == 0:  # neighbouring numbers near 0
        return np.zeros(len(values))
    values = (values / 2 - middle / 2) / half
    values = values - values.mean()
    deviation = np.sqrt((values * values).mean())
    return values / deviation if deviation > 0 else np.zeros(len(values))


def errors(gold: Sequence[float], answers: Sequence[float | None], scale: tuple[float, float]) -> dict[str, Statistics]:
    """Return the mean absolute and the mean squared error ("mae", "mse"), relative to the length of a scale.

    An error counts as 1 at most, the length of the scale; so does a missing answer.
    """
    length = scale[1] - scale[0]
    pairs = zip(gold, answers, strict=True)
    shares = [1.0 if answer is None else min(1.0, abs(answer - right) / length) for right, answer in pairs]
    rows = np.array(shares, dtype=np.float64).reshape(-1, 1)
    return {"mae": Statistics(rows, MEAN), "mse": Statistics(rows * rows, MEAN)}
