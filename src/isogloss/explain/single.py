"""Single analysis: strengths and weaknesses of one system, with one significant finding per attribute; calibration."""

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from math import comb

import msgspec
import numpy as np

from isogloss.explain import tagging
from isogloss.explain.buckets import bucket_text
from isogloss.explain.cell_table import CellTable
from isogloss.explain.examples import ExampleCollector
from isogloss.explain.measure import BucketedRows, bucket_estimates
from isogloss.explain.model import AttributeScores, BucketScore, Calibration, CalibrationBin
from isogloss.metrics.estimate import ROUNDING, Estimate, difference, estimate
from isogloss.metrics.significance import holm
from isogloss.metrics.statistics import MEAN, Statistics
from isogloss.metrics.student import ALPHA
from isogloss.scoring.contrast import scaled
from isogloss.tasks.kinds import kind_of

# Number of calibration bins.
BINS = 10


def attribute_scores(
    table: CellTable,
    along: Sequence[BucketedRows],
    system: int = 0,
    collector: ExampleCollector | None = None,
    *,
    sentences: bool = True,
) -> list[AttributeScores]:
    """Score every attribute of a cell under every metric of a system, collecting examples for the main metric."""
    results: list[AttributeScores] = []
    for metric, statistics in table.metrics[system].items():
        main_collector = collector if metric == table.main else None
        estimates = [bucket_estimates(table, statistics, bucketed) for bucketed in along]
        facets: list[AttributeScores] = []
        for bucketed, scores in zip(along, estimates, strict=True):
            buckets = []
            for index, (bucket, score) in enumerate(zip(bucketed.buckets, scores, strict=True)):
                low, high = scaled(score.score_interval())
                ids = main_collector.add(table, bucketed.rows(index)) if main_collector else []
                buckets.append(BucketScore(bucket=bucket, value=100 * score.value, low=low, high=high, ids=ids))
            facets.append(AttributeScores(**bucketed.heading(table, metric), buckets=buckets))
        results += _with_insights(facets, estimates) if sentences else facets
    return results


def _with_insights(facets: Sequence[AttributeScores], estimates: Sequence[list[Estimate]]) -> list[AttributeScores]:
    """Add findings to the attributes; claims are tested and corrected over all attributes."""
    ranges, trends = (holm(list(map(p, facets, estimates))).tolist() for p in (_range_p, _trend_p))
    return [
        msgspec.structs.replace(facet, insight=_insight(facet, p, has_trend=trend < ALPHA))
        for facet, p, trend in zip(facets, ranges, trends, strict=True)
    ]


def best_and_worst(facet: AttributeScores) -> tuple[BucketScore, BucketScore] | None:
    """Return the best and the worst bucket among those with enough rows, or None if they are the same."""
    extremes = _highest_and_lowest(facet.buckets)
    return extremes[::-1] if extremes and facet.lower_is_better else extremes


def _highest_and_lowest(scores: Sequence[BucketScore]) -> tuple[BucketScore, BucketScore] | None:
    enough = [score for score in scores if score.low is not None]
    if len(enough) < 2:
        return None
    highest, lowest = max(enough, key=lambda s: s.value), min(enough, key=lambda s: s.value)
    return None if highest.value - lowest.value < ROUNDING else (highest, lowest)


def _range_p(facet: AttributeScores, estimates: Sequence[Estimate]) -> float:
    """Return the p-value of the difference between the highest and the lowest bucket.

    These buckets were selected as extremes, so p is corrected over all pairs of buckets (Bonferroni).
    """
    extremes = _highest_and_lowest(facet.buckets)
    if extremes is None:
        return 1.0
    highest, lowest = (next(e for s, e in zip(facet.buckets, estimates, strict=True) if s is x) for x in extremes)
    pairs = comb(sum(score.low is not None for score in facet.buckets), 2)
    return min(1.0, pairs * difference(highest, lowest).t_test)


def _trend_p(facet: AttributeScores, estimates: Sequence[Estimate]) -> float:
    """Return the p-value of the weakest step of ordered buckets, or 1 if they are not monotonic.

    A trend requires every step, so the weakest decides (an intersection-union test).
    """
    ordered = [
        step
        for score, step in zip(facet.buckets, estimates, strict=True)
        if score.bucket.low is not None and score.low is not None
    ]
    steps = [difference(after, before) for before, after in pairwise(ordered)]
    if facet.discrete or len(steps) < 2 or len({step.value > 0 for step in steps}) > 1:
        return 1.0
    return max(step.t_test / 2 for step in steps)


def _insight(facet: AttributeScores, p: float, *, has_trend: bool) -> str:
    """Return one significant finding, or ""."""
    extremes = best_and_worst(facet)
    if extremes is None or p >= ALPHA:
        return ""
    best, worst = extremes
    gap = f"{abs(best.value - worst.value):.1f} points (p {'< 0.01' if p < 0.01 else f'= {p:.2f}'})"
    where = f"best at {bucket_text(best.bucket)} ({best.value:.1f}), worst at {bucket_text(worst.bucket)}"
    trend = ""
    if has_trend:
        ordered = [score.value for score in facet.buckets if score.bucket.low is not None and score.low is not None]
        trend = f"; the score {'rises' if ordered[-1] > ordered[0] else 'falls'} from bucket to bucket"
    return f"{facet.title}: {where} ({worst.value:.1f}), a difference of {gap}{trend}."


def confusion(table: CellTable, system: int = 0) -> dict[str, dict[str, int]]:
    """Return gold label -> predicted label -> count, for kinds with labels; "" means no answer."""
    if table.entities is not None:
        return tagging.confusion(table.entities, system)
    if kind_of(table.task).gold != "label":
        return {}
    answers = ["" if value is None else str(value) for value in table.values[system]]
    gold = map(str, table.examples[table.examples.gold])
    counts: dict[str, dict[str, int]] = {}
    for (right, answer), count in sorted(Counter(zip(gold, answers, strict=True)).items()):
        counts.setdefault(right, {})[answer] = count
    return counts


def calibration(table: CellTable, system: int = 0) -> Calibration | None:
    """Return the agreement of a system's confidences with its scores, or None if it has no confidences."""
    confidence = table.confidences[system] if table.confidences else None
    if confidence is None or np.isnan(confidence).all():
        return None
    present = ~np.isnan(confidence)
    sure, good = confidence[present], table.goodness[system][present]
    sources = table.example_sources[present]
    sides = [estimate(Statistics(side[:, None], MEAN, sources), size=table.source_count) for side in (sure, good)]
    gap = difference(*sides, paired=True)
    gap_low, gap_high = scaled(gap.difference_interval())
    # Ten bins of equal width; full confidence is in the last. 0.3 * 10 is slightly below 3 in floating point: bin edges
    # must not fall below their nominal value.
    codes = np.minimum(np.floor(sure * BINS + 1e-9), BINS - 1).astype(np.int64)
    bins = []
    for code in np.unique(codes).tolist():
        inside = codes == code
        mean, score = (100 * float(side[inside].mean()) for side in (sure, good))
        low, high = code / BINS, (code + 1) / BINS
        bins.append(CalibrationBin(low=low, high=high, n=int(inside.sum()), confidence=mean, score=score))
    return Calibration(
        n=len(sure),
        confidence=100 * sides[0].value,
        score=100 * sides[1].value,
        gap=100 * gap.value,
        gap_low=gap_low,
        gap_high=gap_high,
        ece=sum(part.n * abs(part.confidence - part.score) for part in bins) / len(sure),
        bins=bins,
    )
