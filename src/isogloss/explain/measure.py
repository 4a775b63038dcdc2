"""The rows of a cell in buckets, and the score of every bucket with its uncertainty."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from isogloss.explain.buckets import Binning, bucket_text
from isogloss.explain.cell_table import CellTable
from isogloss.explain.model import Attribute, Bucket
from isogloss.explain.selection import AttributeSelection
from isogloss.metrics.estimate import Estimate, estimate
from isogloss.metrics.statistics import IntArray, Statistics

# (task, attribute) -> binning for all languages of the task
SharedBinnings = Mapping[tuple[str, str], Binning]


@dataclass(frozen=True)
class BucketedRows:
    """Rows of a cell cut along one attribute: the buckets, and the bucket of every row."""

    attribute: Attribute
    buckets: list[Bucket]
    codes: IntArray

    def rows(self, bucket: int) -> npt.NDArray[np.bool_]:
        """Return a mask of the rows in a bucket."""
        inside: npt.NDArray[np.bool_] = self.codes == bucket
        return inside

    def heading(self, table: CellTable, metric: str) -> dict[str, Any]:
        """Return the fields of `BucketedAttribute`."""
        cell = {"task": table.task.id, "language": table.examples.language, "metric": metric}
        attribute = self.attribute
        return cell | {"attribute": attribute.name, "title": attribute.title, "discrete": attribute.discrete}


def bucketed_rows(
    table: CellTable, selection: AttributeSelection, shared: SharedBinnings | None = None
) -> list[BucketedRows]:
    """Cut the cell along every selected attribute, skipping constant ones."""
    cell = (table.task.kind, table.examples)
    cuts = [_cut(table, selection, attribute, shared) for attribute in selection.of(*cell)]
    for pair in selection.crosses_of(*cell):
        sides = [_cut(table, selection, attribute, shared) for attribute in pair]
        cuts.append(_crossed(table, *(side for side in sides if side is not None)))
    return [bucketed for bucketed in cuts if bucketed is not None and len(bucketed.buckets) > 1]


def _cut(
    table: CellTable, selection: AttributeSelection, attribute: Attribute, shared: SharedBinnings | None
) -> BucketedRows | None:
    """Cut the cell along one attribute; return None if it cannot be computed."""
    column = table.column(attribute)
    if column is None or not len(column):
        return None
    counted = column if table.counted is None else column[table.counted]
    binning = (shared or {}).get((table.task.id, attribute.name)) or selection.binning(attribute, counted)
    return BucketedRows(table.described(attribute), *binning.apply(column, table.counted))


def _crossed(table: CellTable, *sides: BucketedRows) -> BucketedRows | None:
    """Cut the cell along two attributes, with one bucket per non-empty pair of buckets."""
    if len(sides) < 2:
        return None
    first, second = sides
    pairs = first.codes * len(second.buckets) + second.codes
    used, codes = np.unique(pairs, return_inverse=True)
    codes = codes.reshape(-1)
    sizes = np.bincount(codes if table.counted is None else codes[table.counted], minlength=len(used))
    buckets = []
    for pair, size in zip(used.tolist(), sizes.tolist(), strict=True):
        row, column = divmod(pair, len(second.buckets))
        name = f"{bucket_text(first.buckets[row])} · {bucket_text(second.buckets[column])}"
        buckets.append(Bucket(name, None, None, size))
    names = (f"{first.attribute.name}+{second.attribute.name}", f"{first.attribute.title} × {second.attribute.title}")
    return BucketedRows(Attribute(*names, discrete=True), buckets, codes)


def bucket_estimates(table: CellTable, statistics: Statistics, bucketed: BucketedRows) -> list[Estimate]:
    """Return the score of every bucket of an attribute, over the cell's sources.

    Any two of them can be compared source by source, within or between systems, even if they share examples (entities
    of one sentence).
    """
    of_rows = table.by_source(statistics)
    inside = (bucketed.rows(bucket) for bucket in range(len(bucketed.buckets)))
    return [estimate(of_rows.select(rows), size=table.source_count) for rows in inside]
