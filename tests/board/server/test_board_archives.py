"""Untrusted archives: only plain files inside the folder are unpacked; everything else is reported."""

import bz2
import gzip
import io
import lzma
import resource
import stat
import struct
import tarfile
import time
import zipfile
from pathlib import Path
from typing import Any

import pytest

from board.server.made_board import answers, tar_of, zip_of
from isogloss.board.server.archives import ArchiveError, DiskError, unpack
from isogloss.board.server.board import BoardSettings

SETTINGS = BoardSettings(files=50, unpacked_bytes=200 << 20)


def refused(content: bytes, tmp_path: Path, settings: BoardSettings = SETTINGS) -> list[str]:
    """Return all problems of an invalid archive, and check that nothing was written outside."""
    (tmp_path / "archive").write_bytes(content)
    folder = tmp_path / "deep/folder"
    folder.mkdir(parents=True)
    with pytest.raises(ArchiveError) as caught:
        unpack(tmp_path / "archive", folder, settings)
    assert {path.name for path in tmp_path.iterdir()} == {"archive", "deep"}
    assert {path.name for path in (tmp_path / "deep").iterdir()} == {"folder"}
    assert not any(path.is_symlink() for path in folder.rglob("*"))
    return [f"{problem.where} {problem.what}" for problem in caught.value.problems]


def tar_member(name: str, kind: bytes = tarfile.REGTYPE, content: bytes = b"", **fields: Any) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        info = tarfile.TarInfo(name)
        info.type, info.size = kind, len(content)
        for field, value in fields.items():
            setattr(info, field, value)
        archive.addfile(info, io.BytesIO(content))
    return out.getvalue()


def test_plain_files_are_unpacked(tmp_path: Path) -> None:
    files = answers(1)
    for number, content in enumerate((zip_of(files), tar_of(files), tar_of({f"x/{n}": c for n, c in files.items()}))):
        (tmp_path / "archive").write_bytes(content)
        (tmp_path / str(number)).mkdir()
        root = unpack(tmp_path / "archive", tmp_path / str(number), SETTINGS)
        assert {path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*.jsonl")} == files


@pytest.mark.parametrize(
    "name",
    [
        "../out",
        "a/../../out",
        "/var/out",
        "C:/out",
        "..\\out",
        "a\\b",
        "a//b",
        "a/./b",
        "a/\x1b[31m",
        "a/\u202eb",
        "x" * 300,
    ],
)
@pytest.mark.parametrize("pack", [zip_of, tar_of])
def test_names(name: str, pack: Any, tmp_path: Path) -> None:
    if pack is zip_of and name == "x" * 300:
        name = f"a/{name}"
    [problem] = refused(pack({name: b"x"}), tmp_path)
    assert "path outside" in problem or "unprintable" in problem or "bytes" in problem
    assert problem.isprintable()


def test_all_bad_names_are_listed(tmp_path: Path) -> None:
    assert len(refused(zip_of({"../a": b"", "ok/b": b"", "/c": b"", "d/" * 10 + "e": b""}), tmp_path)) == 3


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.BLKTYPE, tarfile.FIFOTYPE])
def test_links_and_devices_in_a_tar(kind: bytes, tmp_path: Path) -> None:
    [problem] = refused(tar_member("mini-xnli/en.jsonl", kind, linkname="/etc/passwd"), tmp_path)
    assert "link, device" in problem


@pytest.mark.parametrize("mode", [stat.S_IFLNK, stat.S_IFIFO, stat.S_IFCHR])
def test_links_and_devices_in_a_zip(mode: int, tmp_path: Path) -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        info = zipfile.ZipInfo("mini-xnli/en.jsonl")
        info.external_attr = (mode | 0o644) << 16
        archive.writestr(info, "/etc/passwd")
    [problem] = refused(out.getvalue(), tmp_path)
    assert "link, device" in problem


def test_file_below_a_link(tmp_path: Path) -> None:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        link = tarfile.TarInfo("a")
        link.type, link.linkname = tarfile.SYMTYPE, str(tmp_path)
        archive.addfile(link)
        archive.addfile(tarfile.TarInfo("a/out"))
    assert refused(out.getvalue(), tmp_path)


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
def test_bombs_in_a_tar(pack: Any, tmp_path: Path) -> None:
    zeros = b"\x00" * (65 << 20)
    [problem] = refused(pack(tar_member("a/b", content=zeros)), tmp_path)
    assert "unpacks to more than" in problem
    assert sum(path.stat().st_size for path in (tmp_path / "deep").rglob("*")) <= 65 << 20


def test_bombs_in_a_zip(tmp_path: Path) -> None:
    [problem] = refused(zip_of({f"a/{row}": b"\x00" * (8 << 20) for row in range(9)}), tmp_path)
    assert "unpacks to more than" in problem


@pytest.mark.parametrize(("suffix", "pack"), [(".xz", lzma.compress), (".gz", gzip.compress)])
def test_bombs_in_packed_files(suffix: str, pack: Any, tmp_path: Path) -> None:
    """Files that are packed inside the archive count with their unpacked size, all together."""
    part = pack(b"x\n" * (20 << 20))
    [problem] = refused(zip_of({f"mini-xnli/{code}.jsonl{suffix}": part for code in ("en", "de")}), tmp_path)
    assert "unpacks to more than" in problem
    (tmp_path / "one").mkdir()
    (tmp_path / "one.zip").write_bytes(zip_of({f"mini-xnli/en.jsonl{suffix}": part}))
    unpack(tmp_path / "one.zip", tmp_path / "one", SETTINGS)


def test_overlapping_zip_members(tmp_path: Path) -> None:
    """Many members share the same compressed bytes."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a0", b"\x00" * (4 << 20))
        first = archive.infolist()[0]
        for row in range(1, 40):
            info = zipfile.ZipInfo(f"a{row}")
            for field in ("CRC", "compress_size", "file_size", "header_offset", "compress_type"):
                setattr(info, field, getattr(first, field))
            archive.filelist.append(info)
            archive.NameToInfo[info.filename] = info
    assert refused(out.getvalue(), tmp_path)


def test_sparse_files_are_refused(tmp_path: Path) -> None:
    headers = {
        "GNU.sparse.major": "1",
        "GNU.sparse.minor": "0",
        "GNU.sparse.name": "a/b",
        "GNU.sparse.realsize": str(1 << 50),
    }
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as archive:
        info = tarfile.TarInfo("a/b")
        content = f"1\n{(1 << 50) - 1}\n1\n".encode().ljust(512, b"\x00") + b"x"
        info.size, info.pax_headers = len(content), headers
        archive.addfile(info, io.BytesIO(content))
    [problem] = refused(out.getvalue(), tmp_path)
    assert "sparse" in problem


def test_limits(tmp_path: Path) -> None:
    [problem] = refused(zip_of({f"a/{row}": b"" for row in range(51)}), tmp_path)
    assert "more than 50 files" in problem
    folders = io.BytesIO()
    with tarfile.open(fileobj=folders, mode="w") as archive:
        for row in range(200):
            info = tarfile.TarInfo(f"d{row}")
            info.type = tarfile.DIRTYPE
            archive.addfile(info)
    (tmp_path / "again").mkdir()
    [problem] = refused(folders.getvalue(), tmp_path / "again")
    assert "more than 50 files" in problem


def test_duplicate_and_conflicting_names(tmp_path: Path) -> None:
    [problem] = refused(zip_of({"a/B": b"1", "A/b": b"2"}), tmp_path)
    assert "duplicate name" in problem
    (tmp_path / "again").mkdir()
    [problem] = refused(zip_of({"a": b"1", "a/b": b"2"}), tmp_path / "again")
    assert "file and a folder" in problem


def test_encrypted_and_damaged(tmp_path: Path) -> None:
    whole = bytearray(zip_of({"a/b": b"content" * 100}))
    place = whole.index(b"PK\x01\x02")
    whole[place + 8 : place + 10] = struct.pack("<H", 1)
    whole[6:8] = struct.pack("<H", 1)
    spoiled = {
        "encrypted": bytes(whole),
        "cut zip": zip_of({"a": b"x" * 5000})[:-30],
        "cut tar": tar_of({"a": b"x" * 5000})[:-30],
        "nothing": b"",
        "text": b"hello",
        "no files": zip_of({}),
        "rar": b"Rar!\x1a\x07\x00" + b"x" * 100,
    }
    for number, (what, content) in enumerate(spoiled.items()):
        (tmp_path / str(number)).mkdir()
        [problem] = refused(content, tmp_path / str(number))
        assert problem.startswith("archive "), what


def test_full_disk_does_not_reject_the_archive(tmp_path: Path) -> None:
    """A valid submission must not be rejected because the board's disk is full."""
    (tmp_path / "archive").write_bytes(zip_of({"a/b": b"x" * 300_000}))
    (tmp_path / "out").mkdir()
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, hard))
    try:
        with pytest.raises(DiskError):
            unpack(tmp_path / "archive", tmp_path / "out", SETTINGS)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_file_manager_metadata_is_ignored(tmp_path: Path) -> None:
    (tmp_path / "archive").write_bytes(zip_of({"__MACOSX/._x": b"", "a/.DS_Store": b"", "a/b": b"1"}))
    (tmp_path / "out").mkdir()
    unpack(tmp_path / "archive", tmp_path / "out", SETTINGS)
    assert [path.name for path in (tmp_path / "out").rglob("*") if path.is_file()] == ["b"]


@pytest.mark.parametrize("pack", [bytes, gzip.compress, bz2.compress])
def test_tar_with_a_huge_declared_size(pack: Any, tmp_path: Path) -> None:
    header = bytearray(tar_member("../a", content=b"x")[:512])
    header[124:135] = b"77777777777"
    header[148:156] = b" " * 8
    header[148:156] = b"%06o\x00 " % sum(header)
    started = time.monotonic()
    assert refused(pack(bytes(header) + b"x" * 5_000), tmp_path)
    assert time.monotonic() - started < 2
