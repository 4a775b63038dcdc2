"""A folder as a mirror, and a process killed between any two steps."""

import gzip
import hashlib
import io
import lzma
import pickle
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import isogloss
from isogloss.data.fetch import fetch
from isogloss.data.fetch.catalog import Dataset, ExtractRule, RemoteFile
from isogloss.errors import DataError, UnknownNameError

TEXT = b"one sentence a line\n" * 500
FILE = RemoteFile(
    dataset="toy",
    name="plain.txt",
    urls=("https://example.invalid/plain.txt",),
    size=len(TEXT),
    sha256=hashlib.sha256(TEXT).hexdigest(),
    path="toy/deep/plain.txt",
)
TOY = Dataset(name="toy", title="Toy", licence="none", sources=(FILE,))


def mirrored(folder: Path, files: dict[str, bytes]) -> str:
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    return str(folder)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("toy/plain.txt", TEXT),
        ("toy/plain.txt.xz", lzma.compress(TEXT)),
        ("toy/plain.txt.gz", gzip.compress(TEXT, mtime=0)),
        ("toy/deep/plain.txt", TEXT),  # another data folder is a mirror too
        ("toy/deep/plain.txt.xz", lzma.compress(TEXT)),
    ],
)
def test_folder_has_the_file_in_some_form(tmp_path: Path, name: str, content: bytes) -> None:
    mirror = mirrored(tmp_path / "mirror", {name: content})
    (outcome,) = fetch([TOY], tmp_path / "data", mirror=mirror)
    assert outcome.state == "fetched"
    place = tmp_path / "data/toy/deep/plain.txt"
    assert place.read_bytes() == TEXT
    assert place.stat().st_mode & 0o777 == (tmp_path / "mirror" / name).stat().st_mode & 0o777


@pytest.mark.parametrize(
    ("files", "problem"),
    [
        ({}, "not in the mirror"),
        ({"toy/plain.txt": TEXT[:-1] + b"!"}, "not the published file"),
        ({"toy/plain.txt": TEXT[:-1]}, "not the published file"),
        ({"toy/plain.txt.xz": lzma.compress(TEXT)[:-30]}, "damaged"),
        ({"toy/plain.txt.gz": b"no gzip at all"}, "damaged"),
        ({"toy/plain.txt.xz": lzma.compress(bytes(5_000_000))}, "longer than the published 10,000 bytes"),
    ],
)
def test_folder_with_something_else(tmp_path: Path, files: dict[str, bytes], problem: str) -> None:
    mirror = mirrored(tmp_path / "mirror", files)
    (tmp_path / "mirror").mkdir(exist_ok=True)
    (outcome,) = fetch([TOY], tmp_path / "data", mirror=mirror)
    assert outcome.state == "failed"
    assert problem in str(outcome.problem)
    assert [path.name for path in (tmp_path / "data").rglob("*") if path.is_file()] == ["lock"]


def test_invalid_mirror(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="neither a folder nor a web address"):
        fetch([TOY], tmp_path / "data", mirror=str(tmp_path / "nowhere"))


def test_packed_file_in_the_data_folder_is_kept(tmp_path: Path) -> None:
    mirrored(tmp_path, {"toy/deep/plain.txt.xz": lzma.compress(TEXT)})
    (outcome,) = fetch([TOY], tmp_path, mirror=str(tmp_path / "toy"))
    assert outcome.state == "kept"
    mirrored(tmp_path, {"toy/deep/plain.txt.xz": lzma.compress(TEXT)[:-20]})
    (outcome,) = fetch([TOY], tmp_path, mirror=str(tmp_path / "toy"))
    assert outcome.state == "failed"


def test_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("a file")
    with pytest.raises(DataError, match="cannot be written"):
        fetch([TOY], tmp_path / "data", mirror=str(tmp_path))


def test_damaged_record_of_checksums(tmp_path: Path) -> None:
    (tmp_path / "checksums.json").write_text('{"toy/toy.zip": 3}')
    with pytest.raises(DataError, match="not a record of checksums"):
        fetch([TOY], tmp_path, mirror=str(tmp_path))


# Fetches an archive from a folder and dies before the N-th rename.
CHILD = """
import os, pickle, sys
left = int(sys.argv[1])
def dying(step):
    def wrapper(*arguments, **options):
        global left
        left -= 1
        if left == 0:
            os._exit(9)
        return step(*arguments, **options)
    return wrapper
os.replace, os.rename = dying(os.replace), dying(os.rename)
from pathlib import Path
import isogloss
from isogloss.data.fetch import fetch
dataset, mirror, data = sys.argv[2:]
dataset = pickle.loads(bytes.fromhex(dataset))
sys.exit([outcome.state for outcome in fetch([dataset], Path(data), mirror=mirror)] != ["fetched"])
"""
MEMBERS = {f"part{number}": f"text of part {number}\n".encode() * 5000 for number in range(3)}
ARCHIVE = Dataset(
    name="zipped",
    title="Zipped",
    licence="none",
    sources=(
        RemoteFile(
            dataset="zipped",
            name="all.zip",
            urls=("https://example.invalid/all.zip",),
            size=0,
            sha256="",
            rules=(ExtractRule(re.compile("all/(.*)"), "zipped/{0}"),),
            members=3,
        ),
    ),
)


@pytest.mark.slow
def test_death_between_any_two_steps_leaves_no_half_file(tmp_path: Path) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in MEMBERS.items():
            archive.writestr(f"all/{name}", content)
    mirror = mirrored(tmp_path / "mirror", {"zipped/all.zip": buffer.getvalue()})
    data = tmp_path / "data"
    deaths = 0
    while True:
        words = [str(deaths + 1), pickle.dumps(ARCHIVE).hex(), mirror, str(data)]
        code = subprocess.run([sys.executable, "-c", CHILD, *words], check=False).returncode
        for path in data.glob("zipped/*"):
            assert path.read_bytes() == MEMBERS[path.name]
        if code == 0:
            break
        assert code == 9
        deaths += 1
    # Before renaming the download, before the first and third member, and before the record.
    assert deaths == 4
    assert {path.name for path in data.glob("zipped/*")} == set(MEMBERS)
    assert [outcome.state for outcome in fetch([ARCHIVE], data, mirror=mirror)] == ["kept"]
    assert sorted(path.name for path in data.iterdir()) == [".fetch", "checksums.json", "zipped"]
    assert [path.name for path in (data / ".fetch").iterdir()] == ["lock"]


@pytest.mark.parametrize("leads_to", ["nowhere", "plain.txt"])
def test_link_to_nothing_is_replaced(tmp_path: Path, leads_to: str) -> None:
    mirror = mirrored(tmp_path / "mirror", {"toy/plain.txt": TEXT})
    place = tmp_path / "data/toy/deep/plain.txt"
    place.parent.mkdir(parents=True)
    place.symlink_to(leads_to)
    (outcome,) = fetch([TOY], tmp_path / "data", mirror=mirror)
    assert outcome.state == "fetched"
    assert place.read_bytes() == TEXT


def test_link_in_the_data_folder_stays(tmp_path: Path) -> None:
    """Large files may be on another disk."""
    mirror = mirrored(tmp_path / "mirror", {"toy/plain.txt": TEXT})
    place, elsewhere = tmp_path / "data/toy/deep/plain.txt", tmp_path / "disk/plain.txt"
    for path in (place, elsewhere):
        path.parent.mkdir(parents=True)
    elsewhere.write_text("old")
    place.symlink_to(elsewhere)
    (outcome,) = fetch([TOY], tmp_path / "data", mirror=mirror)
    assert outcome.state == "fetched"
    assert place.is_symlink()
    assert elsewhere.read_bytes() == TEXT
    assert [path.name for path in elsewhere.parent.iterdir()] == ["plain.txt"]


def test_by_name_and_failures_are_one_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    by_hand = Dataset(
        name="treebank", title="Treebank", licence="none", sources=(), by_hand=("x/*.conllu",), note="buy it"
    )
    monkeypatch.setattr("isogloss.data.fetch.catalog.datasets", lambda: {"toy": TOY, "treebank": by_hand})
    mirror = mirrored(tmp_path / "mirror", {"toy/plain.txt": TEXT})
    (outcome,) = isogloss.fetch("toy", data=tmp_path / "data", mirror=mirror)
    assert (outcome.state, outcome.problem) == ("fetched", None)
    with pytest.raises(UnknownNameError, match="Did you mean toy"):
        isogloss.fetch("toyy", data=tmp_path / "data", mirror=mirror)
    (tmp_path / "mirror/toy/plain.txt").write_bytes(b"other")
    with pytest.raises(DataError, match=r"2 problems: toy: .*treebank: buy it\. Call it again to resume"):
        isogloss.fetch("toy", "treebank", data=tmp_path / "empty", mirror=mirror)
