"""CoNLL-U on the real treebanks: words and tags as in XTREME's own files, offsets, tags of fused tokens."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

from isogloss.data import files
from isogloss.data.conllu import Sentence, sentences

WHOLE = "af bg el en es et eu fa fi he hu id it ja kk ko lt mr nl pl pt ro ta te th tl tr uk ur vi wo yo zh"
PARTIAL = "ar de fr hi ru"  # XTREME's files also contain other treebanks or a few more sentences


def treebank(data_dir: Path, pattern: str, language: str) -> list[Sentence]:
    paths = files.find_all(data_dir / "udpos" / "conllu", pattern)
    assert paths, pattern
    return [s for path in paths for s in sentences(files.lines(path), language, path.name)]


def prepared(data_dir: Path, name: str) -> list[list[str]]:
    """Return the lines of each sentence in one of XTREME's own files."""
    [path] = files.find_all(data_dir / "udpos" / "xtreme_r_tsv", name)
    return [block.split("\n") for block in files.read_text(path).strip("\n").split("\n\n")]


@pytest.fixture(scope="module", params=f"{WHOLE} {PARTIAL}".split())
def tested(request: pytest.FixtureRequest, data_dir: Path) -> tuple[str, list[Sentence]]:
    return request.param, treebank(data_dir, f"{request.param}_*-ud-test.conllu", request.param)


def test_words_equal_those_of_xtreme(tested: tuple[str, list[Sentence]], data_dir: Path) -> None:
    language, ours = tested
    theirs = prepared(data_dir, f"test-{language}.tsv")
    if language in WHOLE.split():
        assert [s.words for s in ours] == theirs
    else:
        remaining = iter(theirs)
        assert all(s.words in remaining for s in ours)


def test_offsets_find_every_form(tested: tuple[str, list[Sentence]]) -> None:
    for sentence in tested[1]:
        assert [sentence.text[start:end] for start, end in sentence.offsets] == sentence.forms
        assert not sentence.rebuilt, sentence.sent_id  # validated treebanks: their texts contain their forms


def test_tags_equal_those_of_xtreme(data_dir: Path) -> None:
    read = treebank(data_dir, "en_ewt-ud-dev.conllu", "en")
    ours = [[f"{word}\t{tag}" for word, tag in zip(s.words, s.tags, strict=True)] for s in read]
    theirs = prepared(data_dir, "dev-en.tsv")
    starts = [start for start, sentence in enumerate(theirs) if sentence == ours[0]]
    assert len(ours) == 2002
    assert any(theirs[start : start + len(ours)] == ours for start in starts)


# Derived by hand from the parts, their heads and the default precedence list: sent_id, token id, tag.
FUSED = {
    "he_htb": {
        ("5726", "28-29"): "NOUN",  # DET under NOUN
        ("5726", "5-7"): "NOUN",  # ADP under PRON under NOUN
        ("5726", "12-13"): "AUX",  # SCONJ beside AUX
        ("5770", "4-5"): "NUM",  # ADP beside NUM
        ("5772", "5-6"): "ADV",  # CCONJ beside ADV
        ("5912", "10-12"): "PRON",  # SCONJ beside PRON, ADP below
    },
    "tr_imst": {
        ("mst-0103", "18-19"): "NOUN",  # ADP under NOUN
        ("mst-0551", "4-5"): "NOUN",  # NOUN beside AUX
        ("mst-0790", "6-7"): "ADP",  # AUX under ADP
    },
    "tr_gb": {
        ("GK12-0012", "3-4"): "AUX",  # ADP beside AUX
        ("GK18-0007", "3-4"): "NOUN",  # PROPN under NOUN
    },
    "tr_pud": {("w05003050", "16-17"): "X"},  # NOUN two steps below X
    "pt_bosque": {
        ("CP981-4", "18-19"): "ADP",  # ADP beside DET
        ("CP981-3", "9-10"): "DET",  # ADP under DET
        ("CP981-3", "20-21"): "SCONJ",  # DET deeper than SCONJ
        ("CP984-2", "1-2"): "VERB",  # PRON under VERB
        ("CP996-3", "17-18"): "DET",  # SCONJ beside DET
    },
    "pt_gsd": {
        ("test-s128", "6-7"): "PROPN",  # ADP beside PROPN
        ("test-s413", "35-36"): "NUM",  # ADP beside NUM
    },
    "fa_seraji": {
        ("test-s8", "19-20"): "PRON",  # ADP under PRON
        ("test-s10", "53-54"): "NOUN",  # PRON under NOUN
        ("test-s13", "7-8"): "PRON",  # ADJ beside PRON
        ("test-s83", "1-2"): "CCONJ",  # ADP deeper than CCONJ
        ("test-s112", "24-25"): "ADP",  # ADP beside DET
        ("test-s365", "3-5"): "NOUN",  # ADP and PRON under NOUN
        ("test-s468", "19-20"): "AUX",  # NOUN four steps below AUX
    },
}


def surface_ids(lines: list[str]) -> list[str]:
    """Return the ids of the surface words of one sentence."""
    ids = [line.split("\t")[0] for line in lines if not line.startswith("#")]
    ranges = [tuple(map(int, number.split("-"))) for number in ids if "-" in number]
    hidden = {str(part) for first, last in ranges for part in range(first, last + 1)}
    return [number for number in ids if number not in hidden and "." not in number]


def expected_tag(lines: list[str], fused: str) -> str:
    """Return the tag of a fused token by the default list, from ancestor sets computed to a fixed point."""
    rows = {r[0]: r for r in (line.split("\t") for line in lines if not line.startswith("#"))}
    words = {number for number in rows if number.isdecimal()}
    above = {w: {rows[w][6], *(e.split(":")[0] for e in rows[w][8].split("|"))} & (words | {"0"}) for w in words}
    while (grown := {w: above[w].union(*(above.get(a, ()) for a in above[w])) for w in words}) != above:
        above = grown
    first, last = map(int, fused.split("-"))
    order = "VERB NOUN PROPN PRON ADJ NUM ADV INTJ AUX ADP DET PART CCONJ SCONJ X PUNCT".split()
    parts = [(len(above[w] - {w}), order.index(rows[w][3])) for w in map(str, range(first, last + 1))]
    return order[min(parts)[1]]


def fused_tokens(data_dir: Path, name: str) -> Iterator[tuple[list[str], str, str, str, str]]:
    """Yield each fused token of a test file: the lines of its sentence, sent_id, token id, word and tag."""
    [path] = files.find_all(data_dir / "udpos" / "conllu", f"{name}-ud-test.conllu")
    blocks = [block.split("\n") for block in files.read_text(path).strip("\n").split("\n\n")]
    for lines, read in zip(blocks, sentences(files.lines(path), name[:2]), strict=True):
        for number, word, tag in zip(surface_ids(lines), read.words, read.tags, strict=True):
            if "-" in number:
                yield lines, read.sent_id, number, word, tag


@pytest.mark.parametrize("name", [*FUSED, "ta_ttb", "wo_wtb", "pl_pdb"])
def test_tags_of_real_fused_tokens(name: str, data_dir: Path) -> None:
    found = {}
    for lines, sent_id, number, _, tag in fused_tokens(data_dir, name):
        found[sent_id, number] = tag
        assert tag == expected_tag(lines, number), (sent_id, number)
    by_hand = FUSED.get(name, {})
    assert {key: found[key] for key in by_hand} == by_hand


@pytest.mark.parametrize("name", ["de_gsd", "el_gdt", "es_pud", "fr_gsd", "it_isdt"])
def test_frequent_fused_words_have_xtremes_tags(name: str, data_dir: Path) -> None:
    """Compare with XTREME's tagged development files: frequent fused words mostly have the same tag."""
    ours: dict[str, Counter[str]] = defaultdict(Counter)
    for _, _, _, word, tag in fused_tokens(data_dir, name):
        ours[word][tag] += 1
    theirs: dict[str, Counter[str]] = defaultdict(Counter)
    for sentence in prepared(data_dir, f"dev-{name[:2]}.tsv"):
        for line in sentence:
            word, tag = line.split("\t")
            theirs[word][tag] += 1
    frequent = [word for word in ours if min(ours[word].total(), theirs[word].total()) >= 5]
    assert len(frequent) >= 2
    for word in frequent:
        assert ours[word].most_common(1)[0][0] == theirs[word].most_common(1)[0][0], word
