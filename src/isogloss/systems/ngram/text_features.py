"""Features of one text, and of two texts side by side."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from isogloss.metrics.statistics import FloatArray, IntArray
from isogloss.systems.ngram.hashing import Hashes, Mask, Texts, buckets, char_ngrams, join, salted
from isogloss.systems.ngram.linear_model import Floats, SparseRows

_Group = tuple[IntArray, npt.NDArray[np.int32], Floats]  # row, bucket and value of each feature

_LONGEST = 5
_STEPS = 8  # a share in [0, 1] becomes one of so many features


class _Grams:
    """The distinct n-grams of some texts: character n-grams, words, and pairs of neighbouring words.

    Sorted by (text, hash), so that two sets are compared without a loop.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        rows, hashes = char_ngrams(texts, 1, _LONGEST)
        word_rows, words = _words(texts)
        first = word_rows[:-1] == word_rows[1:]
        pairs = salted(join(words[:-1], words[1:]), "words")[first]
        self.count = len(texts)
        self.rows, self.hashes = _distinct(
            np.concatenate([rows, word_rows, word_rows[:-1][first]]),
            np.concatenate([hashes, salted(words, "word"), pairs]),
        )

    def sizes(self, chosen: Mask | None = None) -> FloatArray:
        """How many n-grams (of those chosen) each text has."""
        rows = self.rows if chosen is None else self.rows[chosen]
        return np.bincount(rows, minlength=self.count).astype(np.float64)

    def within(self, other: "_Grams") -> Mask:
        """Which n-grams the text at the same place in `other` has too."""
        rows = np.concatenate([self.rows, other.rows])
        hashes = np.concatenate([self.hashes, other.hashes])
        order = np.lexsort((hashes, rows))
        same = (np.diff(rows[order]) == 0) & (np.diff(hashes[order]) == 0)
        shared = np.zeros(len(rows), np.bool_)
        shared[order[:-1][same]] = True  # of two equal ones the sort, being stable, puts ours first
        return shared[: len(self.rows)]


def _words(texts: Sequence[str]) -> tuple[IntArray, Hashes]:
    split = [text.lower().split() for text in texts]
    flat = Texts([word for words in split for word in words])
    owners = np.repeat(np.arange(len(split)), np.fromiter(map(len, split), np.int64, len(split)))
    return owners, flat.hashes(flat.bounds[:-1], flat.bounds[1:])


def _distinct(rows: IntArray, hashes: Hashes) -> tuple[IntArray, Hashes]:
    order = np.lexsort((hashes, rows))
    rows, hashes = rows[order], hashes[order]
    new = (np.diff(rows, prepend=-1) != 0) | (np.diff(hashes, prepend=np.uint64(0)) != 0)
    return rows[new], hashes[new]


def _group(grams: _Grams, role: str, bits: int, chosen: Mask | None = None) -> _Group:
    """N-grams in a role as (row, bucket, value), of unit length in each row."""
    rows, hashes = (grams.rows, grams.hashes) if chosen is None else (grams.rows[chosen], grams.hashes[chosen])
    values = 1 / np.sqrt(grams.sizes(chosen)[rows])
    return rows, buckets(salted(hashes, role), bits), values.astype(np.float32)


def text_rows(texts: Sequence[str], bits: int) -> SparseRows:
    """The n-grams of each text."""
    return SparseRows.of(len(texts), *_group(_Grams(texts), "text", bits))


def pair_rows(
    firsts: Sequence[str], seconds: Sequence[str], bits: int, roles: Sequence[str] | None = None
) -> SparseRows:
    """What two texts share, what each has alone, and how much that is.

    The shares and lengths mean the same in every language, the n-grams do not; the model has both. With `roles`, the
    shares and the second text's n-grams are features of the pair's role as well.
    """
    first, second = _Grams(firsts), _Grams(seconds)
    shared, kept = second.within(first), first.within(second)
    groups = [
        _group(first, "first", bits),
        _group(second, "second", bits),
        _group(second, "shared", bits, shared),
        _group(second, "only second", bits, ~shared),
        _group(first, "only first", bits, ~kept),
    ]
    every = np.arange(len(firsts))
    role = Texts(roles if roles is not None else [""] * len(firsts))
    kinds = role.hashes(role.bounds[:-1], role.bounds[1:])
    lengths = [np.fromiter(map(len, texts), np.float64, len(texts)) for texts in (firsts, seconds)]
    shares = {
        "shared of second": second.sizes(shared) / np.maximum(second.sizes(), 1),
        "shared of first": first.sizes(kept) / np.maximum(first.sizes(), 1),
        "length": lengths[1] / np.maximum(lengths[0] + lengths[1], 1),
    }
    steps = {name: np.floor(share * (_STEPS - 1e-6)).astype(np.uint64) for name, share in shares.items()}
    both = join(*steps.values())
    for name, hashes in {**steps, "all shares": both}.items():
        groups.append((every, buckets(salted(join(hashes, kinds), name), bits), np.ones(len(every), np.float32)))
    if roles is not None:
        groups.append(_in_role(second, kinds, bits))
    owners, found, values = (np.concatenate(parts) for parts in zip(*groups, strict=True))
    return SparseRows.of(len(firsts), owners, found, values)


def _in_role(grams: _Grams, kinds: Hashes, bits: int) -> _Group:
    values = (1 / np.sqrt(grams.sizes()))[grams.rows]
    return grams.rows, buckets(join(kinds[grams.rows], grams.hashes), bits), values.astype(np.float32)
