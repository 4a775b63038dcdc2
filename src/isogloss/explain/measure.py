"""The rows of a cell in buckets, and the score of every bucket with its uncertainty."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from isogloss.explain.buckets import Binning, bucket_text
from isogloss.explain.cell_table import CellTable
from isogloss.explain.model import Attribute, Bucket
from isogloss.explain.selection import AttributeSelection
from isogloss.metrics.estimate import Estimate, estimate
from isogloss.metrics.statistics import IntArray, Statistics

# (task, attribute) -> how the attribute is cut in all languages of the task
SharedBinnings = Mapping[tuple[str, str], Binning]


@dataclass(frozen=True)
class BucketedRows:
    """The rows of a cell cut along one attribute: the buckets, and the bucket of every row."""

    attribute: Attribute
    buckets: list[Bucket]
    codes: IntArray

    def rows(self, bucket: int) -> npt.NDArray[np.bool_]:
        """The rows of a bucket."""
        inside: npt.NDArray[np.bool_] = self.codes == bucket
        return inside

    def heading(self, table: CellTable, metric: str) -> tuple[str, str, str, str, str, bool]:
        """The fields of `BucketedAttribute`."""
        attribute = self.attribute
        return table.task.id, table.examples.language, metric, attribute.name, attribute.title, attribute.discrete


def bucketed_rows(
    table: CellTable, selection: AttributeSelection, shared: SharedBinnings | None = None
) -> list[BucketedRows]:
    """The cell along every selected attribute; one that is the same everywhere tells nothing and is left out."""
    cell = (table.task.kind, table.examples)
    found = [_cut(table, selection, attribute, shared) for attribute in selection.of(*cell)]
    for pair in selection.crosses_of(*cell):
        sides = [_cut(table, selection, attribute, shared) for attribute in pair]
        found.append(_crossed(table, *(side for side in sides if side is not None)))
    return [bucketed for bucketed in found if bucketed is not None and len(bucketed.buckets) > 1]


def _cut(
    table: CellTable, selection: AttributeSelection, attribute: Attribute, shared: SharedBinnings | None
) -> BucketedRows | None:
    """The cell along one attribute, None where it cannot be made."""
    column = table.column(attribute)
    if column is None or not len(column):
        return None
    counted = column if table.counted is None else column[table.counted]
    binning = (shared or {}).get((table.task.id, attribute.name)) or selection.binning(attribute, counted)
    return BucketedRows(table.described(attribute), *binning.apply(column, table.counted))


def _crossed(table: CellTable, *sides: BucketedRows) -> BucketedRows | None:
    """The cell along two attributes at once, a bucket for each pair of theirs that holds any row."""
    if len(sides) < 2:
        return None
    first, second = sides
    pairs = first.codes * len(second.buckets) + second.codes
    used, codes = np.unique(pairs, return_inverse=True)
    codes = codes.reshape(-1)
    sizes = np.bincount(codes if table.counted is None else codes[table.counted], minlength=len(used))
    buckets = []
    for pair, size in zip(used.tolist(), sizes.tolist(), strict=True):
        one, other = divmod(pair, len(second.buckets))
        name = f"{bucket_text(first.buckets[one])} · {bucket_text(second.buckets[other])}"
        buckets.append(Bucket(name, None, None, size))
    names = (f"{first.attribute.name}+{second.attribute.name}", f"{first.attribute.title} × {second.attribute.title}")
    return BucketedRows(Attribute(*names, discrete=True), buckets, codes)


def bucket_estimates(table: CellTable, statistics: Statistics, bucketed: BucketedRows) -> list[Estimate]:
    """The score of every bucket of an attribute under some statistics of a cell, all over the cell's sources.

    Any two of them, of one system or of two, can be compared source by source, also where they share examples
    (entities of one sentence).
    """
    of_rows = table.by_source(statistics)
    inside = (bucketed.rows(bucket) for bucket in range(len(bucketed.buckets)))
    return [estimate(of_rows.select(rows), size=table.source_count) for rows in inside]
