"""Drawing the examples again: bootstrap replicates as weights @ statistics.

A bootstrap resample is a vector of weights, saying how often each resampling unit was drawn, so the column
sums of a thousand resamples are one matrix product. Where many units have equal rows, the number of draws
of each distinct row is multinomial: the same distribution from far fewer random numbers.
"""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from isogloss.metrics.statistics import FloatArray, IntArray, Statistics, checked_rows, sums_by_place

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
    sums = _resampled_sums(_unit_table(statistics), resamples, seed)
    return statistics.value(sums[:, :-1], sums[:, -1])


def _unit_table(statistics: Statistics) -> FloatArray:
    """One row per resampling unit, (units, k + 1): the sums over its rows, then how many rows it has."""
    table = np.column_stack([checked_rows(statistics), np.ones(len(statistics))])
    if statistics.units is None:
        return table
    units, places = np.unique(statistics.units, return_inverse=True)
    return sums_by_place(table, places, len(units))


def _resampled_sums(table: FloatArray, resamples: int, seed: Seed) -> FloatArray:
    """Column sums (resamples, k) of bootstrap resamples of a table's rows, whatever their order."""
    distinct, counts = _collapse(table)
    if CATEGORY_COST * len(distinct) <= len(table):
        blocks = _row_weights(counts, resamples, seed)
    else:
        distinct = np.repeat(distinct, counts, axis=0)
        blocks = _unit_weights(len(distinct), resamples, seed)
    return _weighted_sums(blocks, distinct)


def _weighted_sums(blocks: Iterable[FloatArray], table: FloatArray) -> FloatArray:
    """Weights @ table, for weights that come in blocks of at most `BLOCK_SIZE`."""
    groups = np.array_split(table, -(-table.shape[1] // BLOCK_COLUMNS), axis=1)
    return np.concatenate([np.concatenate([weights @ group for group in groups], axis=1) for weights in blocks])


def _collapse(table: FloatArray) -> tuple[FloatArray, IntArray]:
    """The distinct rows of a table in sorted order, and how often each occurs."""
    ordered = table[np.lexsort(table.T)]
    new = np.ones(len(ordered), dtype=bool)
    new[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    first = np.flatnonzero(new)
    return ordered[first], np.diff(first, append=len(ordered))


def _block_sizes(width: int, total: int) -> Iterator[int]:
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
    for size in _block_sizes(len(counts), resamples):
        yield rng.multinomial(total, counts / total, size=size).astype(np.float64)


def _unit_weights(units: int, resamples: int, seed: Seed) -> Iterator[FloatArray]:
    """Blocks of weights of units that occur once each."""
    rng = np.random.default_rng(seed)
    for size in _block_sizes(units, resamples):
        drawn = rng.integers(units, size=(size, units))
        drawn += np.arange(0, size * units, units)[:, None]  # so that one pass counts all resamples apart
        counts = np.bincount(drawn.ravel(), minlength=size * units)
        yield counts.reshape(size, units).astype(np.float64)
