"""Clipped n-gram matches of many texts with their references, counted all together."""

import re
from collections.abc import Iterator, Sequence
from itertools import chain

import numpy as np

from isogloss.metrics.statistics import FloatArray, IntArray, sizes

# Tokens that mteval-v13a splits off: ASCII signs except the apostrophe, then full stops, commas and hyphens by digits.
_SIGNS = re.compile(r"([{-~\[-` -&(-+:-@/])")
_STOP_AFTER, _STOP_BEFORE = re.compile(r"([^0-9])([.,])"), re.compile(r"([.,])([^0-9])")
_HYPHEN = re.compile(r"([0-9])(-)")
_ENTITIES = {"<skipped>": "", "-\n": "", "\n": " ", "&quot;": '"', "&amp;": "&", "&lt;": "<", "&gt;": ">"}


def cut_13a(text: str) -> list[str]:
    """Tokenise a text like mteval-v13a and sacrebleu's `tokenize="13a"`."""
    for entity, character in _ENTITIES.items():
        text = text.replace(entity, character)
    return cut_at_signs(f" {text} ")


def cut_at_signs(text: str) -> list[str]:
    """Tokenise a text like mteval-v13a, without its entities."""
    text = _STOP_BEFORE.sub(r" \1 \2", _STOP_AFTER.sub(r"\1 \2 ", _SIGNS.sub(r" \1 ", text)))
    return _HYPHEN.sub(r"\1 \2 ", text).split()


def matches(
    candidates: Sequence[Sequence[str]], references: Sequence[Sequence[str]], reference_of: IntArray, orders: int
) -> Iterator[FloatArray]:
    """Count clipped n-gram matches of each candidate with its references, for n = 1 … `orders`, all texts together.

    Args:
        candidates: tokens of each candidate; a string is a sequence of characters.
        references: tokens of each reference.
        reference_of: numbers of each candidate's references, of shape (candidates,) or (candidates, k). An n-gram
            counts as often as in the reference that has most of it.
        orders: largest n.
    """
    reference_of = reference_of[:, None] if reference_of.ndim == 1 else reference_of
    if all(isinstance(text, str) for text in chain(candidates, references)):
        owner, positions, words = _characters([*map(str, references), *map(str, candidates)])
    else:
        owner, positions, words = _shared_words(candidates, references, reference_of)
    begin, grams, size = np.arange(len(words)), words, int(words.max(initial=0)) + 1
    positions = np.concatenate([positions, np.full(orders, -1)])  # no n-gram continues past the last word
    for order in range(1, orders + 1):
        if order > 1:
            # An n-gram is an (n-1)-gram plus the next word.
            goes_on = positions[begin + order - 1] == positions[begin] + order - 1
            begin, grams = begin[goes_on], grams[goes_on]
            grams = np.unique(grams * size + words[begin + order - 1], return_inverse=True)[1].reshape(-1)
        width = int(grams.max(initial=0)) + 1
        keys, counts = np.unique(owner[begin] * width + grams, return_counts=True)
        split = int(np.searchsorted(keys, len(references) * width))
        pair, clipped = keys[split:] // width - len(references), np.zeros(len(keys) - split)
        for column in reference_of.T if split else ():
            wanted = column[pair] * width + keys[split:] % width
            index = np.minimum(np.searchsorted(keys[:split], wanted), split - 1)
            common = np.where(keys[:split][index] == wanted, np.minimum(counts[split:], counts[index]), 0)
            clipped = np.maximum(clipped, common)
        yield np.bincount(pair, clipped, minlength=len(candidates)).astype(np.float64)


def _characters(texts: Sequence[str]) -> tuple[IntArray, IntArray, IntArray]:
    """Return owner, position and number of every character of all texts, positions with a gap between texts."""
    codes = np.frombuffer("".join(texts).encode("utf-32-le", "surrogatepass"), dtype="<u4").astype(np.int64)
    owner = np.repeat(np.arange(len(texts)), sizes(texts))
    return owner, np.arange(len(codes)) + owner, codes


def _shared_words(
    candidates: Sequence[Sequence[str]], references: Sequence[Sequence[str]], reference_of: IntArray
) -> tuple[IntArray, IntArray, IntArray]:
    """Return owner (references first), position and number of every word of all texts.

    Reference words that no candidate shares are dropped, as they cannot be in a common n-gram. Consecutive positions
    mark neighbours within one text; texts are separated by a gap.
    """
    wanted: list[set[str]] = [set() for _ in references]
    for candidate, numbers in zip(candidates, reference_of.tolist(), strict=True):
        for number in numbers:
            wanted[number].update(candidate)
    shared = [
        [position for position, word in enumerate(words) if word in candidate_words]
        for words, candidate_words in zip(references, wanted, strict=True)
    ]
    positions = [*shared, *(range(len(words)) for words in candidates)]
    words = [words[position] for words, own in zip(references, shared, strict=True) for position in own]
    words += chain.from_iterable(candidates)
    number_of = {word: number for number, word in enumerate(dict.fromkeys(words))}
    owner = np.repeat(np.arange(len(positions)), sizes(positions))
    flat = np.fromiter(chain.from_iterable(positions), np.int64, len(words))
    numbers = np.fromiter(map(number_of.__getitem__, words), np.int64, len(words))
    return owner, flat + owner * (flat.max(initial=0) + 2), numbers
