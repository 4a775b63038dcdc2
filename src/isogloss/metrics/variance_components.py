"""Variance components of a full grid of runs and languages: analysis of variance of scores and of their errors.

Every set of axes has a component, the variance of its effect with one level on each axis: seeds, languages, seeds that
suit some languages. A mean over the grid has the sum of all components, each divided by its numbers of levels.

The mean square of a set of factors also contains their effects on other factors: that of prompts contains prompts ×
seeds. `pooled` adds up what is new in each mean square: this is the variance that the tests of differences use.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import prod
from typing import Any

import numpy as np

from isogloss.metrics.statistics import FloatArray

Axes = frozenset[int]
# Factors of runs, such as seeds, and the system (0 or 1) that varies them; None if both systems share their levels.
RunFactors = tuple[frozenset[str], int | None]
# Sources at a time, to save memory.
_BLOCK = 8192
# Keeps a ratio of two variances of 0 finite.
_TINY = 1e-300


@dataclass(frozen=True)
class MeanSquare:
    """Part of the variance of a mean, including effects on further factors, with its degrees of freedom.

    Attributes:
        variance: a number, or an array of possible outcomes.
        freedom: infinite if the variance is known.
        factors: factors of runs; none for what examples change alike in all runs.
        side: system that varies them, None if both share their levels.
        by_example: part of it that is due to single examples.
    """

    variance: Any
    freedom: float
    factors: frozenset[str] = frozenset()
    side: int | None = None
    by_example: float = 0.0


def pooled(parts: Sequence[MeanSquare]) -> tuple[Any, Any]:
    """Return the variance of a mean, and the inverse of its degrees of freedom.

    The variance of some factors is the sum over both systems, less what larger sets of factors explain, at least 0. The
    degrees of freedom of both systems are pooled as Satterthwaite (1946) does; those of different factors, and of
    the examples, by the mean of 1 / freedom, weighted by variance: with two or three seeds, Satterthwaite's intervals
    are too narrow whenever the seeds happen to agree.
    """
    alone: dict[frozenset[str], Any] = {}
    inverse: Any = 0.0
    for factors in sorted({part.factors for part in parts}, key=len, reverse=True):
        members = [part for part in parts if part.factors == factors]
        both = sum(part.variance for part in members)
        explained = sum(variance for larger, variance in alone.items() if factors and factors < larger)
        alone[factors] = np.maximum(0.0, both - explained)
        squares = sum(part.variance**2 / part.freedom for part in members if part.freedom > 0)
        inverse = inverse + alone[factors] * squares / np.maximum(both**2, _TINY)
    total = sum(alone.values())
    return total, inverse / np.maximum(total, _TINY)


def run_components(squares: Sequence[MeanSquare]) -> dict[RunFactors, tuple[float, float]]:
    """Return the variance due to each set of factors without effects on further ones: on all and on single examples.

    Both are at least 0. Many examples show the effects on single examples precisely, so few seeds that happen to agree
    do not lower them.
    """
    components: dict[RunFactors, tuple[float, float]] = {}
    for square in sorted(squares, key=lambda each: -len(each.factors)):
        key = square.factors, square.side
        larger = [parts for other, parts in components.items() if _within(key, other)]
        on_single = max(0.0, square.by_example - sum(parts[1] for parts in larger))
        on_all = max(0.0, square.variance - sum(map(sum, larger)) - on_single)
        components[key] = on_all, on_single
    return components


def expected_squares(components: Mapping[RunFactors, float], shared: Collection[str]) -> dict[RunFactors, float]:
    """Return the expected mean square of every set of factors: the sum of the components that contain it.

    `shared` are the factors with the same levels in both systems.
    """
    keys = {
        (chosen, None if chosen <= frozenset(shared) else side): None
        for factors, side in components
        for chosen in subsets(factors)
        if chosen
    }
    return {
        key: sum(variance for other, variance in components.items() if key == other or _within(key, other))
        for key in keys
    }


def _within(key: RunFactors, other: RunFactors) -> bool:
    """Return True if the variance of the second, larger set of factors is part of the first one's mean square."""
    return key[0] < other[0] and key[1] in (None, other[1])


def subsets(names: Collection[str]) -> Iterator[frozenset[str]]:
    """Yield all subsets, from the empty one to the whole."""
    for count in range(len(names) + 1):
        yield from map(frozenset, combinations(sorted(names), count))


def mean_squares(grid: FloatArray, chosen: Collection[int]) -> FloatArray:
    """Return the variance of the mean over a grid due to some of its axes, in each column.

    Args:
        grid: values by levels of all axes; the last axis has columns.
        chosen: indices of axes.
    """
    effects, scale = grid, 1
    for axis, size in enumerate(grid.shape[:-1]):
        centre = effects.mean(axis=axis, keepdims=True)
        effects = effects - centre if axis in chosen else centre
        scale *= size * (size - 1) if axis in chosen else 1
    squares: FloatArray = (effects**2).sum(axis=tuple(range(grid.ndim - 1))) / scale
    return squares


def crossed_variances(products: FloatArray, sizes: Sequence[int]) -> dict[Axes, float]:
    """Return the component of every set of axes, unbiased, so that small ones may be negative.

    Args:
        products: sums of products of the values at each two points of the grid (`inner_products`), in C order. With
            one value per point, the component of no axis is the squared mean.
        sizes: number of levels of each axis, at least two.
    """
    axes = range(len(sizes))
    grid = products.reshape((*sizes, *sizes))
    components: dict[Axes, float] = {}
    for count in reversed(range(len(sizes) + 1)):
        for chosen in map(frozenset, combinations(axes, count)):
            within = [(larger, value) for larger, value in components.items() if chosen < larger]
            mixed = sum(value / prod(sizes[axis] for axis in larger - chosen) for larger, value in within)
            components[chosen] = _mean_square(grid, sizes, chosen) - mixed
    return components


def _mean_square(grid: FloatArray, sizes: Sequence[int], chosen: Axes) -> float:
    """Return the mean square of the effects of some axes, with the values averaged over the others."""
    left = grid
    for axis in reversed(range(len(sizes))):
        size = sizes[axis]
        share = np.eye(size) - 1 / size if axis in chosen else np.full((size, size), 1 / size**2)
        # The last axis is contracted first, so that those of both points keep their positions.
        left = np.tensordot(left, share, axes=((axis, 2 * axis + 1), (0, 1)))
    return float(left) / prod(sizes[axis] - 1 for axis in chosen)


def inner_products(points: Sequence[Mapping[str, FloatArray]]) -> FloatArray:
    """Return the sums of products of the values at each two points; values in different spaces are independent."""
    products = np.zeros((len(points), len(points)))
    for space in dict.fromkeys(space for point in points for space in point):
        present = [index for index, point in enumerate(points) if space in point]
        for start in range(0, len(points[present[0]][space]), _BLOCK):
            values = np.stack([points[index][space][start : start + _BLOCK] for index in present])
            products[np.ix_(present, present)] += values @ values.T
    return products
