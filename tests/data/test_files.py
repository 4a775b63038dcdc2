"""Files however they are packed, however they are damaged."""

import gzip
import hashlib
import lzma
from pathlib import Path

import pytest
import zstandard

from isogloss.data import files
from isogloss.data.files import Digest, atomic_write, find_all, lines, read_bytes, read_text, resolve
from isogloss.errors import DataError

TEXT = "erste\nzweite Zeile\r\n\nvierte — ΑΒΓ\n"


def pack(path: Path, suffix: str, raw: bytes) -> Path:
    packers = {"": lambda b: b, ".xz": lzma.compress, ".gz": gzip.compress, ".zst": zstandard.compress}
    target = path.with_name(path.name + suffix)
    target.write_bytes(packers[suffix](raw))
    return target


@pytest.mark.parametrize("suffix", files.SUFFIXES)
def test_every_packing_reads_alike(tmp_path: Path, suffix: str) -> None:
    pack(tmp_path / "a.txt", suffix, TEXT.encode())
    path = resolve(tmp_path / "a.txt")
    assert path is not None
    digest = Digest()
    assert list(lines(path, digest)) == ["erste", "zweite Zeile", "", "vierte — ΑΒΓ"]
    assert digest.hex == hashlib.sha256(TEXT.encode()).hexdigest()
    assert read_text(path) == TEXT


def test_the_plain_file_wins_and_nothing_is_found_twice(tmp_path: Path) -> None:
    for name in ("b_x.conllu.xz", "b_x.conllu", "a_y.conllu.gz"):
        (tmp_path / name).write_bytes(b"")
    assert [path.name for path in find_all(tmp_path, "*_*.conllu")] == ["a_y.conllu.gz", "b_x.conllu"]
    assert resolve(tmp_path / "b_x.conllu") == tmp_path / "b_x.conllu"
    assert resolve(tmp_path / "missing") is None


@pytest.mark.parametrize("suffix", [".xz", ".gz", ".zst"])
def test_a_cut_file_says_so(tmp_path: Path, suffix: str) -> None:
    path = pack(tmp_path / "a", suffix, TEXT.encode() * 500)
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(DataError, match="cut short or damaged"):
        read_bytes(path)


def test_a_damaged_zst_and_one_of_two_frames(tmp_path: Path) -> None:
    path = tmp_path / "a.zst"
    path.write_bytes(b"this is no zst file at all")
    with pytest.raises(DataError, match="cut short or damaged"):
        read_bytes(path)
    path.write_bytes(zstandard.compress(b"one ") + zstandard.compress(b"two"))
    assert read_bytes(path) == b"one two"


def test_wrong_bytes_are_located(tmp_path: Path) -> None:
    path = tmp_path / "latin1.tsv"
    path.write_bytes("eins\nzwei\nfünf\n".encode("latin-1"))
    with pytest.raises(DataError, match=r"latin1\.tsv:3: not UTF-8: byte 0xfc"):
        list(lines(path))
    with pytest.raises(DataError, match=r"latin1\.tsv:3"):
        read_text(path)


def test_a_byte_order_mark_is_dropped_only_at_the_start(tmp_path: Path) -> None:
    path = tmp_path / "bom"
    path.write_bytes("\ufeffa\n\ufeffb\n".encode())
    assert list(lines(path)) == ["a", "\ufeffb"]


def test_bombs_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MAX_BYTES", 1 << 20)
    with pytest.raises(DataError, match="unpacks to more than"):
        read_bytes(pack(tmp_path / "bomb", ".xz", b"\n" * (3 << 20)))
    monkeypatch.setattr(files, "MAX_LINE", 1 << 16)
    with pytest.raises(DataError, match="a line of more than"):
        list(lines(pack(tmp_path / "line", ".gz", b"x" * (1 << 19))))


def test_a_file_appears_only_when_it_is_complete(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "result.json"

    def write_and_fail() -> None:
        with atomic_write(path) as stream:
            stream.write("half")
            raise RuntimeError("the machine died")

    with pytest.raises(RuntimeError):
        write_and_fail()
    assert list(path.parent.iterdir()) == []
    with atomic_write(path) as stream:
        stream.write("whole")
    assert path.read_text() == "whole"
    assert [entry.name for entry in path.parent.iterdir()] == ["result.json"]
