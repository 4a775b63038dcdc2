"""Reading of synthetic sheets with every quirk of the released format."""

from pathlib import Path

import pytest

from isogloss.checklist.released_sheet import CONTEXT, SheetTranslation, parts, read, slots
from isogloss.errors import DataError, IsoglossError, UnknownNameError

ANIMALS = "Animal vs Vehicle"
ANIMALS_2 = "Animal vs Vehicle v2"
PROPERTIES = "size, shape, age, color"
NO_CELLS = ("", "    ")


def table(path: Path, *rows: str, end: str = "\r\n") -> Path:
    """Return a sheet from rows with `|` between cells; short rows are padded."""
    cells = [row.split("|") for row in rows]
    width = len(cells[0])
    text = end.join("\t".join(row + [""] * (width - len(row))) for row in cells) + end
    path.write_bytes(text.encode())
    return path


def animals(path: Path, *more: str, header: str = "Field|en|fi|fi-placeholders|fi|fi-placeholders") -> Path:
    return table(
        path,
        header,
        f"Name|{ANIMALS}",
        "Capability|Sorting",
        "Context|{first_name} feeds {animal}.|{first_name} ruokkii: {animal}.||{first_name} hoitaa: {animal}.|a mole",
        "Question|What is fed?|Mitä ruokitaan?",
        "Answer|{animal}|{animal}",
        "animal|a mole|myyrä",
        "animal|an owl|pöllö",
        *more,
    )


def translation(path: Path, language: str = "fi", test: str = "animal_vs_vehicle") -> SheetTranslation:
    return read(path)[language][test]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_columns_are_kept_by_position(tmp_path: Path, end: str) -> None:
    path = animals(tmp_path / "sheet.tsv")
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\r\n", end.encode()))
    found = translation(path)
    [context] = found.contexts
    assert [cell.text for cell in context.cells] == [
        "{first_name} ruokkii: {animal}.",
        "{first_name} hoitaa: {animal}.",
    ]
    assert (context.line, context.english) == (4, "{first_name} feeds {animal}.")
    assert [row.cells[0].text for row in found.lexicons["animal"]] == ["myyrä", "pöllö"]


def test_variant_with_a_condition_goes_before_one_without(tmp_path: Path) -> None:
    [context] = translation(animals(tmp_path / "sheet.tsv")).contexts
    assert [cell.text[:19] for cell in context.fitting({"animal": "a mole"})] == ["{first_name} hoitaa"]
    assert [cell.text[:19] for cell in context.fitting({"animal": "an owl"})] == ["{first_name} ruokki"]


def test_empty_repeated_columns_are_not_variants(tmp_path: Path) -> None:
    found = translation(animals(tmp_path / "sheet.tsv"))
    assert all(len(row.cells) == 1 for row in (*found.questions, *found.answers, *found.lexicons["animal"]))


@pytest.mark.parametrize("blank", NO_CELLS)
def test_test_without_fill_ins_takes_those_before_it(tmp_path: Path, blank: str) -> None:
    path = animals(
        tmp_path / "sheet.tsv",
        blank,
        f"Name|{ANIMALS_2}",
        "Capability|Sorting",
        "Context|{first_name} saw {animal}, {first_name2} did not.|{first_name} näki: {animal}, {first_name2} ei.",
        "Question|Who saw it?|Kuka näki?",
        "Answer|{first_name}|{first_name}",
    )
    found = read(path)["fi"]
    assert list(found) == ["animal_vs_vehicle", "animal_vs_vehicle_2"]
    assert found["animal_vs_vehicle_2"].lexicons == found["animal_vs_vehicle"].lexicons


def test_answer_with_a_template_as_condition_is_that_of_the_other_contexts(tmp_path: Path) -> None:
    contexts = {"{first_name} has {animal}.": "{first_name} {animal}mi.", "It is {animal}.": "{animal}taq."}
    rows = [f"Context|{english}|{quechua}" for english, quechua in contexts.items()]
    rows += ["Question|What?|Ima?", "Answer|{animal}|{animal}mi|{animal}taq", "animal|a mole|mulu"]
    path = table(tmp_path / "sheet.tsv", "Field|en|qu|qu-placeholders", f"Name|{ANIMALS}", *rows)
    [answer] = translation(path, "qu").answers
    said = {english: answer.fitting({CONTEXT: english}) for english in contexts}
    assert [[cell.text for cell in cells] for cells in said.values()] == [["{animal}mi"], ["{animal}taq"]]


def test_fill_in_may_depend_on_the_context(tmp_path: Path) -> None:
    path = table(
        tmp_path / "sheet.tsv",
        "Field|en|ru|ru-placeholders|ru|ru-placeholders",
        f"Name|{ANIMALS}",
        "Context|{first_name} has {animal}.|У {first_name} {animal}.",
        "Context|{first_name} feeds {animal}.|{first_name} кормит {animal}.",
        "Question|What?|Кто?",
        "Answer|{animal}|{animal}",
        "animal|a crow|ворона|{first_name} has {animal}., {animal}|ворону|{first_name} feeds {animal}.",
    )
    [crow] = translation(path, "ru").lexicons["animal"]
    assert [cell.text for cell in crow.fitting({CONTEXT: "{first_name} feeds {animal}."})] == ["ворону"]
    assert [cell.text for cell in crow.fitting({CONTEXT: "{first_name} has {animal}."})] == ["ворона"]
    assert not any(cell.condition.unknown for cell in crow.cells)


def properties(path: Path, condition: str) -> Path:
    return table(
        path,
        "Field|en|pl|pl-placeholders|pl|pl-placeholders",
        f"Name|{PROPERTIES}",
        "Context|{obj[0]} is {p.v1} and {p.v2}.|{obj[0]} jest {p.v1} i {p.v2}.",
        f"Question|What {{p.p1}} has {{obj[1]}}?|Ile lat ma {{obj[1]}}?|{condition}",
        "Answer|{p.v1}|{p.v1}",
        "obj|a drum, the drum|bęben, bęben",
        "obj|a guitar pick, the guitar pick|kostka, kostka",
        "age|old|stary",
        "color|red|czerwony",
        "property|age|wiek",
        "property|color|kolor",
    )


@pytest.mark.parametrize(
    ("condition", "fits"),
    [
        ("age", ["drum", "pick"]),
        ("age, a drum", ["drum"]),
        ("age,drum", ["drum"]),
        ("age, The drum,", ["drum"]),
        ("age, guitar pick", ["pick"]),
        ("color, a drum", []),
        ("age, pick", ["drum", "pick"]),
        ("pick", []),
    ],
)
def test_condition_requires_one_value_per_named_fill_in(tmp_path: Path, condition: str, fits: list[str]) -> None:
    [question] = translation(properties(tmp_path / "sheet.tsv", condition), "pl", "properties").questions
    objects = {"drum": "a drum, the drum", "pick": "a guitar pick, the guitar pick"}
    facts = {name: {"property": "age", "obj": english} for name, english in objects.items()}
    assert [name for name in objects if question.fitting(facts[name])] == fits


def test_conditions_record_unknown_and_repeated_values(tmp_path: Path) -> None:
    [question] = translation(properties(tmp_path / "sheet.tsv", "age, drumm, drum, age"), "pl", "properties").questions
    [cell] = question.cells
    assert cell.condition.unknown == ("drumm",)
    assert cell.condition.repeated == {"age"}


@pytest.mark.parametrize(
    ("cell", "found"),
    [
        ("sweeter, sweet", ("sweeter", "sweet")),
        ("sweeter,sweet", ("sweeter", "sweet")),
        ("أحلى، حلو", ("أحلى", "حلو")),
        ("一把伞，这把伞", ("一把伞", "这把伞")),
        ("ပိုချိုသော၊ ချိုသော", ("ပိုချိုသော", "ချိုသော")),
        ("စာအုပ် တစ်အုပ်၊, စာအုပ်", ("စာအုပ် တစ်အုပ်", "စာအုပ်")),
        ("หวานกว่า หวาน", ("หวานกว่า", "หวาน")),
        ("a guitar pick, the guitar pick, of it", ("a guitar pick", "the guitar pick", "of it")),
    ],
)
def test_lists_are_split_at_the_marks_of_their_script(cell: str, found: tuple[str, ...]) -> None:
    assert parts(cell) == found


def test_slots_of_checklist() -> None:
    template = "{first_name1} {adj[0]} {a:vehicle} {c:obj[1]} {p.v1} {Not a slot} {}"
    assert slots(template) == {("first_name1", ""), ("adj", ""), ("vehicle", ""), ("obj", ""), ("p", "v1")}


GOOD = (
    "Field|en|fi",
    f"Name|{ANIMALS}",
    "Context|{first_name} feeds {animal}.|{first_name} ruokkii: {animal}.",
    "Question|What is fed?|Mitä ruokitaan?",
    "Answer|{animal}|{animal}",
    "animal|a mole|myyrä",
)


@pytest.mark.parametrize(
    ("line", "row", "told"),
    [
        (1, "Field|en|fii", "unknown language 'fii'. Did you mean"),
        (1, "Field|fi|fi-placeholders", "missing column en"),
        (1, "Field|en|fi-placeholders", r"column 3 \(fi-placeholders\) does not follow a column fi"),
        (
            2,
            "Name|Animal vs Vehicles",
            "unknown test of the sheet 'Animal vs Vehicles'. Did you mean Animal vs Vehicle",
        ),
        (2, "animal|a mole|myyrä", "missing row Name before animal"),
        (3, "Context|x|y|z", "expected 3 cells as in the header, got 4"),
        (3, "Context|{first_name} feeds {animal}.", "fi has no Context"),
        (3, "Context||{first_name}", "missing English text of Context"),
        (4, "|What?|Mitä?", "missing field"),
        (6, "animals|a mole|myyrä", "no template uses 'animals'. Did you mean animal?"),
        (6, "Contxt|a mole|myyrä", "no template uses 'Contxt'. Did you mean Context?"),
    ],
)
def test_errors_are_reported_with_their_line(tmp_path: Path, line: int, row: str, told: str) -> None:
    rows = [*GOOD]
    rows[line - 1] = row
    path = table(tmp_path / "sheet.tsv", *rows)
    with pytest.raises(IsoglossError, match=told) as caught:
        read(path)
    assert caught.value.where == f"{path}:{line}"


@pytest.mark.parametrize(
    ("rows", "line", "told"),
    [
        (GOOD[:-2], 2, "1 Context, 1 Question, 0 Answer rows"),
        (GOOD[:-1], 3, "no fill-in for 'animal'"),
        ((*GOOD, "", GOOD[1]), 8, "duplicate test 'Animal vs Vehicle'"),
    ],
)
def test_tests_are_whole(tmp_path: Path, rows: tuple[str, ...], line: int, told: str) -> None:
    path = table(tmp_path / "sheet.tsv", *rows)
    with pytest.raises(DataError, match=told) as caught:
        read(path)
    assert caught.value.where == f"{path}:{line}"


def test_files_that_are_not_sheets(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no such file"):
        read(tmp_path / "none.tsv")
    (tmp_path / "empty.tsv").write_bytes(b"")
    with pytest.raises(DataError, match="empty"):
        read(tmp_path / "empty.tsv")
    (tmp_path / "latin.tsv").write_bytes("Field\ten\nName\té".encode("latin-1"))
    with pytest.raises(DataError, match="not UTF-8"):
        read(tmp_path / "latin.tsv")
    with pytest.raises(UnknownNameError):
        read(table(tmp_path / "other.tsv", "id|text", "1|a"))


def test_sheet_without_a_test_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "sheet.tsv"
    path.write_text("Field\ten\tfi\n")
    with pytest.raises(DataError, match=r"sheet\.tsv: no tests\. Write a row Name"):
        read(path)
