"""Single analysis: where one system does well and where it does not, with one true sentence an attribute."""

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from math import comb

import msgspec

from isogloss.explain import tagging
from isogloss.explain.buckets import bucket_text
from isogloss.explain.cell_table import CellTable
from isogloss.explain.examples import ExampleCollector
from isogloss.explain.measure import BucketedRows, bucket_estimates
from isogloss.explain.model import AttributeScores, BucketScore
from isogloss.metrics.estimate import ROUNDING, Estimate, difference
from isogloss.metrics.significance import holm
from isogloss.metrics.student import ALPHA
from isogloss.scoring.contrast import scaled
from isogloss.tasks.kinds import kind_of


def attribute_scores(
    table: CellTable,
    along: Sequence[BucketedRows],
    system: int = 0,
    collector: ExampleCollector | None = None,
    *,
    sentences: bool = True,
) -> list[AttributeScores]:
    """Every attribute of a cell under every metric of a system; examples are collected under the main one."""
    found: list[AttributeScores] = []
    for metric, statistics in table.metrics[system].items():
        kept = collector if metric == table.main else None
        estimates = [bucket_estimates(table, statistics, bucketed) for bucketed in along]
        scores = [_scores(table, bucketed, each, kept) for bucketed, each in zip(along, estimates, strict=True)]
        facets = [
            AttributeScores(*bucketed.heading(table, metric), each)
            for bucketed, each in zip(along, scores, strict=True)
        ]
        found += _with_insights(facets, estimates) if sentences else facets
    return found


def _with_insights(facets: Sequence[AttributeScores], estimates: Sequence[list[Estimate]]) -> list[AttributeScores]:
    """The attributes with their sentences; what is claimed is tested, and corrected over all attributes."""
    ranges = holm([_range_p(facet, each) for facet, each in zip(facets, estimates, strict=True)]).tolist()
    trends = holm([_trend_p(facet, each) for facet, each in zip(facets, estimates, strict=True)]).tolist()
    return [
        msgspec.structs.replace(facet, insight=_insight(facet, p, has_trend=trend < ALPHA))
        for facet, p, trend in zip(facets, ranges, trends, strict=True)
    ]


def _scores(
    table: CellTable, bucketed: BucketedRows, estimates: Sequence[Estimate], collector: ExampleCollector | None
) -> list[BucketScore]:
    scores = []
    for place, (bucket, each) in enumerate(zip(bucketed.buckets, estimates, strict=True)):
        ids = collector.add(table, bucketed.rows(place)) if collector else []
        scores.append(BucketScore(bucket, 100 * each.value, *scaled(each.score_interval()), ids))
    return scores


def best_and_worst(found: AttributeScores) -> tuple[BucketScore, BucketScore] | None:
    """The best and the worst bucket among those with enough rows; None where these are one."""
    extremes = _highest_and_lowest(found.buckets)
    return extremes[::-1] if extremes and found.lower_is_better else extremes


def _highest_and_lowest(scores: Sequence[BucketScore]) -> tuple[BucketScore, BucketScore] | None:
    enough = [score for score in scores if score.low is not None]
    if len(enough) < 2:
        return None
    highest, lowest = max(enough, key=lambda s: s.value), min(enough, key=lambda s: s.value)
    return None if highest.value - lowest.value < ROUNDING else (highest, lowest)


def _range_p(facet: AttributeScores, estimates: Sequence[Estimate]) -> float:
    """The p-value of the difference between the highest and the lowest bucket.

    They were picked for being far apart, so it is corrected over all pairs of buckets (Bonferroni).
    """
    extremes = _highest_and_lowest(facet.buckets)
    if extremes is None:
        return 1.0
    highest, lowest = (next(e for s, e in zip(facet.buckets, estimates, strict=True) if s is x) for x in extremes)
    pairs = comb(sum(score.low is not None for score in facet.buckets), 2)
    return min(1.0, pairs * difference(highest, lowest).t_test)


def _trend_p(facet: AttributeScores, estimates: Sequence[Estimate]) -> float:
    """The p-value of the weakest step of ordered buckets, 1 where they do not all rise, or all fall.

    That every step goes one way is true only if each does, so the weakest decides (an intersection-union test).
    """
    ordered = [
        each
        for score, each in zip(facet.buckets, estimates, strict=True)
        if score.bucket.low is not None and score.low is not None
    ]
    steps = [difference(after, before) for before, after in pairwise(ordered)]
    if facet.discrete or len(steps) < 2 or len({step.value > 0 for step in steps}) > 1:
        return 1.0
    return max(step.t_test / 2 for step in steps)


def _insight(facet: AttributeScores, p: float, *, has_trend: bool) -> str:
    """One sentence that is true, or nothing."""
    extremes = _highest_and_lowest(facet.buckets)
    if extremes is None or p >= ALPHA:
        return ""
    highest, lowest = extremes
    best, worst = (lowest, highest) if facet.lower_is_better else (highest, lowest)
    gap = f"{highest.value - lowest.value:.1f} points (p {'< 0.01' if p < 0.01 else f'= {p:.2f}'})"
    where = f"best at {bucket_text(best.bucket)} ({best.value:.1f}), worst at {bucket_text(worst.bucket)}"
    return f"{facet.title}: {where} ({worst.value:.1f}), a difference of {gap}{_trend(facet) if has_trend else ''}."


def _trend(facet: AttributeScores) -> str:
    first, *_, last = (score.value for score in facet.buckets if score.bucket.low is not None and score.low is not None)
    return f"; the score {'rises' if last > first else 'falls'} from bucket to bucket"


def confusion(table: CellTable, system: int = 0) -> dict[str, dict[str, int]]:
    """Gold label -> predicted label -> how often, for kinds that have labels; "" stands for no answer."""
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
