"""Rows of tokens as batches and on disk."""

import os

import numpy as np
import pytest

from isogloss.systems.neural.task_adapter import cached
from isogloss.training.objective import Encoded, masked, padded, table

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


def test_rows_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="do not fit"):
        padded(ENCODED.input_ids, ENCODED.starts, np.array([2]), 3, 1, 0)
    with pytest.raises(ValueError, match="do not fit"):
        padded(ENCODED.input_ids, ENCODED.starts, np.array([0, 1]), 3, 1, 0)


def test_table_returns_rows_and_lengths():
    tokens, lengths = table(ENCODED, np.array([2, 0]), 5, 3, 0)
    assert tokens.tolist() == [[7, 8, 9, 10, 0], [5, 6, 0, 0, 0], [0] * 5]
    assert lengths.tolist() == [4, 2, 1]  # attention needs at least one token
    batch = masked(ENCODED, np.array([2, 0]), 5, 3, 0)
    assert batch["input_ids"].tolist() == tokens.tolist()
    assert batch["attention_mask"].tolist() == [[1, 1, 1, 1, 0], [1, 1, 0, 0, 0], [1, 0, 0, 0, 0]]
    assert {array.dtype for array in batch.values()} == {np.dtype(np.int64)}


def test_cached_entry_is_memory_mapped(tmp_path):
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
def test_damaged_entry_is_recomputed(file, damage, tmp_path):
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


def test_truncated_file_is_recomputed(tmp_path):
    cached(("a",), lambda: ENCODED, tmp_path)
    [folder] = tmp_path.iterdir()
    tags = (folder / "aligned-tags.npy").read_bytes()
    (folder / "aligned-tags.npy").write_bytes(tags[:-4])
    assert cached(("a",), lambda: ENCODED, tmp_path).aligned["tags"].tolist() == [1, 2, 3, 4, 5, 6]


def test_unlisted_files_are_ignored(tmp_path):
    cached(("a",), lambda: ENCODED, tmp_path)
    [folder] = tmp_path.iterdir()
    (folder / ".DS_Store").write_bytes(b"no array")
    (folder / "aligned-more.npy").write_bytes(b"no array")
    assert list(cached(("a",), pytest.fail, tmp_path).aligned) == ["tags"]


def test_first_of_two_parallel_writers_wins(tmp_path):
    """The second writer must not remove files that a third process reads."""

    def meanwhile():
        cached(("a",), lambda: ENCODED, tmp_path)
        [folder] = tmp_path.iterdir()
        first.append((folder.stat().st_ino, (folder / "pieces.npy").stat().st_ino))
        return ENCODED

    first = []
    assert cached(("a",), meanwhile, tmp_path).input_ids.tolist() == ENCODED.input_ids.tolist()
    [folder] = tmp_path.iterdir()  # without incomplete files
    assert [(folder.stat().st_ino, (folder / "pieces.npy").stat().st_ino)] == first


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_unwritable_folder_only_costs_time(tmp_path):
    tmp_path.chmod(0o500)
    assert cached(("a",), lambda: ENCODED, tmp_path / "tokens") is ENCODED


def test_blocking_file_only_costs_time(tmp_path):
    (tmp_path / "tokens").write_text("in the way", encoding="ascii")
    assert cached(("a",), lambda: ENCODED, tmp_path / "tokens") is ENCODED
