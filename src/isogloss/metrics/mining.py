"""Bitext mining as in BUCC 2018: mine pairs, choose a threshold, score the pairs.

Margin-based mining sets the cosine of a pair against the cosines of both sentences to their nearest
neighbours, so that "hubs", which are close to everything, do not win.
"""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Literal, get_args
from zlib import crc32

import numpy as np
import numpy.typing as npt

from isogloss.errors import unknown
from isogloss.metrics.search import normalize_rows, search
from isogloss.metrics.statistics import F1, FloatArray, IntArray, Statistics

Margin = Literal["ratio", "distance", "absolute"]
Pair = tuple[Hashable, Hashable]  # (source id, target id)

_MARGINS: dict[str, Callable[[FloatArray, FloatArray], FloatArray]] = {
    "ratio": lambda cosine, around: np.divide(cosine, around, out=np.zeros_like(cosine), where=around != 0),
    "distance": lambda cosine, around: cosine - around,
    "absolute": lambda cosine, around: cosine,
}


def mine(
    source: npt.ArrayLike, target: npt.ArrayLike, neighbours: int = 4, margin: Margin = "ratio"
) -> list[tuple[float, int, int]]:
    """Return pairs of rows that are likely translations of each other, one-to-one, as (score, i, j), best first.

    score(x, y) = margin(cos(x, y), (a(x) + a(y)) / 2), where a(x) is the mean cosine of x to its k nearest
    neighbours on the other side, and "ratio" divides, "distance" subtracts and "absolute" ignores them. Each
    x proposes the best of its k neighbours, each y likewise; proposals are accepted from the best down (ties
    by i, then j) while both sentences are free, and only scores above 0 are kept.

    Identical sentences should be merged first, see `unify`.

    Args:
        source: (n, d) embeddings of the sentences of one language.
        target: (m, d) embeddings of the other language.
        neighbours: k, the number of nearest neighbours.
        margin: "ratio", "distance" or "absolute".

    Returns:
        (score, row of the source, row of the target), best first.

    Raises:
        UnknownNameError: unknown margin.
        PredictionError: the dimensions differ, or a number is not finite.
    """
    if margin not in get_args(Margin):
        raise unknown("margin", margin, get_args(Margin))
    x, y = normalize_rows(source, side="source"), normalize_rows(target, side="target")
    if not len(x) or not len(y):
        return []
    (y_of_x, cosines_x), (x_of_y, cosines_y) = search(x, y, neighbours), search(y, x, neighbours)
    cosines_x, cosines_y = cosines_x.astype(np.float64), cosines_y.astype(np.float64)
    near_x, near_y = cosines_x.mean(axis=1), cosines_y.mean(axis=1)
    best_y, score_x = _best(y_of_x, _MARGINS[margin](cosines_x, (near_x[:, None] + near_y[y_of_x]) / 2))
    best_x, score_y = _best(x_of_y, _MARGINS[margin](cosines_y, (near_y[:, None] + near_x[x_of_y]) / 2))
    i = np.concatenate([np.arange(len(x)), best_x])
    j = np.concatenate([best_y, np.arange(len(y))])
    scores = np.concatenate([score_x, score_y])
    order = np.lexsort((j, i, -scores))
    order = order[scores[order] > 0]
    return _one_to_one(scores[order], i[order], j[order])


def _best(rows: IntArray, margins: FloatArray) -> tuple[IntArray, FloatArray]:
    """Return the neighbour with the largest margin for each row (ties: the nearer one), and that margin."""
    chosen = margins.argmax(axis=1)[:, None]
    return np.take_along_axis(rows, chosen, axis=1)[:, 0], np.take_along_axis(margins, chosen, axis=1)[:, 0]


def _one_to_one(scores: FloatArray, sources: IntArray, targets: IntArray) -> list[tuple[float, int, int]]:
    """Accept pairs in the given order while both of their sides are free."""
    pairs: list[tuple[float, int, int]] = []
    used_i: set[int] = set()
    used_j: set[int] = set()
    for score, i, j in zip(scores.tolist(), sources.tolist(), targets.tolist(), strict=True):
        if i not in used_i and j not in used_j:
            used_i.add(i)
            used_j.add(j)
            pairs.append((score, i, j))
    return pairs


def unify(texts: Sequence[str]) -> tuple[IntArray, IntArray]:
    """Return one row for each distinct text, in order of first appearance, and how often that text occurs.

    The row is the last occurrence, as in the reference miner: mine over `embeddings[rows]`. Drop pairs with texts that
    occur more than once, since their ids are ambiguous.
    """
    last = {text: row for row, text in enumerate(texts)}
    counts = Counter(texts)
    return np.array(list(last.values()), np.int64), np.array([counts[text] for text in last], np.int64)


def threshold(candidates: Iterable[tuple[Hashable, Hashable, float]], gold: Iterable[Pair]) -> float:
    """Return the score threshold with the best F1 of candidates (i, j, score) against the gold pairs.

    Candidates are taken from the highest score down (ties in the order given; a repeated pair counts once, with its
    highest score). The threshold is halfway between the last score of the first prefix with the best F1 and the next
    score. If that prefix is the whole list, it is the last score (the reference scorer raises an index error). If no
    candidate is correct, it is 0.

    Args:
        candidates: mined pairs as (i, j, score), in any order.
        gold: gold pairs (i, j).
    """
    wanted = {tuple(pair) for pair in gold}
    ranked: dict[Pair, float] = {}
    for i, j, score in sorted(candidates, key=lambda candidate: -candidate[2]):
        ranked.setdefault((i, j), score)
    scores = list(ranked.values())
    best, chosen, correct = 0.0, 0.0, 0
    for taken, pair in enumerate(ranked, start=1):
        correct += pair in wanted
        f1 = 2 * correct / (taken + len(wanted))
        if f1 > best:
            following = scores[taken] if taken < len(scores) else scores[-1]
            best, chosen = f1, (scores[taken - 1] + following) / 2
    return float(chosen)


def cross_fitted_pairs(candidates: Iterable[tuple[Hashable, Hashable, float]], gold: Iterable[Pair]) -> list[Pair]:
    """Select pairs (i, j) of candidates (i, j, score) with thresholds that are not tuned on their own gold.

    Source ids fall into two halves by their checksum; each half is cut at the `threshold` of the other.
    """

    def half(source: Hashable) -> int:
        return crc32(str(source).encode()) % 2

    halves: tuple[list[tuple[Hashable, Hashable, float]], ...] = ([], [])
    gold_halves: tuple[list[Pair], ...] = ([], [])
    for candidate in candidates:
        halves[half(candidate[0])].append(candidate)
    for pair in gold:
        gold_halves[half(pair[0])].append(pair)
    cuts = [threshold(mined, wanted) for mined, wanted in zip(halves, gold_halves, strict=True)]
    return [(i, j) for mined, cut in zip(halves, reversed(cuts), strict=True) for i, j, score in mined if score >= cut]


def pair_f1(gold: Iterable[Pair], predicted: Iterable[Pair]) -> tuple[float, float, float]:
    """Return F1, precision and recall of predicted pairs: F1 = 2 |both| / (|predicted| + |gold|) over sets.

    Args:
        gold: gold pairs.
        predicted: mined pairs; order within a pair matters, repeated pairs count once.

    Returns:
        (f1, precision, recall), 0..1; all three are 0 if no pair is correct.
    """
    wanted, mined = {tuple(pair) for pair in gold}, {tuple(pair) for pair in predicted}
    correct = len(wanted & mined)
    if not correct:
        return 0.0, 0.0, 0.0
    return 2 * correct / (len(mined) + len(wanted)), correct / len(mined), correct / len(wanted)


def statistics(gold: Iterable[Pair], predicted: Iterable[Pair]) -> Statistics:
    """Return one row (correct, predicted, gold) per source sentence in either set, ordered by id.

    Pairs of one source sentence are resampled together; the score is `pair_f1`'s F1.
    """
    wanted, mined = {tuple(pair) for pair in gold}, {tuple(pair) for pair in predicted}
    counts = [Counter(pair[0] for pair in pairs) for pairs in (wanted & mined, mined, wanted)]
    sources = sorted(counts[1] | counts[2], key=str)
    rows = [[count[source] for count in counts] for source in sources]
    return Statistics(np.array(rows, np.float64).reshape(-1, 3), F1)
