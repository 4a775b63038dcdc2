"""Numpy files with false headers, truncated or corrupted: one error, and no memory for missing data."""

import io
import random
import struct
from pathlib import Path

import numpy as np
import pytest

from isogloss.data import files
from isogloss.data.arrays import read_array, read_arrays
from isogloss.errors import DataError


def npy(header: str) -> bytes:
    padded = header.encode() + b" " * (64 - (len(header) + 11) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(padded)) + padded + bytes(400)


def header(descr: str = "'<f4'", fortran: str = "False", shape: str = "(10, 10)") -> str:
    return f"{{'descr': {descr}, 'fortran_order': {fortran}, 'shape': {shape}, }}"


def test_arrays_round_trip(tmp_path: Path) -> None:
    for name, array in (("c", np.arange(6.0).reshape(2, 3)), ("f", np.asfortranarray(np.arange(6.0).reshape(2, 3)))):
        np.save(tmp_path / name, array)
        assert np.array_equal(read_array(tmp_path / f"{name}.npy"), array)
        assert isinstance(read_array(tmp_path / f"{name}.npy"), np.memmap)
    np.savez_compressed(tmp_path / "z", a=np.arange(3))
    with read_arrays(tmp_path / "z.npz") as arrays:
        assert arrays["a"].tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    "lie",
    [
        header(shape="(1000000000000, 10)"),
        header(shape="(99999999999999999999999, 2)"),
        header(shape="(-1, 10)"),
        header(shape="(1.5, 2)"),
        header(shape="'x'"),
        header(fortran="3"),
        header(descr="'|O'"),
        header(descr="'<U999999999'"),
        header(descr="'(1000000000,)f4'"),
        header(descr="'nope'"),
        "(" * 5000,
        "9" * 9000,
        "{}",
    ],
)
def test_false_header_is_one_error(tmp_path: Path, lie: str) -> None:
    path = tmp_path / "a.npy"
    path.write_bytes(npy(lie))
    with pytest.raises(DataError, match=r"a\.npy: not a plain \.npy array"):
        read_array(path)


def test_archive_and_array_are_not_interchangeable(tmp_path: Path) -> None:
    with (tmp_path / "z.npy").open("wb") as stream:
        np.savez(stream, a=np.arange(3))
    with pytest.raises(DataError, match=r"an \.npz archive, not a plain \.npy array"):
        read_array(tmp_path / "z.npy")
    np.save(tmp_path / "a", np.arange(3))
    with pytest.raises(DataError, match=r"not an \.npz archive"), read_arrays(tmp_path / "a.npy"):
        pass
    for read in (read_array, lambda path: read_arrays(path).__enter__()):
        with pytest.raises(DataError, match="no such file"):
            read(tmp_path / "none")


def test_archive_that_unpacks_to_too_much_is_not_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "SAFE_BYTES", 1 << 20)
    np.savez_compressed(tmp_path / "z", a=np.zeros(1 << 20))
    with pytest.raises(DataError, match="unpacks to 8,388,736 bytes"), read_arrays(tmp_path / "z.npz"):
        pass
    monkeypatch.setenv("ISOGLOSS_MAX_BYTES", str(1 << 30))
    with read_arrays(tmp_path / "z.npz") as arrays:
        assert len(arrays["a"]) == 1 << 20


@pytest.mark.filterwarnings("ignore")
def test_corrupted_files_are_read_or_refused(tmp_path: Path) -> None:
    draw = random.Random(0)
    plain, packed = io.BytesIO(), io.BytesIO()
    np.save(plain, np.ones((10, 10), np.float32))
    np.savez_compressed(packed, a=np.ones((10, 10)), b=np.arange(9))
    for content, is_archive in ((plain.getvalue(), False), (packed.getvalue(), True)):
        for _ in range(400):
            spoilt = bytearray(content)
            for _ in range(draw.randint(1, 3)):
                spoilt[draw.randrange(len(spoilt) if is_archive else 130)] = draw.randrange(256)
            (tmp_path / "x").write_bytes(spoilt[: draw.choice([len(spoilt), draw.randrange(len(spoilt))])])
            try:
                if is_archive:
                    with read_arrays(tmp_path / "x") as arrays:
                        assert arrays["a"].shape and arrays["b"].shape
                else:
                    read_array(tmp_path / "x")
            except DataError as error:
                assert error.where == str(tmp_path / "x")
