"""How far the languages of a task are apart in an attribute, and how far chance alone would put them."""

from collections.abc import Mapping, Sequence

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
            examples are dealt out to the languages at random, many times. A distance below it says nothing.
    """

    task: str
    attribute: str
    measure: str
    languages: list[str]
    table: list[list[float]]
    noise: list[list[float]] = []


def distances(name: str, attribute: Attribute, columns: Mapping[str, Column]) -> Distances:
    """The distance of every pair of languages: of their distributions of one attribute.

    Wasserstein-1: the mean distance of equal quantiles. Total variation: half the summed differences of shares.
    """
    if attribute.discrete:
        parts = {code: column.astype(np.str_) for code, column in columns.items()}
        values, codes = np.unique(np.concatenate(list(parts.values())), return_inverse=True)
        sizes = [len(column) for column in parts.values()]
        counts = _counts(codes, _owners(sizes), (len(parts), len(values)))
        table = _variations(counts)
        noise = _noise(codes, sizes, None)
        return Distances(name, attribute.name, "total variation", list(parts), table.tolist(), noise.tolist())
    numbers = {code: column[~np.isnan(column.astype(float))].astype(float) for code, column in columns.items()}
    numbers = {code: column for code, column in numbers.items() if len(column)}
    points = (np.arange(QUANTILES) + 0.5) / QUANTILES
    quantiles = [np.quantile(column, points, method="inverted_cdf") for column in numbers.values()]
    table = np.array([[np.abs(a - b).mean() for b in quantiles] for a in quantiles])
    noise = _number_noise(list(numbers.values()))
    return Distances(name, attribute.name, "wasserstein-1", list(numbers), table.tolist(), noise.tolist())


def _number_noise(columns: Sequence[FloatArray]) -> FloatArray:
    """The noise of numbers: they are cut into classes of about equal size, each at its mean."""
    if not columns:
        return np.zeros((0, 0))
    together = np.concatenate(columns)
    edges = np.unique(np.quantile(together, np.linspace(0, 1, CLASSES + 1), method="inverted_cdf"))
    codes = np.searchsorted(edges, together)
    counts = np.bincount(codes, minlength=len(edges))
    places = np.bincount(codes, weights=together, minlength=len(edges)) / np.maximum(counts, 1)
    return _noise(codes, [len(column) for column in columns], places)


def _noise(codes: IntArray, sizes: Sequence[int], places: FloatArray | None) -> FloatArray:
    """The distances that chance alone rarely exceeds; `places` are those of the classes, for numbers."""
    rng = np.random.default_rng(0)
    owners = _owners(sizes)
    shape = (len(sizes), int(codes.max(initial=0)) + 1)
    drawn = []
    for _ in range(PERMUTATIONS):
        counts = _counts(rng.permutation(codes), owners, shape)
        drawn.append(_variations(counts) if places is None else _transports(counts, places))
    found: FloatArray = np.quantile(np.array(drawn), BELOW, axis=0, method="higher")
    return found


def _owners(sizes: Sequence[int]) -> IntArray:
    return np.repeat(np.arange(len(sizes)), sizes)


def _counts(codes: IntArray, owners: IntArray, shape: tuple[int, int]) -> FloatArray:
    """Shares (languages, classes) of each class in each language."""
    counted = np.bincount(owners * shape[1] + codes, minlength=shape[0] * shape[1]).reshape(shape)
    shares: FloatArray = counted / counted.sum(axis=1, keepdims=True)
    return shares


def _variations(shares: FloatArray) -> FloatArray:
    """Total variation between every two rows, row by row so that memory stays flat."""
    return np.array([np.abs(shares - row).sum(axis=1) / 2 for row in shares])


def _transports(shares: FloatArray, places: FloatArray) -> FloatArray:
    """Wasserstein-1 between every two rows of shares at ascending places: the area between the cumulated shares."""
    below = np.cumsum(shares, axis=1)[:, :-1]
    widths = np.diff(places)
    return np.array([np.abs(below - row) @ widths for row in below])
