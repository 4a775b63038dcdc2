"""Pairwise analysis: in which buckets one system is better than another, and where the order of the two turns."""

from collections.abc import Sequence
from dataclasses import replace

import msgspec
import numpy as np

from isogloss.explain.cell_table import CellTable
from isogloss.explain.examples import Cases
from isogloss.explain.measure import Measurement, Slice
from isogloss.explain.model import Bucket
from isogloss.metrics.significance import Difference, approximate_randomisation, holm, mcnemar, paired
from isogloss.metrics.statistics import Statistics

ALPHA = 0.05
# An answer is right from here on; for question answering that is an exact match, or all of its words.
RIGHT = 0.5


class BucketContrast(msgspec.Struct, frozen=True):
    """Two systems in one bucket, on the 0..100 scale; p is corrected (Holm) over all buckets of the cell."""

    bucket: Bucket
    first: float
    second: float
    difference: float
    low: float
    high: float
    p: float
    flips: bool
    ids: list[str] = []

    @property
    def significant(self) -> bool:
        """Whether the two can be told apart here."""
        return self.p < ALPHA


class FacetContrast(msgspec.Struct, frozen=True):
    """One attribute of one cell: two systems bucket by bucket, and where the order of the cell turns."""

    task: str
    language: str
    metric: str
    attribute: str
    title: str
    discrete: bool
    buckets: list[BucketContrast]


class Disagreement(msgspec.Struct, frozen=True):
    """The examples of one cell that one system has right and the other wrong, largest difference first.

    `difference` is that of the whole cell, on the 0..100 scale; `n` its number of examples.
    """

    task: str
    language: str
    n: int
    difference: float
    first_right: int
    second_right: int
    first_right_ids: list[str]
    second_right_ids: list[str]


class PairwiseExplanation(msgspec.Struct, frozen=True):
    """Two systems compared bucket by bucket on the cells that both have; positive differences favour the first."""

    first: str
    second: str
    facets: list[FacetContrast]
    cells: list[Disagreement]


def contrasts(
    sheet: CellTable,
    along: Sequence[Slice],
    measures: Sequence[Sequence[Measurement]],
    pair: tuple[int, int],
    cases: Cases | None = None,
) -> list[FacetContrast]:
    """Every slice of a cell with the differences of two systems under the main metric.

    Args:
        sheet: the cell.
        along: its slices.
        measures: for each system of the sheet its slices, drawn together (`measured`).
        pair: which two systems of the sheet.
        cases: collects the examples of the buckets.
    """
    overall = sheet.metrics[pair[0]][sheet.main].score - sheet.metrics[pair[1]][sheet.main].score
    family = sum(len(cut.buckets) for cut in along)
    found: list[tuple[Slice, list[BucketContrast]]] = []
    for cut, first, second in zip(along, measures[pair[0]], measures[pair[1]], strict=True):
        rows = []
        for place, (bucket, a, b) in enumerate(zip(cut.buckets, first.parts, second.parts, strict=True)):
            gap = paired(first.draws[:, place], second.draws[:, place], a.score - b.score, units=a.unit_count)
            ids = cases.add(sheet, cut.rows(place)) if cases else []
            flips = gap.difference * overall < 0
            rows.append(_contrast(bucket, (a.score, b.score), replace(gap, p=_p(a, b, family)), flips, ids))
        found.append((cut, rows))
    return _corrected(sheet, found)


def _contrast(
    bucket: Bucket, scores: tuple[float, float], gap: Difference, flips: bool, ids: list[str]
) -> BucketContrast:
    first, second = (100 * score for score in scores)
    return BucketContrast(bucket, first, second, 100 * gap.difference, 100 * gap.low, 100 * gap.high, gap.p, flips, ids)


def _p(a: Statistics, b: Statistics, family: int) -> float:
    """McNemar's exact test for accuracies, else approximate randomisation, as for whole cells."""
    if a.is_binary and b.is_binary:
        return mcnemar(a, b)
    # Holm's correction over m tests needs p-values as small as 0.05 / m, so more than 20 m trials.
    return approximate_randomisation(a, b, trials=max(1000, 40 * family))


def _corrected(sheet: CellTable, found: Sequence[tuple[Slice, list[BucketContrast]]]) -> list[FacetContrast]:
    adjusted = iter(holm([row.p for _, rows in found for row in rows]).tolist())
    return [
        FacetContrast(
            sheet.task.id,
            sheet.examples.language,
            sheet.main,
            cut.attribute.name,
            cut.attribute.title,
            cut.attribute.discrete,
            [msgspec.structs.replace(row, p=next(adjusted)) for row in rows],
        )
        for cut, rows in found
    ]


def disagreement(sheet: CellTable, pair: tuple[int, int], cases: Cases | None = None) -> Disagreement:
    """The examples of a cell that one of two systems has right and the other wrong."""
    first, second = (sheet.scores[system] for system in pair)
    order = np.argsort(-np.abs(first - second), kind="stable")
    ours = order[((first >= RIGHT) & (second < RIGHT))[order]]
    theirs = order[((second >= RIGHT) & (first < RIGHT))[order]]
    ids = [cases.keep(sheet, rows[: cases.limit].tolist()) if cases else [] for rows in (ours, theirs)]
    whole = [sheet.metrics[system][sheet.main].score for system in pair]
    of, n = sheet.examples, len(sheet.examples)
    return Disagreement(of.task, of.language, n, 100 * (whole[0] - whole[1]), len(ours), len(theirs), ids[0], ids[1])
