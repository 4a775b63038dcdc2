"""Packed and damaged files."""

import gzip
import hashlib
import lzma
import os
import resource
import stat
import subprocess
import sys
import threading
import tracemalloc
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


def test_plain_file_wins_over_packed_copy(tmp_path: Path) -> None:
    for name in ("b_x.conllu.xz", "b_x.conllu", "a_y.conllu.gz"):
        (tmp_path / name).write_bytes(b"")
    assert [path.name for path in find_all(tmp_path, "*_*.conllu")] == ["a_y.conllu.gz", "b_x.conllu"]
    assert resolve(tmp_path / "b_x.conllu") == tmp_path / "b_x.conllu"
    assert resolve(tmp_path / "missing") is None


@pytest.mark.parametrize("suffix", [".xz", ".gz", ".zst"])
def test_truncated_file_is_reported(tmp_path: Path, suffix: str) -> None:
    path = pack(tmp_path / "a", suffix, TEXT.encode() * 500)
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(DataError, match="truncated or damaged"):
        read_bytes(path)


def test_damaged_zst_and_one_of_two_frames(tmp_path: Path) -> None:
    path = tmp_path / "a.zst"
    path.write_bytes(b"this is no zst file at all")
    with pytest.raises(DataError, match="truncated or damaged"):
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


def test_byte_order_mark_is_dropped_only_at_the_start(tmp_path: Path) -> None:
    path = tmp_path / "bom"
    path.write_bytes("\ufeffa\n\ufeffb\n".encode())
    assert list(lines(path)) == ["a", "\ufeffb"]


def test_bombs_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MAX_BYTES", 1 << 20)
    with pytest.raises(DataError, match="unpacks to more than 1,048,576 bytes"):
        read_bytes(pack(tmp_path / "bomb", ".xz", b"\n" * (3 << 20)))
    with pytest.raises(DataError, match="has more than 1,048,576 bytes"):
        read_bytes(pack(tmp_path / "plain", "", b"\n" * (3 << 20)))
    monkeypatch.setattr(files, "MAX_LINE", 1 << 16)
    with pytest.raises(DataError, match="a line of more than"):
        list(lines(pack(tmp_path / "line", ".gz", b"x" * (1 << 19))))
    assert len(read_bytes(tmp_path / "line.gz")) == 1 << 19  # JSON files are often one line


@pytest.mark.parametrize("suffix", [".xz", ".gz", ".zst"])
def test_small_file_does_not_fill_the_memory(tmp_path: Path, suffix: str) -> None:
    """80 MiB in a few kilobytes: rejected at 64 MiB, without being held in memory."""
    path = pack(tmp_path / "bomb", suffix, b"\n" * (80 << 20))
    tracemalloc.start()
    try:
        with pytest.raises(DataError, match=r"unpacks to more than 67,108,864 bytes\. .*ISOGLOSS_MAX_BYTES"):
            for _ in files.blocks(path):
                pass
        assert files.sha256_of(tmp_path / "bomb") == ""
        assert tracemalloc.get_traced_memory()[1] < 96 << 20
    finally:
        tracemalloc.stop()


def test_user_may_raise_the_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = pack(tmp_path / "large", ".xz", b"\n" * (3 << 20))
    monkeypatch.setattr(files, "MAX_BYTES", 1 << 20)
    monkeypatch.setenv("ISOGLOSS_MAX_BYTES", str(4 << 20))
    assert len(read_bytes(path)) == 3 << 20
    monkeypatch.setenv("ISOGLOSS_MAX_BYTES", "4G")
    with pytest.raises(DataError, match="ISOGLOSS_MAX_BYTES: '4G' is not a number of bytes"):
        read_bytes(path)


@pytest.mark.skipif("ISOGLOSS_DATA" not in os.environ, reason="ISOGLOSS_DATA is not set")
def test_no_real_file_comes_near_the_limit() -> None:
    packed = [path for path in Path(os.environ["ISOGLOSS_DATA"]).rglob("*.xz") if ".tar" not in path.name]
    assert packed
    for path in sorted(packed, key=lambda path: path.stat().st_size)[-40:]:
        assert sum(map(len, files.blocks(path))) < min(files.SAFE_BYTES, files.MAX_RATIO / 2 * path.stat().st_size)


def test_file_appears_only_when_it_is_complete(tmp_path: Path) -> None:
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


def write(path: Path, text: str = "new") -> None:
    with atomic_write(path) as stream:
        stream.write(text)


def test_link_stays_and_its_file_is_written(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    for name in ("old", "none"):
        (tmp_path / name).symlink_to(tmp_path / "elsewhere" / name)
    (tmp_path / "elsewhere/old").write_text("old")
    for name in ("old", "none"):
        write(tmp_path / name)
        assert (tmp_path / name).is_symlink()
        assert (tmp_path / "elsewhere" / name).read_text() == "new"
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    with pytest.raises(DataError, match="cannot be written"):
        write(tmp_path / "loop")
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["elsewhere", "loop", "none", "none", "old", "old"]


def test_special_files_are_written_to_and_never_replaced(tmp_path: Path) -> None:
    before = Path(os.devnull).stat()
    write(Path(os.devnull))
    assert os.path.samestat(before, Path(os.devnull).stat())
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read: list[str] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_text()))
    reader.start()
    write(pipe)
    reader.join()
    assert read == ["new"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    with pytest.raises(DataError, match="got a folder"):
        write(tmp_path)
    with pytest.raises(DataError, match=r"cannot be written \(No space left on device\)"):
        write(Path("/dev/full"))
    assert [path.name for path in tmp_path.iterdir()] == ["pipe"]


def test_standard_output_is_a_stream_even_if_it_is_a_file(tmp_path: Path) -> None:
    """If it were replaced, later output would go to the old file."""
    code = "import sys; from pathlib import Path; from isogloss.data.files import atomic_write\n"
    code += "print('before')\nwith atomic_write(Path('/dev/stdout')) as stream: stream.write('record ')\nprint('after')"
    with (tmp_path / "out").open("w") as out:
        subprocess.run([sys.executable, "-c", code], stdout=out, check=True)
    assert (tmp_path / "out").read_text() == "before\nrecord after\n"


def test_permissions_of_the_old_file_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "private"
    write(path, "old")
    path.chmod(0o640)
    write(path)
    assert (stat.S_IMODE(path.stat().st_mode), path.read_text()) == (0o640, "new")


def test_full_disk_leaves_the_older_file(tmp_path: Path) -> None:
    path = tmp_path / "record"
    write(path, "old")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, limits[1]))
    try:
        with pytest.raises(DataError, match=r"record: cannot be written \(File too large\)"):
            write(path, "x" * 100_000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert [(entry.name, entry.read_text()) for entry in tmp_path.iterdir()] == [("record", "old")]


def test_abandoned_pipe_does_not_block(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "x.json")
    with pytest.raises(DataError, match="got a pipe"):
        read_bytes(tmp_path / "x.json")


def test_output_of_a_command_is_a_file() -> None:
    reading, writing = os.pipe()
    os.write(writing, b"text")
    os.close(writing)
    assert read_bytes(Path(f"/dev/fd/{reading}")) == b"text"
    os.close(reading)
