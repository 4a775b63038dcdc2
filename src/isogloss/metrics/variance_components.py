"""Variance components of a full grid of runs and languages: analysis of variance of scores and of their errors.

Every set of axes has a component, the variance of its effect with one level on each axis: seeds, languages, seeds that
suit some languages. A mean over the grid has the sum of all components, each divided by its numbers of levels.
"""

from collections.abc import Mapping, Sequence
from itertools import combinations
from math import prod

import numpy as np

from isogloss.metrics.statistics import FloatArray

Axes = frozenset[int]
# Sources at a time, to save memory.
_BLOCK = 8192


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
