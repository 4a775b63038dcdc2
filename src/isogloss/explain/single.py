"""Single analysis: where one system does well and where it does not, with one true sentence an attribute."""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations

import msgspec
import numpy as np

from isogloss.explain import tagging
from isogloss.explain.attributes.retrieval import RANK
from isogloss.explain.buckets import Binning, interval_text
from isogloss.explain.cell_table import RANKS, CellTable
from isogloss.explain.examples import ExampleCollector
from isogloss.explain.measure import BucketDraws, BucketedRows, bucket_draws, mean_draws
from isogloss.explain.model import AttributeScores, Bucket, BucketScore
from isogloss.explain.selection import AttributeSelection
from isogloss.metrics.intervals import ROUNDING, interval
from isogloss.metrics.significance import ALPHA, holm
from isogloss.metrics.statistics import FloatArray, Statistics
from isogloss.scoring.main_score import SCORE
from isogloss.tasks.kinds import kind_of

# A bucket of fewer rows is shown, but no sentence is built on it.
ENOUGH = 20


def attribute_scores(
    table: CellTable,
    along: Sequence[BucketedRows],
    system: int = 0,
    collector: ExampleCollector | None = None,
    seed: int = 0,
    *,
    sentences: bool = True,
) -> list[AttributeScores]:
    """Every attribute of a cell under every metric of a system; examples are collected under the main one."""
    found: list[AttributeScores] = []
    for metric, drawn in _drawn_by_metric(table, along, table.metrics[system], seed).items():
        kept = collector if metric == table.main else None
        scores = [_scores(table, bucketed, each, kept) for bucketed, each in zip(along, drawn, strict=True)]
        p_values = holm([_range_p(each, part.draws) for each, part in zip(scores, drawn, strict=True)])
        for bucketed, each, p in zip(along, scores, p_values.tolist(), strict=True):
            facet = AttributeScores(*bucketed.heading(table, metric), each)
            found.append(msgspec.structs.replace(facet, insight=_insight(facet, p)) if sentences else facet)
    return found


def _drawn_by_metric(
    table: CellTable, along: Sequence[BucketedRows], metrics: Mapping[str, Statistics], seed: int
) -> dict[str, list[BucketDraws]]:
    """The buckets under every metric; a mean of metrics is not drawn again, its draws are the means of theirs."""
    names = [name for name in metrics if name != SCORE]
    found = dict(zip(names, bucket_draws(table, [metrics[name] for name in names], along, seed), strict=True))
    if SCORE not in metrics:
        return found
    means = [mean_draws(metrics[SCORE], *of_attribute) for of_attribute in zip(along, *found.values(), strict=True)]
    return {SCORE: means, **found}


def rows_by_answer(table: CellTable, selection: AttributeSelection, system: int = 0) -> list[BucketedRows]:
    """A cell cut by what a system answered: by the rank of the first hit.

    Such buckets go with the score by definition, so no sentence is due about them: it would be true of any system.
    """
    if RANK not in selection.of(table.task.kind, table.examples):
        return []
    buckets, codes = Binning(values=RANKS).apply(table.ranks(system))
    return [BucketedRows(RANK, buckets, codes)] if len(buckets) > 1 else []


def _scores(
    table: CellTable, bucketed: BucketedRows, drawn: BucketDraws, collector: ExampleCollector | None
) -> list[BucketScore]:
    scores = []
    for place, (bucket, part) in enumerate(zip(bucketed.buckets, drawn.parts, strict=True)):
        low, high = interval(part, draws=drawn.draws[:, place])
        ids = collector.add(table, bucketed.rows(place)) if collector else []
        scores.append(BucketScore(bucket, 100 * part.score, 100 * low, 100 * high, ids))
    return scores


def best_and_worst(found: AttributeScores) -> tuple[BucketScore, BucketScore] | None:
    """The best and the worst bucket among those with enough rows; None where these are one."""
    extremes = _highest_and_lowest(found.buckets)
    return extremes[::-1] if extremes and found.lower_is_better else extremes


def _highest_and_lowest(scores: Sequence[BucketScore]) -> tuple[BucketScore, BucketScore] | None:
    enough = [score for score in scores if score.bucket.n >= ENOUGH]
    if len(enough) < 2:
        return None
    highest, lowest = max(enough, key=lambda s: s.value), min(enough, key=lambda s: s.value)
    return None if highest.value - lowest.value < ROUNDING else (highest, lowest)


def _range_p(scores: Sequence[BucketScore], draws: FloatArray) -> float:
    """The p-value of the difference between the highest and the lowest bucket.

    They were picked for being far apart, so the null is that of the largest of all differences: of the replicates,
    each bucket's moved to have no difference from the others, the largest |difference| / standard error over all
    pairs of buckets (the single-step maxT of Westfall and Young 1993).
    """
    extremes = _highest_and_lowest(scores)
    if extremes is None:
        return 1.0
    enough = [place for place, score in enumerate(scores) if score.bucket.n >= ENOUGH]
    first, second = np.transpose(list(combinations(enough, 2)))
    differences = draws[:, first] - draws[:, second]
    values = np.array([score.value / 100 for score in scores])
    errors = np.maximum(differences.std(axis=0), ROUNDING)
    null = (np.abs(differences - (values[first] - values[second])) / errors).max(axis=1)
    highest, lowest = (next(place for place in enough if scores[place] is extreme) for extreme in extremes)
    pair = (first == min(highest, lowest)) & (second == max(highest, lowest))
    observed = (extremes[0].value - extremes[1].value) / 100 / errors[pair].item()
    return (int((null >= observed - ROUNDING).sum()) + 1) / (len(null) + 1)


def _insight(facet: AttributeScores, p: float) -> str:
    """One sentence that is true, or nothing."""
    extremes = _highest_and_lowest(facet.buckets)
    if extremes is None or p >= ALPHA:
        return ""
    highest, lowest = extremes
    # A bucket in which all is right or wrong never varies when it is drawn again; its interval still has a width.
    unvarying = highest.value > 100 - ROUNDING or lowest.value < ROUNDING
    if unvarying and highest.low <= lowest.high:
        return ""
    best, worst = (lowest, highest) if facet.lower_is_better else (highest, lowest)
    gap = f"{highest.value - lowest.value:.1f} points (p {'< 0.01' if p < 0.01 else f'= {p:.2f}'})"
    where = f"best at {bucket_text(best.bucket)} ({best.value:.1f}), worst at {bucket_text(worst.bucket)}"
    return f"{facet.title}: {where} ({worst.value:.1f}), a difference of {gap}{_trend(facet)}."


def _trend(facet: AttributeScores) -> str:
    ordered = [score.value for score in facet.buckets if score.bucket.low is not None]
    steps = np.diff(ordered)
    if facet.discrete or len(ordered) < 3 or not ((steps > 0).all() or (steps < 0).all()):
        return ""
    return "; the score rises from bucket to bucket" if steps[0] > 0 else "; the score falls from bucket to bucket"


def bucket_text(bucket: Bucket) -> str:
    """A bucket's name with its edges, e.g. `XL (13, 29]`."""
    edges = interval_text(bucket.low, bucket.high, first=bucket.name == "XS")
    return bucket.name if not edges or edges == bucket.name or bucket.name[0] in "[(" else f"{bucket.name} {edges}"


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
