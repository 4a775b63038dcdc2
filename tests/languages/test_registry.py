"""The registry of languages: complete, correct, lenient about spelling, and light."""

import csv
import lzma
import subprocess
import sys
import unicodedata
from dataclasses import FrozenInstanceError

import pytest

from isogloss import languages
from isogloss.errors import UnknownNameError
from isogloss.languages import CODES, Typology, all_languages, codes_meant_by, families, language, scripts

XTREME_R = """
af ar az bg bn de el en es et eu fa fi fr gu he hi ht hu id it ja jv ka kk ko lt ml mr ms my nl pa pl pt qu ro
ru sw ta te th tl tr uk ur vi wo yo zh
"""

# Written from the standards, not from the registry: code, ISO 639-3, variety, script, family, branch.
FACTS = """
af afr afr Latn Indo-European Germanic
ar ara arb Arab Afro-Asiatic Semitic
az aze azj Latn Turkic Oghuz
bn ben ben Beng Indo-European Indo-Aryan
de deu deu Latn Indo-European Germanic
el ell ell Grek Indo-European Hellenic
et est ekk Latn Uralic Finnic
eu eus eus Latn Basque isolate
fa fas pes Arab Indo-European Iranian
gu guj guj Gujr Indo-European Indo-Aryan
ha hau hau Latn Afro-Asiatic Chadic
he heb heb Hebr Afro-Asiatic Semitic
ht hat hat Latn Creole French-based
hu hun hun Latn Uralic Ugric
ja jpn jpn Jpan Japonic Japanese
jv jav jav Latn Austronesian Malayo-Polynesian
ka kat kat Geor Kartvelian Karto-Zan
kk kaz kaz Cyrl Turkic Kipchak
ko kor kor Kore Koreanic Korean
lt lit lit Latn Indo-European Baltic
ms msa zsm Latn Austronesian Malayo-Polynesian
my mya mya Mymr Sino-Tibetan Lolo-Burmese
nl nld nld Latn Indo-European Germanic
pa pan pan Guru Indo-European Indo-Aryan
sw swa swh Latn Niger-Congo Bantu
th tha tha Thai Kra-Dai Tai
tl tgl tgl Latn Austronesian Malayo-Polynesian
ur urd urd Arab Indo-European Indo-Aryan
vi vie vie Latn Austro-Asiatic Vietic
wo wol wol Latn Niger-Congo Atlantic
yo yor yor Latn Niger-Congo Volta-Niger
zh zho cmn Hans Sino-Tibetan Sinitic
"""

# Unicode's names of the scripts.
CHARACTER_NAMES = {
    "Arab": {"ARABIC"},
    "Beng": {"BENGALI"},
    "Cyrl": {"CYRILLIC"},
    "Deva": {"DEVANAGARI"},
    "Geor": {"GEORGIAN"},
    "Grek": {"GREEK"},
    "Gujr": {"GUJARATI"},
    "Guru": {"GURMUKHI"},
    "Hans": {"CJK"},
    "Hebr": {"HEBREW"},
    "Jpan": {"CJK", "HIRAGANA", "KATAKANA"},
    "Kore": {"HANGUL", "CJK"},
    "Latn": {"LATIN"},
    "Mlym": {"MALAYALAM"},
    "Mymr": {"MYANMAR"},
    "Taml": {"TAMIL"},
    "Telu": {"TELUGU"},
    "Thai": {"THAI"},
}


def codes(entries):
    return " ".join(entry.code for entry in entries)


def test_registry_is_xtreme_r_and_hausa():
    assert tuple(sorted([*XTREME_R.split(), "ha"])) == CODES
    assert len(CODES) == 51
    assert tuple(entry.code for entry in all_languages()) == CODES


@pytest.mark.parametrize("fact", FACTS.strip().splitlines(), ids=lambda fact: fact[:2])
def test_codes_script_and_genealogy(fact):
    code, iso3, individual, script, family, branch = fact.split()
    entry = language(code)
    assert (entry.iso3, entry.individual, entry.script) == (iso3, individual, script)
    assert (entry.family, entry.branch) == (family, branch)


def test_only_macrolanguages_have_a_separate_variety():
    assert codes(e for e in all_languages() if e.iso3 != e.individual) == "ar az et fa ms qu sw zh"


def test_no_code_or_name_is_used_twice():
    for attribute in ("code", "iso3", "individual", "name", "autonym"):
        assert len({getattr(entry, attribute) for entry in all_languages()}) == 51
    by_three_letters = {code: e.code for e in all_languages() for code in (e.iso3, e.individual)}
    assert len(by_three_letters) == 51 + 8


@pytest.mark.parametrize("code", CODES)
def test_autonyms_are_written_in_the_script_claimed(code):
    entry = language(code)
    letters = [character for character in entry.autonym if not character.isspace()]
    assert letters
    used = {unicodedata.name(letter).split()[0].partition("-")[0] for letter in letters}
    assert used <= CHARACTER_NAMES[entry.script]
    assert unicodedata.normalize("NFC", entry.autonym) == entry.autonym


def test_direction_and_segmentation():
    assert codes(e for e in all_languages() if e.rtl) == "ar fa he ur"
    assert codes(e for e in all_languages() if not e.segmented) == "ja my th zh"


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("sw", "sw"), ("SW", "sw"), ("swa", "sw"), ("SWH", "sw"), ("Swahili", "sw"), ("swahili", "sw"),
        ("cmn", "zh"), ("Chinese", "zh"), ("mandarin", "zh"), ("cusco quechua", "qu"),
        ("HAITIAN CREOLE", "ht"),
    ],
)  # fmt: skip
def test_language_is_found_by_code_or_name_in_any_case(name, code):
    assert language(name).code == code


@pytest.mark.parametrize(
    ("name", "near"),
    [("Germn", "German"), ("swahilli", "Swahili"), ("mandarn", "Mandarin"), ("jp", "ja"), ("ZHH", "zh")],
)
def test_unknown_language_is_an_error_with_near_names(name, near):
    with pytest.raises(UnknownNameError, match=f"unknown language '{name}'") as caught:
        language(name)
    assert near in caught.value.fix.removesuffix("?").split()


@pytest.mark.parametrize(
    ("tag", "codes"),
    [
        ("zh-CN", ["zh", "zh-Hant"]), ("zh_Hant_TW", ["zh", "zh-Hant"]), ("CMN", ["zh", "zh-Hant"]), ("en-US", ["en"]),
        ("es-419", ["es"]), ("Chinees", ["zh", "zh-Hant"]), ("he_IL", []), ("jp", []), ("enn", []), ("", []),
    ],
)  # fmt: skip
def test_tag_means_only_codes_of_the_same_language(tag, codes):
    assert codes_meant_by(tag, ["en", "es", "hi", "ja", "ru", "zh", "zh-Hant"]) == codes


@pytest.mark.parametrize(("tag", "fix"), [("en-Ltin", "en"), ("he_Zzxx", "he"), ("zh-Hann-TW", "zh")])
def test_tag_with_an_unknown_script_suggests_its_language(tag, fix):
    with pytest.raises(UnknownNameError) as caught:
        language(tag)
    assert caught.value.fix == f"Did you mean {fix}?"


def test_unrelated_code_lists_all_codes():
    with pytest.raises(UnknownNameError) as caught:
        language("xx")
    assert caught.value.fix == "Known: " + ", ".join(CODES)


def test_printed_values_are_kept_next_to_the_facts():
    kazakh = language("kk")
    assert (kazakh.paper_script, kazakh.script) == ("Arabic", "Cyrl")
    assert (language("jv").paper_script, language("yo").paper_script) == ("Brahmic", "Arabic")
    assert language("el").paper_family == "IE: Greek"
    assert language("zh").paper_name == "Mandarin"
    assert language("en").wikipedia_articles == 5.98
    assert language("wo").wikipedia_articles == 0.002
    assert codes(e for e in all_languages() if e.new_in_xtreme_r) == "az gu ht lt pa pl qu ro uk wo"


def test_typology_as_printed():
    assert language("ta").typology == Typology(
        diacritics=True, compounding=True, clitics=True, inflection=True, derivation=True
    )
    assert language("en").typology == Typology(
        diacritics=False, compounding=False, clitics=False, inflection=False, derivation=False
    )
    assert language("fi").typology == Typology(
        diacritics=False, compounding=False, clitics=False, inflection=True, derivation=True
    )
    assert codes(e for e in all_languages() if e.typology is None) == "gu ha jv"


def test_illegible_marks_are_from_wals_and_say_so():
    filled = {e.code: e.typology for e in all_languages() if e.typology is not None and e.typology.from_wals}
    values = {code: {name: getattr(marks, name) for name in marks.from_wals} for code, marks in filled.items()}
    no, yes = {"inflection": False}, {"inflection": True}
    assert values == {"id": no, "ja": {"clitics": True}, "lt": yes, "vi": no, "wo": no, "yo": no}
    assert (filled["lt"].diacritics, filled["lt"].compounding, filled["lt"].clitics) == (None, None, None)


def test_marks_from_wals_agree_with_its_files(data_dir):
    """Recompute the filled marks from feature 51A, and how often it agrees with the legible ones."""
    folder = data_dir / "wals"
    if not folder.is_dir():
        pytest.skip("the data folder has no WALS")

    def rows(name):
        with lzma.open(folder / f"{name}.csv.xz", "rt", encoding="utf-8") as file:
            yield from csv.DictReader(file)

    with (folder / "raw/parameter.csv").open(encoding="utf-8") as file:
        [feature] = [row["pk"] for row in csv.DictReader(file) if row["id"] == "51A"]
    iso = {row["ID"]: row["ISO639P3code"] for row in rows("cldf/languages")}
    codes_by_key = {row["pk"]: iso.get(row["id"], "") for row in rows("raw/language")}
    sets = {r["pk"]: codes_by_key[r["language_pk"]] for r in rows("raw/valueset") if r["parameter_pk"] == feature}
    names = {row["pk"]: row["name"] for row in rows("raw/domainelement") if row["parameter_pk"] == feature}
    found = {
        sets[r["valueset_pk"]]: names[r["domainelement_pk"]] for r in rows("raw/value") if r["valueset_pk"] in sets
    }
    legible = []
    for entry in all_languages():
        value = found.get(entry.individual) or found.get(entry.iso3)
        if value is None or entry.typology is None:
            continue
        inflected = {"Case suffixes": True, "Case prefixes": True, "No case affixes or adpositional clitics": False}
        if "inflection" in entry.typology.from_wals:
            assert entry.typology.inflection == inflected[value]
        elif "clitics" in entry.typology.from_wals:
            assert value == "Postpositional clitics"
        elif value in inflected:
            legible.append(entry.typology.inflection == inflected[value])
    assert (sum(legible), len(legible)) == (27, 30)


def test_hausa_has_no_values_from_table_7():
    hausa = language("ha")
    assert [hausa.wikipedia_articles, hausa.paper_name, hausa.paper_script, hausa.paper_family] == [None] * 4
    assert hausa.new_in_xtreme_r is None


def test_groups_partition_the_languages():
    for groups in (families(), scripts()):
        assert sorted(e.code for members in groups.values() for e in members) == list(CODES)
        assert list(groups) == sorted(groups)
    assert codes(families()["Dravidian"]) == "ml ta te"
    assert codes(scripts()["Cyrl"]) == "bg kk ru uk"
    # XTREME-R: fourteen families and two isolates; Hausa is Afro-Asiatic and adds none.
    assert len(families()) == 16


def test_entries_cannot_be_changed():
    with pytest.raises(FrozenInstanceError):
        language("en").script = "Cyrl"


def test_unknown_attributes_of_the_package_are_errors():
    with pytest.raises(AttributeError, match="has no attribute 'CODE'"):
        languages.CODE  # noqa: B018


def test_registry_reads_no_file_on_import_and_never_needs_numpy():
    script = (
        "import sys; from isogloss.languages import registry, language; "
        "assert registry.all_languages.cache_info().currsize == 0; "
        "language('sw'); from isogloss.languages import CODES, codes_meant_by, published; published.overall('xtreme'); "
        "print(*sorted({'numpy', 'pandas', 'scipy', 'torch'} & set(sys.modules)))"
    )
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == ""
