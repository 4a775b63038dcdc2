"""Rows of pieces as batches, and on disk."""

import os

import numpy as np
import pytest

from isogloss.training.cache import cached
from isogloss.training.encoded import Encoded, padded

ENCODED = Encoded(
    np.array([5, 6, 7, 8, 9, 10], np.int32),
    np.array([0, 2, 2, 6]),
    {"tags": np.array([1, 2, 3, 4, 5, 6], np.int16)},
    {"label": np.array([3, 1, 2])},
)


def test_rows_are_padded_to_the_shape():
    assert ENCODED.lengths.tolist() == [2, 0, 4]
    table = padded(ENCODED.pieces, ENCODED.starts, np.array([2, 0, 1]), 5, 4, -1)
    assert table.tolist() == [[7, 8, 9, 10, -1], [5, 6, -1, -1, -1], [-1] * 5, [-1] * 5]


def test_what_does_not_fit_is_refused():
    with pytest.raises(ValueError, match="do not fit"):
        padded(ENCODED.pieces, ENCODED.starts, np.array([2]), 3, 1, 0)
    with pytest.raises(ValueError, match="do not fit"):
        padded(ENCODED.pieces, ENCODED.starts, np.array([0, 1]), 3, 1, 0)


def test_what_was_made_once_is_read_and_mapped(tmp_path):
    made = []

    def make():
        made.append(1)
        return ENCODED

    for _ in range(2):
        found = cached(("tokenizer", "texts"), make, tmp_path)
        assert found.pieces.tolist() == ENCODED.pieces.tolist()
        assert found.starts.tolist() == [0, 2, 2, 6]
        assert found.aligned["tags"].tolist() == [1, 2, 3, 4, 5, 6]
        assert found.columns["label"].tolist() == [3, 1, 2]
        assert isinstance(found.pieces, np.memmap)
    assert len(made) == 1
    cached(("tokenizer", "other texts"), make, tmp_path)
    cached(("tokenizer", "other", "texts"), make, tmp_path)
    assert len(made) == 3


def test_a_damaged_file_is_made_anew(tmp_path):
    cached(("a",), lambda: ENCODED, tmp_path)
    [folder] = tmp_path.iterdir()
    (folder / "pieces.npy").write_bytes(b"nothing")
    assert cached(("a",), lambda: ENCODED, tmp_path).pieces.tolist() == ENCODED.pieces.tolist()
    (folder / "starts.npy").unlink()
    assert len(cached(("a",), lambda: ENCODED, tmp_path)) == 3


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_cannot_be_written_costs_nothing_but_time(tmp_path):
    tmp_path.chmod(0o500)
    assert cached(("a",), lambda: ENCODED, tmp_path / "tokens") is ENCODED


def test_a_file_in_the_way_costs_nothing_but_time(tmp_path):
    (tmp_path / "tokens").write_text("in the way", encoding="ascii")
    assert cached(("a",), lambda: ENCODED, tmp_path / "tokens") is ENCODED
