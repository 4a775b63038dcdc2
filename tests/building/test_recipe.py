"""Every step of the recipe on small worlds, with the right answer worked out by hand or from the written files."""

import json
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import isogloss
from building import made_dumps
from isogloss.building.mewslix import MewslixSettings, build_mewslix
from isogloss.errors import DataError

BORDERS = {0: 0, 1: 1, 9: 1, 10: 2, 99: 2, 100: 3, 999: 3, 1000: 4}
# Entities mentioned in news, by language and frequency bin, and entities without a mention, by bin.
MENTIONED = {("de", 0): 8, ("de", 1): 2, ("de", 2): 8, ("en", 0): 3, ("en", 1): 8}
OTHERS = {0: 40, 1: 6, 2: 40}
FREQUENCY = (0, 1, 10)
LANGUAGES = ("de", "en", "fr")


class Made:
    """A world in German, English and French: entities with pages in all three, linked by a list and in news."""

    def __init__(self) -> None:
        self.items: list[bytes] = []
        self.pages: dict[str, list[str]] = {code: [] for code in LANGUAGES}
        self.links: list[str] = []
        self.bins: dict[str, int] = {}

    def add(self, frequency: int, bin_number: int) -> str:
        number = len(self.items) + 1
        titles = {code: f"{code.capitalize()} {number}" for code in LANGUAGES}
        for code, title in titles.items():
            self.pages[code].append(made_dumps.page(title, number, f"{title} is a thing in {code}. More."))
        self.items.append(made_dumps.item(number, titles))
        self.links += [f"* [[{titles['fr']}]]"] * frequency
        self.bins[f"Q{number}"] = bin_number
        return str(number)

    def write(self, folder: Path, news: dict[str, str]) -> None:
        folder.mkdir()
        self.pages["fr"].append(made_dumps.page("Liste", 900_000, "\n".join(["Une liste", *self.links])))
        for code, pages in self.pages.items():
            head = made_dumps.header(f"{code}wiki")
            made_dumps.write_pages(folder / f"{code}wiki-20200101-pages-articles.xml", pages, head)
        for code, text in news.items():
            made_dumps.write_pages(
                folder / f"{code}wikinews-20200101-pages-articles.xml",
                [made_dumps.page("News", 1, text)],
                made_dumps.header(f"{code}wikinews"),
            )
        (folder / "all.json").write_bytes(b"[\n" + b",\n".join(self.items) + b"\n]\n")


def settings(**changes: Any) -> MewslixSettings:
    plain = MewslixSettings(languages=("de", "en"), description_languages=LANGUAGES, test=20, dev=0, candidates=60)
    return replace(plain, **changes)


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def mentions(out: Path, split: str = "test") -> list[tuple[str, str, str]]:
    """Return language, item and bin of the mentions that were written."""
    return [
        (record["context"]["language"], each["entity_id"], each["metadata"]["bin_name"])
        for record in lines(out / f"mewslix/wikinews_mentions-{split}.jsonl")
        for each in record["mentions"]
    ]


def candidates(out: Path) -> dict[str, str]:
    """Return the items of the candidate set with the languages of their descriptions."""
    records = lines(out / "mewslix/candidate_set_entities.jsonl")
    found = {each["entity_id"]: each["description_language"] for each in records}
    assert len(found) == len(records)
    return found


@pytest.fixture(scope="module")
def strata(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Made]:
    made = Made()
    news: dict[str, str] = {"de": "", "en": ""}
    for (code, number), count in MENTIONED.items():
        for _ in range(count):
            name = made.add(FREQUENCY[number], number)
            news[code] += f"Here is [[w:{code.capitalize()} {name}|name {name}]] today.\n\n"
    for number, count in OTHERS.items():
        for _ in range(count):
            made.add(FREQUENCY[number], number)
    folder = tmp_path_factory.mktemp("strata") / "dumps"
    made.write(folder, news)
    return folder, made


def test_borders_of_the_frequency_bins(tmp_path: Path) -> None:
    made = Made()
    names = {made.add(frequency, number): number for frequency, number in BORDERS.items()}
    news = " ".join(f"[[w:De {name}|name {name}]]" for name in names)
    made.write(tmp_path / "dumps", {"de": f"Seen: {news}."})
    build_mewslix([tmp_path / "dumps"], out=tmp_path, settings=settings())
    found = {item: bin_name for _, item, bin_name in mentions(tmp_path)}
    assert found == {f"Q{name}": made_dumps.BINS[number] for name, number in names.items()}


def test_strata_of_mentions_and_of_candidates(strata: tuple[Path, Made], tmp_path: Path) -> None:
    folder, made = strata
    build_mewslix([folder], out=tmp_path, settings=settings())
    drawn = mentions(tmp_path)
    # 20 mentions from strata of 8, 2, 8, 3 and 8: all of the two smallest, and 5 of each other.
    assert Counter((code, made.bins[item]) for code, item, _ in drawn) == {
        ("de", 0): 5, ("de", 1): 2, ("de", 2): 5, ("en", 0): 3, ("en", 1): 5,
    }  # fmt: skip
    # 20 gold entities (8, 7 and 5 by bin), and 40 of those left: 43, 9 and 43, so all 9, and then 16 and 15.
    gold = {item for _, item, _ in drawn}
    found = candidates(tmp_path)
    assert gold <= set(found)
    assert Counter(made.bins[item] for item in set(found) - gold) == {0: 16, 1: 9, 2: 15}
    assert len(found) == 60


def test_candidates_in_natural_proportions(strata: tuple[Path, Made], tmp_path: Path) -> None:
    folder, made = strata
    build_mewslix([folder], out=tmp_path, settings=settings(candidates=39, natural_frequencies=True))
    gold = {item for _, item, _ in mentions(tmp_path)}
    # 19 of 43, 9 and 43: 8.6, 1.8 and 8.6.
    assert Counter(made.bins[item] for item in set(candidates(tmp_path)) - gold) == {0: 9, 1: 2, 2: 8}


def test_table_of_languages_as_in_the_paper(strata: tuple[Path, Made], tmp_path: Path) -> None:
    build_mewslix([strata[0]], out=tmp_path, settings=settings(description_languages=("fr", "de", "en")))
    described = candidates(tmp_path)
    expected = Counter((described[item], code) for code, item, _ in mentions(tmp_path))
    text = (tmp_path / "mewslix/datasheet.md").read_text(encoding="utf-8")
    table = text.partition("by mention language (columns) and description language (rows)\n\n")[2].split("\n\n")[0]
    head, _, *rows, last = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()]
    assert head == ["", "de", "en", "total"]
    assert [row[0] for row in rows] == ["de", "en", "fr"]  # languages of mentions first
    for code, *counts in rows:
        row = [expected[code, "de"], expected[code, "en"]]
        assert counts == [str(count) for count in (*row, sum(row))]
    assert last == ["total", "12", "8", "20"]


def test_splits_share_no_entity_and_divide_them_by_their_sizes(strata: tuple[Path, Made], tmp_path: Path) -> None:
    build_mewslix([strata[0]], out=tmp_path, settings=settings(test=500, dev=500))
    test, dev = ({item for _, item, _ in mentions(tmp_path, split)} for split in ("test", "dev"))
    assert not test & dev
    assert len(test | dev) == sum(MENTIONED.values())  # every mention is in one of them
    assert 6 <= len(test) <= 23  # 14.5 on average: outside with a probability of 0.001


def test_descriptions_are_in_each_language_equally_often(tmp_path: Path) -> None:
    made = Made()
    for _ in range(600):
        made.add(0, 0)
    made.write(tmp_path / "dumps", {"de": "Here is [[w:De 1|one]] today."})
    build_mewslix([tmp_path / "dumps"], out=tmp_path, settings=settings(candidates=600))
    counts = Counter(candidates(tmp_path).values())
    # 200 of each; the standard deviation is 11.5.
    assert set(counts) == set(LANGUAGES)
    assert all(155 <= count <= 245 for count in counts.values())


def test_bins_without_distinct_descriptions_leave_their_places_to_others(tmp_path: Path) -> None:
    made = Made()
    for number in range(40):
        made.add(FREQUENCY[number % 2], number % 2)
    # All pages of entities in the second bin have the same first sentence.
    for pages in made.pages.values():
        pages[1::2] = [re.sub(">[^<]* is a thing in [a-z]+", ">It is the same", page) for page in pages[1::2]]
    made.write(tmp_path / "dumps", {"de": "Here is [[w:De 1|one]] today."})
    result = build_mewslix([tmp_path / "dumps"], out=tmp_path, settings=settings(candidates=21))
    # The sentence is the same in three languages, so one of 20 entities can have it, and 20 are of the first bin.
    assert Counter(made.bins[item] for item in candidates(tmp_path)) == {0: 20, 1: 1}
    assert result.datasheet.notes["entities that share all their descriptions"] == 19


def test_pairs_follow_the_natural_distribution(tmp_path: Path) -> None:
    made = Made()
    often, seldom, gold = (made.add(0, 0) for _ in range(3))
    for number in range(400):
        name = seldom if number % 4 == 0 else often
        text = f"Page {number} is about [[En {name}|thing {number}]] here."
        made.pages["en"].append(made_dumps.page(f"Page {number}", 1000 + number, text))
    made.write(tmp_path / "dumps", {"de": f"Here is [[w:De {gold}|one]] today."})
    build_mewslix([tmp_path / "dumps"], out=tmp_path, settings=settings(candidates=1, pairs=200, pair_pages=1.0))
    pairs = lines(tmp_path / "mewslix/wikipedia_pairs-train.jsonl")
    found = Counter(each["entity"]["entity_id"] for each in pairs)
    assert set(found) == {f"Q{often}", f"Q{seldom}"}
    assert found.total() == 200
    assert abs(found[f"Q{often}"] - 150) < 5 * np.sqrt(200 * 0.75 * 0.25)
    for each in pairs:
        context, span = each["contextual_mention"]["context"], each["contextual_mention"]["mention"]["mention_span"]
        assert context["text"][span["start"] : span["end"]] == span["text"]
        assert each["entity"]["description_language"] == "en"


def test_years_in_any_digits_and_repeated_pages(tmp_path: Path) -> None:
    made = Made()
    name = made.add(0, 0)
    text = f"In [[w:De {name}|2014]], [[w:De {name}|٢٠١٤]], [[w:De {name}|2014年]] and [[w:De {name}|name]] it was."
    made.write(tmp_path / "dumps", {"de": text})
    news = tmp_path / "dumps/dewikinews-20200101-pages-articles.xml"
    whole = news.read_text(encoding="utf-8")
    page = whole[whole.index("  <page>") : whole.index("</mediawiki>")]
    news.write_text(whole.replace(page, page * 3), encoding="utf-8")
    for code in LANGUAGES:
        path = tmp_path / f"dumps/{code}wiki-20200101-pages-articles.xml"
        whole = path.read_text(encoding="utf-8")
        page = whole[whole.index("  <page>") : whole.index("</page>") + 7]
        path.write_text(whole.replace(page, page * 2), encoding="utf-8")
    result = build_mewslix([tmp_path / "dumps"], out=tmp_path, settings=settings())
    assert mentions(tmp_path) == [("de", f"Q{name}", made_dumps.BINS[0])]
    assert result.datasheet.extraction["de"] == {"in a repeated page": 8, "viable": 1, "years": 3}
    assert len(candidates(tmp_path)) == 1


def test_files_of_an_earlier_build_do_not_remain(strata: tuple[Path, Made], tmp_path: Path) -> None:
    build_mewslix([strata[0]], out=tmp_path, settings=settings(dev=5))
    (tmp_path / "mewslix/wikipedia_pairs-train.jsonl").write_text("of another build\n")
    again = build_mewslix([strata[0]], out=tmp_path, settings=settings(pairs=0))
    assert {*(tmp_path / "mewslix").iterdir()} == {*again.files}
    assert not (tmp_path / "mewslix/wikinews_mentions-dev.jsonl").exists()


def test_warnings_say_what_is_missing(strata: tuple[Path, Made], tmp_path: Path) -> None:
    (tmp_path / "enwiki-empty-pages-articles.xml").write_text("nothing")
    wanted = settings(languages=("de", "en", "sw"), description_languages=(*LANGUAGES, "yo"), test=30)
    assert build_mewslix([strata[0], tmp_path], out=tmp_path / "out", settings=wanted).datasheet.warnings == [
        "29 of 30 test mentions: the dumps have no more",
        "0 of 115,000 training pairs: the dumps have no more",
        "no mentions in sw",
        "no Wikipedia dump in 1 of the description languages: yo",
        "nothing was read from enwiki:enwiki-empty-pages-articles.xml",
    ]


def test_any_languages_are_a_task_of_their_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ISOGLOSS_TASKS", "")  # restored after the test
    folder = tmp_path / "dumps"
    folder.mkdir()
    pages = [
        made_dumps.page("Nairobi", 1, "Nairobi ni mji mkuu wa [[Kenya]]. Zaidi."),
        made_dumps.page("Kenya", 2, "Kenya ni nchi ya Afrika. [[Nairobi]] ni mji mkuu."),
    ]
    made_dumps.write_pages(folder / "swwiki-20200101-pages-articles.xml", pages, made_dumps.header("swwiki"))
    (folder / "all.json").write_bytes(
        made_dumps.item(1, {"sw": "Nairobi"}) + b"\n" + made_dumps.item(2, {"sw": "Kenya"})
    )
    chosen = MewslixSettings(
        languages=("sw",),
        description_languages=("sw",),
        mentions_from="wikipedia",
        test=2,
        dev=0,
        candidates=2,
        pairs=0,
    )
    build_mewslix([folder], out=tmp_path, settings=chosen, task="kiswahili")
    path = tmp_path / "mewslix/kiswahili.toml"
    assert path.read_text(encoding="utf-8").split("\n")[2:] == [
        'languages = ["sw"]', 'data = ".."', "", "[counts]", 'test = "sw 2"', ""
    ]  # fmt: skip
    examples = isogloss.load(str(path), "sw", "test", tmp_path)
    assert sorted(targets[0] for targets in examples["targets"]) == ["Q1", "Q2"]
    declared = isogloss.task(str(path))
    assert (declared.id, declared.base_id, declared.kind, declared.languages) == (
        "kiswahili",
        "mewslix",
        "pool",
        ("sw",),
    )
    with pytest.raises(DataError, match="2 examples, but kiswahili/sw test has 3"):
        path.write_text(path.read_text(encoding="utf-8").replace("sw 2", "sw 3"), encoding="utf-8")
        isogloss.load(str(path), "sw", "test", tmp_path)
