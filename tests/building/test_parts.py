"""Results of scans: folders that appear when they are complete, and arrays over many of them."""

import resource
from pathlib import Path

import numpy as np
import pytest

from isogloss.building.parts import finishing, join_part_arrays, read_part_array, stored_checksum, write_arrays
from isogloss.errors import DataError


def test_more_parts_than_files_may_be_open(tmp_path: Path) -> None:
    for number in range(300):
        (tmp_path / str(number)).mkdir()
        write_arrays(tmp_path / str(number), x=np.array([number, 1000 + number], np.uint64))
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (150, hard))
    try:
        joined = join_part_arrays((tmp_path / str(number), "x", 1, 2) for number in range(300))
        assert joined.tolist() == list(range(1000, 1300))
        assert len(join_part_arrays((tmp_path / str(number), "x") for number in range(300))) == 600
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert join_part_arrays([]).dtype == np.uint64


def test_folder_appears_when_it_is_complete(tmp_path: Path) -> None:
    folder = tmp_path / "part"
    with pytest.raises(ZeroDivisionError), finishing(folder) as unfinished:
        (unfinished / "x").write_text("a")
        raise ZeroDivisionError
    assert list(tmp_path.iterdir()) == []
    with finishing(folder) as unfinished:
        assert not folder.exists()
        (unfinished / "x").write_text("a")
        with finishing(folder) as other:  # another process is faster
            (other / "x").write_text("b")
    assert (folder / "x").read_text() == "b"
    assert list(tmp_path.iterdir()) == [folder]


def test_damaged_array_says_what_to_remove(tmp_path: Path) -> None:
    (tmp_path / "x.npy").write_bytes(b"\x93NUMPY")
    with pytest.raises(DataError, match=f"Remove {tmp_path}"):
        read_part_array(tmp_path, "x")


def test_checksum_is_computed_again_when_a_file_changes(tmp_path: Path) -> None:
    dump = tmp_path / "x.xml.bz2"
    dump.write_bytes(b"a")
    assert (
        stored_checksum(dump, tmp_path / "sums") == "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb"
    )
    dump.write_bytes(b"")
    assert stored_checksum(dump, tmp_path / "sums").startswith("e3b0c44298fc1c149afbf4c8996fb924")
