"""Buckets: which rows belong together under one attribute, and between which edges.

Continuous attributes get equal counts (XTREME-R paper, Appendix K.2): N = 4 buckets named XS, S, L and XL. Equal
values are never torn apart, so each edge is moved to the nearest value boundary and buckets that coincide become one;
the names then go to the buckets in order, as in Table 26 of the paper. Discrete attributes get one bucket a value.
The edges that the paper prints were found by filling one bucket after the other, "greedy" here: see `learn_binning`.
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
# Discrete values beyond the most frequent share one bucket.
TOP = 20
REST = "rest"
# Rows of which the attribute says nothing: not a number, or an empty string.
NONE = "none"


@dataclass(frozen=True)
class Binning:
    """How one attribute is cut into buckets; found for one column, it can be applied to others.

    Attributes:
        edges: upper edges of all continuous buckets but the last, ascending: (…, edge], (edge, …]; None if discrete.
        values: the values that have a bucket of their own, most frequent first; None if continuous.
        named: whether the continuous buckets are XS, S, L, XL; else they are called by their interval.
    """

    edges: tuple[float, ...] | None = None
    values: tuple[str, ...] | None = None
    named: bool = True

    def apply(self, column: Column, counted: npt.NDArray[np.bool_] | None = None) -> tuple[list[Bucket], IntArray]:
        """The buckets that hold any row, and the bucket of each row; `counted` rows make their sizes, all if None."""
        codes, names = self._discrete(column) if self.edges is None else self._continuous(column)
        held = np.bincount(codes, minlength=len(names)) > 0
        used, codes = np.flatnonzero(held), (np.cumsum(held) - 1)[codes]
        members = np.bincount(codes if counted is None else codes[counted], minlength=len(used))
        buckets = []
        for place, code in enumerate(used.tolist()):
            low, high = self._bounds(column, codes == place, code)
            name = names[code] or interval_text(low, high, first=code == 0)
            buckets.append(Bucket(name, low, high, int(members[place])))
        return buckets, codes

    def _discrete(self, column: Column) -> tuple[IntArray, Sequence[str]]:
        values = self.values or ()
        text = column.astype(np.str_, copy=False)
        codes = np.full(len(text), len(values), dtype=np.int64)
        # Values are few: comparing the whole column with each is faster than looking up every row.
        for code, value in enumerate(values):
            codes[text == value] = code
        return codes, (*(value or NONE for value in values), REST)

    def _continuous(self, column: Column) -> tuple[IntArray, Sequence[str]]:
        edges = self.edges or ()
        numbers = column.astype(np.float64)
        codes = np.searchsorted(np.asarray(edges, dtype=np.float64), numbers, side="left").astype(np.int64)
        # Past the last bucket stands the one for rows without a value.
        codes[np.isnan(numbers)] = len(edges) + 1
        names = NAMES if self.named and len(edges) < len(NAMES) else ("",) * (len(edges) + 1)
        return codes, (*names[: len(edges) + 1], NONE)

    def _bounds(self, column: Column, inside: npt.NDArray[np.bool_], code: int) -> tuple[float | None, float | None]:
        """The lower and upper edge; the outer ones are the smallest and the largest value there is."""
        if self.edges is None or code > len(self.edges):
            return None, None
        within = column[inside].astype(np.float64)
        low = float(within.min()) if code == 0 else self.edges[code - 1]
        high = float(within.max()) if code == len(self.edges) else self.edges[code]
        return low, high


def learn_binning(
    column: Column,
    discrete: bool,
    *,
    buckets: int = BUCKETS,
    top: int = TOP,
    greedy: bool = False,
    zero_apart: bool = False,
) -> Binning:
    """The cut that a column asks for: equal counts, or one bucket for each of the most frequent values.

    The k-th inner edge is the value at which the share of rows up to it is nearest to k / buckets. If greedy, a bucket
    is filled value by value and closed once it holds more than its share, as in ExplainaBoard, and the last gets what
    is left: nothing, at times. If zero is apart, it has a bucket of its own, and the others share what is above it.
    """
    if discrete:
        often = Counter(column.astype(np.str_).tolist())
        ordered = sorted(often, key=lambda value: (-often[value], value))
        # A bucket "rest" for one value would only hide its name.
        return Binning(values=tuple(ordered if len(ordered) <= top + 1 else ordered[:top]))
    numbers = column.astype(np.float64)
    if zero_apart and np.any(numbers == 0):
        above = learn_binning(numbers[numbers > 0], discrete, buckets=buckets - 1, greedy=greedy).edges or ()
        return Binning(edges=(0.0, *above) if np.any(numbers > 0) else ())
    values, counts = np.unique(numbers[~np.isnan(numbers)], return_counts=True)
    if len(values) < 2:
        return Binning(edges=())
    # The largest value is no inner edge: nothing would lie above it.
    upto = np.cumsum(counts)[:-1]
    if greedy:
        return Binning(edges=tuple(values[_filled(upto, counts.sum() / buckets)].tolist()))
    wanted = np.arange(1, buckets) * counts.sum() / buckets
    nearest = np.abs(upto[None, :] - wanted[:, None]).argmin(axis=1)
    return Binning(edges=tuple(values[sorted(set(nearest.tolist()))].tolist()))


def _filled(upto: IntArray, share: float) -> list[int]:
    """The values at which a bucket has more than its share of the rows, one bucket after the other."""
    places: list[int] = []
    held = 0
    while (place := int(np.searchsorted(upto, held + share, side="right"))) < len(upto):
        places.append(place)
        held = int(upto[place])
    return places


def fixed_binning(edges: Sequence[float]) -> Binning:
    """A cut at given edges: up to the first, between two, above the last."""
    return Binning(edges=tuple(sorted(set(edges))), named=False)


def interval_text(low: float | None, high: float | None, *, first: bool) -> str:
    """An interval as the paper prints it: `[1, 2]` for the first, `(2, 5]` after it, a bare value for a single one."""
    if low is None or high is None:
        return ""
    if first and low == high:
        return _short(high)
    return f"{'[' if first else '('}{_short(low)}, {_short(high)}]"


def bucket_text(bucket: Bucket) -> str:
    """A bucket's name with its edges, e.g. `XL (13, 29]`."""
    edges = interval_text(bucket.low, bucket.high, first=bucket.name == "XS")
    return bucket.name if not edges or edges == bucket.name or bucket.name[0] in "[(" else f"{bucket.name} {edges}"


def _short(number: float) -> str:
    return f"{number:.3g}" if abs(number) < 1000 and number != int(number) else f"{number:.0f}"
