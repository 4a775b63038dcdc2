"""Rows of tokens as batches, and on disk."""

import os

import numpy as np
import pytest

from isogloss.training.encoded import Encoded, masked, padded, table
from isogloss.training.token_cache import cached

ENCODED = Encoded(
    np.array([5, 6, 7, 8, 9, 10], np.int32),
    np.array([0, 2, 2, 6]),
    {"tags": np.array([1, 2, 3, 4, 5, 6], np.int16)},
    {"label": np.array([3, 1, 2])},
)


def test_rows_are_padded_to_the_shape():
    assert ENCODED.lengths.tolist() == [2, 0, 4]
    table = padded(ENCODED.input_ids, ENCODED.starts, np.array([2, 0, 1]), 5, 4, -1)
    assert table.tolist() == [[7, 8, 9, 10, -1], [5, 6, -1, -1, -1], [-1] * 5, [-1] * 5]


def test_what_does_not_fit_is_refused():
    with pytest.raises(ValueError, match="do not fit"):
        padded(ENCODED.input_ids, ENCODED.starts, np.array([2]), 3, 1, 0)
    with pytest.raises(ValueError, match="do not fit"):
        padded(ENCODED.input_ids, ENCODED.starts, np.array([0, 1]), 3, 1, 0)


def test_rows_with_what_counts_in_them():
    tokens, lengths = table(ENCODED, np.array([2, 0]), 5, 3, 0)
    assert tokens.tolist() == [[7, 8, 9, 10, 0], [5, 6, 0, 0, 0], [0] * 5]
    assert lengths.tolist() == [4, 2, 1]  # no attention without a single token
    batch = masked(ENCODED, np.array([2, 0]), 5, 3, 0)
    assert batch["input_ids"].tolist() == tokens.tolist()
    assert batch["attention_mask"].tolist() == [[1, 1, 1, 1, 0], [1, 1, 0, 0, 0], [1, 0, 0, 0, 0]]
    assert {array.dtype for array in batch.values()} == {np.dtype(np.int64)}


def test_what_was_made_once_is_read_and_mapped(tmp_path):
    made = []

    def make():
        made.append(1)
        return ENCODED

    for _ in range(2):
        found = cached(("tokenizer", "texts"), make, tmp_path)
        assert found.input_ids.tolist() == ENCODED.input_ids.tolist()
        assert found.starts.tolist() == [0, 2, 2, 6]
        assert found.aligned["tags"].tolist() == [1, 2, 3, 4, 5, 6]
        assert found.columns["label"].tolist() == [3, 1, 2]
        assert isinstance(found.input_ids, np.memmap)
    assert len(made) == 1
    cached(("tokenizer", "other texts"), make, tmp_path)
    cached(("tokenizer", "other", "texts"), make, tmp_path)
    assert len(made) == 3


FILES = ("pieces.npy", "starts.npy", "aligned-tags.npy", "columns-label.npy", "whole.json")


@pytest.mark.parametrize("file", FILES)
@pytest.mark.parametrize("damage", [None, b"", b"nothing", b"[1]", b"{}"])
def test_a_damaged_entry_is_made_anew(file, damage, tmp_path):
    cached(("a",), lambda: ENCODED, tmp_path)
    [folder] = tmp_path.iterdir()
    assert sorted(path.name for path in folder.iterdir()) == sorted(FILES)
    if damage is None:
        (folder / file).unlink()
    else:
        (folder / file).write_bytes(damage)
    made = []
    for _ in range(2):
        found = cached(("a",), lambda: (made.append(1), ENCODED)[1], tmp_path)
        assert found.input_ids.tolist() == ENCODED.input_ids.tolist()
        assert found.starts.tolist() == ENCODED.starts.tolist()
        assert found.aligned["tags"].tolist() == ENCODED.aligned["tags"].tolist()
        assert found.columns["label"].tolist() == ENCODED.columns["label"].tolist()
    assert len(made) == 1


def test_half_a_file_is_made_anew(tmp_path):
    cached(("a",), lambda: ENCODED, tmp_path)
    [folder] = tmp_path.iterdir()
    tags = (folder / "aligned-tags.npy").read_bytes()
    (folder / "aligned-tags.npy").write_bytes(tags[:-4])
    assert cached(("a",), lambda: ENCODED, tmp_path).aligned["tags"].tolist() == [1, 2, 3, 4, 5, 6]


def test_what_lies_beside_an_entry_is_not_of_it(tmp_path):
    cached(("a",), lambda: ENCODED, tmp_path)
    [folder] = tmp_path.iterdir()
    (folder / ".DS_Store").write_bytes(b"no array")
    (folder / "aligned-more.npy").write_bytes(b"no array")
    assert list(cached(("a",), pytest.fail, tmp_path).aligned) == ["tags"]


def test_of_two_that_write_at_once_the_first_stays(tmp_path):
    """Whoever comes second must not take away what a third is reading."""

    def meanwhile():
        cached(("a",), lambda: ENCODED, tmp_path)
        [folder] = tmp_path.iterdir()
        first.append((folder.stat().st_ino, (folder / "pieces.npy").stat().st_ino))
        return ENCODED

    first = []
    assert cached(("a",), meanwhile, tmp_path).input_ids.tolist() == ENCODED.input_ids.tolist()
    [folder] = tmp_path.iterdir()  # and nothing half-written is left
    assert [(folder.stat().st_ino, (folder / "pieces.npy").stat().st_ino)] == first


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_cannot_be_written_costs_nothing_but_time(tmp_path):
    tmp_path.chmod(0o500)
    assert cached(("a",), lambda: ENCODED, tmp_path / "tokens") is ENCODED


def test_a_file_in_the_way_costs_nothing_but_time(tmp_path):
    (tmp_path / "tokens").write_text("in the way", encoding="ascii")
    assert cached(("a",), lambda: ENCODED, tmp_path / "tokens") is ENCODED
