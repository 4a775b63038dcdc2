"""Running text of wikitext: links with exact positions, everything else left out, malformed markup survived."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from isogloss.building.titles import LinkResolver, Wiki, normal_title, wiki_of
from isogloss.building.wikitext import linked_titles, prose_of
from isogloss.errors import DataError

GERMAN = {"datei": 6, "kategorie": 14, "wikipedia": 4, "portal": 100}


def resolver(wiki: str = "dewiki") -> LinkResolver:
    return LinkResolver(wiki_of(wiki), GERMAN)


def shown(wikitext: str, wiki: str = "dewiki") -> tuple[str, list[tuple[str, str, str]]]:
    prose = prose_of(wikitext, resolver(wiki), Counter())
    return prose.text, [
        (prose.text[each.start : each.end], each.target.code, each.target.title) for each in prose.links
    ]


@pytest.mark.parametrize(
    ("wikitext", "text", "links"),
    [
        ("Das [[Haus]].", "Das Haus.", [("Haus", "de", "Haus")]),
        ("[[haus|Häuser]] ''und'' '''mehr'''", "Häuser und mehr", [("Häuser", "de", "Haus")]),
        ("[[Stadt]]ß-Teil [[Land]]X", "Stadtß-Teil LandX", [("Stadtß", "de", "Stadt"), ("Land", "de", "Land")]),
        ("a [[:en:House]] b [[en:House]] c", "a en:House b c", [("en:House", "en", "House")]),
        ("x [[Haus#Teil|T]] y [[#Teil|Z]]", "x T y Z", [("T", "de", "Haus")]),
        ("[[Rock_%26_Roll|R]] &amp; [[A &amp; B|C]]", "R & C", [("R", "de", "Rock & Roll"), ("C", "de", "A & B")]),
        ("A{{T|[[B]]|{{U|}}}} c{{!}}.", "A c.", []),
        ("vor\n{|\n| [[B]]\n{|\n|}\n|}\nnach", "vor\n\nnach", []),
        ("vor <ref>[[B]]</ref><ref name=x/> nach", "vor nach", []),
        ("[[Datei:A.jpg|thumb|[[B]] in [[C|D]]]]E", "E", []),
        ("[[Bild:A.jpg|thumb|B]]E [[Kategorie:X]] [[:Kategorie:X|K]]", "E K", []),
        ("[http://x.org/a Seite] [[B]] http://y", "Seite B http://y", [("B", "de", "B")]),
        ("<nowiki>[[B]] ''x''</nowiki> y", "[[B]] ''x'' y", []),
        ("* [[B]]\n# [[C]]\n: [[D]]\n== [[E]] ==\nText [[F]]", "Text F", [("F", "de", "F")]),
        ("Berlin ({{IPA|x}}; {{y}}, Stadt) ({{z}}) ist", "Berlin (Stadt) ist", []),
        ("Berlin (deutsch: Berlin, {{IPA|x}}, ) ist", "Berlin (deutsch: Berlin) ist", []),
        ("eins\nzwei\n\ndrei", "eins\nzwei\n\ndrei", []),
        ("a&nbsp;[[ B | C ]]&shy;d", "a C \xadd", [("C", "de", "B")]),
        ("<!-- [[B]] -->a <!-- offen [[C]]", "a", []),
        ("{{nowrap|zehn Meter}} {{lang|en|home}}", "zehn Meter home", []),
    ],
)
def test_prose(wikitext: str, text: str, links: list[tuple[str, str, str]]) -> None:
    assert shown(wikitext) == (text, links)


@pytest.mark.parametrize(
    ("wikitext", "links"),
    [
        ("[[w:Haus]]", [("w:Haus", "de", "Haus")]),
        ("[[w:en:House|x]]", [("x", "en", "House")]),
        ("[[:w:zh-yue:X|x]]", [("x", "zh-yue", "X")]),
        ("[[en:w:House|x]]", []),  # a version of the news, not shown
        ("[[:en:w:House|x]]", [("x", "en", "House")]),
        ("[[:en:House|x]]", []),  # English news
        ("[[Haus|x]]", []),
        ("[[wikipedia:Haus|x]]", []),  # GERMAN lists it as a namespace of its own
        (
            "{{w|Haus}} {{W|house|x|lang=en}} {{w|1=Haus|2=y}}",
            [("Haus", "de", "Haus"), ("x", "en", "House"), ("y", "de", "Haus")],
        ),
        ("[[w:Datei:A.jpg|x]] [[wikt:x|x]] [[d:Q1|x]]", []),
    ],
)
def test_links_of_news(wikitext: str, links: list[tuple[str, str, str]]) -> None:
    assert shown(wikitext, "dewikinews")[1] == links


@pytest.mark.parametrize(
    ("text", "title"),
    [
        (" foo__bar  ", "Foo bar"), ("ßa", "ßa"), ("ა", "ა"), ("éa", "Éa"), ("e\u0301a", "Éa"), ("i", "I"),
        ("a\u200eb", "Ab"), ("%C3%A9", "é".upper()), ("ŉ", "ŉ"), ("", ""),
    ],
)  # fmt: skip
def test_titles_as_mediawiki_stores_them(text: str, title: str) -> None:
    assert normal_title(text) == title


def test_every_link_counts_for_frequencies() -> None:
    text = "{{Box|[[A]]|b=[[b|B]]}} [[Datei:X.jpg|thumb|[[C]]]]\n* [[D#x|y]] <!-- [[E]] --> <nowiki>[[F]]</nowiki> [[G"
    assert list(linked_titles(text)) == ["A", "b", "Datei:X.jpg", "C", "D#x"]


def test_malformed_markup_is_counted_and_costs_only_itself() -> None:
    counts: Counter[str] = Counter()
    prose = prose_of("{{Offen\n}} a }} b [[c [[D]] <ref>e\n\n[[F|g]] {{x", resolver(), counts)
    assert [each.target.title for each in prose.links] == ["D", "F"]
    assert (counts["unbalanced braces"], counts["unbalanced links"], counts["unbalanced elements"]) == (2, 1, 1)


@given(
    st.lists(
        st.sampled_from(
            "[[ ]] {{ }} {| |} | ' '' <ref> </ref> <nowiki> <!-- --> a B : \n * = &amp; ß 都 [ ] w: Datei:".split(" ")
        )
    )
)
def test_positions_of_any_markup(pieces: list[str]) -> None:
    for wiki in ("dewiki", "dewikinews"):
        prose = prose_of("".join(pieces), resolver(wiki), Counter())
        for link in prose.links:
            surface = prose.text[link.start : link.end]
            assert surface
            assert surface == surface.strip()
            assert link.target.kind == "article"


HOSTILE = {
    "{{": 300_000, "[[": 300_000, "<ref>": 200_000, "{{a|": 200_000, "[[Datei:x|": 60_000, "(": 500_000,
    ", ": 500_000, "<!--": 200_000, "''": 300_000, "{|\n": 200_000, "a ": 5_000_000, "( ,": 200_000, "<": 300_000,
    "{{w|": 100_000,
}  # fmt: skip


@pytest.mark.parametrize("mark", HOSTILE)
def test_hostile_markup(mark: str) -> None:
    # Takes a second; quadratic steps would take minutes to hours.
    hostile = mark * HOSTILE[mark]
    closed = "}}" * HOSTILE[mark] if mark == "{{a|" else ""
    prose = prose_of(f"{hostile}{closed}\n\nEnd [[w:Haus|x]].", resolver("dewikinews"), Counter())
    assert prose.text.endswith("End x.") or mark == "<!--"
    assert [link.target.title for link in prose.links] == ([] if mark == "<!--" else ["Haus"])
    assert sum(1 for _ in linked_titles(hostile)) in (0, HOSTILE[mark])


def test_unknown_wiki() -> None:
    assert wiki_of("zh_yuewiki") == Wiki("wikipedia", "zh-yue")
    assert wiki_of("dewikinews").name == "dewikinews"
    with pytest.raises(DataError, match="unknown wiki"):
        wiki_of("xxwiki")
