"""What is named after no task or language is said, with the nearest name; nothing is dropped in silence."""

from pathlib import Path

import pytest

import isogloss
from isogloss.predictions.validate import validate
from predictions.made import write_jsonl, xquad


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A prediction folder with one cell that can be scored."""
    write_jsonl(tmp_path / "p/xquad/en.jsonl", dict(xquad(tmp_path / "data")))
    return tmp_path / "p"


def said(folder: Path) -> list[str]:
    """What validate says, which must be what score says."""
    data = folder.parent / "data"
    validated = [str(problem) for problem in validate(folder, data).problems]
    left_out = isogloss.score(folder, data=data).left_out
    assert [str(each) for each in left_out] == [f"left out: {line}" for line in validated]
    return validated


@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("XNLI/en.jsonl", "XNLI: is not named after a task. Did you mean xnli?"),
        ("squid/en.jsonl", "squid: is not named after a task. Did you mean xquad?"),
        ("zzz/en.jsonl", "zzz: is not named after a task. isogloss list tasks shows their names"),
        ("xnli.jsonl", "xnli.jsonl: is a file where the folder of xnli is expected. Write xnli/<language>.jsonl"),
        ("xquad/TH2.jsonl", "TH2.jsonl: belongs to no language of xquad. Did you mean th.jsonl? Languages are en ar "),
        ("xquad/EN.jsonl.gz", "EN.jsonl.gz: belongs to no language of xquad. Did you mean en.jsonl? "),
        ("xquad/TH2.json", "TH2.json: belongs to no language of xquad. Did you mean test-th.json? "),
        ("xquad/dev-German.jsonl", "dev-German.jsonl: belongs to no language of xquad. Did you mean dev-de.jsonl? "),
        ("xquad/fr.jsonl", "fr.jsonl: belongs to no language of xquad. Name it <language>.jsonl; languages are en "),
        ("xquad/more/de.jsonl", "more: belongs to no language of xquad. "),
    ],
)
def test_a_wrong_name_is_said_by_validate_and_score_alike(name: str, what: str, folder: Path) -> None:
    write_jsonl(folder / name, {"q0": "word"})
    [line] = said(folder)
    assert line.startswith(f"{folder}/")
    assert what in line


def test_what_may_lie_beside_the_tasks_is_not_misnamed(folder: Path) -> None:
    for name in ("system.toml", "results.json", "scores.csv", "README.md", ".hidden"):
        (folder / name).write_text("")
    write_jsonl(folder / ".cells/xquad/en.json", {})
    assert said(folder) == []


def test_one_file_for_all_languages(folder: Path) -> None:
    (folder / "xquad.json").write_text('{"TH2": {"q0": "word"}}')
    [line] = said(folder)
    assert "xquad.json ('TH2'): belongs to no language of xquad. Languages are en ar " in line


def test_a_wrong_type_in_one_file_for_all_languages_names_the_answer(tmp_path: Path) -> None:
    xquad(tmp_path / "data")
    (tmp_path / "p").mkdir()
    (tmp_path / "p/xquad.json").write_text('{"en": {"q7": 5}}')
    errors = [str(problem) for problem in validate(tmp_path / "p", tmp_path / "data").errors]
    assert any("answer to 'q7': Expected `str`, got `int`" in error for error in errors)


@pytest.mark.parametrize("raw", [b"\xff", b"[", b'{"en": {"a": "\xff"}}', b'{"en":' * 100_000])
def test_a_damaged_file_for_all_languages_is_one_problem(raw: bytes, tmp_path: Path) -> None:
    xquad(tmp_path / "data")
    (tmp_path / "p").mkdir()
    (tmp_path / "p/xquad.json").write_bytes(raw)
    [problem] = validate(tmp_path / "p", tmp_path / "data").errors
    said = "not UTF-8" if b"\xff" in raw[1:] else "not such a JSON file"
    assert "xquad.json" in str(problem) and said in str(problem)
    with pytest.raises(isogloss.errors.PredictionError, match=rf"1 problem\n.*{said}"):
        isogloss.score(tmp_path / "p", data=tmp_path / "data")


@pytest.mark.parametrize("content", ["name = [", "x = " + "9" * 5_000, "x = " + "[" * 5_000])
def test_what_score_refuses_validate_refuses(content: str, folder: Path) -> None:
    (folder / "system.toml").write_text(content)
    [problem] = validate(folder, folder.parent / "data").errors
    with pytest.raises(isogloss.errors.PredictionError) as error:
        isogloss.score(folder, data=folder.parent / "data")
    assert str(problem) == str(error.value)
    assert "system.toml: not TOML" in str(problem)


@pytest.mark.parametrize("other", ["xquad/en.jsonl.gz", "xquad/test-en.json"])
def test_two_files_for_one_cell_are_said_with_the_one_taken(other: str, folder: Path) -> None:
    (folder / other).write_bytes(b"never read")
    name = other.removeprefix("xquad/")
    what = f"xquad/en has more than one file: en.jsonl is taken, {name} not. Remove what is not meant"
    [warning] = validate(folder, folder.parent / "data").everything()
    assert (warning.warning, f"{warning.what}. {warning.fix}") == (True, what)
    assert isogloss.score(folder, data=folder.parent / "data")["xquad", "en"].notes == [what]
