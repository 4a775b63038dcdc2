"""The table of all languages: known facts, every spelling, sources, and the scripts of texts."""

import gzip
import importlib.util
import json
import re
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
from isogloss.languages.text_scripts import fitting_scripts, unexpected_script
from isogloss.languages.world import all_codes, facts_of

SCRIPTS_FOLDER = Path(__file__).parents[2] / "scripts" / "languages"

# Written from ISO 639, Glottolog and the FLORES list: spelling, code.
SPELLINGS = """
aar aa AAR aa afar1241 aa Afar aa swah1253 sw Kiswahili sw iw he in id ji yi jw jv mo ro ger de fre fr chi zh cmn zh
zh-cmn zh zh-yue yue ar-arz arz mand1415 zh bamb1269 bm Nyanja ny Manipuri mni Huichol hch dik dik din din tgl tl
fil fil hbs sh nob nb nor no eng_Latn en ace_Arab ace-Arab kmr_Latn ku Engenni enn gsw gsw tlh_Latn -
""".split()

# Written from Glottolog and ISO 639-3: code, name, family, branch, script.
FACTS = """
aa Afar Afro-Asiatic Cushitic Latn
haw Hawaiian Austronesian Malayo-Polynesian Latn
nv Navajo Athabaskan-Eyak-Tlingit Athabaskan-Eyak Latn
chr Cherokee Iroquoian Iroquoian Cher
dv Divehi Indo-European Indo-Aryan Thaa
ab Abkhazian Abkhaz-Adyge Abkhaz-Abaza Cyrl
jam Jamaican-Creole-English Creole English-based Latn
mfe Morisyen Creole French-based Latn
dje Zarma Nilo-Saharan Songhay Latn
gsw Swiss-German Indo-European Germanic Latn
wuu Wu-Chinese Sino-Tibetan Sinitic Hans
ain Ainu Ainu Hokkaido-Kuril-Ainu Kana
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
    found = (entry.name, entry.family, entry.branch, entry.script)
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
        known["wikipedia"] += entry.wikipedia_articles is not None
    total = len(all_codes())
    assert {name: round(count / total, 1) for name, count in known.items()} == {
        "family": 1.0,
        "script": 0.9,
        "place": 1.0,
        "glottocode": 1.0,
        "speakers": 0.1,
        "wikipedia": 0.0,
    }
    assert known["wikipedia"] > 340


def test_numbers_and_their_sources():
    bambara = language("bm")
    assert (bambara.glottocode, bambara.latitude, bambara.longitude) == ("bamb1269", 12.9, -7.7)
    assert bambara.speakers == 10_600_000
    assert bambara.sources["latitude"] == "Glottolog 5.3"
    assert bambara.sources["speakers"] == "CLDR 48"
    assert language("quy").speakers is None and "speakers" not in language("quy").sources
    assert "corrected by hand" in language("zh-Hant").sources["latitude"]


def test_sizes_of_wikipedias():
    # Rounded from Wikistats. The Wikipedia als is Alemannic, although the code is Tosk Albanian's, and no is in Bokmål.
    expected = {"zu": 0.0124, "ceb": 6.12, "bm": 0.000931, "gsw": 0.0317, "sq": 0.106, "nb": 0.686, "yue": 0.151}
    assert {code: language(code).wikipedia_articles for code in expected} == expected
    assert language("zu").sources["wikipedia_articles"] == "Wikistats, June 2026"
    # The paper's figures stay; Hausa is not in its table.
    assert (language("en").wikipedia_articles, language("ha").wikipedia_articles) == (5.98, None)
    assert language("en").sources["wikipedia_articles"] == "XTREME-R, Table 7"
    assert {entry.code for entry in all_languages() if entry.facts.articles} == set()
    for code in ("ha", "quy", "zh-Hant"):
        assert language(code).wikipedia_articles is None
        assert "wikipedia_articles" not in language(code).sources


@pytest.mark.filterwarnings("ignore:language 'x-toy' is not listed")
def test_unlisted_language_has_no_facts():
    entry = language("x-toy")
    assert (entry.glottocode, entry.latitude, entry.speakers, entry.wikipedia_articles) == (None,) * 4
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
@pytest.mark.parametrize(
    ("text", "code", "script"),
    [
        ("добро јутро", "sr", ""),
        ("dobro jutro", "sr", ""),
        ("добро јутро", "sr-Latn", "Cyrl"),
        ("ߒߞߏ ߞߊ߲ ߠߋ߬", "nqo", ""),
        ("ߒߞߏ ߞߊ߲ ߠߋ߬", "zu", "Nkoo"),
        # Japanese may have only Chinese characters, and traditional ones are not told from simplified ones.
        ("東京都", "ja", ""),
        ("東京都", "zh", ""),
        # Too short, or in a language with unknown scripts.
        ("я", "en", ""),
        ("добро јутро", "qaa", ""),
    ],
)
def test_texts_in_another_script(text: str, code: str, script: str):
    assert unexpected_script(text, fitting_scripts(code)) == script


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
            assert str(getattr(entry, field)).removesuffix(".0") == value, (code, field)


@pytest.fixture
def build(monkeypatch):
    """Return the build script as a module."""
    monkeypatch.syspath_prepend(SCRIPTS_FOLDER)
    spec = importlib.util.spec_from_file_location("build_languages", SCRIPTS_FOLDER / "build.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_build_script_refuses_other_packages(build, tmp_path):
    with pytest.raises(SystemExit, match=r"language_tags-1\.3\.2-.* is missing: see build\.py"):
        build.read_sources(tmp_path)
    for name in build.CHECKSUMS:
        (tmp_path / name).write_text("other", encoding="utf-8")
    with pytest.raises(SystemExit, match="expected the file with SHA-256"):
        build.read_sources(tmp_path)


def test_sources_are_pinned_packages(build):
    """The commands in the script download exactly the files that it checks."""
    commands = re.findall(r"[\w-]+(?:==|@)[\d.]+", build.__doc__)
    files = {re.sub(r"(-py3-none-any\.whl|\.tgz)$", "", name) for name in build.CHECKSUMS}
    assert {re.sub("==|@", "-", each).replace("language-tags", "language_tags") for each in commands} == files


def test_build_reads_glottolog_but_not_what_others_add(build, tmp_path, monkeypatch):
    def languoid(glottocode, level, **more):
        fields = dict.fromkeys(("iso_639_3", "bcp_47", "latitude", "longitude", "wikipedia"))
        return fields | {"__class__": "Languoid", "glottocode": glottocode, "level": level, "relations": {}} | more

    def below(name):
        return {"parent": [{"target_id": name, "metadata": {}}]}

    size = {"code": "tt-old", "article_count": 1234}
    entities = {
        "r": {"__class__": "GeographicRegion"},
        "1": languoid("fami1234", "family", name="Family"),
        "2": languoid("bran1234", "family", name="Branch", relations=below("1")),
        "3": languoid("lang1234", "language", name="Tongue", relations=below("2"), iso_639_3="ttt", latitude=1.25),
        "4": languoid("dial1234", "dialect", name="Dialect", relations=below("3"), iso_639_3="ddd"),
        "5": languoid("isol1234", "language", name="Isolate", bcp_47="tt", wikipedia=size),
        "6": languoid("gues1234", None, name="No level", iso_639_3="ggg"),  # not Glottolog's
    }
    monkeypatch.setattr(sys.modules["sources"], "HERE", tmp_path)
    (tmp_path / "nodes.tsv").write_text("glottocode\tfamily\tbranch\treason\nbran1234\t\tTwig\twhy\n", encoding="utf-8")
    glottolog = build.Glottolog(gzip.compress(json.dumps({"entities": entities}).encode()))
    assert glottolog.descent("lang1234") == glottolog.descent("dial1234") == ("Family", "Twig")
    assert glottolog.descent("isol1234") == ("Isolate", "isolate")
    assert glottolog.language("ttt").latitude == 1.25
    assert glottolog.language("ggg") is None and "gues1234" not in glottolog.entries
    assert glottolog.articles == {"tt-old": ("tt", 1234)}
