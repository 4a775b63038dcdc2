"""Dumps of every packing, in parts, cut and damaged: what can be read is read, and the rest is counted."""

import bz2
import gzip
import lzma
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from building.made_dumps import header, item, page, write_pages, write_table
from isogloss.building.dumps import CHUNK, DumpStream, FilePart, lines_of, split_file
from isogloss.building.entities import items_of
from isogloss.building.inputs import find_dumps
from isogloss.building.pages import namespaces_of, pages_of
from isogloss.building.sql import rows_of, table_of
from isogloss.errors import DataError

PAGES = [page(f"Page {number}", number, f"Text & <b>{number}</b> " * 40) for number in range(60)]


def titles_in(part: FilePart, counts: Counter[str] | None = None) -> list[str]:
    return [each.title for each in pages_of(DumpStream(part, Counter() if counts is None else counts))]


@pytest.mark.parametrize("suffix", [".xml", ".xml.bz2", ".xml.gz", ".xml.xz"])
def test_every_packing(tmp_path: Path, suffix: str) -> None:
    path = write_pages(tmp_path / f"dewiki-x{suffix}", PAGES, header("dewiki", [(6, "Datei")]), 0)
    pages = list(pages_of(DumpStream(FilePart(path), Counter())))
    assert [each.title for each in pages] == [f"Page {number}" for number in range(60)]
    assert pages[3].text == "Text & <b>3</b> " * 40
    assert (pages[3].number, pages[3].revision) == (3, 5_000_003)
    assert namespaces_of(FilePart(path)) == {"datei": 6}


@given(st.integers(1, 60), st.integers(1, 4000))
def test_parts_together_have_every_page_once(
    tmp_path_factory: pytest.TempPathFactory, per_stream: int, size: int
) -> None:
    path = write_pages(tmp_path_factory.mktemp("parts") / "dewiki-x.xml.bz2", PAGES, header("dewiki"), per_stream)
    parts = split_file(path, size)
    assert [title for part in parts for title in titles_in(part)] == [f"Page {number}" for number in range(60)]
    assert len(parts) > 1 or size > 500 or per_stream > 30


@given(st.lists(st.integers(1, 3000), min_size=2, max_size=6))
def test_streams_cut_anywhere(tmp_path_factory: pytest.TempPathFactory, cuts: list[int]) -> None:
    # As parallel compressors write them: streams end inside pages, tags and lines.
    whole = "".join([header("dewiki"), *PAGES, "</mediawiki>"]).encode()
    pieces, position = [], 0
    for cut in cuts:
        pieces.append(whole[position : position + cut])
        position += cut
    path = tmp_path_factory.mktemp("cuts") / "x.xml.bz2"
    path.write_bytes(b"".join(map(bz2.compress, [*pieces, whole[position:]])))
    parts = split_file(path, 1)
    assert len(parts) == len(cuts) + 1
    assert [title for part in parts for title in titles_in(part)] == [f"Page {number}" for number in range(60)]
    lines = [line for part in parts for line in lines_of(DumpStream(part, Counter()))]
    assert lines == whole.split(b"\n")


def test_cut_file(tmp_path: Path) -> None:
    path = write_pages(tmp_path / "dewiki-x.xml.bz2", PAGES, header("dewiki"), 10)
    path.write_bytes(path.read_bytes()[:-120])
    counts: Counter[str] = Counter()
    assert titles_in(FilePart(path), counts)[:50] == [f"Page {number}" for number in range(50)]
    assert counts["truncated files"] == 1


def test_damaged_stream_costs_its_own_pages(tmp_path: Path) -> None:
    path = write_pages(tmp_path / "dewiki-x.xml.bz2", PAGES, header("dewiki"), 10)
    content = bytearray(path.read_bytes())
    second = content.index(b"BZh9", content.index(b"BZh9", 10) + 10)
    content[second + 60] ^= 0xFF
    path.write_bytes(content)
    counts: Counter[str] = Counter()
    assert titles_in(FilePart(path), counts) == [f"Page {number}" for number in range(60) if not 10 <= number < 20]
    assert counts["damaged streams"] == 1


@pytest.mark.parametrize(("suffix", "pack"), [(".gz", gzip.compress), (".xz", lzma.compress)])
def test_cut_gz_and_xz(tmp_path: Path, suffix: str, pack: object) -> None:
    content = b"".join(b"%d %d\n" % (number, number**7) for number in range(40_000))
    packed = pack(content) + pack(b"end\n")  # type: ignore[operator]
    path = tmp_path / f"x.txt{suffix}"
    path.write_bytes(packed)
    assert b"\n".join(lines_of(DumpStream(FilePart(path), Counter()))) + b"\n" == content + b"end\n"
    path.write_bytes(packed[: len(packed) // 2])
    counts: Counter[str] = Counter()
    assert sum(1 for _ in lines_of(DumpStream(FilePart(path), counts))) > 10
    assert counts["truncated files"] == 1
    path.write_bytes(packed[: len(packed) // 2] + b"garbage" * 10_000)
    counts = Counter()
    assert sum(1 for _ in lines_of(DumpStream(FilePart(path), counts))) > 10
    assert counts["damaged streams"] + counts["truncated files"] == 1


def test_broken_xml(tmp_path: Path) -> None:
    broken = [
        PAGES[0].replace("</page>", ""),  # runs into the next page
        PAGES[1],
        PAGES[2].replace("<title>", "<titel>"),
        PAGES[3].replace("</text>", ""),
        "  <page>\x00\xff<<<>>></page>\n",
        PAGES[4].replace("<ns>0</ns>", ""),
        PAGES[5],
        PAGES[6][:200],  # the end is missing
    ]
    path = write_pages(tmp_path / "dewiki-x.xml", broken, header("dewiki"))
    path.write_bytes(path.read_bytes().replace(b"Text &amp; &lt;b&gt;5", b"Text \xff\xfe", 1))
    counts: Counter[str] = Counter()
    assert titles_in(FilePart(path), counts) == ["Page 1", "Page 4", "Page 5"]
    assert (counts["broken pages"], counts["truncated pages"], counts["pages with invalid UTF-8"]) == (4, 1, 1)


def test_ten_megabyte_paragraph(tmp_path: Path) -> None:
    text = "word [[Haus]] & " * 650_000
    path = write_pages(tmp_path / "dewiki-x.xml.bz2", [page("Long", 1, text), PAGES[0]], header("dewiki"))
    pages = list(pages_of(DumpStream(FilePart(path), Counter())))
    assert [each.title for each in pages] == ["Long", "Page 0"]
    assert pages[0].text == text
    assert len(text) > 10 * CHUNK


def test_small_file_that_unpacks_to_gigabytes(tmp_path: Path) -> None:
    path = tmp_path / "x.xml.bz2"
    path.write_bytes(bz2.compress(bytes(200 << 20)) * 3)
    assert path.stat().st_size < 1000
    stream = DumpStream(FilePart(path), Counter())
    assert max(map(len, stream)) <= 1 << 22


def test_table_with_escapes(tmp_path: Path) -> None:
    rows = [
        r"(1,'a\'b\\','x),(2',NULL)",
        r"(2,'c''d\"\n',_binary 'é,;(',3.5)",
        "(3,'',0x41,-1)",
        "(4,broken",
        "(5,'e','f',6)",
    ]
    path = write_table(tmp_path / "dewiki-t.sql.gz", "t", ["id", "name", "other", "number"], rows)
    assert table_of(FilePart(path)) == ("t", ["id", "name", "other", "number"])
    stream = DumpStream(FilePart(path), Counter())
    values = list(rows_of(stream, ["id", "name", "other", "number"], ["other", "id", "name"]))
    assert values == [
        (b"x),(2", b"1", b"a'b\\"),
        ("é,;(".encode(), b"2", b"c'd\"\n"),
        (b"0x41", b"3", b""),
        (b"f", b"5", b"e"),
    ]
    assert stream.counts == {"rows": 4, "malformed rows": 1}


def test_table_that_ends_inside_a_row_takes_linear_time(tmp_path: Path) -> None:
    path = tmp_path / "dewiki-t.sql"
    path.write_text(
        "CREATE TABLE `t` (\n  `a` int,\n  `b` int\n);\nINSERT INTO `t` VALUES (1,2),('" + "\\'x''" * 200_000
    )
    stream = DumpStream(FilePart(path), Counter())
    assert list(rows_of(stream, ["a", "b"], ["a"])) == [(b"1",)]
    assert stream.counts["malformed rows"] == 1


def test_items(tmp_path: Path) -> None:
    path = tmp_path / "x.json.bz2"
    lines = [b"[", item(1, {"de": "A", "commons": "C", "be_x_old": "B", "enwikinews": "N"}) + b",", b"{broken,",
             b'{"id": 5},',
             b'{"type":"item","id":"Q3","labels":[],"claims":[],"sitelinks":[]},', b'{"type":"property","id":"P31"},',
             item(99_999_999_999, {"de": "X"}) + b",", b"\xff\xfe\xff", b"[" * 100_000, item(2, {}) + b",",
             item(4, {"fr": "D"}, ["Q577"]).replace(b'"normal"', b'"deprecated"'), b"]"]  # fmt: skip
    path.write_bytes(bz2.compress(b"\n".join(lines)))
    stream = DumpStream(FilePart(path), Counter())
    items = [(each.number, each.titles, each.classes) for each in items_of(stream)]
    assert items == [(1, {"de": "A", "be-x-old": "B"}, {"Q515"}), (4, {"fr": "D"}, set())]
    assert stream.counts == {"items": 4, "damaged entities": 4, "entities other than items": 2}


def test_dumps_are_recognised_by_name(tmp_path: Path) -> None:
    for name in ("zh_yuewiki-20200101-pages-articles.xml.bz2", "dewikinews-latest-pages-articles.xml.bz2", "notes.txt",
                 "enwiki-x-multistream-index.txt.bz2", "all.json.gz", "wiki.xml.bz2"):  # fmt: skip
        (tmp_path / name).write_bytes(b"")
    write_table(tmp_path / "dewiki-x-pagelinks.sql.gz", "pagelinks", ["pl_from"], ["(1)"])
    dumps, ignored = find_dumps([tmp_path, f"fa={tmp_path}/wiki.xml.bz2"])
    assert [dump.name for dump in dumps] == [
        "all.json.gz",
        "dewikinews:dewikinews-latest-pages-articles.xml.bz2",
        "fawiki:wiki.xml.bz2",
        "zh_yuewiki:zh_yuewiki-20200101-pages-articles.xml.bz2",
    ]
    assert "dewiki-x-pagelinks.sql.gz" in ignored
    for source, message in (
        (tmp_path / "wiki.xml.bz2", "cannot tell the wiki"),
        (tmp_path / "notes.txt", "not a dump"),
        (tmp_path / "dewiki-x-pagelinks.sql.gz", "expected a table"),
        (tmp_path / "absent.xml", "no such file"),
        (f"xx={tmp_path}/wiki.xml.bz2", "unknown wiki"),
    ):
        with pytest.raises(DataError, match=message):
            find_dumps([source])


def test_every_byte_in_a_stream_of_its_own(tmp_path: Path) -> None:
    whole = "".join([header("dewiki"), page("A", 1, "a"), page("B", 2, "b\nb")]).encode()
    start = whole.index(b"  <page>")
    path = tmp_path / "x.xml.bz2"
    streams = [whole[:start], *(whole[place : place + 1] for place in range(start, len(whole)))]
    path.write_bytes(b"".join(map(bz2.compress, streams)))
    parts = split_file(path, 1)
    assert len(parts) == len(streams)
    assert [title for part in parts for title in titles_in(part)] == ["A", "B"]
    assert [line for part in parts for line in lines_of(DumpStream(part, Counter()))] == whole.splitlines()
