"""Archives are extracted by our rules; hostile, broken and oversized ones leave no files."""

import bz2
import gzip
import hashlib
import io
import lzma
import re
import stat
import tarfile
import zipfile
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

import pytest

from archives import tar_of, zip_of
from isogloss.data.fetch.archive import extract
from isogloss.data.fetch.catalog import ExtractRule
from isogloss.errors import DataError

TEXTS = {"top/a.txt": b"first\n" * 1000, "top/deep/b.txt": b"second\n", "top/c.md": b"unwanted\n"}
RULES = (ExtractRule(re.compile(r"top/(?:.*/)?(\w+)\.txt"), "toy/{0}.txt"),)


tarred, zipped = partial(tar_of, mode="w"), zip_of


PACKERS: dict[str, Callable[[Mapping[str, bytes]], bytes]] = {
    "zip": zipped,
    "tar": tarred,
    "tar.gz": lambda members: gzip.compress(tarred(members)),
    "tar.bz2": lambda members: bz2.compress(tarred(members)),
    "tar.xz": lambda members: lzma.compress(tarred(members)),
}


def written(folder: Path) -> dict[str, bytes]:
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


@pytest.mark.parametrize("form", PACKERS)
def test_selected_members_are_extracted_by_the_rules(tmp_path: Path, form: str) -> None:
    archive = tmp_path / "named.anything"
    archive.write_bytes(PACKERS[form](TEXTS))
    checksums = extract(archive, RULES, tmp_path / "out")
    assert written(tmp_path / "out") == {"toy/a.txt": TEXTS["top/a.txt"], "toy/b.txt": TEXTS["top/deep/b.txt"]}
    assert checksums == {
        "toy/a.txt": hashlib.sha256(TEXTS["top/a.txt"]).hexdigest(),
        "toy/b.txt": hashlib.sha256(TEXTS["top/deep/b.txt"]).hexdigest(),
    }


def test_owned_files_are_skipped(tmp_path: Path) -> None:
    archive = tmp_path / "toy.zip"
    archive.write_bytes(zipped(TEXTS))
    assert list(extract(archive, RULES, tmp_path / "out", skip={"toy/a.txt"})) == ["toy/b.txt"]
    assert list(written(tmp_path / "out")) == ["toy/b.txt"]


@pytest.mark.parametrize("outer", [zipped, tarred])
def test_archives_within_archives(tmp_path: Path, outer: Callable[[Mapping[str, bytes]], bytes]) -> None:
    inner = {lang: {"./train": lang.encode() * 50, "dev": b"dev " + lang.encode()} for lang in ("en", "sw", "xx")}
    archive = tmp_path / "all"
    archive.write_bytes(outer({f"all/{k}.tar.gz": gzip.compress(tarred(v)) for k, v in inner.items()}))
    rule = ExtractRule(re.compile(r"(?:.*/)?(en|sw)\.tar\.gz"), "ner/{0}/{1}", inside=re.compile("(train|dev|test)"))
    extract(archive, (rule,), tmp_path / "out")
    assert written(tmp_path / "out") == {
        "ner/en/train": b"en" * 50,
        "ner/en/dev": b"dev en",
        "ner/sw/train": b"sw" * 50,
        "ner/sw/dev": b"dev sw",
    }


@pytest.mark.parametrize("form", ["zip", "tar.gz"])
@pytest.mark.parametrize(
    "name", ["../evil.txt", "/etc/evil.txt", "top/../../evil.txt", "C:/evil.txt", "..\\evil.txt", "\\evil.txt"]
)
def test_members_that_point_outside_are_refused(tmp_path: Path, form: str, name: str) -> None:
    archive = tmp_path / "evil"
    archive.write_bytes(PACKERS[form]({name: b"evil"}))
    greedy = (ExtractRule(re.compile("(?s)(.*)"), "toy/{0}"),)
    with pytest.raises(DataError, match="points outside"):
        extract(archive, greedy, tmp_path / "out")
    assert set(written(tmp_path)) == {"evil"}


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE])
def test_links_and_devices_in_tars_are_refused(tmp_path: Path, kind: bytes) -> None:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        info = tarfile.TarInfo("top/a.txt")
        info.type, info.linkname = kind, "/etc/passwd"
        archive.addfile(info)
    path = tmp_path / "links.tar"
    path.write_bytes(buffer.getvalue())
    with pytest.raises(DataError, match="link or device"):
        extract(path, RULES, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_links_in_zips_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "links.zip"
    with zipfile.ZipFile(path, "w") as archive:
        info = zipfile.ZipInfo("top/a.txt")
        info.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(info, "/etc/passwd")
    with pytest.raises(DataError, match="link or device"):
        extract(path, RULES, tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("form", PACKERS)
def test_bombs_stop_at_the_limit(tmp_path: Path, form: str) -> None:
    path = tmp_path / "bomb"
    path.write_bytes(PACKERS[form]({"top/a.txt": bytes(5_000_000)}))
    with pytest.raises(DataError, match="more than 1,000,000 bytes"):
        extract(path, RULES, tmp_path / "out", limit=1_000_000)
    assert sum(map(len, written(tmp_path / "out").values())) <= 1_000_000


def test_limit_follows_the_size_of_the_archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("isogloss.data.fetch.archive.SAFE_BYTES", 1000)
    path = tmp_path / "bomb.zip"
    path.write_bytes(zipped({"top/a.txt": bytes(1_000_000)}))  # shrinks to a thousandth
    with pytest.raises(DataError, match="unpacks to more than"):
        extract(path, RULES, tmp_path / "out")


def test_unwanted_bomb_in_a_tar_counts_too(tmp_path: Path) -> None:
    path = tmp_path / "bomb.tgz"
    path.write_bytes(gzip.compress(tarred({"unwanted": bytes(5_000_000), "top/a.txt": b"a"})))
    with pytest.raises(DataError, match="unpacks to more than"):
        extract(path, RULES, tmp_path / "out", limit=1_000_000)


def test_bomb_in_an_inner_archive_counts_too(tmp_path: Path) -> None:
    path = tmp_path / "bomb.zip"
    path.write_bytes(zipped({"en.tar.gz": gzip.compress(tarred({"train": bytes(5_000_000)}))}))
    rule = ExtractRule(re.compile(r"(en)\.tar\.gz"), "ner/{0}/{1}", inside=re.compile("(train)"))
    with pytest.raises(DataError, match="unpacks to more than"):
        extract(path, (rule,), tmp_path / "out", limit=1_000_000)


@pytest.mark.parametrize("form", PACKERS)
def test_truncated_archives_are_damaged(tmp_path: Path, form: str) -> None:
    path = tmp_path / "cut"
    noise = b"".join(hashlib.sha256(bytes([n])).digest() for n in range(250))
    whole = PACKERS[form]({"top/a.txt": noise})
    path.write_bytes(whole[: len(whole) // 3])
    with pytest.raises(DataError, match="cut: incomplete or damaged archive"):
        extract(path, RULES, tmp_path / "out")


def test_encrypted_members_are_refused(tmp_path: Path) -> None:
    raw = bytearray(zipped({"top/a.txt": b"secret"}))
    raw[6] |= 1  # the flag in the member's own header, and in the directory at the end
    raw[raw.index(b"PK\x01\x02") + 8] |= 1
    path = tmp_path / "secret.zip"
    path.write_bytes(raw)
    with pytest.raises(DataError, match="encrypted"):
        extract(path, RULES, tmp_path / "out")


@pytest.mark.parametrize(
    ("other", "rules"),
    [("top/x/a.txt", RULES), ("top//a.txt", (ExtractRule(re.compile(r"top/(.*)\.txt"), "toy/{0}.txt"),))],
)
def test_two_members_for_one_file_are_refused(tmp_path: Path, other: str, rules: tuple[ExtractRule, ...]) -> None:
    path = tmp_path / "twice.zip"
    path.write_bytes(zipped({"top/a.txt": b"one", other: b"two"}))
    with pytest.raises(DataError, match=r"duplicate member toy/a\.txt"):
        extract(path, rules, tmp_path / "out")
