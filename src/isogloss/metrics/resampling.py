"""Drawing the examples again: bootstrap replicates as weights @ statistics.

A bootstrap resample is a vector of weights, saying how often each resampling unit was drawn, so the column
sums of a thousand resamples are one matrix product. Where many units have equal rows, the number of draws
of each distinct row is multinomial: the same distribution from far fewer random numbers.
"""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from isogloss.metrics.statistics import FloatArray, IntArray, Statistics

Seed = int | Sequence[int]

# Weights held at once: half a megabyte, which stays in cache and keeps memory flat.
BLOCK_SIZE = 2**16
# Columns multiplied at once. Above 2**18 multiplications OpenBLAS starts threads, and on a busy machine
# waiting for them was measured to cost ten times what the whole product costs on one thread.
BLOCK_COLUMNS = 4
# Measured: a category of a multinomial draw (about 65 ns) costs as much as 12 row indices drawn and counted.
CATEGORY_COST = 12


def replicates(statistics: Statistics, resamples: int = 1000, seed: Seed = 0) -> FloatArray:
    """Bootstrap scores of one set of statistics, shape (resamples,).

    Rows of one unit are drawn together. The order of the rows and the names of the units do not matter.
    """
    sums = resampled_sums(unit_table(statistics), resamples, seed)
    return statistics.value(sums[:, :-1], sums[:, -1])


def unit_table(statistics: Statistics) -> FloatArray:
    """One row per resampling unit, (units, k + 1): the sums over its rows, then how many rows it has."""
    rows = _checked(statistics.rows)
    if statistics.units is None:
        return np.column_stack([rows, np.ones(len(rows))])
    units, position = np.unique(statistics.units, return_inverse=True)
    return _sum_by_unit(rows, position, len(units))


def resampled_sums(table: FloatArray, resamples: int, seed: Seed) -> FloatArray:
    """Column sums (resamples, k) of bootstrap resamples of a table's rows, whatever their order."""
    distinct, counts = collapse(table)
    if CATEGORY_COST * len(distinct) <= len(table):
        blocks = _row_weights(counts, resamples, seed)
    else:
        distinct = np.repeat(distinct, counts, axis=0)
        blocks = _unit_weights(len(distinct), resamples, seed)
    return weighted_sums(blocks, distinct)


def weighted_sums(blocks: Iterable[FloatArray], table: FloatArray) -> FloatArray:
    """Weights @ table, for weights that come in blocks of at most `BLOCK_SIZE`."""
    groups = np.array_split(table, -(-table.shape[1] // BLOCK_COLUMNS), axis=1)
    return np.concatenate([np.concatenate([weights @ group for group in groups], axis=1) for weights in blocks])


def collapse(table: FloatArray) -> tuple[FloatArray, IntArray]:
    """The distinct rows of a table in sorted order, and how often each occurs."""
    ordered = table[np.lexsort(table.T)]
    new = np.ones(len(ordered), dtype=bool)
    new[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    first = np.flatnonzero(new)
    return ordered[first], np.diff(first, append=len(ordered))


def _checked(rows: FloatArray) -> FloatArray:
    """The rows themselves, once they are known to be a table, not empty, and free of NaN and infinity."""
    if rows.ndim != 2:
        raise ValueError(f"statistics must be of shape (n, k), got {rows.shape}")
    if not len(rows):
        raise ValueError("no rows: there is nothing to resample")
    finite = np.isfinite(rows).all(axis=1)
    if not finite.all():
        raise ValueError(f"row {int(np.argmin(finite))} of the statistics is not finite")
    return rows


def block_sizes(width: int, total: int) -> Iterator[int]:
    """Sizes of the blocks in which `total` vectors of a given width are drawn."""
    if total < 1:
        raise ValueError(f"the number of resamples must be at least 1, got {total}")
    size = max(1, BLOCK_SIZE // width)
    for start in range(0, total, size):
        yield min(size, total - start)


def _row_weights(counts: IntArray, resamples: int, seed: Seed) -> Iterator[FloatArray]:
    """Blocks of weights of distinct rows that occur `counts` times each."""
    rng = np.random.default_rng(seed)
    total = int(counts.sum())
    for size in block_sizes(len(counts), resamples):
        yield rng.multinomial(total, counts / total, size=size).astype(np.float64)


def _unit_weights(units: int, resamples: int, seed: Seed) -> Iterator[FloatArray]:
    """Blocks of weights of units that occur once each."""
    rng = np.random.default_rng(seed)
    for size in block_sizes(units, resamples):
        drawn = rng.integers(units, size=(size, units))
        drawn += np.arange(0, size * units, units)[:, None]  # so that one pass counts all resamples apart
        counts = np.bincount(drawn.ravel(), minlength=size * units)
        yield counts.reshape(size, units).astype(np.float64)


def _sum_by_unit(rows: FloatArray, position: IntArray, units: int) -> FloatArray:
    """Sums of the rows that fall to each unit's position, with their number as the last column."""
    sums = [np.bincount(position, weights=column, minlength=units) for column in rows.T]
    return np.stack([*sums, np.bincount(position, minlength=units)], axis=1)
