"""Grids of runs and languages: the variance of runs and examples that concerns single languages."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import NamedTuple

import numpy as np

from isogloss.metrics.crossed import RunEstimates
from isogloss.metrics.statistics import FloatArray
from isogloss.metrics.variance_components import RunFactors, crossed_variances, inner_products

# Variance of a mean due to factors of the runs: effects on all examples alike, and on single examples.
LanguageParts = Mapping[RunFactors, tuple[float, float]]
# What examples and languages change in all runs alike.
ALONE: RunFactors = (frozenset(), None)


class _Point(NamedTuple):
    """Score of a run in a language, and the contributions of sources to its error, by space."""

    value: float
    errors: Mapping[str, FloatArray]

    @staticmethod
    def sum(points: "Sequence[_Point]", weight: float) -> "_Point":
        errors = {space: weight * np.sum([each.errors[space] for each in points], axis=0) for space in points[0].errors}
        return _Point(weight * sum(each.value for each in points), errors)

    def minus(self, other: "_Point") -> "_Point":
        errors = {space: values - other.errors[space] for space, values in self.errors.items()}
        return _Point(self.value - other.value, errors)


@dataclass(frozen=True, eq=False)
class LanguageGrid:
    """Scores of one system, or of a difference, by run and language; runs are in the order of their levels."""

    levels: Mapping[str, int]
    points: Sequence[Sequence[_Point]]  # by run, then language

    @staticmethod
    def of(cells: Sequence[RunEstimates]) -> "LanguageGrid":
        """Return the grid of one system from its estimates in each language."""
        design = cells[0].design
        points = [
            [
                _Point(cell.runs[run].value, {space: part.values for space, part in cell.runs[run].errors.items()})
                for cell in cells
            ]
            for run in design.order
        ]
        return LanguageGrid(design.levels, points)

    def averaged(self, kept: Sequence[str]) -> "LanguageGrid":
        """Return the grid of some factors, in the order given, with the runs averaged over the others."""
        indices = np.arange(len(self.points)).reshape(tuple(self.levels.values()))
        names = list(self.levels)
        order = [names.index(name) for name in kept] + [axis for axis, name in enumerate(names) if name not in kept]
        levels = {name: self.levels[name] for name in kept}
        runs = indices.transpose(order).reshape(prod(levels.values()), -1)
        points = [
            [_Point.sum(same, 1 / len(same)) for same in zip(*(self.points[run] for run in group), strict=True)]
            for group in runs.tolist()
        ]
        return LanguageGrid(levels, points)

    def minus(self, other: "LanguageGrid") -> "LanguageGrid":
        """Return the difference of two grids with the same levels."""
        rows = zip(self.points, other.points, strict=True)
        points = [[a.minus(b) for a, b in zip(*row, strict=True)] for row in rows]
        return LanguageGrid(self.levels, points)

    def mean_scores(self) -> FloatArray:
        """Return the mean over runs in each language."""
        return np.array([point.value for point in self.averaged(()).points[0]])

    def parts(self) -> dict[frozenset[str], tuple[float, float]]:
        """Return the variance of the grid's mean that concerns single languages, by the factors that cause it."""
        points = [point for run in self.points for point in run]
        names, sizes = list(self.levels), [*self.levels.values(), len(self.points[0])]
        scores = np.array([point.value for point in points])
        between = crossed_variances(np.outer(scores, scores), sizes)
        by_source = crossed_variances(inner_products([point.errors for point in points]), sizes)
        parts = {}
        for axes, on_single in by_source.items():
            if len(names) in axes:
                scale = prod(sizes[axis] for axis in axes)
                factors = frozenset(names[axis] for axis in axes if axis < len(names))
                # Runs differ on the examples at hand more than on all examples.
                parts[factors] = (between[axes] - on_single) / scale, on_single / scale
        return parts


def language_parts(grids: Sequence[LanguageGrid], shared: Sequence[str]) -> LanguageParts:
    """Return the variance of a mean, or of the difference of two, that concerns single languages.

    Estimates are unbiased, so that small ones may be negative. `shared` are the factors with the same levels in both.
    """
    if len(grids[0].points[0]) == 1:
        return {}
    own: dict[RunFactors, tuple[float, float]] = {
        (factors, side): variances
        for side, grid in enumerate(grids)
        for factors, variances in grid.parts().items()
        if not factors <= set(shared)
    }
    averaged = [grid.averaged(shared) for grid in grids]
    together = averaged[0].minus(averaged[1]) if len(averaged) > 1 else averaged[0]
    common: dict[RunFactors, tuple[float, float]] = {}
    for factors, (on_all, on_single) in together.parts().items():
        # Averages over the other factors still contain a part of their effects.
        rest = [variances for (names, _), variances in own.items() if names.intersection(shared) == factors]
        common[factors, None] = on_all - sum(each[0] for each in rest), on_single - sum(each[1] for each in rest)
    return own | common
