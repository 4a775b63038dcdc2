"""Languages beyond the papers' 51: tags, the table of further languages, and tags in neither."""

import json
import subprocess
import sys
import unicodedata
import warnings

import pytest

from isogloss.errors import UnknownNameError
from isogloss.languages import (
    CODES,
    UNKNOWN,
    all_languages,
    codes_meant_by,
    further_languages,
    language,
    listed_language,
    registry,
)
from isogloss.languages.tags import ISO3_OF, SCRIPTS, LanguageTag, parse_tag

# Written from the standards: spelling, shortest tag.
SHORTEST = """
zho_Hans zh zho_Hant zh-Hant ZH-hant zh-Hant yue_Hant yue kor_Hang ko jpn_Jpan ja ace_Latn ace ace_Arab ace-Arab
arb_Arab ar arb_Latn ar-Latn arz_Arab arz ewe ee ibo ig kin rw nya ny twi tw aka ak swa sw swh_Latn sw bam bm bbj bbj
pcm pcm quy quy quy_Latn quy aym ay ayr_Latn ay gn gn grn_Latn gn kas_Arab ks kas_Deva ks-Deva taq_Tfng taq-Tfng
tzm_Tfng tzm pbt_Arab ps kmr_Latn ku khk_Cyrl mn plt_Latn mg gaz_Latn om als_Latn sq lvs_Latn lv npi_Deva ne
ory_Orya or uzn_Latn uz ydd_Hebr yi knc_Latn kr knc_Arab kr-Arab nob_Latn nb nno_Latn nn est_Latn et pes_Arab fa
prs_Arab prs zsm_Latn ms azj_Latn az azb_Arab azb Zulu zu Cantonese yue
""".split()


@pytest.fixture(autouse=True)
def warned_about_nothing():
    registry._unlisted.cache_clear()


@pytest.mark.parametrize(("spelling", "tag"), list(zip(SHORTEST[::2], SHORTEST[1::2], strict=True)))
def test_every_spelling_has_one_shortest_tag(spelling, tag):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert language(spelling).code == tag
    assert listed_language(spelling) is language(tag)


def test_tags_are_read_with_hyphens_or_underscores_and_in_any_case():
    assert parse_tag("ZHO_hant_tw") == parse_tag("zh-Hant-TW") == LanguageTag("zh", "Hant", "TW")
    assert str(LanguageTag("es", "", "419")) == "es-419"
    assert [parse_tag(text) for text in ("", "e", "engl", "en-", "en-U", "en-Latn-USA", "en Latn", "zh-Hant-Latn")] == [
        None
    ] * 8


@pytest.mark.parametrize(
    ("name", "code", "shown", "family", "script", "iso3"),
    [
        ("xyz", "xyz", "xyz", UNKNOWN, UNKNOWN, "xyz"),
        ("xyz_Cyrl", "xyz-Cyrl", "xyz-Cyrl", UNKNOWN, "Cyrl", "xyz"),
        ("qaa", "qaa", "qaa", UNKNOWN, UNKNOWN, "qaa"),
        ("qaa_x_Mine", "qaa-x-mine", "qaa-x-mine", UNKNOWN, UNKNOWN, "qaa"),
        ("x-klingon", "x-klingon", "x-klingon", UNKNOWN, UNKNOWN, ""),
        ("zh-TW", "zh-TW", "Chinese (TW)", "Sino-Tibetan", "Hant", "zho"),
        ("ca-valencia", "ca-valencia", "Catalan (valencia)", "Indo-European", "Latn", "cat"),
        ("pt_BR", "pt-BR", "Portuguese (BR)", "Indo-European", "Latn", "por"),
        ("srp_Latn", "sr-Latn", "Serbian (Latn)", "Indo-European", "Latn", "srp"),
        ("zh-Hant-TW", "zh-Hant-TW", "Chinese (Traditional) (TW)", "Sino-Tibetan", "Hant", "zho"),
    ],
)
def test_unlisted_tag_is_accepted_with_one_warning(name, code, shown, family, script, iso3):
    with pytest.warns(UserWarning, match=f"language '{code}' is not listed") as caught:
        entry = language(name)
        assert language(name) is entry
    assert len(caught) == 1
    assert (entry.code, entry.name, entry.family, entry.script, entry.iso3) == (code, shown, family, script, iso3)
    assert entry.autonym == ""
    printed = entry.wikipedia_articles, entry.typology, entry.paper_name, entry.paper_family, entry.new_in_xtreme_r
    assert printed == (None,) * 5
    assert listed_language(name) is None


@pytest.mark.parametrize(
    ("name", "near"),
    [("Zuluu", "Zulu"), ("Kinyarwandan", "Kinyarwanda"), ("bm-Ltin", ""), ("XYZ", ""), ("und", ""), ("zz-Latn", "")],
)
def test_nonsense_is_an_error_with_the_nearest(name, near):
    with pytest.raises(UnknownNameError, match="unknown language") as caught:
        language(name)
    assert near in caught.value.fix


def test_tag_with_a_script_means_only_that_script():
    known = ["ace", "ace-Arab", "tw", "zh", "zh-Hant"]
    assert codes_meant_by("zho_Hant", known) == ["zh-Hant"]
    assert codes_meant_by("ace_Latn", known) == ["ace"]
    assert codes_meant_by("twi", known) == ["tw"]
    assert codes_meant_by("xyz", known) == []


def test_further_languages_are_complete_and_distinct():
    entries = further_languages()
    assert list(entries) == sorted(entries, key=lambda entry: entry.code)
    codes = [entry.code for entry in entries]
    names = [entry.name for entry in (*all_languages(), *entries)]
    assert len(set(codes)) == len(codes)
    assert not set(codes) & set(CODES)
    assert len(set(names)) == len(names)
    for entry in entries:
        tag = parse_tag(entry.code)
        assert tag is not None and tag.exists and str(tag) == entry.code
        assert entry.iso3 == ISO3_OF.get(tag.language, tag.language)
        assert entry.family and entry.branch and entry.script in SCRIPTS
        assert entry.script == tag.script or not tag.script
        assert unicodedata.normalize("NFC", entry.autonym) == entry.autonym
        assert listed_language(entry.name) is entry
    families = {entry.family for entry in entries}
    assert {"Niger-Congo", "Austronesian", "Uto-Aztecan", "Creole"} <= families


def test_facts_of_some_further_languages():
    facts = {
        "bm": ("bam", "Bambara", "Niger-Congo", "Mande", "Latn"),
        "nqo": ("nqo", "N'Ko", "Niger-Congo", "Mande", "Nkoo"),
        "sat": ("sat", "Santali", "Austro-Asiatic", "Munda", "Olck"),
        "shp": ("shp", "Shipibo-Konibo", "Panoan", "Mainline Panoan", "Latn"),
        "min": ("min", "Minangkabau", "Austronesian", "Malayo-Polynesian", "Latn"),
    }
    for code, expected in facts.items():
        entry = language(code)
        assert (entry.iso3, entry.name, entry.family, entry.branch, entry.script) == expected
    assert [code for code in ("nqo", "ug", "yi", "am") if language(code).rtl] == ["nqo", "ug", "yi"]
    assert [code for code in ("km", "lo", "bo", "zh-Hant", "am") if not language(code).segmented] == [
        *("km", "lo", "bo", "zh-Hant"),
    ]


def test_two_letter_codes_agree_with_lang2vec(data_dir):
    file = data_dir / "lang2vec" / "letter_codes.json"
    if not file.is_file():
        pytest.skip("the data folder has no lang2vec")
    codes = json.loads(file.read_text(encoding="utf-8"))
    assert {short: iso3 for short, iso3 in codes.items() if len(short) == 2} == ISO3_OF


def test_table_of_further_languages_is_read_on_first_use_without_numpy_or_msgspec():
    script = (
        "import sys; from isogloss.languages import registry, language; "
        "assert registry.further_languages.cache_info().currsize == 0; language('zho_Hant'); "
        "print(*sorted({'numpy', 'msgspec'} & set(sys.modules)))"
    )
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == ""
