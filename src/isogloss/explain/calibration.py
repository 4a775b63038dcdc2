"""Calibration: the agreement of a system's confidences with its scores."""

from collections.abc import Sequence
from dataclasses import replace
from math import copysign, exp, pi, sqrt
from typing import NamedTuple

import numpy as np

from isogloss.explain.cell_table import CellTable
from isogloss.explain.model import Calibration, CalibrationBin
from isogloss.metrics.estimate import Estimate, difference, estimate, weighted_sum
from isogloss.metrics.statistics import MEAN, Statistics
from isogloss.metrics.student import ENOUGH, LEVEL, normal_tail, t_quantile
from isogloss.scoring.contrast import scaled

# Number of calibration bins.
BINS = 10
# Number of standard errors beyond which the direction of a gap is certain.
CERTAIN = 10.0
# Confidence minus score of an answer; may be negative.
GAP = replace(MEAN, name="gap", is_share=False)


def calibration(table: CellTable, system: int = 0) -> Calibration | None:
    """Return the agreement of a system's confidences with its scores, or None if it has no confidences."""
    confidence = table.confidences[system] if table.confidences else None
    if confidence is None or np.isnan(confidence).all():
        return None
    present = ~np.isnan(confidence)
    sure, good = confidence[present], table.goodness[system][present]
    sources = table.example_sources[present]
    sides = [estimate(Statistics(side[:, None], MEAN, sources), size=table.source_count) for side in (sure, good)]
    gap = difference(*sides, unseen=max(side.unseen for side in sides))
    gap_low, gap_high = scaled(gap.difference_interval())
    # Ten bins of equal width; full confidence is in the last. 0.3 * 10 is slightly below 3 in floating point: bin edges
    # must not fall below their nominal value.
    codes = np.minimum(np.floor(sure * BINS + 1e-9), BINS - 1).astype(np.int64)
    bins, gaps = [], []
    for code in np.unique(codes).tolist():
        inside = codes == code
        mean, score = (100 * float(side[inside].mean()) for side in (sure, good))
        ends = {"low": code / BINS, "high": (code + 1) / BINS}
        bins.append(CalibrationBin(**ends, n=int(inside.sum()), confidence=mean, score=score))
        rows = np.where(inside, sure - good, 0.0)[:, None]
        gaps.append(estimate(Statistics(rows, GAP, sources), size=table.source_count))
    error = calibration_error(gaps)
    ece_low, ece_high = scaled(error.interval)
    return Calibration(
        n=len(sure),
        confidence=100 * sides[0].value,
        score=100 * sides[1].value,
        gap=100 * gap.value,
        gap_low=gap_low,
        gap_high=gap_high,
        ece=100 * error.observed,
        bins=bins,
        ece_debiased=None if error.interval is None else 100 * error.debiased,
        ece_low=ece_low,
        ece_high=ece_high,
    )


class BinnedError(NamedTuple):
    """Expected calibration error, 0..1: as observed, without its bias, and an interval if there are enough sources."""

    observed: float
    debiased: float
    interval: tuple[float, float] | None


def calibration_error(gaps: Sequence[Estimate]) -> BinnedError:
    """Return the expected calibration error from the gaps of the bins, each a share of the mean gap.

    The observed error adds up absolute values, so noise in either direction increases it. Without its bias: let four
    fifths of the sources decide whether a bin is over- or underconfident and the remaining fifth measure by how much,
    averaged over all ways to divide them. For a gap of z standard errors that is |z| (2 Φ(2 |z|) - 1) - 4 φ(2 z)
    standard errors; negative sums become 0. Its mean is 0 if the system is calibrated, and below the true error
    otherwise, by at most 0.4 standard errors per bin, because the direction may be wrong.

    The interval reaches from below this estimate, which never overstates the error on average, to above the observed
    one, which never understates it; it covers the true error in at least 95 % of cases.
    """
    observed = sum(abs(gap.value) for gap in gaps)
    debiased, slopes = 0.0, []
    for gap in gaps:
        spread = sqrt(gap.variance)
        z = min(abs(gap.value) / spread, CERTAIN) if spread else CERTAIN
        certainty, density = 1 - 2 * normal_tail(2 * z), exp(-2 * z * z) / sqrt(2 * pi)
        debiased += abs(gap.value) * certainty - 4 * spread * density
        slopes.append(copysign(certainty + 20 * z * density, gap.value))  # the derivative, for the standard error
    debiased = max(0.0, debiased)
    if gaps[0].sources < ENOUGH:
        return BinnedError(observed, debiased, None)
    below, above = weighted_sum(gaps, slopes), weighted_sum(gaps, [copysign(1.0, gap.value) for gap in gaps])
    reach = t_quantile((1 + LEVEL) / 2, gaps[0].sources - 1)
    low, high = debiased - reach * sqrt(below.variance), observed + reach * sqrt(above.variance)
    return BinnedError(observed, debiased, (max(0.0, low), min(1.0, high)))
