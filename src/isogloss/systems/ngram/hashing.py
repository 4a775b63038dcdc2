"""Substring hashes: every window of many texts is hashed in one step, without a Python loop over n-grams.

The texts form one array of code points c with prefix sums H[i] = sum over k < i of c[k] P^k (mod 2^64). The hash of
any window [s, e) is then (H[e] - H[s]) P^-s, so that n-grams, prefixes, suffixes and words are all the same operation.
Nothing depends on the machine or on Python's salted `hash`.
"""

import unicodedata
from collections.abc import Sequence
from functools import cache
from zlib import crc32

import numpy as np
import numpy.typing as npt

from isogloss.metrics.statistics import IntArray

Hashes = npt.NDArray[np.uint64]
Mask = npt.NDArray[np.bool_]

_WORD = (1 << 64) - 1
_BASE = 0x9E3779B97F4A7C15 | 1  # odd, so that it has an inverse modulo 2^64
_INVERSE = pow(_BASE, -1, 1 << 64)
_BLANK = ord(" ")


def _mixed(values: Hashes) -> Hashes:
    """Apply the SplitMix64 finalizer: every input bit affects every output bit."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))


def salted(hashes: Hashes, role: str) -> Hashes:
    """Return the hashes for a role: the same substring is one feature as a prefix and another as a word."""
    return _mixed(hashes ^ np.uint64(crc32(role.encode()) * _BASE & _WORD))


def join(first: Hashes, *others: Hashes) -> Hashes:
    """Return hashes of ordered combinations, element by element."""
    joined = first
    for other in others:
        joined = _mixed(joined * np.uint64(_INVERSE) + other)
    return joined


def buckets(hashes: Hashes, bits: int) -> npt.NDArray[np.int32]:
    """Fold hashes into the rows 1 … 2^bits - 1 of a weight table; row 0 is the bias."""
    folded: npt.NDArray[np.int32] = np.maximum(hashes >> np.uint64(64 - bits), np.uint64(1)).astype(np.int32)
    return folded


def _powers(base: int, count: int) -> Hashes:
    factors = np.full(count, base, np.uint64)
    factors[:1] = 1
    return np.multiply.accumulate(factors)


class Texts:
    """Many texts in one array of code points, with hashes of arbitrary windows; `bounds` are the starts and the end."""

    def __init__(self, texts: Sequence[str]) -> None:
        self.codes = np.frombuffer("".join(texts).encode("utf-32-le", "surrogatepass"), np.uint32)
        self.bounds: IntArray = np.append(0, np.cumsum(np.fromiter(map(len, texts), np.int64, len(texts))))
        values = (self.codes + np.uint32(1)).astype(np.uint64) * _powers(_BASE, len(self.codes))
        self._sums = np.append(np.uint64(0), np.cumsum(values, dtype=np.uint64))
        self._unshift = _powers(_INVERSE, len(self.codes) + 1)

    @property
    def owners(self) -> IntArray:
        """Text of each code point."""
        return np.repeat(np.arange(len(self.bounds) - 1), np.diff(self.bounds))

    @property
    def whole(self) -> Hashes:
        """Hash of each whole text."""
        return self.hashes(self.bounds[:-1], self.bounds[1:])

    def hashes(self, starts: IntArray, ends: IntArray) -> Hashes:
        """Return hashes of the windows [start, end) into `codes`; equal substrings have equal hashes."""
        return _mixed((self._sums[ends] - self._sums[starts]) * self._unshift[starts])


def char_ngrams(texts: Sequence[str], shortest: int, longest: int) -> tuple[IntArray, Hashes]:
    """Return the lower-cased character n-grams within the words of each text, as (text number, hash) in order of n."""
    # Blanks on both sides of words, so that "␣un" differs from the "un" of "sun"; text without blanks is one long word.
    padded = Texts([f" {' '.join(text.lower().split())} " for text in texts])
    blank = padded.codes == _BLANK
    owners = padded.owners
    inside = np.ones(len(blank), np.bool_)  # blanks only at the window's ends
    rows, hashes = [], []
    for n in range(1, longest + 1):
        count = max(0, len(blank) - n + 1)
        inside = inside[:count] & ~blank[n - 2 : n - 2 + count] if n > 2 else inside[:count]
        if n >= shortest:
            # Two blanks are a boundary between texts, and a single blank is not a word.
            bare = blank[:count] & blank[n - 1 :] if n < 3 else np.False_
            starts = np.flatnonzero(inside & ~bare)
            rows.append(owners[starts])
            hashes.append(padded.hashes(starts, starts + n))
    return np.concatenate(rows), np.concatenate(hashes)


# Scripts without blanks between words, where a character is the smallest unit.
_UNSPACED = (0x0E00, 0x0EFF), (0x1000, 0x109F), (0x1780, 0x17FF), (0x3040, 0x30FF), (0x3400, 0x9FFF), (0x20000, 0x3FFFF)


@cache
def _character_class(code: int) -> str:
    """Return B blank, P punctuation or symbol, d digit, A capital, a other letter, c unspaced-script letter, m mark."""
    category = unicodedata.category(chr(code))
    if category[0] == "M":
        return "m"
    if category[0] == "N":
        return "d"
    if category[0] == "L":
        unspaced = any(low <= code <= high for low, high in _UNSPACED)
        return "c" if unspaced else "A" if category in ("Lu", "Lt") else "a"
    return "B" if category[0] == "Z" or chr(code).isspace() else "P"


def character_classes(codes: npt.NDArray[np.uint32]) -> npt.NDArray[np.uint8]:
    """Return the class of each code point, as the ASCII code of its letter in `_character_class`."""
    distinct, index = np.unique(codes, return_inverse=True)
    letters = "".join(_character_class(int(code)) for code in distinct)
    return np.frombuffer(letters.encode(), np.uint8)[index]


def shapes(classes: npt.NDArray[np.uint8], starts: IntArray, ends: IntArray) -> Hashes:
    """Return hashes of the classes in windows that do not overlap, with runs collapsed: "Aa" for "Turku" and "Åbo"."""
    head = np.diff(classes, prepend=0) != 0
    head[starts[starts < ends]] = True
    before = np.append(0, np.cumsum(head))  # runs started before each position
    return Texts([classes[head].tobytes().decode()]).hashes(before[starts], before[ends])
