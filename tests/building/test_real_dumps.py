"""Builds from real pieces of dumps: pages about one city, a whole small Wikipedia, Wikidata items, SQL tables."""

import bz2
import json
import lzma
from collections import Counter
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import iterparse

import pytest

import isogloss
from isogloss.building.dumps import DumpStream, FilePart
from isogloss.building.entities import items_of
from isogloss.building.mewslix import MewslixSettings, build_mewslix
from isogloss.building.pages import pages_of
from isogloss.building.parts import read_part_array
from isogloss.building.sql import rows_of, table_of
from isogloss.building.titles import WIKIPEDIA_CODES, page_hash
from isogloss.building.vocabulary import Vocabulary
from isogloss.building.wikitext import linked_titles
from isogloss.languages import all_languages


@pytest.fixture(scope="module")
def dumps(data_dir: Path) -> Path:
    folder = data_dir / "wikimedia"
    if not folder.is_dir():
        pytest.skip("no pieces of Wikimedia's dumps")
    return folder


@pytest.fixture(scope="module")
def built(dumps: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    codes = [each.code for each in all_languages() if (dumps / f"dbpedia_minidumps/{each.code}/wiki.xml.bz2").is_file()]
    files = [f"{code}={dumps}/dbpedia_minidumps/{code}/wiki.xml.bz2" for code in codes]
    files += [f"ltg={dumps}/dumpster_dive/smallwiki-latest-pages-articles.xml.xz"]
    files += [str(path) for path in (dumps / "gensim").glob("*wiki-latest*")]
    files.append(str(dumps / "wikidata_json/entities.ndjson.xz"))
    out = tmp_path_factory.mktemp("real")
    settings = MewslixSettings(
        languages=("de", "en", "ltg"),
        description_languages=(*codes, "ltg"),
        dev=0,
        mentions_from="wikipedia",
        pair_pages=1.0,
    )
    build_mewslix(files, out=out, settings=settings)
    return out


def read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_one_city_is_described_in_the_fifty_languages(built: Path) -> None:
    sheet = json.loads((built / "mewslix/datasheet.json").read_text(encoding="utf-8"))
    dumps = {each["name"]: each["counts"] for each in sheet["inputs"]}
    assert dumps["ltgwiki:smallwiki-latest-pages-articles.xml.xz"]["pages"] == 2004
    assert dumps["ltgwiki:smallwiki-latest-pages-articles.xml.xz"]["redirects"] <= 195
    assert dumps["entities.ndjson.xz"]["items"] == 49
    candidates = {each["entity_id"]: each for each in read(built / "mewslix/candidate_set_entities.jsonl")}
    assert "Q64" in candidates
    assert all(each["description"].strip() for each in candidates.values())


def test_mentions_load(built: Path) -> None:
    records = read(built / "mewslix/wikinews_mentions-test.jsonl")
    mentions = [(record["context"]["language"], each["entity_id"]) for record in records for each in record["mentions"]]
    assert len(mentions) > 50
    assert {language for language, _ in mentions} >= {"en", "ltg"}
    for record in records:
        for each in record["mentions"]:
            span = each["mention_span"]
            assert record["context"]["text"][span["start"] : span["end"]] == span["text"]
    examples = isogloss.load("mewslix", "en", "test", built, allow_partial=True)
    assert len(examples) == sum(language == "en" for language, _ in mentions)
    assert all(target[0] in set(examples.pool.ids) for target in examples["targets"])


def test_frequencies_equal_those_of_a_parser(dumps: Path, tmp_path: Path) -> None:
    parser = pytest.importorskip("mwparserfromhell")
    pages, redirects = {}, {}
    with lzma.open(dumps / "dumpster_dive/smallwiki-latest-pages-articles.xml.xz") as stream:
        for _, element in iterparse(stream):  # noqa: S314 - a dump of the test data
            if element.tag.endswith("}page"):
                name = {child.tag.rpartition("}")[2]: child for child in element.iter()}
                if name["ns"].text == "0":
                    if "redirect" in name:
                        redirects[name["title"].text] = name["redirect"].get("title")
                    else:
                        pages[name["title"].text] = name["text"].text or ""
                element.clear()
    stream = DumpStream(FilePart(dumps / "wikidata_json/entities.ndjson.xz"), Counter())
    items = {each.titles["ltg"]: f"Q{each.number}" for each in items_of(stream) if "ltg" in each.titles}
    expected: Counter[str] = Counter()
    targets: Counter[int] = Counter()
    for text in pages.values():
        for link in parser.parse(text).filter_wikilinks():
            title = " ".join(str(link.title).partition("#")[0].replace("_", " ").split())
            title = title[:1].upper() + title[1:]
            expected[items.get(redirects.get(title, title), "")] += 1
            if title and ":" not in title:
                targets[page_hash("ltg", title)] += 1
    del expected[""]
    files = [
        f"ltg={dumps}/dumpster_dive/smallwiki-latest-pages-articles.xml.xz",
        dumps / "wikidata_json/entities.ndjson.xz",
    ]
    settings = MewslixSettings(languages=("ltg",), description_languages=("ltg",), dev=0, mentions_from="wikipedia")
    build_mewslix(files, out=tmp_path, settings=settings)
    vocabulary = Vocabulary(next((tmp_path / "mewslix-work").glob("vocabulary-*")), ["ltg"])
    counted = {vocabulary.item_id(place): int(n) for place, n in enumerate(vocabulary.frequencies) if n}
    assert counted == dict(expected)
    part = next((tmp_path / "mewslix-work/parts").glob("smallwiki*"))
    arrays = (read_part_array(part, name).tolist() for name in ("link_hashes", "link_counts"))
    linked = dict(zip(*arrays, strict=True))
    # The parser skips galleries and misreads the HTML of four pages; MediaWiki counts the links in them.
    assert not targets - Counter(linked)
    further = Counter({target: linked[target] for target in targets}) - targets
    assert sum(targets.values()) > 7_000
    assert sum(further.values()) < 0.01 * sum(targets.values())


def xml_pieces(dumps: Path) -> list[Path]:
    names = ("dbpedia_minidumps/*/wiki.xml.bz2", "gensim/*.bz2", "dumpster_dive/*.xz", "jwpl_aawiki/*.xml.bz2",
             "wikipedia2vec/*.bz2", "wikidata_toolkit/*.xml.xz")  # fmt: skip
    return [path for name in names for path in sorted(dumps.glob(name))]


@pytest.mark.slow
def test_pages_of_every_piece_equal_those_of_an_xml_parser(dumps: Path) -> None:
    pages = 0
    for path in xml_pieces(dumps):
        expected, other = [], 0
        with (bz2.open if path.suffix == ".bz2" else lzma.open)(path) as stream:
            for _, element in iterparse(stream):  # noqa: S314 - a dump of the test data
                if element.tag.endswith("}page"):
                    children = [(child.tag.rpartition("}")[2], child) for child in element.iter()]
                    # The page's own id is the first, and the last revision counts.
                    named = dict(children) | {"id": dict(reversed(children))["id"]}
                    redirect = named["redirect"].get("title") if "redirect" in named else ""
                    if "model" in named and named["model"].text != "wikitext":
                        other += 1
                    else:
                        # Unescaped tags are elements inside the text, and comments are lost.
                        text = (named["text"].text or "") if not len(named["text"]) else None
                        expected.append((named["title"].text, int(named["id"].text or 0), redirect, text))
                    element.clear()
        read = DumpStream(FilePart(path), Counter())
        found = [(each.title, each.number, each.redirect, each.text) for each in pages_of(read)]
        if read.counts["pages with unescaped markup"]:
            assert path.name.startswith("tinywiki")
            found, expected = ([row[:3] for row in rows] for rows in (found, expected))
        assert found == expected, path
        assert read.counts["pages without wikitext"] == other
        assert not read.counts["broken pages"] + read.counts["truncated pages"]
        pages += len(found) + other
    assert len(xml_pieces(dumps)) == 133
    assert pages == 2945


@pytest.mark.slow
def test_links_of_long_pages_equal_those_of_a_parser(dumps: Path) -> None:
    parser = pytest.importorskip("mwparserfromhell")
    path = next((dumps / "gensim").glob("enwiki-latest*"))
    theirs: Counter[str] = Counter()
    ours: Counter[str] = Counter()
    for page in list(pages_of(DumpStream(FilePart(path), Counter())))[::8]:
        theirs.update(str(link.title).strip() for link in parser.parse(page.text).filter_wikilinks())
        ours.update(title.strip() for title in linked_titles(page.text))
    assert sum(theirs.values()) > 2_000
    assert sum((theirs - ours).values()) <= 0.002 * sum(theirs.values())
    assert sum((ours - theirs).values()) <= 0.002 * sum(theirs.values())


def test_sql_tables(dumps: Path) -> None:
    # Counted without this package: separators of rows, and INSERTs.
    counts = {"mtwiki-page": 14661, "mtwiki-redirect": 2667, "mtwiki-pagelinks": 230677, "crwiki-page": 2031,
              "crwiki-redirect": 262, "crwiki-pagelinks": 4368, "hzwiki-page": 175, "hzwiki-redirect": 10,
              "hzwiki-pagelinks": 224, "muswiki-page": 114, "muswiki-redirect": 1,
              "muswiki-pagelinks": 160}  # fmt: skip
    for name, count in counts.items():
        wiki, table = name.split("-")
        part = FilePart(dumps / f"sql_2016/{wiki}-20160111-{table}.sql.gz")
        title, columns = table_of(part)
        assert title == table
        stream = DumpStream(part, Counter())
        assert sum(1 for _ in rows_of(stream, columns, columns[:3])) == count
        assert stream.counts == {"rows": count}


@pytest.mark.parametrize("name", ["mock-dump-with-bugs.json.xz", "mock-dump-for-long-testing.json.xz"])
def test_mock_entities(dumps: Path, name: str) -> None:
    kinds: Counter[str] = Counter()
    with lzma.open(dumps / "wikidata_toolkit" / name, "rt", encoding="utf-8") as lines:
        for line in lines:
            try:
                kinds[json.loads(line.strip().rstrip(","))["type"]] += 1
            except (ValueError, TypeError, KeyError):
                kinds["damaged"] += line.strip() not in ("[", "]", "")
    stream = DumpStream(FilePart(dumps / "wikidata_toolkit" / name), Counter())
    assert list(items_of(stream)) == []  # none has a page
    assert stream.counts["items"] == kinds["item"] > 50
    assert stream.counts["entities other than items"] == kinds.total() - kinds["item"] - kinds["damaged"]
    assert stream.counts["damaged entities"] == kinds["damaged"]


def test_items_equal_those_of_a_json_parser(dumps: Path) -> None:
    path = dumps / "wikidata_json/entities.ndjson.xz"
    expected = {}
    with lzma.open(path, "rt", encoding="utf-8") as lines:
        for line in (line for line in lines if len(line) > 3):
            record = json.loads(line.strip().rstrip(","))
            claims = [claim for name in ("P31", "P279") for claim in record["claims"].get(name, [])]
            kept = [claim["mainsnak"] for claim in claims if claim["rank"] != "deprecated"]
            values = [snak.get("datavalue", {}).get("value", {}) for snak in kept]
            titles = {link["title"] for site, link in record["sitelinks"].items() if site.endswith("wiki")
                      and site not in ("commonswiki", "specieswiki", "metawiki", "wikidatawiki")}  # fmt: skip
            expected[int(record["id"][1:])] = (titles, {f"Q{value['numeric-id']}" for value in values if value})
    found = {
        each.number: (set(each.titles.values()), set(each.classes))
        for each in items_of(DumpStream(FilePart(path), Counter()))
    }
    assert found == expected
    assert len(found) == 49


def test_codes_of_wikipedias_include_every_sitelink(dumps: Path) -> None:
    with lzma.open(dumps / "wikidata_json/entities.ndjson.xz", "rt", encoding="utf-8") as stream:
        records = [json.loads(line.strip().rstrip(",")) for line in stream if len(line) > 3]
    sites = {site[:-4].replace("_", "-") for record in records for site in record["sitelinks"] if site.endswith("wiki")}
    assert sites - {"commons", "species", "meta", "wikidata"} <= WIKIPEDIA_CODES
