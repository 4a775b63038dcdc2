"""Single analysis: where one system does well and where it does not, with one true sentence an attribute."""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np

from isogloss.explain import tagging
from isogloss.explain.buckets import Binning, interval_text
from isogloss.explain.cell_table import RANKS, SCORE, CellTable
from isogloss.explain.examples import Cases
from isogloss.explain.measure import Measurement, Slice, averaged, measured, scored
from isogloss.explain.model import Bucket, BucketScore, Facet
from isogloss.explain.selection import RANK, AttributeSelection
from isogloss.metrics.intervals import ROUNDING
from isogloss.metrics.significance import holm
from isogloss.metrics.statistics import FloatArray, Statistics

ALPHA = 0.05
# A bucket of fewer rows is shown, but no sentence is built on it.
ENOUGH = 20


def facets(
    sheet: CellTable,
    along: Sequence[Slice],
    system: int = 0,
    cases: Cases | None = None,
    seed: int = 0,
    *,
    sentences: bool = True,
) -> list[Facet]:
    """Every slice of a cell under every metric of a system; examples are collected under the main one."""
    found: list[Facet] = []
    for metric, measures in _measures(sheet, along, sheet.metrics[system], seed).items():
        collector = cases if metric == sheet.main else None
        scores = [_scores(sheet, cut, each, collector) for cut, each in zip(along, measures, strict=True)]
        p_values = holm([_range_p(each, part.draws) for each, part in zip(scores, measures, strict=True)])
        for cut, each, p in zip(along, scores, p_values.tolist(), strict=True):
            name, title, discrete = cut.attribute.name, cut.attribute.title, cut.attribute.discrete
            insight = _insight(title, discrete, each, p) if sentences else ""
            found.append(Facet(sheet.task.id, sheet.examples.language, metric, name, title, discrete, each, insight))
    return found


def _measures(
    sheet: CellTable, along: Sequence[Slice], metrics: Mapping[str, Statistics], seed: int
) -> dict[str, list[Measurement]]:
    """The slices under every metric; a mean of metrics is not drawn again, its draws are the means of theirs."""
    drawn = [name for name in metrics if name != SCORE]
    found = dict(zip(drawn, measured(sheet, [metrics[name] for name in drawn], along, seed), strict=True))
    if SCORE not in metrics:
        return found
    return {
        SCORE: [averaged(metrics[SCORE], *of_slice) for of_slice in zip(along, *found.values(), strict=True)],
        **found,
    }


def answer_slices(sheet: CellTable, chosen: AttributeSelection, system: int = 0) -> list[Slice]:
    """A cell cut by what a system answered: by the rank of the first hit.

    Such buckets go with the score by definition, so no sentence is due about them: it would be true of any system.
    """
    if RANK not in chosen.of(sheet.task.kind, sheet.examples) or "targets" not in sheet.examples.columns:
        return []
    buckets, codes = Binning(values=RANKS).apply(sheet.ranks(system))
    return [Slice(RANK, buckets, codes)] if len(buckets) > 1 else []


def _scores(sheet: CellTable, cut: Slice, measure: Measurement, cases: Cases | None) -> list[BucketScore]:
    buckets = zip(cut.buckets, measure.parts, measure.draws.T, strict=True)
    return [
        scored(bucket, part, draws, cases.add(sheet, cut.rows(place)) if cases else ())
        for place, (bucket, part, draws) in enumerate(buckets)
    ]


def best_and_worst(scores: Sequence[BucketScore]) -> tuple[BucketScore, BucketScore] | None:
    """The buckets with the highest and the lowest score among those with enough rows; None where these are one."""
    enough = [score for score in scores if score.bucket.n >= ENOUGH]
    if len(enough) < 2:
        return None
    best, worst = max(enough, key=lambda s: s.value), min(enough, key=lambda s: s.value)
    return None if best.value - worst.value < ROUNDING else (best, worst)


def _range_p(scores: Sequence[BucketScore], draws: FloatArray) -> float:
    """The p-value of the difference between best and worst bucket.

    They were picked for being far apart, so the null is that of the largest of all differences: of the replicates,
    each bucket's moved to have no difference from the others, the largest |difference| / standard error over all
    pairs of buckets (the single-step maxT of Westfall and Young 1993).
    """
    extremes = best_and_worst(scores)
    if extremes is None:
        return 1.0
    enough = [place for place, score in enumerate(scores) if score.bucket.n >= ENOUGH]
    first, second = np.transpose(list(combinations(enough, 2)))
    differences = draws[:, first] - draws[:, second]
    values = np.array([score.value / 100 for score in scores])
    errors = np.maximum(differences.std(axis=0), ROUNDING)
    null = (np.abs(differences - (values[first] - values[second])) / errors).max(axis=1)
    best, worst = (next(place for place in enough if scores[place] is extreme) for extreme in extremes)
    pair = (first == min(best, worst)) & (second == max(best, worst))
    observed = (extremes[0].value - extremes[1].value) / 100 / errors[pair].item()
    return (int((null >= observed - ROUNDING).sum()) + 1) / (len(null) + 1)


def _insight(title: str, discrete: bool, scores: Sequence[BucketScore], p: float) -> str:
    """One sentence that is true, or nothing."""
    extremes = best_and_worst(scores)
    if extremes is None or p >= ALPHA:
        return ""
    best, worst = extremes
    # A bucket in which all is right or wrong never varies when it is drawn again; its interval still has a width.
    unvarying = best.value > 100 - ROUNDING or worst.value < ROUNDING
    if unvarying and best.low <= worst.high:
        return ""
    gap = f"{best.value - worst.value:.1f} points (p {'< 0.01' if p < 0.01 else f'= {p:.2f}'})"
    where = f"best at {bucket_text(best.bucket)} ({best.value:.1f}), worst at {bucket_text(worst.bucket)}"
    return f"{title}: {where} ({worst.value:.1f}), a difference of {gap}{_trend(discrete, scores)}."


def _trend(discrete: bool, scores: Sequence[BucketScore]) -> str:
    ordered = [score.value for score in scores if score.bucket.low is not None]
    steps = np.diff(ordered)
    if discrete or len(ordered) < 3 or not ((steps > 0).all() or (steps < 0).all()):
        return ""
    return "; the score rises from bucket to bucket" if steps[0] > 0 else "; the score falls from bucket to bucket"


def bucket_text(bucket: Bucket) -> str:
    """A bucket's name with its edges, e.g. `XL (13, 29]`."""
    edges = interval_text(bucket.low, bucket.high, first=bucket.name == "XS")
    return bucket.name if not edges or edges == bucket.name or bucket.name[0] in "[(" else f"{bucket.name} {edges}"


def confusion(sheet: CellTable, system: int = 0) -> dict[str, dict[str, int]]:
    """Gold label -> predicted label -> how often, for kinds that have labels; "" stands for no answer."""
    if sheet.entities is not None:
        return tagging.confusion(sheet.entities, system)
    if sheet.task.kind not in ("classification", "choice"):
        return {}
    said = ["" if value is None else str(value) for value in sheet.values[system]]
    gold = map(str, sheet.examples[sheet.examples.gold])
    table: dict[str, dict[str, int]] = {}
    for (right, answer), count in sorted(Counter(zip(gold, said, strict=True)).items()):
        table.setdefault(right, {})[answer] = count
    return table
