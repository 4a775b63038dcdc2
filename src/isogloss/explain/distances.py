"""Distances between the languages of a task in an attribute, and the distances expected by chance."""

from collections.abc import Callable, Mapping, Sequence

import msgspec
import numpy as np

from isogloss.explain.model import Attribute, Column
from isogloss.metrics.statistics import FloatArray, IntArray

# Wasserstein distances use this many quantiles: exact if sizes divide it, close otherwise.
QUANTILES = 1000
# Number of permutations of examples over languages, and number of classes for numbers in them.
PERMUTATIONS = 99
CLASSES = 200
# Share of permutations below the noise level.
BELOW = 0.95


class Distances(msgspec.Struct, frozen=True, kw_only=True):
    """Distances between the languages of a task in one attribute: a symmetric matrix in the order of `languages`.

    Attributes:
        task: task.
        attribute: the attribute.
        measure: "wasserstein-1" (in the attribute's own unit) or "total variation" (0..1).
        languages: two-letter codes.
        table: distance of every pair of languages.
        noise: distance that 95 % of sample pairs of these sizes stay below if all languages are alike, estimated by
            permuting examples, source by source, over the languages. A distance below it is not significant.
    """

    task: str
    attribute: str
    measure: str
    languages: list[str]
    table: list[list[float]]
    noise: list[list[float]] = []


def distances(
    name: str, attribute: Attribute, columns: Mapping[str, Column], sources: Mapping[str, IntArray] | None = None
) -> Distances:
    """Return the distance between the distributions of one attribute for every pair of languages.

    Wasserstein-1: the mean distance of equal quantiles. Total variation: half the summed differences of shares.

    Args:
        name: task.
        attribute: attribute of the columns.
        columns: its values in each language.
        sources: source of each value; by default each value is its own source.
    """
    is_number = not attribute.discrete
    used = {
        code: ~np.isnan(column.astype(float)) if is_number else np.ones(len(column), dtype=bool)
        for code, column in columns.items()
    }
    used = {code: rows for code, rows in used.items() if rows.any()}
    parts = [columns[code][rows] for code, rows in used.items()]
    groups = [np.arange(len(rows)) if sources is None else sources[code] for code, rows in used.items()]
    owners = _Owners([group[rows] for group, rows in zip(groups, used.values(), strict=True)])
    if not parts:
        return Distances(task=name, attribute=attribute.name, measure="", languages=[], table=[])
    if is_number:
        measure, numbers = "wasserstein-1", [part.astype(float) for part in parts]
        points = (np.arange(QUANTILES) + 0.5) / QUANTILES
        quantiles = [np.quantile(column, points, method="inverted_cdf") for column in numbers]
        table = np.array([[np.abs(a - b).mean() for b in quantiles] for a in quantiles])
        codes, means = _classes(np.concatenate(numbers))
        noise = _noise(lambda shares: _transports(shares, means), codes, owners)
    else:
        measure = "total variation"
        _, codes = np.unique(np.concatenate([part.astype(np.str_) for part in parts]), return_inverse=True)
        table = _variations(owners.shares(codes, owners.of_values))
        noise = _noise(_variations, codes, owners)
    about = {"task": name, "attribute": attribute.name, "measure": measure}
    return Distances(**about, languages=list(used), table=table.tolist(), noise=noise.tolist())


class _Owners:
    """Language of each value, and permutations of values over languages, source by source."""

    def __init__(self, groups: Sequence[IntArray]) -> None:
        numbered = [np.unique(group, return_inverse=True)[1] for group in groups]
        counts = [int(group.max(initial=-1)) + 1 for group in numbered]
        starts = np.cumsum([0, *counts[:-1]])
        self.languages = len(groups)
        self._source = np.concatenate([group + start for group, start in zip(numbered, starts, strict=True)])
        self._of_sources = np.repeat(np.arange(len(groups)), counts)

    @property
    def of_values(self) -> IntArray:
        """Language of each value."""
        languages: IntArray = self._of_sources[self._source]
        return languages

    def dealt(self, rng: np.random.Generator) -> IntArray:
        """Return a random language for each value, preserving the number of sources per language."""
        languages: IntArray = rng.permutation(self._of_sources)[self._source]
        return languages

    def shares(self, codes: IntArray, owners: IntArray) -> FloatArray:
        """Return shares (languages, classes) of each class in each language."""
        shape = (self.languages, int(codes.max(initial=0)) + 1)
        counted = np.bincount(owners * shape[1] + codes, minlength=shape[0] * shape[1]).reshape(shape)
        shares: FloatArray = counted / counted.sum(axis=1, keepdims=True)
        return shares


def _classes(numbers: FloatArray) -> tuple[IntArray, FloatArray]:
    """Return numbers as classes of about equal size, and the mean of each class."""
    edges = np.unique(np.quantile(numbers, np.linspace(0, 1, CLASSES + 1), method="inverted_cdf"))
    codes = np.searchsorted(edges, numbers)
    counts = np.bincount(codes, minlength=len(edges))
    return codes, np.bincount(codes, weights=numbers, minlength=len(edges)) / np.maximum(counts, 1)


def _noise(distance: Callable[[FloatArray], FloatArray], codes: IntArray, owners: _Owners) -> FloatArray:
    """Return the distances that chance rarely exceeds."""
    rng = np.random.default_rng(0)
    drawn = [distance(owners.shares(codes, owners.dealt(rng))) for _ in range(PERMUTATIONS)]
    limits: FloatArray = np.quantile(np.array(drawn), BELOW, axis=0, method="higher")
    return limits


def _variations(shares: FloatArray) -> FloatArray:
    """Return the total variation between every two rows, row by row to keep memory flat."""
    return np.array([np.abs(shares - row).sum(axis=1) / 2 for row in shares])


def _transports(shares: FloatArray, positions: FloatArray) -> FloatArray:
    """Return Wasserstein-1 between all rows of shares at ascending positions: the area between cumulated shares."""
    below = np.cumsum(shares, axis=1)[:, :-1]
    widths = np.diff(positions)
    return np.array([np.abs(below - row) @ widths for row in below])
