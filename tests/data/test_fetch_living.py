"""Fetching the sets of the suite `living`: every file that `load` reads, verified and resumed."""

from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import pytest

import isogloss
from fetch_server import HASTE, Server, corrupt, cut, leftovers, running, status
from isogloss.data.fetch import fetch
from isogloss.data.fetch.catalog import Dataset, RemoteFile, dataset
from isogloss.data.files import read_bytes, resolve
from isogloss.tasks.loading import load
from isogloss.tasks.readers.split_files import SplitFiles
from isogloss.tasks.registry import LIVING_TASKS
from isogloss.tasks.task import SPLITS


@pytest.fixture
def server() -> Iterator[Server]:
    with running() as server:
        yield server


@pytest.mark.parametrize("name", LIVING_TASKS)
def test_catalogue_has_exactly_the_files_of_a_task(name: str) -> None:
    task = isogloss.task(name)
    wanted = {
        SplitFiles(task=task, language=code, split=split, root=Path(), pattern=pattern).relative(pattern)
        for layout in task.layouts
        for split in SPLITS
        if (pattern := getattr(layout, split))
        for code in task.languages
    }
    assert wanted == {source.path for source in dataset(name).sources}


def test_files_of_one_name_in_several_folders(server: Server, tmp_path: Path) -> None:
    texts = {"toy/data/aa/test.tsv": b"a" * 300_000, "toy/data/bb/test.tsv": b"b" * 300_000}
    sources = tuple(served(server, path, content) for path, content in texts.items())
    toy = Dataset(name="toy", title="Toy", licence="none", sources=sources)
    server.scripts["/toy/data/aa/test.tsv"] = [status(404)]
    # The second file breaks off for good: what arrived stays for the next run, under its own folder.
    server.scripts["/toy/data/bb/test.tsv"] = [cut(196_608), *[cut(0)] * 4]
    outcomes = fetch([toy], tmp_path, retry=HASTE)
    assert [outcome.state for outcome in outcomes] == ["failed", "failed"]
    assert leftovers(tmp_path) == [f".fetch/toy/data/bb/test.tsv/test.tsv.part{end}" for end in ("", ".tag")]
    server.scripts.clear()
    server.requests.clear()
    assert [outcome.state for outcome in fetch([toy], tmp_path, retry=HASTE)] == ["fetched", "fetched"]
    assert server.requests == [("/toy/data/aa/test.tsv", None), ("/toy/data/bb/test.tsv", "bytes=196608-")]
    assert leftovers(tmp_path) == list(texts)
    assert [path.name for path in (tmp_path / ".fetch").iterdir()] == ["lock"]
    assert [(tmp_path / path).read_bytes() for path in texts] == list(texts.values())


def served(server: Server, path: str, content: bytes) -> RemoteFile:
    """Return a source whose content the server has."""
    server.files[f"/{path}"] = content
    name = path.partition("/")[2]
    url, checksum = f"{server.url}/{path}", sha256(content).hexdigest()
    return RemoteFile(dataset="toy", name=name, urls=(url,), size=len(content), sha256=checksum, path=path)


def test_real_files_arrive_where_load_reads_them(server: Server, tmp_path: Path, data_dir: Path) -> None:
    names = ("americasnli", "nusax")
    chosen = [dataset(name) for name in names]
    sources = [source for entry in chosen for source in entry.sources]
    if not all(resolve(data_dir / source.path) for source in sources):
        pytest.skip("the data folder has no AmericasNLI or NusaX")
    for source in sources:
        server.files[f"/{source.key}"] = read_bytes(data_dir / source.path)
    server.scripts["/nusax/english/test.csv"] = [cut(20_000)]
    server.scripts["/americasnli/test/quy.tsv"] = [corrupt] * 2
    outcomes = fetch(chosen, tmp_path, mirror=server.url, retry=HASTE)
    problems = {outcome.source.path: str(outcome.problem) for outcome in outcomes if outcome.problem}
    assert list(problems) == ["americasnli/test/quy.tsv"]
    assert "not the published file" in problems["americasnli/test/quy.tsv"]
    assert [path for path, _ in server.requests].count("/nusax/english/test.csv") == 2
    assert not (tmp_path / "americasnli/test/quy.tsv").exists()
    again = fetch(chosen, tmp_path, mirror=server.url, retry=HASTE)
    assert [outcome.source.path for outcome in again if outcome.state == "fetched"] == list(problems)
    for name in names:
        for code in isogloss.task(name).languages:
            assert load(name, code, data=tmp_path).checksum == load(name, code, data=data_dir).checksum
