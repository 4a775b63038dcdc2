"""Buckets: groups of rows along one attribute, with their edges.

Continuous attributes get equal counts (XTREME-R paper, Appendix K.2): N = 4 buckets named XS, S, L and XL. Equal
values stay together, so each edge is moved to the nearest value boundary and buckets that coincide become one;
the names then go to the buckets in order, as in Table 26 of the paper. Discrete attributes get one bucket per value.
The paper's edges were found by filling buckets in turn, "greedy" here: see `learn_binning`.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from isogloss.explain.model import Bucket, Column
from isogloss.metrics.statistics import IntArray

BUCKETS = 4
NAMES = ("XS", "S", "L", "XL")
# Number of most frequent discrete values with their own bucket; the rest share one.
TOP = 20
REST = "rest"
# Smaller edges are written with one digit and an exponent.
SMALLEST = 0.001
# Bucket of rows without a value: not a number, or an empty string.
NONE = "none"


@dataclass(frozen=True)
class Binning:
    """Cut of one attribute into buckets, learnt from one column and applicable to others.

    Continuous buckets have `edges`: the upper edges of all but the last, ascending: (…, edge], (edge, …].
    """

    edges: tuple[float, ...] | None = None
    values: tuple[str, ...] | None = None  # with their own discrete bucket, most frequent first
    named: bool = True  # True if the continuous buckets are XS, S, L, XL; else they are called by their interval

    def apply(self, column: Column, counted: npt.NDArray[np.bool_] | None = None) -> tuple[list[Bucket], IntArray]:
        """Return the non-empty buckets and the bucket of each row; `counted` rows determine sizes (default: all)."""
        codes, names = self._discrete(column) if self.edges is None else self._continuous(column)
        held = np.bincount(codes, minlength=len(names)) > 0
        used, codes = np.flatnonzero(held), (np.cumsum(held) - 1)[codes]
        members = np.bincount(codes if counted is None else codes[counted], minlength=len(used))
        buckets = []
        for index, code in enumerate(used.tolist()):
            low = high = None
            if self.edges is not None and code <= len(self.edges):
                # The outer edges are the smallest and the largest value.
                within = column[codes == index].astype(np.float64)
                low = float(within.min()) if code == 0 else self.edges[code - 1]
                high = float(within.max()) if code == len(self.edges) else self.edges[code]
            name = names[code] or interval_text(low, high, first=code == 0)
            buckets.append(Bucket(name, low, high, int(members[index])))
        return buckets, codes

    def _discrete(self, column: Column) -> tuple[IntArray, Sequence[str]]:
        values = self.values or ()
        text = column.astype(np.str_, copy=False)
        codes = np.full(len(text), len(values), dtype=np.int64)
        # There are few values, so comparing the whole column with each is faster than looking up every row.
        for code, value in enumerate(values):
            codes[text == value] = code
        return codes, (*(value or NONE for value in values), REST)

    def _continuous(self, column: Column) -> tuple[IntArray, Sequence[str]]:
        edges = self.edges or ()
        numbers = column.astype(np.float64)
        codes = np.searchsorted(np.asarray(edges, dtype=np.float64), numbers, side="left").astype(np.int64)
        # The last bucket is for rows without a value.
        codes[np.isnan(numbers)] = len(edges) + 1
        names = NAMES if self.named and len(edges) < len(NAMES) else ("",) * (len(edges) + 1)
        return codes, (*names[: len(edges) + 1], NONE)


def learn_binning(
    column: Column,
    discrete: bool,
    *,
    buckets: int = BUCKETS,
    top: int = TOP,
    greedy: bool = False,
    zero_apart: bool = False,
) -> Binning:
    """Learn the cut of a column: equal counts, or one bucket for each of the most frequent values.

    The k-th inner edge is the value at which the share of rows up to it is nearest to k / buckets. If greedy, a bucket
    is filled value by value and closed once it holds more than its share, as in ExplainaBoard, and the last gets the
    rest, possibly nothing. If zero is apart, it has its own bucket, and the others share the values above it.
    """
    if discrete:
        often = Counter(column.astype(np.str_).tolist())
        ordered = sorted(often, key=lambda value: (-often[value], value))
        # A bucket "rest" with a single value would hide its name.
        return Binning(values=tuple(ordered if len(ordered) <= top + 1 else ordered[:top]))
    numbers = column.astype(np.float64)
    if zero_apart and np.any(numbers == 0):
        above = learn_binning(numbers[numbers > 0], discrete, buckets=buckets - 1, greedy=greedy).edges or ()
        return Binning(edges=(0.0, *above) if np.any(numbers > 0) else ())
    values, counts = np.unique(numbers[~np.isnan(numbers)], return_counts=True)
    if len(values) < 2:
        return Binning(edges=())
    # The largest value is not an inner edge: nothing lies above it.
    upto = np.cumsum(counts)[:-1]
    share = counts.sum() / buckets
    if greedy:  # the values at which each bucket in turn exceeds its share of the rows
        indices: list[int] = []
        held = 0
        while (index := int(np.searchsorted(upto, held + share, side="right"))) < len(upto):
            indices.append(index)
            held = int(upto[index])
    else:
        wanted = np.arange(1, buckets) * counts.sum() / buckets
        indices = sorted(set(np.abs(upto[None, :] - wanted[:, None]).argmin(axis=1).tolist()))
    return Binning(edges=tuple(values[indices].tolist()))


def fixed_binning(edges: Sequence[float], *, named: bool = False) -> Binning:
    """Return a binning with given edges: up to the first, between two, above the last."""
    return Binning(edges=tuple(sorted(set(edges))), named=named)


def interval_text(low: float | None, high: float | None, *, first: bool) -> str:
    """Format an interval as in the paper: `[1, 2]` for the first, `(2, 5]` after it, a bare value for a single one."""
    if low is None or high is None:
        return ""
    if first and low == high:
        return _short(high)
    return f"{'[' if first else '('}{_short(low)}, {_short(high)}]"


def bucket_text(bucket: Bucket) -> str:
    """Return a bucket's name with its edges, for example `XL (13, 29]`."""
    return f"{bucket.name} {bucket_edges(bucket)}".rstrip()


def bucket_edges(bucket: Bucket) -> str:
    """Return the range of a bucket as the paper prints it; "" if it is discrete or the bucket's name."""
    is_sized = bucket.name in NAMES
    return interval_text(bucket.low, bucket.high, first=bucket.name == NAMES[0]) if is_sized else ""


def _short(number: float) -> str:
    """Format an edge with three digits, or one if it is tiny: 13, 0.333, 3e-8."""
    if 0 < abs(number) < SMALLEST:
        return f"{number:.0e}".replace("e-0", "e-")
    return f"{number:.3g}" if abs(number) < 1000 and number != int(number) else f"{number:.0f}"
