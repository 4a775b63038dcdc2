"""Word alignments: mutual argmax, pooling, moved spans, and the text format."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from isogloss.translation.alignment import (
    alignment,
    alignment_text,
    moved,
    pooled,
    read_alignment,
    spelling_aligner,
    vector_aligner,
)


def test_mutual_argmax_of_hand_made_vectors() -> None:
    source = np.array([[1.0, 0.0], [0.0, 1.0], [0.6, 0.8]])
    target = np.array([[0.0, 2.0], [3.0, 0.0]])
    # Cosines: 0-1 and 1-0 are 1; the third word prefers target 0 (0.8), which prefers the second.
    assert alignment(source, target, distortion=0) == [(0, 1), (1, 0)]
    assert alignment(source, target, distortion=0, least=1.0) == []
    assert alignment(source[:0], target) == []


def test_repeated_words_align_by_position() -> None:
    same = np.ones((3, 2))
    assert alignment(same, same) == [(0, 0), (1, 1), (2, 2)]
    assert alignment(same, same, distortion=0) == [(0, 0)]


@given(
    arrays(np.float64, st.tuples(st.integers(0, 6), st.just(3)), elements=st.floats(-2, 2)),
    arrays(np.float64, st.tuples(st.integers(0, 6), st.just(3)), elements=st.floats(-2, 2)),
)
def test_pairs_are_one_to_one_and_inside(source: np.ndarray, target: np.ndarray) -> None:
    pairs = alignment(source, target)
    assert all(row < len(source) and column < len(target) for row, column in pairs)
    assert len({row for row, _ in pairs}) == len({column for _, column in pairs}) == len(pairs)
    assert read_alignment(alignment_text(pairs), len(source), len(target)) == pairs


def test_subwords_are_averaged() -> None:
    states = np.array([[9.0, 9.0], [1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [9.0, 9.0]])
    assert pooled(states, [None, 0, 0, 2, None], 3).tolist() == [[2.0, 3.0], [0.0, 0.0], [5.0, 6.0]]


def test_spellings_align_names_and_translated_words() -> None:
    source, target = ["the", "red", "house", "of", "Marconi"], ["la", "casa", "roja", "de", "Marconi"]
    assert spelling_aligner()([(source, target)]) == [[(4, 4)]]
    words = {"the": "la", "red": "rojo", "house": "casa", "of": "de", "Marconi": "marcones"}
    aligned = spelling_aligner(lambda asked: {word: words[word] for word in asked})([(source, target)])
    assert aligned == [[(0, 0), (1, 2), (2, 1), (3, 3), (4, 4)]]
    assert spelling_aligner()([([], target)]) == [[]]


def test_any_encoder_serves() -> None:
    table = {"red": [1.0, 0.0], "roja": [0.9, 0.1], "house": [0.0, 1.0], "casa": [0.1, 0.9]}
    align = vector_aligner(lambda texts: [np.array([table[word] for word in text]) for text in texts])
    assert align([(["red", "house"], ["casa", "roja"])]) == [[(0, 1), (1, 0)]]


def test_window_ignores_far_words() -> None:
    pairs = [(0, 5), (1, 6), (2, 40), (3, 7)]
    assert moved(range(4), pairs, 50) == (range(5, 8), pytest.approx(6 / 7))
    assert moved(range(2, 3), pairs, 50) == (range(40, 41), 1.0)
    assert moved(range(9, 10), pairs, 50) == (range(0), 0.0)


@pytest.mark.parametrize("text", ["0-0 1", "0-x", "-1-0", "2-0", "0-2", "٣-0"])
def test_invalid_alignments_are_refused(text: str) -> None:
    assert read_alignment(text, 2, 2) is None
