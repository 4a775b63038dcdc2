"""Archives without a published checksum: the first download sets it for later ones."""

import hashlib
import io
import json
import random
import re
import tarfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from fetch_server import Behaviour, Handler, Server, cut, leftovers, run, running, serve
from isogloss.data.fetch.catalog import Dataset, ExtractRule, RemoteFile


@pytest.fixture
def server() -> Iterator[Server]:
    with running() as server:
        yield server


def tarball(**members: bytes) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for name, content in members.items():
            info = tarfile.TarInfo(f"top/{name}.txt")
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return buffer.getvalue()


def archive_of(server: Server, content: bytes, sha256: str = "") -> Dataset:
    server.files["/toy.tgz"] = content
    rule = ExtractRule(re.compile(r"top/(\w+)\.txt"), "toy/{0}.txt")
    source = RemoteFile(
        dataset="toy", name="toy.tgz", urls=(f"{server.url}/toy.tgz",), size=0, sha256=sha256, rules=(rule,), members=2
    )
    return Dataset(name="toy", title="Toy", licence="none", sources=(source,))


def test_unknown_checksum_is_recorded_and_enforced(server: Server, tmp_path: Path) -> None:
    first, second = tarball(a=b"one", b=b"two"), tarball(a=b"one", b=b"changed")
    toy = archive_of(server, first)
    assert run(toy, tmp_path).state == "fetched"
    record = json.loads((tmp_path / "checksums.json").read_text())["toy/toy.tgz"]
    assert record["sha256"] == hashlib.sha256(first).hexdigest()
    assert record["files"] == {
        "toy/a.txt": hashlib.sha256(b"one").hexdigest(),
        "toy/b.txt": hashlib.sha256(b"two").hexdigest(),
    }
    assert run(toy, tmp_path).state == "kept"
    assert leftovers(tmp_path) == ["checksums.json", "toy/a.txt", "toy/b.txt"]

    server.files["/toy.tgz"] = second
    (tmp_path / "toy/b.txt").unlink()
    outcome = run(toy, tmp_path)
    assert outcome.state == "failed"
    assert "differs from the one first fetched" in str(outcome.problem)
    assert "checksums.json" in str(outcome.problem)
    assert not (tmp_path / "toy/b.txt").exists()

    server.files["/toy.tgz"] = first
    assert run(toy, tmp_path).state == "fetched"
    assert (tmp_path / "toy/b.txt").read_bytes() == b"two"


def ignoring_versions(handler: Handler, content: bytes) -> None:
    del handler.headers["If-Range"]
    serve(handler, content)


@pytest.mark.parametrize(("behaviour", "requests"), [(serve, 1), (ignoring_versions, 2)])
def test_two_versions_are_never_mixed(server: Server, tmp_path: Path, behaviour: Behaviour, requests: int) -> None:
    noise = random.Random(1)
    old = tarball(a=noise.randbytes(300_000), b=b"old")
    new = tarball(a=noise.randbytes(300_000), b=b"new")
    toy = archive_of(server, old)
    server.scripts["/toy.tgz"] = [cut(100_000), cut(0), cut(0), cut(0)]
    assert run(toy, tmp_path).state == "failed"
    server.requests.clear()
    server.files["/toy.tgz"] = new
    server.scripts["/toy.tgz"] = [behaviour]
    assert run(toy, tmp_path).state == "fetched"
    assert len(server.requests) == requests
    assert server.requests[0][1] is not None
    assert (tmp_path / "toy/b.txt").read_bytes() == b"new"
    recorded = json.loads((tmp_path / "checksums.json").read_text())["toy/toy.tgz"]["sha256"]
    assert recorded == hashlib.sha256(new).hexdigest()


def test_files_added_to_a_known_archive_are_unpacked(server: Server, tmp_path: Path) -> None:
    """A version of the catalogue that took one file of an archive has recorded only that one."""
    content = tarball(a=b"one", b=b"two")
    toy = archive_of(server, content, hashlib.sha256(content).hexdigest())
    [source] = toy.sources
    [rule] = source.rules
    fewer = replace(source, rules=(replace(rule, member=re.compile(r"top/(a)\.txt")),), members=1)
    assert run(replace(toy, sources=(fewer,)), tmp_path).state == "fetched"
    assert leftovers(tmp_path) == ["checksums.json", "toy/a.txt"]
    assert run(toy, tmp_path).state == "fetched"
    assert leftovers(tmp_path) == ["checksums.json", "toy/a.txt", "toy/b.txt"]
    assert run(toy, tmp_path).state == "kept"


def test_error_page_in_place_of_an_archive_is_not_recorded(server: Server, tmp_path: Path) -> None:
    toy = archive_of(server, b"<html>Sorry, we have moved.</html>")
    outcome = run(toy, tmp_path)
    assert outcome.state == "failed"
    assert "incomplete or damaged archive" in str(outcome.problem)
    assert leftovers(tmp_path) == []
    server.files["/toy.tgz"] = tarball(a=b"one", b=b"two")
    assert run(toy, tmp_path).state == "fetched"


def test_archive_with_too_few_files_is_refused(server: Server, tmp_path: Path) -> None:
    outcome = run(archive_of(server, tarball(a=b"one")), tmp_path)
    assert "1 of the expected 2 files" in str(outcome.problem)
    assert leftovers(tmp_path) == []
