"""Cases and audits of synthetic sheets in the released format."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from checklist.unpassable import unpassable_cases
from isogloss.checklist.released import ReleasedExample, audit_sheet, fill, load
from isogloss.checklist.released_names import ReleasedNames, given_names
from isogloss.errors import DataError, UnknownNameError

NAMES = ReleasedNames(
    {"en": ["Noah", "Liam", "Owen"], "fi": ["Onni", "Eino", "Toivo"]},
    {"en": ["Ava", "Mia", "Zoe"], "fi": ["Aino", "Helmi", "Elli"]},
)
COMPARISONS = "A is COMP than B. Who is more / less COMP?"
ANIMALS = "Animal vs Vehicle"
PROPERTIES = "size, shape, age, color"


def table(path: Path, *rows: str) -> Path:
    cells = [row.split("|") for row in rows]
    width = len(cells[0])
    path.write_text("\n".join("\t".join(row + [""] * (width - len(row))) for row in cells), encoding="utf-8")
    return path


def comparisons(path: Path, language: str, context: str, less: str, more: str, adjectives: Sequence[str]) -> Path:
    return table(
        path,
        f"Field|en|{language}|{language}-placeholders|{language}|{language}-placeholders",
        f"Name|{COMPARISONS}",
        f"Context|{{first_name}} seems {{adj[0]}} next to {{first_name1}}.|{context}",
        f"Question|Who seems not so {{adj[1]}}?|{less}",
        "Answer|{first_name1}|{first_name1}",
        f"Question|Who seems {{adj[0]}}?|{more}",
        "Answer|{first_name}|{first_name}",
        *(f"adj|{row}" for row in adjectives),
    )


@pytest.fixture
def finnish(tmp_path: Path) -> Path:
    context = "{first_name} vaikuttaa: {adj[0]}, mutta {first_name1} ei."
    adjectives = ["kinder, kind|kiltimpi, kiltti", "calmer, calm|tyynempi, tyyni"]
    return comparisons(
        tmp_path / "sheet.tsv", "fi", context, "Kumpi ei vaikuta: {adj[1]}?", "Kumpi vaikuttaa: {adj[0]}?", adjectives
    )


def found(path: Path, kind: str, names: ReleasedNames = NAMES, language: str = "fi") -> list[str]:
    return [finding.detail for finding in audit_sheet(path, [language], names).defects if finding.kind == kind]


def examples(path: Path, test: str, language: str = "fi", **options: int) -> list[ReleasedExample]:
    return list(load(path).examples(language, test, names=NAMES, **options))


def test_few_cases_each_occur_once(finnish: Path) -> None:
    made = examples(finnish, "comparisons")
    # Two adjectives, three men in two places, two questions.
    assert len(made) == 2 * (3 * 2) * 2
    assert len({example.case.slots for example in made}) == 12
    assert len({example.id for example in made}) == len(made)
    assert all(len(set(example.people)) == 2 and set(example.people) <= set(NAMES.men["fi"]) for example in made)
    first = next(example for example in made if example.case.slots[0][1] == "kinder, kind")
    a, b = first.people
    assert first.context == f"{a} vaikuttaa: kiltimpi, mutta {b} ei."
    assert (first.question, first.answer) == ("Kumpi ei vaikuta: kiltti?", b)
    assert first.case.slots == (("adj", "kinder, kind"), ("first_name", a), ("first_name1", b))


def test_sample_has_requested_size_and_depends_on_seed(finnish: Path) -> None:
    few = examples(finnish, "comparisons", count=5)
    assert len({example.case.id for example in few}) == 5
    assert few == examples(finnish, "comparisons", count=5)
    assert few != examples(finnish, "comparisons", count=5, seed=1)


def test_unknown_names(finnish: Path) -> None:
    sheet = load(finnish)
    assert sheet.languages == ("en", "fi")
    with pytest.raises(UnknownNameError, match="Did you mean comparisons"):
        next(sheet.examples("fi", "comparison", names=NAMES))
    with pytest.raises(UnknownNameError, match="Known: en, fi"):
        next(sheet.examples("wo", "comparisons", names=NAMES))
    with pytest.raises(UnknownNameError):
        audit_sheet(finnish, ["fj"], NAMES)
    with pytest.raises(DataError, match="too few names for fi comparisons"):
        next(sheet.examples("fi", "comparisons", names=ReleasedNames({"fi": ["Onni"]}, {})))


def test_clean_sheet_has_no_findings(finnish: Path) -> None:
    findings = audit_sheet(finnish, None, NAMES)
    assert findings.examples == 2 * 24
    assert not findings.defects
    assert not unpassable_cases(findings)


def test_answer_with_something_attached_cannot_be_given(tmp_path: Path) -> None:
    context = "{first_name} נראה {adj[0]} ליד ה{first_name1}."
    path = comparisons(
        tmp_path / "sheet.tsv", "he", context, "מי לא {adj[1]} כל כך?", "מי נראה {adj[0]}?", ["x, y|טוב יותר, טוב"]
    )
    findings = audit_sheet(path, ["he"], ReleasedNames({"he": ["דן", "רון"]}, {}))
    assert findings.counts() == {("he", "comparisons", "not-a-span"): 2, ("he", "comparisons", "unreachable"): 2}
    assert unpassable_cases(findings) == {("he", "comparisons"): 2}


@pytest.mark.parametrize(("language", "impossible"), [("zh", 0), ("th", 2)])
def test_scripts_without_blanks_are_split_at_blanks_unless_pieced(
    tmp_path: Path, language: str, impossible: int
) -> None:
    path = comparisons(
        tmp_path / "sheet.tsv",
        language,
        "{first_name}和{first_name1}相比{adj[0]}。",
        "哪位不那么{adj[1]}？",
        "哪位{adj[0]}？",
        ["x, y|更甜，甜"],
    )
    findings = audit_sheet(path, [language], ReleasedNames({language: ["偉", "強"]}, {}))
    assert unpassable_cases(findings).get((language, "comparisons"), 0) == impossible


def test_one_question_with_two_answers(tmp_path: Path) -> None:
    context = "{first_name} eikä {first_name1} vaikuttaa: {adj[0]}."
    path = comparisons(
        tmp_path / "sheet.tsv", "fi", context, "Kumpi vaikuttaa: enemmän {adj[1]}?", "Kumpi vaikuttaa: {adj[0]}?",
        ["kinder, kind|enemmän kiltti, kiltti", "calmer, calm|tyynempi, tyyni"],
    )  # fmt: skip
    findings = audit_sheet(path, ["fi"], NAMES)
    assert {finding.kind for finding in findings.defects} == {"same-question"}
    assert unpassable_cases(findings) == {("fi", "comparisons"): 6}
    assert unpassable_cases(findings, ["unreachable"]) == {}


def test_word_in_both_template_and_fill_in(tmp_path: Path) -> None:
    context = "{first_name} vaikuttaa enemmän {adj[0]} kuin {first_name1}."
    questions = ("Kumpi ei vaikuta: {adj[1]}?", "Kumpi vaikuttaa: {adj[0]}?")
    adjectives = ["kinder, kind|enemmän kiltti, kiltti", "calmer, calm|hyvin hyvin tyyni, tyyni"]
    path = comparisons(tmp_path / "sheet.tsv", "fi", context, *questions, adjectives)
    details = found(path, "doubled")
    assert len(details) == 12  # six cases with two questions each; a fill-in may double its own words
    assert all("'enemmän enemmän'" in detail for detail in details)


KIND, CALM = "Kumpi on {adj[1]}?", "Kumpi on melko {adj[1]}?"


@pytest.mark.parametrize(
    ("less", "told"),
    [
        (f"{KIND}|kind|{CALM}|calm", []),
        (f"{KIND}|kind", ["line 4: 0 variants for adj 'calmer, calm'"]),
        (f"{KIND}|kind, kinder|{CALM}|calm, kind", ["line 4: 2 variants for adj 'kinder, kind'"]),
        (f"{KIND}|kind, kind|{CALM}|calm", ["line 4: 2 variants for adj 'kinder, kind'"]),
        (f"{KIND}|kind, knd|{CALM}|calm", ["line 4: no English value 'knd'"]),
    ],
)
def test_conditions_that_do_not_fit(tmp_path: Path, less: str, told: list[str]) -> None:
    context = "{first_name} vaikuttaa: {adj[0]}, mutta {first_name1} ei."
    adjectives = ["kinder, kind|kiltimpi, kiltti", "calmer, calm|tyynempi, tyyni"]
    path = comparisons(tmp_path / "sheet.tsv", "fi", context, less, "Kumpi vaikuttaa: {adj[0]}?", adjectives)
    assert sorted(set(found(path, "condition"))) == told


def test_slots_unlike_the_english(tmp_path: Path) -> None:
    context = "{first_name} vaikuttaa: {adj[0]}, mutta {first_name} ei."
    path = comparisons(
        tmp_path / "sheet.tsv",
        "fi",
        context,
        "Kumpi ei vaikuta: {adj[1]}?",
        "Kumpi on {animal}?",
        ["x, y|kiltimpi, kiltti"],
    )
    told = {detail.partition(":")[0] for detail in found(path, "slots")}
    assert told == {"line 3 lacks {first_name1}", "line 6 adds {animal}", "line 6 lacks {adj}"}
    assert "Kumpi on {animal}?" in found(path, "unfilled")
    assert len(found(path, "absent")) == 6


def animals(path: Path, *contexts: str) -> Path:
    said = ("{first_name} keeps {animal} near {vehicle}.", "{first_name} keeps {vehicle} near {animal}.")
    return table(
        path,
        "Field|en|hu",
        f"Name|{ANIMALS}",
        *(f"Context|{english}|{context}" for english, context in zip(said, contexts, strict=True)),
        "Question|What animal?|Milyen állat?",
        "Answer|{animal}|{animal}",
        "animal|a mole|vakond",
        "vehicle|a sled|szánkó",
    )


def test_english_left_in_one_context_only(tmp_path: Path) -> None:
    left = animals(
        tmp_path / "a.tsv", "{first_name} tart: {animal}, {vehicle}.", "{first_name} tart: {vehicle} near {animal}."
    )
    shared = animals(
        tmp_path / "b.tsv", "{first_name} keeps {animal}, {vehicle}.", "{first_name} keeps {vehicle}, {animal}."
    )
    names = ReleasedNames({"hu": ["Pál"], "en": ["Noah"]}, {"hu": ["Éva"], "en": ["Ava"]})
    assert (
        found(left, "english", names, "hu")
        == ["line 4 leaves 'near': '{first_name} tart: {vehicle} near {animal}.'"] * 2
    )
    assert not found(shared, "english", names, "hu")
    assert not found(left, "english", names, "en")


def test_borrowed_names_are_found_in_any_script(tmp_path: Path) -> None:
    texts = ("{first_name} tart: {animal}, {vehicle}.", "{first_name} tart: {vehicle}, {animal}.")
    path = animals(tmp_path / "sheet.tsv", *texts)
    details = found(path, "english", NAMES, "hu")
    assert len(details) == 6 * 2  # six people, men and women, in two contexts
    assert all(detail.startswith("English names: ") for detail in details)
    georgian = table(
        tmp_path / "ka.tsv",
        "Field|en|ka",
        f"Name|{COMPARISONS}",
        "Context|{first_name} and {first_name1}|{first_name} და {first_name1}",
        "Question|Who is first?|ვინ?",
        "Answer|{first_name}|{first_name}",
    )
    assert len(found(georgian, "english", NAMES, "ka")) == 6


def properties(path: Path) -> Path:
    of, made_of = "{obj[0]} is {p.v1}, {p.v2}.|color, age", "{obj[0]} is van {p.v1}, {p.v2}.|material"
    return table(
        path,
        "Field|en|nl|nl-placeholders|nl|nl-placeholders",
        f"Name|{PROPERTIES}",
        f"Context|{{obj[0]}} is {{p.v1}}, {{p.v2}}.|{of}|{made_of}",
        "Question|Name the {p.p1} of {obj[1]}.|Noem de {p.p1} van {obj[1]}.|color, age|Noem het {p.p1}.|material",
        "Answer|{p.v1}|{p.v1}",
        "Question|Name the {p.p2} of {obj[1]}.|Noem de {p.p2} van {obj[1]}.|color, age|Noem het {p.p2}.|material",
        "Answer|{p.v2}|{p.v2}",
        "obj|a harp, the harp|een harp, de harp",
        "color|red|rood",
        "color|blue|blauw",
        "age|old|oud",
        "material|wooden|hout",
        "property|color|kleur",
        "property|age|leeftijd",
        "property|material|materiaal",
    )


def test_properties_are_drawn_in_pairs_and_queried_separately(tmp_path: Path) -> None:
    made = list(load(properties(tmp_path / "sheet.tsv")).examples("nl", "properties", names=NAMES))
    # Ordered pairs of different properties: 2x1 + 2x1 + 1x1, both ways.
    assert len({example.case.slots for example in made}) == 10
    drawn = {"obj": "a harp, the harp", "p1": "material", "v1": "wooden", "p2": "age", "v2": "old"}
    wooden = [example for example in made if dict(example.case.slots) == drawn]
    assert [(example.context, example.question, example.answer) for example in wooden] == [
        ("een harp is van hout, oud.", "Noem het materiaal.", "hout"),
        ("een harp is van hout, oud.", "Noem de leeftijd van de harp.", "oud"),
    ]
    assert not wooden[0].people


@pytest.mark.parametrize(
    ("template", "text"),
    [
        ("{x} {x1}", "owl mole"),
        ("{list[1]} {list[7]}", "the owl {list[7]}"),
        ("{a:x} {a:x1} {c:x}", "an owl a mole Owl"),
        ("{p.v1} {p.v9}", "red {p.v9}"),
        ("{none}", "{none}"),
    ],
)
def test_slots_are_filled_as_checklist_does(template: str, text: str) -> None:
    assert fill(template, {"x": "owl", "x1": "mole", "list": "an owl, the owl", "p": {"v1": "red"}}) == text


def test_names_in_turn_and_of_men_only() -> None:
    names = ReleasedNames({"en": ["Noah", "Liam"], "vi": ["An", "Minh"]}, {"en": ["Ava"], "vi": ["An", "Lan"]})
    assert names.names_for("vi", "animal_vs_vehicle") == ["An", "Minh", "Lan"]
    assert names.names_for("vi", "job_vs_nationality") == ["An", "Minh"]
    assert names.names_for("wo", "intensifiers") == ["Noah", "Liam"]
    assert names.borrowed("wo")
    assert not names.borrowed("vi")


def test_names_from_a_file(tmp_path: Path, finnish: Path) -> None:
    folder = tmp_path / "given_names"
    folder.mkdir()
    path = folder / "wikidata_names_places.json"
    path.write_text(json.dumps({"mnames": NAMES.men, "fnames": NAMES.women, "countries": []}), encoding="utf-8")
    assert given_names(path).names_for("fi", "comparisons") == NAMES.men["fi"]
    (tmp_path / "multichecklist").mkdir()
    sheet = finnish.rename(tmp_path / "multichecklist" / "sheet.tsv")
    assert audit_sheet(sheet, ["fi"]).examples == 24
    for text in ("[]", "{", '{"mnames": {"fi": ["Onni"]}, "fnames": {}}'):
        path.write_text(text, encoding="utf-8")
        with pytest.raises(DataError, match="names"):
            audit_sheet(sheet, ["fi"])


def test_without_name_lists_the_shipped_names_are_used(finnish: Path) -> None:
    made = list(load(finnish).examples("en", "comparisons", count=3))
    assert len(made) == 6
    assert not {finding.kind for finding in audit_sheet(finnish, ["en"], count=3).defects}
