"""How far the languages of a task are apart in an attribute, and how far chance alone would put them."""

from collections.abc import Callable, Mapping, Sequence

import msgspec
import numpy as np

from isogloss.explain.model import Attribute, Column
from isogloss.metrics.statistics import FloatArray, IntArray

# Wasserstein distances are between this many quantiles: exact where sizes divide it, and close elsewhere.
QUANTILES = 1000
# How often the examples are dealt out to the languages anew, and into how many classes numbers are cut for that.
PERMUTATIONS = 99
CLASSES = 200
# The share of permutations that lie below the noise.
BELOW = 0.95


class Distances(msgspec.Struct, frozen=True):
    """How far the languages of a task are apart in one attribute: a symmetric table in the order of `languages`.

    Attributes:
        task: the task.
        attribute: the attribute.
        measure: "wasserstein-1" (in the attribute's own unit) or "total variation" (0..1).
        languages: two-letter codes.
        table: the distance of every pair of languages.
        noise: the distance that 19 in 20 pairs of samples of these sizes would keep below if all languages were alike:
            examples, with all others of their source, are dealt out to the languages at random, many times. A distance
            below it says nothing.
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
    """The distance of every pair of languages: of their distributions of one attribute.

    Wasserstein-1: the mean distance of equal quantiles. Total variation: half the summed differences of shares.

    Args:
        name: the task.
        attribute: what the columns are of.
        columns: its values in each language.
        sources: the source of each value, by which values that belong together are known; by default each is its own.
    """
    is_number = not attribute.discrete
    kept = {
        code: ~np.isnan(column.astype(float)) if is_number else np.ones(len(column), dtype=bool)
        for code, column in columns.items()
    }
    kept = {code: rows for code, rows in kept.items() if rows.any()}
    parts = [columns[code][rows] for code, rows in kept.items()]
    groups = [np.arange(len(rows)) if sources is None else sources[code] for code, rows in kept.items()]
    owners = _Owners([group[rows] for group, rows in zip(groups, kept.values(), strict=True)])
    if not parts:
        return Distances(name, attribute.name, "", [], [], [])
    if is_number:
        numbers = [part.astype(float) for part in parts]
        points = (np.arange(QUANTILES) + 0.5) / QUANTILES
        quantiles = [np.quantile(column, points, method="inverted_cdf") for column in numbers]
        table = np.array([[np.abs(a - b).mean() for b in quantiles] for a in quantiles])
        codes, places = _classes(np.concatenate(numbers))
        noise = _noise(lambda shares: _transports(shares, places), codes, owners)
        return Distances(name, attribute.name, "wasserstein-1", list(kept), table.tolist(), noise.tolist())
    _, codes = np.unique(np.concatenate([part.astype(np.str_) for part in parts]), return_inverse=True)
    table = _variations(owners.shares(codes, owners.of_values))
    noise = _noise(_variations, codes, owners)
    return Distances(name, attribute.name, "total variation", list(kept), table.tolist(), noise.tolist())


class _Owners:
    """Which language each value is of, and how values are dealt out to the languages anew, source by source."""

    def __init__(self, groups: Sequence[IntArray]) -> None:
        numbered = [np.unique(group, return_inverse=True)[1] for group in groups]
        counts = [int(group.max(initial=-1)) + 1 for group in numbered]
        starts = np.cumsum([0, *counts[:-1]])
        self.languages = len(groups)
        self._source = np.concatenate([group + start for group, start in zip(numbered, starts, strict=True)])
        self._of_sources = np.repeat(np.arange(len(groups)), counts)

    @property
    def of_values(self) -> IntArray:
        """The language of each value."""
        languages: IntArray = self._of_sources[self._source]
        return languages

    def dealt(self, rng: np.random.Generator) -> IntArray:
        """A language for each value, by chance; as many sources fall to each as it has."""
        languages: IntArray = rng.permutation(self._of_sources)[self._source]
        return languages

    def shares(self, codes: IntArray, owners: IntArray) -> FloatArray:
        """Shares (languages, classes) of each class in each language."""
        shape = (self.languages, int(codes.max(initial=0)) + 1)
        counted = np.bincount(owners * shape[1] + codes, minlength=shape[0] * shape[1]).reshape(shape)
        found: FloatArray = counted / counted.sum(axis=1, keepdims=True)
        return found


def _classes(numbers: FloatArray) -> tuple[IntArray, FloatArray]:
    """Numbers in classes of about equal size, and the mean of each class."""
    edges = np.unique(np.quantile(numbers, np.linspace(0, 1, CLASSES + 1), method="inverted_cdf"))
    codes = np.searchsorted(edges, numbers)
    counts = np.bincount(codes, minlength=len(edges))
    return codes, np.bincount(codes, weights=numbers, minlength=len(edges)) / np.maximum(counts, 1)


def _noise(apart: Callable[[FloatArray], FloatArray], codes: IntArray, owners: _Owners) -> FloatArray:
    """The distances that chance alone rarely exceeds."""
    rng = np.random.default_rng(0)
    drawn = [apart(owners.shares(codes, owners.dealt(rng))) for _ in range(PERMUTATIONS)]
    found: FloatArray = np.quantile(np.array(drawn), BELOW, axis=0, method="higher")
    return found


def _variations(shares: FloatArray) -> FloatArray:
    """Total variation between every two rows, row by row so that memory stays flat."""
    return np.array([np.abs(shares - row).sum(axis=1) / 2 for row in shares])


def _transports(shares: FloatArray, places: FloatArray) -> FloatArray:
    """Wasserstein-1 between every two rows of shares at ascending places: the area between the cumulated shares."""
    below = np.cumsum(shares, axis=1)[:, :-1]
    widths = np.diff(places)
    return np.array([np.abs(below - row) @ widths for row in below])
