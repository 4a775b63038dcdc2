"""Hostile dumps: time and memory stay in proportion to the input, and one page or file costs only itself.

Sizes are such that a quadratic step would take minutes to hours.
"""

import bz2
import gzip
import lzma
import os
import tracemalloc
from collections import Counter
from pathlib import Path

import pytest

from building.made_dumps import header, item, page, write_pages
from isogloss.building import dumps
from isogloss.building.characters import decode_references, decode_xml
from isogloss.building.dumps import DumpStream, FilePart, lines_of, split_file
from isogloss.building.mewslix import MewslixSettings, build_mewslix
from isogloss.building.pages import namespaces_of, pages_of
from isogloss.building.titles import LinkResolver, Wiki
from isogloss.building.wikitext import prose_of

LAST = page("Last", 9, "The last page.")


def pages_in(path: Path, counts: Counter[str]) -> list[str]:
    return [each.title for each in pages_of(DumpStream(FilePart(path), counts))]


def test_many_chunks_of_one_line_and_of_one_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dumps, "CHUNK", 64)
    path = tmp_path / "x.xml"
    path.write_bytes(page("Long", 1, "a" * 8_000_000).replace("\n", " ").encode() + b"\n" + LAST.encode())
    assert [len(line) > 8_000_000 for line in lines_of(DumpStream(FilePart(path), Counter()))][:2] == [True, False]
    assert pages_in(path, Counter()) == ["Long", "Last"]


@pytest.mark.parametrize("mark", ["<text ", "<text>", "<title>", "<id>", "<revision>", "<page>", '<redirect title="'])
def test_pages_full_of_tags(tmp_path: Path, mark: str) -> None:
    path = tmp_path / "x.xml"
    path.write_text(f"<page><title>x</title>{mark * 300_000}</page>{LAST}")
    counts: Counter[str] = Counter()
    assert pages_in(path, counts) == ["Last"]
    assert counts["broken pages"] >= 1


def test_header_full_of_namespaces(tmp_path: Path) -> None:
    path = tmp_path / "x.xml"
    path.write_text('<namespace key="1" ' * 50_000)
    assert namespaces_of(FilePart(path)) == {}


def test_entity_bomb_stays_packed(tmp_path: Path) -> None:
    levels = [f'<!ENTITY e{number} "{f"&e{number - 1};" * 10}">' for number in range(1, 10)]
    doctype = f'<!DOCTYPE mediawiki [<!ENTITY e0 "lol">{"".join(levels)}]>'
    path = tmp_path / "x.xml"
    path.write_text(f"{doctype}<mediawiki>{page('Bomb', 1, 'text').replace('>text<', '>&e9;<')}</mediawiki>")
    assert [each.text for each in pages_of(DumpStream(FilePart(path), Counter()))] == ["&e9;"]


def test_long_lines_take_bounded_memory(tmp_path: Path) -> None:
    path = tmp_path / "x.json.gz"
    path.write_bytes(gzip.compress(b"[" + b"a" * 100_000_000 + b"\nshort\n", 1))
    stream = DumpStream(FilePart(path), Counter())
    tracemalloc.start()
    try:
        assert list(lines_of(stream, longest=1 << 20)) == [b"short"]
        assert tracemalloc.get_traced_memory()[1] < 30 << 20
    finally:
        tracemalloc.stop()
    assert stream.counts == {"overlong lines": 1}


def test_bombs_of_every_packing(tmp_path: Path) -> None:
    zeros = bytes(80 << 20)
    for suffix, packed in ((".gz", gzip.compress(zeros, 1)), (".xz", lzma.compress(zeros, preset=0))):
        path = tmp_path / f"x{suffix}"
        path.write_bytes(packed + b"\0" * 8)  # padded, as archives on tape are
        stream = DumpStream(FilePart(path), Counter())
        sizes = [len(chunk) for chunk in stream]
        assert sum(sizes) == len(zeros)
        assert max(sizes) < 64 << 20
        assert not stream.counts


def test_tiny_streams_are_not_read_over_and_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.bz2"
    path.write_bytes(bz2.compress(b"a") * 2000)
    read = 0

    real = bz2.BZ2Decompressor

    class Decoder:
        def __init__(self) -> None:
            self._real = real()

        def __getattr__(self, name: str) -> object:
            return getattr(self._real, name)

        def decompress(self, packed: bytes, most: int) -> bytes:
            nonlocal read
            read += len(packed)
            return self._real.decompress(packed, most)

    monkeypatch.setattr(bz2, "BZ2Decompressor", Decoder)
    assert sum(map(len, DumpStream(FilePart(path), Counter()))) == 2000
    assert read < 2000 * 10_000  # 18 times as much for chunks of the full size


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_dump_in_utf_16(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "x.xml.bz2"
    mark = "" if encoding == "utf-16" else "\ufeff"
    path.write_bytes(bz2.compress(f"{mark}{page('Straße', 1, 'Žluťoučký 都市')}".encode(encoding)))
    assert [(each.title, each.text) for each in pages_of(DumpStream(FilePart(path), Counter()))] == [
        ("Straße", "Žluťoučký 都市")
    ]


def test_dump_in_latin_1_is_counted(tmp_path: Path) -> None:
    path = tmp_path / "x.xml"
    path.write_bytes(page("Stadt", 1, "Straße").encode("latin-1"))
    counts: Counter[str] = Counter()
    assert pages_in(path, counts) == ["Stadt"]
    assert counts["pages with invalid UTF-8"] == 1


def test_unescaped_markup_inside_a_page(tmp_path: Path) -> None:
    path = tmp_path / "x.xml"
    path.write_text(page("Raw", 1, "a").replace(">a<", ">a <ref>b</ref> <!-- c --> d<"))
    counts: Counter[str] = Counter()
    assert [each.text for each in pages_of(DumpStream(FilePart(path), counts))] == ["a <ref>b</ref> <!-- c --> d"]
    assert counts["pages with unescaped markup"] == 1


@pytest.mark.parametrize(
    ("text", "decoded"),
    [
        ("AT&T &amp; R&D", "AT&T & R&D"),
        ("&para &copy;", "&para ©"),  # without a semicolon it is not a reference
        ("&#65;&#x42;", "AB"),
        ("&#" + "9" * 5000 + ";", "&#" + "9" * 5000 + ";"),  # Python refuses to read such a number
        ("&unknown;", "&unknown;"),
    ],
)
def test_character_references(text: str, decoded: str) -> None:
    assert decode_references(text) == decoded
    assert prose_of(f"Word {text}", LinkResolver(Wiki("wikipedia", "de"), {}), Counter()).text == f"Word {decoded}"


def test_escapes_of_xml() -> None:
    assert decode_xml("&lt;b&gt; &amp;nbsp; &quot;&apos; &#228;\r\n&amp;amp;") == "<b> &nbsp; \"' ä\n&amp;"


def test_plain_files_in_parts_of_any_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dumps, "_LEAST_PLAIN", 1)
    path = write_pages(tmp_path / "x.xml", [page(f"P{number}", number, "text") for number in range(9)], header("x"))
    whole = path.read_bytes()
    for size in (1, 7, 100, 333, len(whole) - 1, len(whole)):
        parts = split_file(path, size)
        assert len(parts) == -(-len(whole) // size)
        titles = [each.title for part in parts for each in pages_of(DumpStream(part, Counter()))]
        assert titles == [f"P{number}" for number in range(9)]
        assert [line for part in parts for line in lines_of(DumpStream(part, Counter()))] == whole.splitlines()


def test_names_of_files_and_pages_are_harmless(tmp_path: Path) -> None:
    folder = tmp_path / "dumps"
    folder.mkdir()
    title = "../../Etc/passwd"
    pages = [page(title, 1, "This page is a thing. More.")]
    write_pages(folder / f"{'🏙' * 50}-dewiki-`<b>\n.xml", pages, header("dewiki"))
    news = [page("N", 1, f"See [[w:{title}|this]] and [[w:.|that]] now.")]
    write_pages(folder / "dewikinews-x.xml", news, header("dewikinews"))
    (folder / "items.json").write_bytes(item(1, {"de": title}))
    (folder / os.fsdecode(b"not-read-\xff`.txt")).write_bytes(b"")
    settings = MewslixSettings(languages=("de",), description_languages=("de",), dev=0, pairs=0)
    result = build_mewslix([folder], out=tmp_path / "out", settings=settings)
    assert result.datasheet.splits["test"]["de"]["bin00_0-1"] == 1
    assert result.datasheet.ignored == ["not-read-\N{REPLACEMENT CHARACTER}`.txt"]
    assert {path.parent for path in result.files} == {tmp_path / "out/mewslix"}
    text = (tmp_path / "out/mewslix/datasheet.md").read_text(encoding="utf-8")
    assert "<b>" not in text
    assert "not-read-\N{REPLACEMENT CHARACTER}'.txt" in text
