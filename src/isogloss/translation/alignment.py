"""Word alignment by mutual argmax of word similarities, as SimAlign and awesome-align do, and spans moved along it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any
from zlib import crc32

import numpy as np
import numpy.typing as npt

from isogloss.plugins import load_object

Matrix = npt.NDArray[np.floating[Any]]
# Pairs of word indices: (source, target).
Pairs = list[tuple[int, int]]
Words = Sequence[str]
# Function from texts, as words, to one matrix per text with one row per word.
WordVectors = Callable[[Sequence[Words]], Sequence[Matrix]]
# Function from pairs of texts, as words, to an alignment of each.
Aligner = Callable[[Sequence[tuple[Words, Words]]], list[Pairs]]

# Name of the aligner that compares spellings, and prefix of those that use an encoder.
SPELLING, ENCODER = "spelling", "encoder"
_OPEN_ENCODER = "isogloss.systems.embedder.word_vectors:open_encoder_aligner"

# Weight of the relative position, which decides between repeated words.
_DISTORTION = 0.3
# Least similarity of spellings; unrelated words of the same length rarely exceed it.
_LEAST_SPELLING = 0.4
_DIMENSION = 1024


@dataclass(frozen=True)
class NamedAligner:
    """An aligner with the name and version that records of translations show."""

    name: str
    align: Aligner

    def __call__(self, texts: Sequence[tuple[Words, Words]]) -> list[Pairs]:
        """Return the alignment of each pair of texts."""
        return self.align(texts)


def open_aligner(name: str) -> NamedAligner | None:
    """Return an aligner by name, or None for the spelling aligner, which needs the translator's dictionary.

    Args:
        name: "spelling" or ""; or an encoder, a transformers folder or hub name with or without `encoder:` before it,
            and with `#layer=8` after it for another layer than two thirds up.

    Raises:
        SystemFailureError: the encoder cannot be opened, or has no such layer.
    """
    if name in ("", SPELLING):
        return None
    model, _, layer = name.removeprefix(f"{ENCODER}:").partition("#layer=")
    aligner: NamedAligner = load_object(_OPEN_ENCODER)(model.strip(), layer.strip())
    return aligner


def pooled(states: Matrix, word_of_subword: Sequence[int | None], words: int) -> Matrix:
    """Return one vector per word, the mean over its sub-words; words without sub-words get zeros.

    Args:
        states: vectors of the sub-words.
        word_of_subword: index of each sub-word's word; None for special tokens.
        words: number of words.
    """
    sums, counts = np.zeros((words, states.shape[1])), np.zeros((words, 1))
    for row, word in enumerate(word_of_subword):
        if word is not None:
            sums[word] += states[row]
            counts[word] += 1
    return np.asarray(sums / np.maximum(counts, 1))


def alignment(source: Matrix, target: Matrix, *, distortion: float = _DISTORTION, least: float = 0.0) -> Pairs:
    """Return the pairs of words that are each other's most similar word.

    Args:
        source: vectors of the source words.
        target: vectors of the target words.
        distortion: weight of the difference in relative position; 0 to ignore it.
        least: similarity that a pair must exceed, before distortion.

    Returns:
        One-to-one pairs in order of the source. Words with zero vectors stay unaligned.
    """
    if not len(source) or not len(target):
        return []
    cosine = _unit(source) @ _unit(target).T
    places = [np.linspace(0, 1, len(rows)) if len(rows) > 1 else np.array([0.5]) for rows in (source, target)]
    similarity = cosine - distortion * np.abs(places[0][:, None] - places[1][None, :])
    forward, backward = similarity.argmax(axis=1), similarity.argmax(axis=0)
    return [
        (row, int(column))
        for row, column in enumerate(forward)
        if backward[column] == row and cosine[row, column] > least
    ]


def _unit(vectors: Matrix) -> Matrix:
    vectors = np.asarray(vectors, np.float64)
    return np.asarray(vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12))


def vector_aligner(vectors: WordVectors) -> Aligner:
    """Return an aligner over the word vectors of any multilingual encoder."""

    def align(texts: Sequence[tuple[Words, Words]]) -> list[Pairs]:
        sources, targets = vectors([one for one, _ in texts]), vectors([other for _, other in texts])
        return [alignment(source, target) for source, target in zip(sources, targets, strict=True)]

    return align


def spelling_aligner(translations: Callable[[Sequence[str]], Mapping[str, str]] | None = None) -> Aligner:
    """Return an aligner over spellings, which needs no encoder.

    Args:
        translations: function from source words to their translations by word, which are compared with the
            target words; None to compare the source words themselves, so that only names, numbers and cognates align.
    """

    def align(texts: Sequence[tuple[Words, Words]]) -> list[Pairs]:
        words = list(dict.fromkeys(word for source, _ in texts for word in source))
        known = translations(words) if translations is not None and words else {}
        return [_by_spelling(source, target, known) for source, target in texts]

    return align


def _by_spelling(source: Words, target: Words, known: Mapping[str, str]) -> Pairs:
    if not source or not target:
        return []
    originals = np.stack([_spelling(word) for word in source])
    translated = np.stack([_spelling(known.get(word) or word) for word in source])
    targets = np.stack([_spelling(word) for word in target])
    pairs = alignment(translated, targets, least=_LEAST_SPELLING)
    # Names and numbers are often kept, though the translator has a word for them.
    rows = sorted({*range(len(source))} - {row for row, _ in pairs})
    columns = sorted({*range(len(target))} - {column for _, column in pairs})
    further = alignment(originals[rows], targets[columns], least=_LEAST_SPELLING)
    return sorted([*pairs, *((rows[row], columns[column]) for row, column in further)])


@lru_cache(maxsize=65536)
def _spelling(word: str) -> npt.NDArray[np.float32]:
    """Return the counts of a word's letters, pairs and triples of letters, hashed."""
    vector = np.zeros(_DIMENSION, np.float32)
    padded = f" {word.casefold()} "
    for length in (1, 2, 3):
        for start in range(len(padded) - length + 1):
            piece = padded[start : start + length]
            if piece != " ":
                vector[crc32(piece.encode("utf-8", "surrogatepass")) % _DIMENSION] += 1
    return vector


def moved(span: range, pairs: Pairs, words: int) -> tuple[range, float]:
    """Return the target words that a span of source words is aligned with, and how well they match.

    The best window has the highest F1 of aligned words: twice the number of pairs between the span and the window, over
    the sum of their lengths. This ignores single words that are aligned far away.

    Args:
        span: indices of source words.
        pairs: the alignment.
        words: number of target words.
    """
    columns = sorted(column for row, column in pairs if row in span)
    best, best_f1 = range(0), 0.0
    for index, first in enumerate(columns):
        for more, last in enumerate(columns[index:], 1):
            f1 = 2 * more / (len(span) + last - first + 1)
            if f1 > best_f1:
                best, best_f1 = range(first, min(last + 1, words)), f1
    return best, min(best_f1, 1.0)


def alignment_text(pairs: Pairs) -> str:
    """Return an alignment in the usual format, `0-0 1-2`: source word, target word, counted from 0."""
    return " ".join(f"{source}-{target}" for source, target in pairs)


def read_alignment(text: str, sources: int, targets: int) -> Pairs | None:
    """Return the pairs of an alignment in that format, or None if it is invalid for these numbers of words."""
    pairs: Pairs = []
    for item in text.split():
        source, _, target = item.partition("-")
        if not (source.isascii() and source.isdecimal() and target.isascii() and target.isdecimal()):
            return None
        pairs.append((int(source), int(target)))
    inside = all(source < sources and target < targets for source, target in pairs)
    return pairs if inside else None
