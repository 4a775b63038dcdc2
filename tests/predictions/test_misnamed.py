"""Misnamed files and folders are reported with the nearest name."""

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


def problems_of(folder: Path) -> list[str]:
    """Return the problems of validate, which must match those of score."""
    data = folder.parent / "data"
    validated = [str(problem) for problem in validate(folder, data).problems]
    left_out = isogloss.score(folder, data=data).left_out
    assert [str(each) for each in left_out] == [f"left out: {line}" for line in validated]
    return validated


@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("XNLI/en.jsonl", "XNLI: not the name of a task. Did you mean xnli?"),
        ("squid/en.jsonl", "squid: not the name of a task. Did you mean xquad?"),
        ("zzz/en.jsonl", "zzz: not the name of a task. See isogloss list tasks"),
        ("xnli.jsonl", "xnli.jsonl: is a file, expected the folder of xnli. Write xnli/<language>.jsonl"),
        ("xquad/TH2.jsonl", "TH2.jsonl: not a language of xquad. Did you mean th.jsonl? Languages are en ar "),
        ("xquad/EN.jsonl.gz", "EN.jsonl.gz: not a language of xquad. Did you mean en.jsonl? "),
        ("xquad/TH2.json", "TH2.json: not a language of xquad. Did you mean test-th.json? "),
        ("xquad/dev-German.jsonl", "dev-German.jsonl: not a language of xquad. Did you mean dev-de.jsonl? "),
        ("xquad/zh-CN.jsonl", "zh-CN.jsonl: not a language of xquad. Did you mean zh.jsonl? "),
        ("xquad/test-en_US.json", "test-en_US.json: not a language of xquad. Did you mean test-en.json? "),
        ("xquad/mine_zh.jsonl", "mine_zh.jsonl: not a language of xquad. Did you mean zh.jsonl? "),
        ("xquad/he_IL.jsonl", "he_IL.jsonl: not a language of xquad. Name it <language>.jsonl"),
        ("xquad/de-to-zh.jsonl", "de-to-zh.jsonl: not a language of xquad. Name it <language>.jsonl"),
        ("xquad/fr.jsonl", "fr.jsonl: not a language of xquad. Name it <language>.jsonl; languages are en "),
        ("xquad/more/de.jsonl", "more: not a language of xquad. "),
    ],
)
def test_wrong_name_is_reported_by_validate_and_score(name: str, what: str, folder: Path) -> None:
    write_jsonl(folder / name, {"q0": "word"})
    [line] = problems_of(folder)
    assert line.startswith(f"{folder}/")
    assert what in line


def test_companion_files_are_not_misnamed(folder: Path) -> None:
    for name in ("system.toml", "results.json", "scores.csv", "README.md", ".hidden"):
        (folder / name).write_text("")
    write_jsonl(folder / ".cells/xquad/en.json", {})
    assert problems_of(folder) == []


def test_one_file_for_all_languages(folder: Path) -> None:
    (folder / "xquad.json").write_text('{"TH2": {"q0": "word"}}')
    [line] = problems_of(folder)
    assert "xquad.json ('TH2'): not a language of xquad. Languages are en ar " in line


def test_wrong_type_in_one_file_for_all_languages_names_the_answer(tmp_path: Path) -> None:
    xquad(tmp_path / "data")
    (tmp_path / "p").mkdir()
    (tmp_path / "p/xquad.json").write_text('{"en": {"q7": 5}}')
    errors = [str(problem) for problem in validate(tmp_path / "p", tmp_path / "data").errors]
    assert any("answer to 'q7': Expected `str`, got `int`" in error for error in errors)


@pytest.mark.parametrize("raw", [b"\xff", b"[", b'{"en": {"a": "\xff"}}', b'{"en":' * 100_000])
def test_damaged_file_for_all_languages_is_one_problem(raw: bytes, tmp_path: Path) -> None:
    xquad(tmp_path / "data")
    (tmp_path / "p").mkdir()
    (tmp_path / "p/xquad.json").write_bytes(raw)
    [problem] = validate(tmp_path / "p", tmp_path / "data").errors
    reason = "not UTF-8" if b"\xff" in raw[1:] else "not a JSON object by language"
    assert "xquad.json" in str(problem) and reason in str(problem)
    with pytest.raises(isogloss.errors.PredictionError, match=rf"1 problem\n.*{reason}"):
        isogloss.score(tmp_path / "p", data=tmp_path / "data")


@pytest.mark.parametrize("content", ["name = [", "x = " + "9" * 5_000, "x = " + "[" * 5_000])
def test_score_and_validate_raise_for_the_same_folders(content: str, folder: Path) -> None:
    (folder / "system.toml").write_text(content)
    [problem] = validate(folder, folder.parent / "data").errors
    with pytest.raises(isogloss.errors.PredictionError) as error:
        isogloss.score(folder, data=folder.parent / "data")
    assert str(problem) == str(error.value)
    assert "system.toml: not TOML" in str(problem)


@pytest.mark.parametrize("other", ["xquad/en.jsonl.gz", "xquad/test-en.json"])
def test_second_file_of_a_cell_is_reported(other: str, folder: Path) -> None:
    (folder / other).write_bytes(b"never read")
    name = other.removeprefix("xquad/")
    what = f"xquad/en has more than one file; not used: {name}. Remove the unused files"
    [warning] = validate(folder, folder.parent / "data").everything()
    assert (warning.warning, f"{warning.what}. {warning.fix}") == (True, what)
    assert isogloss.score(folder, data=folder.parent / "data")["xquad", "en"].notes == [what]
