"""Dumps of a made-up world in Wikimedia's formats, with every right answer known by construction.

Entities have one of five frequencies, by their position, and pages in three languages. Each of the eleven languages has
news that mention five of them, one of each frequency, and traps.
"""

import bz2
import gzip
import json
import lzma
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from xml.sax.saxutils import escape

NEWS = "ar de en es fa ja pl ro ta tr uk".split()
WIKIS = [*NEWS, "fr", "hi", "zh"]
FREQUENCIES = (0, 3, 20, 150, 1200)
BINS = ("bin00_0-1", "bin01_1-10", "bin02_10-100", "bin03_100-1000", "bin04_1000-inf")
# A word of each language, in its own script, and its full stop.
NAMES = {
    "ar": "مدينة", "de": "Straße", "en": "City", "es": "Ciudad", "fa": "شهر", "ja": "都市", "pl": "Żabno", "ro": "Oraș",
    "ta": "நகரம்", "tr": "Şehir", "uk": "Місто", "fr": "Ville", "hi": "शहर", "zh": "城市",
}  # fmt: skip
STOPS = dict.fromkeys(WIKIS, ". ") | {"ja": "。", "zh": "。", "hi": "। "}


def page(title: str, number: int, text: str, redirect: str = "", namespace: int = 0, model: str = "wikitext") -> str:
    moved = f'\n    <redirect title="{escape(redirect, {chr(34): "&quot;"})}" />' if redirect else ""
    return f"""  <page>
    <title>{escape(title)}</title>
    <ns>{namespace}</ns>
    <id>{number}</id>{moved}
    <revision>
      <id>{number + 5_000_000}</id>
      <timestamp>2019-01-01T00:00:00Z</timestamp>
      <contributor><username>A</username><id>7</id></contributor>
      <model>{model}</model>
      <format>text/x-wiki</format>
      <text xml:space="preserve" bytes="{len(text.encode())}">{escape(text)}</text>
    </revision>
  </page>
"""


def header(wiki: str, namespaces: Iterable[tuple[int, str]] = ()) -> str:
    listed = "".join(
        f'      <namespace key="{key}" case="first-letter">{name}</namespace>\n' for key, name in namespaces
    )
    return f"""<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.10/" version="0.10" xml:lang="{wiki}">
  <siteinfo>
    <sitename>Wiki</sitename>
    <dbname>{wiki}</dbname>
    <namespaces>
      <namespace key="0" case="first-letter" />
{listed}    </namespaces>
  </siteinfo>
"""


def write_pages(path: Path, pages: list[str], head: str, per_stream: int = 0) -> Path:
    """Write a dump, packed by the suffix of its name; `per_stream` pages per bz2 stream as in multistream dumps."""
    whole = "".join([head, *pages, "</mediawiki>\n"]).encode()
    if path.suffix == ".bz2" and per_stream:
        groups = ["".join(pages[start : start + per_stream]) for start in range(0, len(pages), per_stream)]
        packed = b"".join(bz2.compress(part.encode()) for part in [head, *groups, "</mediawiki>\n"])
    elif path.suffix == ".bz2":
        packed = bz2.compress(whole)
    elif path.suffix == ".gz":
        packed = gzip.compress(whole)
    else:
        packed = lzma.compress(whole) if path.suffix == ".xz" else whole
    path.write_bytes(packed)
    return path


def item(number: int, titles: dict[str, str], classes: Iterable[str] = ("Q515",)) -> bytes:
    claims = [
        {"mainsnak": {"snaktype": "value", "property": "P31", "datavalue": {"value": {"id": name}}}, "rank": "normal"}
        for name in classes
    ]
    sites = {f"{code}wiki": {"site": f"{code}wiki", "title": title, "badges": []} for code, title in titles.items()}
    return json.dumps(
        {"type": "item", "id": f"Q{number}", "labels": {}, "claims": {"P31": claims}, "sitelinks": sites}
    ).encode()


def write_table(path: Path, table: str, columns: list[str], rows: list[str]) -> Path:
    lines = [f"CREATE TABLE `{table}` (", *(f"  `{name}` varbinary(255) NOT NULL," for name in columns), ");"]
    lines.append(f"INSERT INTO `{table}` VALUES {','.join(rows)};")  # noqa: S608 - a file, not a query
    path.write_bytes(gzip.compress("\n".join([*lines, ""]).encode()))
    return path


@dataclass
class World:
    """The dumps of a world in a folder, and what must come out of them."""

    folder: Path
    # (language, surface, item, frequency bin) of every viable mention.
    mentions: Counter[tuple[str, str, str, str]] = field(default_factory=Counter)
    # First sentence by item and language.
    descriptions: dict[str, dict[str, str]] = field(default_factory=dict)
    # Items and surfaces in the prose of English Wikipedia.
    pairs: Counter[tuple[str, str]] = field(default_factory=Counter)


def entity_title(level: int, place: int, code: str) -> str:
    return f"{NAMES[code]} {level}-{place}"


def homes(place: int) -> list[str]:
    """Return the languages of an entity's pages."""
    return [WIKIS[(place + step) % len(WIKIS)] for step in (0, 3, 7)]


def entity_number(level: int, place: int) -> int:
    return 1000 + 100 * level + place


def make_world(folder: Path) -> World:
    """Write the dumps of a world."""
    folder.mkdir(parents=True, exist_ok=True)
    world = World(folder)
    wikis = {code: _WikiPages(code) for code in WIKIS}
    items = []
    for place in range(len(WIKIS)):
        for level, frequency in enumerate(FREQUENCIES):
            items.append(_add_entity(world, wikis, level, place, frequency))
    items += _add_traps(world, wikis)
    for code in NEWS:
        _write_news(world, code)
    suffixes = {"en": "-multistream.xml.bz2", "de": ".xml.bz2", "fr": ".xml.gz", "hi": ".xml.xz"}
    for code, wiki in wikis.items():
        name = f"{code}wiki-20200301-pages-articles{suffixes.get(code, '.xml')}"
        write_pages(folder / name, wiki.pages, header(f"{code}wiki", [(6, wiki.file), (14, wiki.category)]), 4)
    packed = b"[\n" + b",\n".join(items) + b"\n]\n"
    (folder / "wikidata-20200302-all.json.bz2").write_bytes(bz2.compress(packed))
    return world


class _WikiPages:
    """Pages of a Wikipedia."""

    file, category = "Datei", "Kategorie"

    def __init__(self, code: str) -> None:
        self.code = code
        self.pages: list[str] = []

    def add(self, title: str, text: str, redirect: str = "", namespace: int = 0) -> int:
        number = 10 + len(self.pages)
        self.pages.append(page(title, number, text, redirect, namespace))
        return number

    def add_article(self, title: str, sentence: str) -> None:
        """Add an article with a first sentence."""
        opening = sentence.replace(title, f"'''{title}'''", 1)
        text = "{{Infobox|name=[[Red link]]\n|map={{Map|[[Red]]}}}}\n[[Datei:A.jpg|thumb|A [[Red]] caption.]]\n"
        stop = STOPS[self.code]
        text += f"{opening}{stop}{NAMES[self.code]} more{stop}<ref>[[Red]]</ref>\n\n== Section ==\nText.\n"
        self.add(title, f"{text}[[Kategorie:Things]]\n")


def _add_entity(world: World, wikis: dict[str, _WikiPages], level: int, place: int, frequency: int) -> bytes:
    number = entity_number(level, place)
    titles = {code: entity_title(level, place, code) for code in homes(place)}
    for code, title in titles.items():
        sentence = f"{title} (* 3.14) is number {number} of {NAMES[code]}"
        world.descriptions.setdefault(f"Q{number}", {})[code] = sentence + STOPS[code].rstrip()
        wikis[code].add_article(title, sentence)
    code = homes(place)[0]
    wiki, title = wikis[code], titles[code]
    wiki.add(f"Alias {title}", f"#REDIRECT [[{title}]]", redirect=title)
    wiki.add(f"Old {title}", f"#REDIRECT [[Alias {title}]]", redirect=f"Alias {title}")
    if not frequency:
        return item(number, titles)
    # Links of every form: through redirects, from another language, in templates, and in a list.
    other = wikis["fr" if code != "fr" else "hi"]
    other.add(f"Abroad {number}", f"Here :\n* [[:{code}:{title}|there]]\n<!-- [[:{code}:{title}]] -->")
    lines = [
        f"{{{{Box|[[Alias {title}|x]]}}}}",
        f"* [[old_{title.replace(' ', '_')}#Part|y]] <nowiki>[[{title}]]</nowiki>",
    ]
    wiki.add(f"List of links {number}", "\n".join(["Many links", *lines, *[f"* [[{title}]]"] * (frequency - 3)]))
    return item(number, titles)


def _add_traps(world: World, wikis: dict[str, _WikiPages]) -> list[bytes]:
    """Add pages that are not entities, entities without mentions, and prose of English Wikipedia."""
    items = []
    names = {"List": "Q13406463", "Ambiguous": "Q4167410", "Human names": "Q22808320", "Template page": "Q11266439"}
    for number, (name, class_name) in enumerate([*names.items(), ("Year page", "Q577")], 1):
        for code in NEWS:
            wikis[code].add_article(f"{name} {code}", f"{name} {code} is page {number}")
        items.append(item(number, {code: f"{name} {code}" for code in NEWS}, [class_name]))
        if number == 5:
            world.descriptions["Q5"] = {code: f"{name} {code} is page {number}." for code in NEWS}
            world.descriptions["Q5"]["ja"] = f"{name} ja is page {number}。"
    items.append(item(6, {"nn": "Norsk side", "commons": "X", "sv": "Svensk"}))
    # One of the 55 mentionable English entities in prose, instead of in a list.
    wikis["en"].add(
        "Prose", f"A walk from [[Prose target]]s to [[Elsewhere]]. It was {'long ' * 3}and [[List en|a list]]."
    )
    wikis["en"].add_article("Prose target", "Prose target is page 7")
    items.append(item(7, {"en": "Prose target"}))
    world.descriptions["Q7"] = {"en": "Prose target is page 7."}
    world.pairs["Q7", "Prose targets"] += 1
    return items


def _write_news(world: World, code: str) -> None:
    place = NEWS.index(code)
    titles = [entity_title(level, place, code) for level in range(5)]
    foreign, stop = homes(place)[1], STOPS[code]
    body = [
        "{{date|1 January}}",
        f"{NAMES[code]} [[w:{titles[0]}|zero]] and [[:w:{titles[1]}|one]] and [[w:{code}:{titles[2]}|two]]{stop}",
        f"{{{{w|{titles[3]}|three}}}} and again [[w:{titles[0]}|zero]], [[w:{titles[0]}|other]], [[w:2014|2014]] "
        f"and [[w:{titles[4]}|2015]]{stop}",
        "",
        f"Abroad: [[w:{foreign}:{entity_title(4, place, foreign)}|four]] & [[w:Alias {titles[4]}|alias]] "
        f"&amp; [[w:Old_{titles[4].replace(' ', '_')}#S|old]] <nowiki>[[w:{titles[4]}|no]]</nowiki>{stop}",
        f"Not these: [[{titles[0]}|local]], [[:de:{titles[0]}|news]], [[w:Year page {code}|last year]], "
        f"[[w:List {code}|list]], [[w:Ambiguous {code}|ambiguous]], "
        f"[[w:nn:Norsk side|norsk]], [[w:Red|red]], [[wikt:word|word]]{stop}",
        f"* [[w:{titles[1]}|in a list]]",
        f"[[Datei:B.jpg|thumb|caption [[w:{titles[1]}|in a caption]]]]",
        f"<!-- [[w:{titles[1]}|in a comment]] --> <ref>[[w:{titles[1]}|in a reference]]</ref>",
        f"{{| class=x\n| [[w:{titles[1]}|in a table]]\n|}}",
        "[[Kategorie:News]] [[fr:Version]]",
    ]
    level_of = {"zero": 0, "other": 0, "one": 1, "two": 2, "three": 3, "four": 4, "alias": 4, "old": 4}
    for surface, level in level_of.items():
        world.mentions[code, surface, f"Q{entity_number(level, place)}", BINS[level]] += 1
    pages = [
        page("News <1> & more", 100, "\n".join(body)),
        page("Moved", 101, "#REDIRECT [[News <1> & more]]", redirect="News <1> & more"),
        page("Talk:News", 102, f"[[w:{titles[0]}|talk]]", namespace=1),
        page("Data", 103, "{}", model="json"),
    ]
    head = header(f"{code}wikinews", [(6, "Datei"), (14, "Kategorie"), (1, "Talk")])
    write_pages(world.folder / f"{code}wikinews-20190101-pages-articles.xml.bz2", pages, head, 1)
