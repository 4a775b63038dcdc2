"""The released sheet: all known defects are found, and no further cell is called unanswerable."""

import unicodedata
from pathlib import Path

import pytest

from checklist.unpassable import unpassable_cases
from isogloss.checklist.audit import Findings
from isogloss.checklist.released import ReleasedSheet, audit_sheet, load
from isogloss.checklist.released_names import ReleasedNames, given_names
from isogloss.languages.published import checklist

CASES = 13
UNREACHABLE = {
    "comparisons": {"he"},
    "intensifiers": {"gu", "ht", "qu", "wo"},
    "properties": {"ar", "he", "th"},
    "job_vs_nationality": {"he", "mr", "th"},
    # In Urdu, one of the answers ends in a full stop that the released cleaner does not strip.
    "animal_vs_vehicle": {"ar", "he", "th", "ur"},
}
TWO_ANSWERS = {"comparisons": {"tr"}, "properties": {"gu"}, "animal_vs_vehicle": {"kk"}}


@pytest.fixture(scope="module")
def path(data_dir: Path) -> Path:
    return data_dir / "multichecklist" / "checklist_templates.tsv"


@pytest.fixture(scope="module")
def sheet(path: Path) -> ReleasedSheet:
    return load(path)


@pytest.fixture(scope="module")
def names(data_dir: Path) -> ReleasedNames:
    return given_names(data_dir / "given_names" / "wikidata_names_places.json")


@pytest.fixture(scope="module")
def findings(path: Path, names: ReleasedNames) -> Findings:
    return audit_sheet(path, None, names, count=CASES)


def cells(findings: Findings, *kinds: str) -> dict[str, set[str]]:
    """Return the languages in which every case of a test has such a defect, by test."""
    whole: dict[str, set[str]] = {}
    for (language, test), cases in unpassable_cases(findings, kinds).items():
        if cases == CASES:
            whole.setdefault(test, set()).add(language)
    return whole


def having(findings: Findings, kind: str, test: str) -> set[str]:
    return {finding.language for finding in findings.defects if (finding.kind, finding.test) == (kind, test)}


def test_shape_of_the_sheet(sheet: ReleasedSheet) -> None:
    assert len(sheet.languages) == 50
    assert "ha" in sheet.languages
    assert "ro" not in sheet.languages
    shapes = {test: (len((t := sheet.translation("en", test)).contexts), len(t.questions)) for test in sheet.tests}
    assert list(shapes.values()) == [(1, 2), (6, 2), (1, 2), (4, 2), (2, 2), (2, 2)]
    sizes = {name: len(rows) for t in sheet.translations["en"].values() for name, rows in t.lexicons.items()}
    assert sizes == {
        "adj": 20, "state": 20, "very": 8, "somewhat": 4, "obj": 30, "color": 11, "size": 4, "age": 2, "shape": 4,
        "material": 5, "property": 5, "nationality": 10, "profession": 34, "animal": 13, "vehicle": 10,
    }  # fmt: skip
    assert len(sheet.translation("ru", "properties").questions[0].cells) == 8


def test_answers_that_cannot_be_given(findings: Findings) -> None:
    assert cells(findings, "unreachable") == UNREACHABLE
    cases = unpassable_cases(findings, ["unreachable"])
    # Their answers were assembled from subword pieces instead of spans, so blanks did not matter.
    assert not {language for language, _ in cases} & {"zh", "ja", "ko"}


def test_questions_with_two_answers(findings: Findings) -> None:
    assert cells(findings, "same-question") == TWO_ANSWERS


def test_all_unanswerable_cells_were_published_as_total_failures(findings: Findings) -> None:
    published = {
        (row.language, row.test.replace("vehicles", "vehicle")): row.error_rate
        for row in checklist()
        if row.system == "XLM-R Large"
    }
    hopeless = [(code, test) for test, codes in cells(findings, "unreachable").items() for code in codes]
    assert len(hopeless) == 15
    assert {published[cell] for cell in hopeless} == {100.0}
    confused = [(code, test) for test, codes in cells(findings, "same-question").items() for code in codes]
    assert {published[cell] for cell in confused} == {100.0}


def test_finnish_duck(sheet: ReleasedSheet, path: Path, names: ReleasedNames) -> None:
    found = audit_sheet(path, ["fi"], names)
    lost = {finding.example.rpartition("-")[0] for finding in found.defects if finding.kind == "unreachable"}
    made = sheet.examples("fi", "animal_vs_vehicle", names=names)
    duck = sheet.translation("fi", "animal_vs_vehicle").lexicons["animal"][-1].english
    ducks = {example.case.id for example in made if ("animal", duck) in example.case.slots}
    assert lost == ducks
    assert 0.05 < len(ducks) / 200 < 0.11  # one of thirteen animals


def test_missing_answers(findings: Findings) -> None:
    absent = {test: having(findings, "absent", test) for test in UNREACHABLE | {"animal_vs_vehicle_2": set()}}
    assert absent["intensifiers"] == {"gu", "qu"}
    assert absent["comparisons"] == absent["animal_vs_vehicle_2"] == {"tl"}
    assert absent["job_vs_nationality"] == {"az"}  # nationalities end in a full stop, which the cleaner strips
    assert not absent["properties"] | absent["animal_vs_vehicle"]


def test_small_letters_at_the_start_of_a_question(findings: Findings) -> None:
    # Questions that begin with the name of the property, as in the paper's own example for Azerbaijani.
    assert having(findings, "capital", "properties") == {"az", "eu", "jv", "kk", "tr", "vi", "yo"}


def test_defects_of_the_templates(findings: Findings) -> None:
    slots = {(f.language, f.detail.partition(":")[0]) for f in findings.defects if f.kind == "slots"}
    assert slots == {
        ("gu", "line 36 lacks {first_name1}"),
        ("gu", "line 37 lacks {first_name1}"),
        ("gu", "line 80 adds {p.p1}"),
        ("gu", "line 80 lacks {p.p2}"),
        ("de", "line 80 adds {p.p1}"),
        ("az", "line 234 lacks {vehicle}"),
    }
    left = {
        (f.language, f.detail.split(":")[0]) for f in findings.defects if f.kind == "english" and "leaves" in f.detail
    }
    assert left == {
        ("ht", "line 35 leaves 'is'"),
        ("hu", "line 202 leaves 'and'"),
        ("ms", "line 36 leaves 'is'"),
        ("tl", "line 201 leaves 'has'"),
        ("vi", "line 35 leaves 'is'"),
    }
    assert {"tl", "vi"} <= having(findings, "doubled", "comparisons")


@pytest.mark.parametrize(
    ("language", "test", "told"),
    [
        ("de", "intensifiers", "line 38: 2 variants for state "),
        ("ru", "intensifiers", "line 38: 2 variants for state "),
        ("mr", "properties", "line 77: no English value "),
        ("pl", "properties", "line 78: 0 variants for obj "),
        ("hu", "comparisons", "line 5: no English value "),
    ],
)
def test_unmet_conditions(sheet: ReleasedSheet, names: ReleasedNames, language: str, test: str, told: str) -> None:
    made = sheet.examples(language, test, 500, names=names)
    assert any(kind == "condition" and detail.startswith(told) for e in made for kind, detail in e.defects)


def test_names_of_other_scripts_and_languages(sheet: ReleasedSheet, names: ReleasedNames) -> None:
    borrowed = [code for code in sheet.languages if names.borrowed(code)]
    assert sorted(borrowed) == "af eu gu ha ht jv ka kk ml mr pa qu sw te tl wo yo".split()

    def latin(code: str) -> float:
        men = names.names_for(code, "comparisons")
        wrong = [name for name in men if any("LATIN" in unicodedata.name(letter, "") for letter in name)]
        return round(100 * len(wrong) / len(men))

    shares = {code: latin(code) for code in "my th ta hi fa ur bn bg".split()}
    assert shares == {"my": 100, "th": 96, "ta": 94, "hi": 78, "fa": 62, "ur": 59, "bn": 32, "bg": 23}


def test_names_of_other_scripts_and_languages_are_found(findings: Findings) -> None:
    found = having(findings, "english", "comparisons") | having(findings, "script", "comparisons")
    assert set("my th ta hi fa ur bn bg af eu gu ha ht jv ka kk ml mr pa qu sw te tl wo yo".split()) <= found
    assert not found & set("en de es fr it nl pt id".split())
