"""The rows of a cell in buckets, and the score of every bucket with its uncertainty."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from isogloss.explain.buckets import Binning
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
    found = []
    for attribute in selection.of(table.task.kind, table.examples):
        column = table.column(attribute)
        if column is None or not len(column):
            continue
        counted = column if table.counted is None else column[table.counted]
        binning = (shared or {}).get((table.task.id, attribute.name)) or selection.binning(attribute, counted)
        buckets, codes = binning.apply(column, table.counted)
        if len(buckets) > 1:
            found.append(BucketedRows(table.described(attribute), buckets, codes))
    return found


def bucket_estimates(table: CellTable, statistics: Statistics, bucketed: BucketedRows) -> list[Estimate]:
    """The score of every bucket of an attribute under some statistics of a cell, all over the cell's sources.

    Any two of them, of one system or of two, can be compared source by source, also where they share examples
    (entities of one sentence).
    """
    of_rows = table.by_source(statistics)
    inside = (bucketed.rows(bucket) for bucket in range(len(bucketed.buckets)))
    return [estimate(of_rows.select(rows), size=table.source_count) for rows in inside]
