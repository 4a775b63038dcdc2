"""The table of all languages: known facts, every spelling, sources, and the scripts of texts."""

import importlib.util
import subprocess
import sys
import warnings
from collections import Counter
from pathlib import Path

import pytest

from isogloss.errors import UnknownNameError
from isogloss.languages import (
    UNKNOWN,
    all_languages,
    expected_scripts,
    further_languages,
    language,
    listed_language,
    world_languages,
)
from isogloss.languages.tags import MACROLANGUAGE_OF, SCRIPTS, parse_tag
from isogloss.languages.text_scripts import unexpected_script, unexpected_scripts
from isogloss.languages.world import all_codes, facts_of

SCRIPTS_FOLDER = Path(__file__).parents[2] / "scripts" / "languages"

# Written from ISO 639, Glottolog and the FLORES list: spelling, code.
SPELLINGS = """
aar aa AAR aa afar1241 aa Afar aa swah1253 sw Kiswahili sw iw he in id ji yi jw jv mo ro ger de fre fr chi zh cmn zh
zh-cmn zh zh-yue yue ar-arz arz mand1415 zh bamb1269 bm Nyanja ny Manipuri mni Huichol hch dik dik din din tgl tl
fil fil hbs sh nob nb nor no eng_Latn en ace_Arab ace-Arab kmr_Latn ku Engenni enn gsw gsw tlh_Latn -
""".split()

# Written from Glottolog and ISO 639-3: code, name, family, branch, script, macroarea.
FACTS = """
aa Afar Afro-Asiatic Cushitic Latn Africa
haw Hawaiian Austronesian Malayo-Polynesian Latn Papunesia
nv Navajo Athabaskan-Eyak-Tlingit Athabaskan-Eyak Latn North-America
chr Cherokee Iroquoian Iroquoian Cher North-America
dv Divehi Indo-European Indo-Aryan Thaa Eurasia
ab Abkhazian Abkhaz-Adyge Abkhaz-Abaza Cyrl Eurasia
jam Jamaican-Creole-English Creole English-based Latn North-America
mfe Morisyen Creole French-based Latn Africa
dje Zarma Nilo-Saharan Songhay Latn Africa
gsw Swiss-German Indo-European Germanic Latn Eurasia
wuu Wu-Chinese Sino-Tibetan Sinitic Hans Eurasia
ain Ainu Ainu Hokkaido-Kuril-Ainu Kana Eurasia
"""


@pytest.mark.parametrize(("spelling", "code"), list(zip(SPELLINGS[::2], SPELLINGS[1::2], strict=True)))
def test_every_spelling_has_one_entry(spelling, code):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        entry = listed_language(spelling)
    assert (entry.code if entry else "-") == code


@pytest.mark.parametrize("fact", FACTS.strip().splitlines(), ids=lambda fact: fact.split()[0])
def test_facts_of_languages_beyond_benchmarks(fact):
    code, *expected = fact.split()
    entry = language(code)
    found = (entry.name, entry.family, entry.branch, entry.script, entry.macroarea)
    assert [text.replace(" ", "-") for text in found] == expected


def test_table_is_sorted_complete_and_well_formed():
    codes = all_codes()
    assert codes == sorted(set(codes))
    assert len(codes) > 7800
    entries = world_languages()
    assert [entry.code for entry in entries] == codes
    assert {entry.code for entry in (*all_languages(), *further_languages())} <= set(codes)
    for entry in entries:
        facts = entry.facts
        tag = parse_tag(entry.code)
        assert tag is not None and str(tag) == entry.code
        assert entry.name and entry.family and entry.branch
        assert set(facts.scripts) <= SCRIPTS
        assert facts.macrolanguage == "" or facts_of(facts.macrolanguage) is not None
        assert (entry.latitude is None) == (entry.longitude is None)
        assert entry.latitude is None or (-90 <= entry.latitude <= 90 and -180 <= entry.longitude <= 180)
        assert entry.speakers is None or 0 < entry.speakers < 3e9


def test_every_code_finds_its_entry_and_varieties_their_macrolanguage():
    for code in all_codes():
        found = listed_language(code)
        assert found is not None and found.code == code
    for variety, code in MACROLANGUAGE_OF.items():
        found = listed_language(variety)
        assert found is not None and found.code == code


def test_most_is_known_about_most_languages():
    known = Counter()
    for entry in world_languages():
        known["family"] += entry.family != UNKNOWN
        known["script"] += entry.script != UNKNOWN
        known["place"] += entry.latitude is not None
        known["glottocode"] += entry.glottocode is not None
        known["speakers"] += entry.speakers is not None
    total = len(all_codes())
    assert {name: round(count / total, 1) for name, count in known.items()} == {
        "family": 1.0,
        "script": 0.9,
        "place": 1.0,
        "glottocode": 1.0,
        "speakers": 0.2,
    }


def test_numbers_and_their_sources():
    bambara = language("bm")
    assert (bambara.glottocode, bambara.latitude, bambara.longitude) == ("bamb1269", 12.9, -7.7)
    assert (bambara.speakers, bambara.macroarea) == (10_600_000, "Africa")
    assert bambara.sources["latitude"] == "Glottolog 5.1"
    assert bambara.sources["speakers"] == "CLDR 48"
    assert language("quy").sources["speakers"] == "van Esch et al. 2022"
    assert "corrected by hand" in language("zh-Hant").sources["latitude"]
    assert language("en").sources["wikipedia_articles"] == "XTREME-R, Table 7"
    assert "wikipedia_articles" not in language("ha").sources
    assert language("xh").wikipedia_articles is None


@pytest.mark.filterwarnings("ignore:language 'x-toy' is not listed")
def test_unlisted_language_has_no_facts():
    entry = language("x-toy")
    assert (entry.glottocode, entry.latitude, entry.speakers, entry.macroarea) == (None, None, None, UNKNOWN)
    assert entry.sources == {}


@pytest.mark.parametrize(
    "text",
    [
        "x",
        "x-",
        "-",
        "",
        " ",
        "\ud800",
        "é",
        "../en",
        "x-" + "a" * 9,
        "x" + "-a" * 2000,
        "a" * 100_000,
        "en-x",
        "en-output",
    ],
    ids=lambda text: ascii(text[:8]),
)
def test_malformed_tags_are_errors(text):
    assert parse_tag(text) is None
    with pytest.raises(UnknownNameError, match="unknown language"):
        language(text)


def test_misspelt_name_of_a_rare_language_suggests_it():
    with pytest.raises(UnknownNameError) as caught:
        language("Telefoll")
    assert "Telefol" in caught.value.fix


@pytest.mark.filterwarnings("ignore:language '.*' is not listed")
def test_expected_scripts():
    assert expected_scripts("sr") == {"Cyrl", "Latn"}
    assert expected_scripts("sr-Latn") == {"Latn"}
    assert expected_scripts("zh-TW") == expected_scripts("zh-Hant") == {"Hant"}
    assert expected_scripts("ace") == {"Latn"}
    assert expected_scripts("qaa") == frozenset()
    with pytest.raises(UnknownNameError):
        expected_scripts("en-Ltin")


@pytest.mark.filterwarnings("ignore:language '.*' is not listed")
def test_texts_in_another_script():
    cyrillic, nko = "добро јутро", "ߒߞߏ ߞߊ߲ ߠߋ߬"
    assert unexpected_script(cyrillic, "sr") == unexpected_script("dobro jutro", "sr") == ""
    assert unexpected_script(cyrillic, "sr-Latn") == "Cyrl"
    assert (unexpected_script(nko, "nqo"), unexpected_script(nko, "zu")) == ("", "Nkoo")
    # Japanese may have only Chinese characters, and traditional ones are not told from simplified ones.
    assert unexpected_script("東京都", "ja") == unexpected_script("東京都", "zh") == ""
    # Too short, or in a language with unknown scripts.
    assert unexpected_script("я", "en") == unexpected_script(cyrillic, "qaa") == ""
    assert unexpected_scripts(["hello there", cyrillic, "12", nko, cyrillic], "en") == {"Cyrl": 2, "Nkoo": 1}


def test_languages_of_the_papers_need_no_table():
    script = (
        "from isogloss.languages import language, world; language('sw'), language('swh'), language('Swahili'); "
        "assert world._table.cache_info().currsize == 0; language('bm').latitude; "
        "assert world._table.cache_info().currsize == 1"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


def test_hand_written_tables_have_reasons_and_are_in_the_result():
    tables = {path.stem: path.read_text(encoding="utf-8").splitlines() for path in SCRIPTS_FOLDER.glob("*.tsv")}
    for name in ("corrections", "nodes"):
        assert all(line.split("\t")[3].strip() for line in tables[name][1:])
    assert tables["listed"][1:] == [entry.code for entry in further_languages()]
    for line in tables["corrections"][1:]:
        code, field, value, _ = line.split("\t")
        entry = language(code)
        if field != "speakers_of":
            shown = {"macroarea": entry.macroarea[:1], "individual": entry.individual}.get(field)
            assert (shown or str(getattr(entry, field)).removesuffix(".0")) == value, (code, field)


def test_build_script_refuses_other_files(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(SCRIPTS_FOLDER)
    spec = importlib.util.spec_from_file_location("build_languages", SCRIPTS_FOLDER / "build.py")
    build = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(build)
    for name in build.CHECKSUMS:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("other", encoding="utf-8")
    with pytest.raises(SystemExit, match="expected the file with SHA-256"):
        build.check(tmp_path)
