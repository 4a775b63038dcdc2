"""Calibration: whether a system that is sure is right, from the confidences that stand beside its answers."""

import numpy as np

from isogloss.explain.cell_table import CellTable
from isogloss.explain.model import Calibration, CalibrationBin
from isogloss.metrics.estimate import difference, estimate
from isogloss.metrics.statistics import MEAN, FloatArray, Statistics
from isogloss.scoring.contrast import scaled

BINS = 10


def calibration(table: CellTable, system: int = 0) -> Calibration | None:
    """The calibration of a system of the table, None where it gives no confidences."""
    confidence = table.confidences[system] if table.confidences else None
    if confidence is None or np.isnan(confidence).all():
        return None
    given = ~np.isnan(confidence)
    sure, good = confidence[given], table.goodness[system][given]
    sources = table.example_sources[given]
    sides = [estimate(Statistics(each[:, None], MEAN, sources), size=table.source_count) for each in (sure, good)]
    gap = difference(*sides, paired=True)
    bins = _bins(sure, good)
    ece = sum(each.n * abs(each.confidence - each.score) for each in bins) / len(sure)
    means = (100 * sides[0].value, 100 * sides[1].value, 100 * gap.value)
    return Calibration(len(sure), *means, *scaled(gap.difference_interval()), ece, bins)


def _bins(confidence: FloatArray, score: FloatArray) -> list[CalibrationBin]:
    """Ten bins of equal width; full confidence is in the last."""
    # Of 0.3 a tenth is a little below 3: what is a bound on paper must not fall below it.
    codes = np.minimum(np.floor(confidence * BINS + 1e-9), BINS - 1).astype(np.int64)
    found = []
    for code in np.unique(codes).tolist():
        inside = codes == code
        means = (100 * float(each[inside].mean()) for each in (confidence, score))
        found.append(CalibrationBin(code / BINS, (code + 1) / BINS, int(inside.sum()), *means))
    return found
