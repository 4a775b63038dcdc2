"""Hostile downloaded archives: paths outside the folder, links, devices, bombs, false sizes, wrong bytes."""

import bz2
import gzip
import io
import lzma
import re
import stat
import struct
import tarfile
import warnings
import zipfile
from pathlib import Path

from fuzz.campaign import Campaign, Case
from fuzz.mutators import spoil_bytes
from fuzz.oracle import MESSAGE, FaultError, attempt, check_length
from isogloss.data.fetch import fetch
from isogloss.data.fetch.catalog import Dataset, ExtractRule, RemoteFile

MEMBERS = (
    "set/a.txt",
    "set/b.txt",
    "./set/c.txt",
    "set/../../out.txt",
    "../out.txt",
    "/tmp/isogloss-fuzz-out.txt",  # noqa: S108 - where it must not go
    "C:\\out.txt",
    "..\\out.txt",
    "set/a.txt/",
    "set/\x00.txt",
    "set/\x1b[31m.txt",
    "set/" + "x" * 300 + ".txt",
    "set/" + "d/" * 200 + "a.txt",
    "set/ä.txt",
    "set//a.txt",
    "set/.txt",
    "other/readme",
    "",
)
RULES = (
    ExtractRule(re.compile(r"(?:\./)?set/(.*)\.txt"), "kept/{0}.txt"),
    ExtractRule(re.compile(r"inner/(.*)\.tar"), "kept/{0}-{1}.txt", inside=re.compile(r"(.*)\.txt")),
)
BOMB = b"\x00" * (80 << 20)


def tar(case: Case, depth: int = 0) -> bytes:
    rng, out = case.rng, io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=rng.choice((tarfile.PAX_FORMAT, tarfile.GNU_FORMAT))) as archive:
        for _ in range(rng.choice((0, 1, 2, 5))):
            name = rng.choice((*MEMBERS, MEMBERS[0], MEMBERS[1]))
            info = tarfile.TarInfo(name)
            content = rng.randbytes(rng.choice((0, 1, 600)))
            kind = rng.choice(
                (tarfile.REGTYPE,) * 5
                + (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE, tarfile.DIRTYPE, b"Z")
            )
            if not depth and rng.random() < 0.15:
                info.name, content, kind = "inner/x.tar", tar(case, 1), tarfile.REGTYPE
            info.type, info.linkname = kind, rng.choice(("/etc/passwd", "set/a.txt", "../../x", "."))
            info.size = len(content) if kind == tarfile.REGTYPE else 0
            case.tell(f"{info.name[:40]!r} {kind!r}")
            try:
                archive.addfile(info, io.BytesIO(content))
            except (ValueError, UnicodeError):
                continue
    content = out.getvalue()
    if rng.random() < 0.1:  # a false size with a matching checksum
        content = lying_tar(content, rng.choice((b"77777777777", b"00000000001", b"-0000000001")))
        case.tell("lying size")
    return content


def lying_tar(content: bytes, size: bytes) -> bytes:
    header = bytearray(content[:512])
    header[124:135] = size
    header[148:156] = b" " * 8
    header[148:156] = b"%06o\x00 " % sum(header)
    return bytes(header) + content[512:]


def zipped(case: Case) -> bytes:
    rng, out = case.rng, io.BytesIO()
    with (
        warnings.catch_warnings(action="ignore"),
        zipfile.ZipFile(out, "w", rng.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_LZMA))) as archive,
    ):
        for _ in range(rng.choice((0, 1, 2, 5))):
            info = zipfile.ZipInfo(rng.choice((*MEMBERS, MEMBERS[0], MEMBERS[1])) or "x")
            mode = rng.choice((stat.S_IFREG,) * 5 + (stat.S_IFLNK, stat.S_IFIFO, stat.S_IFCHR))
            info.external_attr = (mode | 0o644) << 16
            case.tell(f"{info.filename[:40]!r} {mode:o}")
            archive.writestr(info, rng.randbytes(rng.choice((0, 1, 600))))
    content = out.getvalue()
    if rng.random() < 0.2 and b"PK\x01\x02" in content:
        place = content.index(b"PK\x01\x02") + rng.choice((8, 10, 16, 20, 24, 28, 42))
        content = content[:place] + struct.pack("<I", rng.choice((0, 1, 9, 2**31, 2**32 - 1))) + content[place + 4 :]
        case.tell("lying entry")
    return content


def archive_of(case: Case) -> bytes:
    rng = case.rng
    if rng.random() < 0.02:
        case.tell("bomb")
        info = tarfile.TarInfo("set/a.txt")
        info.size = len(BOMB)
        out = io.BytesIO()
        with tarfile.open(fileobj=out, mode="w") as archive:
            archive.addfile(info, io.BytesIO(BOMB))
        return gzip.compress(out.getvalue(), 1)
    content = zipped(case) if rng.random() < 0.4 else tar(case)
    if rng.random() < 0.4:
        packer = rng.choice((gzip.compress, bz2.compress, lzma.compress))
        case.tell(packer.__module__)
        content = packer(content)
    if rng.random() < 0.5:
        content, step = spoil_bytes(rng, content)
        case.tell(step)
    return content


def listing(root: Path) -> set[str]:
    return {str(path.relative_to(root)) for path in root.rglob("*")}


def test_archives(campaign: Campaign) -> None:
    source = RemoteFile(
        dataset="made", name="made.zip", urls=("http://127.0.0.1:9/made.zip",), size=0, sha256="", rules=RULES
    )
    dataset = Dataset(name="made", title="Made", licence="none", sources=(source,))

    def fuzzer(case: Case) -> None:
        mirror, data = case.folder / "mirror", case.folder / "deep/er/data"
        (mirror / "made").mkdir(parents=True)
        (mirror / "made/made.zip").write_bytes(archive_of(case))
        before = listing(case.folder)
        done = attempt(lambda: fetch([dataset], data, mirror=str(mirror)))
        outside = [path for path in listing(case.folder) - before if not f"{path}/".startswith("deep/")]
        if outside or Path("/tmp/isogloss-fuzz-out.txt").exists():  # noqa: S108
            raise FaultError("escape", str(outside), "written outside")
        inside = listing(data) if data.is_dir() else set()
        stray = [path for path in inside if not path.startswith(("kept", ".fetch", "checksums.json"))]
        links = [
            path
            for path in inside
            if (not (data / path).is_file() and not (data / path).is_dir()) or (data / path).is_symlink()
        ]
        if stray or links:
            raise FaultError("escape", f"{stray} {links}", "a place that no rule names, or no plain file")
        if done.refused:
            return
        [outcome] = done.value
        if outcome.problem:
            check_length(str(outcome.problem), MESSAGE)
            if any(path.startswith("kept") for path in inside):
                raise FaultError("output", f"files of a refused archive: {outcome.problem}", "half an archive")
        work = [
            path for path in inside if path.startswith(".fetch/") and (data / path).is_file() and "lock" not in path
        ]
        if work and outcome.state == "fetched":
            raise FaultError("leftover", ", ".join(work)[:200], "left behind")

    campaign.run(fuzzer, share=0.08)
