"""Accepted formats of prediction files, and their errors."""

import contextlib
import gzip
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from isogloss.data import files
from isogloss.errors import DataError, PredictionError
from isogloss.predictions import folder, formats
from isogloss.predictions.formats import FORMATS, json_lines
from isogloss.predictions.problems import MAX_PROBLEMS
from isogloss.tasks.kinds import KINDS
from isogloss.tasks.registry import task


def write(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def test_json_lines_with_ids_of_either_type(tmp_path: Path) -> None:
    path = write(tmp_path / "en.jsonl", '{"id": "a", "prediction": "x"}\n{"id": 7, "prediction": null, "more": [1]}\n')
    answers = json_lines(path, KINDS["qa"])
    assert (answers.ids, answers.values, answers.problems) == (["a", "7"], ["x", None], [])


@pytest.mark.parametrize(
    ("kind_name", "given_value", "expected"),
    [
        ("classification", "0", "0"),
        ("classification", '" neutral "', "neutral"),
        ("choice", "true", True),
        ("choice", "1.0", 1),
        ("tagging", '["NOUN ", "X"]', ["NOUN", "X"]),
        ("tagging", '[[0, 4, "PER"]]', [(0, 4, "PER")]),
        ("tagging", "[]", []),
        ("bitext", "5", ["5"]),
        ("bitext", '["5", 6]', ["5", "6"]),
        ("pool", '["a", "b"]', ["a", "b"]),
        ("mining", '"en-1"', ["en-1"]),
    ],
)
def test_answers_have_one_canonical_form(tmp_path: Path, kind_name: str, given_value: str, expected: object) -> None:
    path = write(tmp_path / "x.jsonl", f'{{"id": "1", "prediction": {given_value}}}')
    answers = json_lines(path, KINDS[kind_name])
    assert answers.problems == []
    assert answers.values == [expected]


def test_every_bad_line_is_reported_and_the_good_ones_kept(tmp_path: Path) -> None:
    good, cut = b'{"id": "a", "prediction": "x"}', b'{"id": "f", "prediction": "y'
    bytes_not_text, number = b'{"id": "d", "prediction": "\xff"}', b'{"id": "c", "prediction": 3}'
    lines = [good, b'{"id": "b"}', b"not json", b"", number, bytes_not_text, good.replace(b"a", b"e", 1), cut]
    content = b"\n".join(lines)
    answers = json_lines(write(tmp_path / "en.jsonl", content), KINDS["qa"])
    assert answers.ids == ["a", "e"]
    places = [problem.where.rpartition(":")[2] for problem in answers.problems]
    assert places == ["2", "3", "5", "6", "8"]
    assert "prediction" in answers.problems[0].what
    assert "not JSON" in answers.problems[1].what
    assert all(problem.fix for problem in answers.problems)


def read(kind_name: str, path: Path, row_ids: list[str]) -> list[tuple[str, object]]:
    answers = FORMATS[KINDS[kind_name].label_format].read(
        path, KINDS[kind_name], lambda row: row_ids[row] if row_ids else str(row)
    )
    assert answers.problems == []
    return list(zip(answers.ids, answers.values, strict=True))


def test_label_lines_are_stripped_and_unwrapped(tmp_path: Path) -> None:
    path = write(tmp_path / "t.tsv", "neutral\r\n entailment\n")
    assert read("classification", path, ["r0", "r1"]) == [("r0", "neutral"), ("r1", "entailment")]
    path = write(tmp_path / "u.tsv", "[5]\n7\n")
    assert read("bitext", path, ["r0", "r1"]) == [("r0", ["5"]), ("r1", ["7"])]


@pytest.mark.parametrize(
    ("content", "sentences"),
    [
        ("A\nB\n\nC\n", [["A", "B"], ["C"]]),
        ("A\nB\n\nC\n\n", [["A", "B"], ["C"]]),
        ("A\n\n\nC\n", [["A"], [], ["C"]]),
        ("\nA\n", [[], ["A"]]),
        ("A\n\n\n", [["A"], []]),
    ],
)
def test_blank_lines_between_tags_match_the_reference(tmp_path: Path, content: str, sentences: list[list[str]]) -> None:
    found = read("tagging", write(tmp_path / "t.tsv", content), [f"r{i}" for i in range(9)])
    assert [tags for _, tags in found] == sentences


def test_choices_qa_and_pairs(tmp_path: Path) -> None:
    path = write(tmp_path / "c.jsonl", '{"label": 1}\n{"label": 0, "idx": 4}\n')
    assert read("choice", path, ["0", "1"]) == [("0", 1), ("1", 0)]
    path = write(tmp_path / "q.json", '{"b": "x", "a": ""}')
    assert read("qa", path, []) == [("b", "x"), ("a", "")]
    path = write(tmp_path / "p.tsv", "de-1\ten-1\nde-2\ten-1\nde-1\ten-3\nde-1\ten-1\n")
    assert read("mining", path, []) == [("de-1", ["en-1", "en-3"]), ("de-2", ["en-1"])]


def test_duplicate_ids_in_one_object_are_kept(tmp_path: Path) -> None:
    found = read("qa", write(tmp_path / "q.json", '{"a": "x", "a": "y"}'), [])
    assert found == [("a", "x"), ("a", "y")]


@pytest.mark.parametrize("content", ["", "[1, 2]", '{"a": ', '"text"', "\ufeff"])
def test_non_objects_raise(tmp_path: Path, content: str) -> None:
    with pytest.raises(DataError, match="JSON"):
        FORMATS["by-id"].read(write(tmp_path / "q.json", content), KINDS["qa"], str)


@given(st.binary(max_size=200))
def test_arbitrary_bytes_give_problems_only(tmp_path_factory: pytest.TempPathFactory, raw: bytes) -> None:
    path = tmp_path_factory.mktemp("fuzz") / "x.jsonl"
    path.write_bytes(raw)
    for kind_name in ("qa", "tagging", "pool", "choice"):
        json_lines(path, KINDS[kind_name])
    for kind_name in ("classification", "tagging", "choice", "qa", "mining", "bitext"):
        with contextlib.suppress(DataError):
            FORMATS[KINDS[kind_name].label_format].read(path, KINDS[kind_name], str)


def test_one_file_for_all_languages_is_read_once_until_it_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reads: list[Path] = []
    monkeypatch.setattr(folder, "read_bytes", lambda path: reads.append(path) or path.read_bytes())
    path = write(tmp_path / "xquad.json", '{"en": {"a": "x"}, "de": {"a": "y"}}')
    predictions = folder.PredictionFolder(tmp_path)
    assert [predictions.find(task("xquad"), code, "test") is not None for code in ("en", "de", "sw")] == [1, 1, 0]
    assert reads == [path]
    write(path, '{"sw": {"a": "another answer"}}')
    assert predictions.find(task("xquad"), "sw", "test") is not None
    assert reads == [path, path]


@pytest.mark.parametrize("size", [1, 60, 1 << 18])
def test_lines_are_counted_across_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    monkeypatch.setattr(files, "BLOCK", size)
    line = '{"id": %d, "prediction": "x"}\n'
    content = (line % 1) + "\n" + (line % 3) + "oops\n" + (line % 5) + '{"id": 6, "prediction": "x"}{"id": 7, "pre'
    answers = json_lines(write(tmp_path / "en.jsonl", "\ufeff" + content), KINDS["qa"])
    assert (answers.ids, answers.numbers) == (["1", "3", "5"], [1, 3, 5])
    assert [problem.where.rpartition(":")[2] for problem in answers.problems] == ["4", "6"]


def test_two_records_on_one_line_are_a_problem(tmp_path: Path) -> None:
    record = '{"id": "a", "prediction": "x"}'
    answers = json_lines(write(tmp_path / "en.jsonl", f"{record}{record}\n{record}\n"), KINDS["qa"])
    assert (answers.ids, answers.numbers) == (["a"], [2])
    assert [problem.where.rpartition(":")[2] for problem in answers.problems] == ["1"]


def test_deep_nesting_is_a_problem_of_its_line(tmp_path: Path) -> None:
    deep = '{"id": "a", "prediction": "x", "more": ' + "[" * 100_000
    answers = json_lines(write(tmp_path / "en.jsonl", deep + '\n{"id": "b", "prediction": "y"}\n'), KINDS["qa"])
    assert answers.ids == ["b"]
    assert [problem.where.rpartition(":")[2] for problem in answers.problems] == ["1"]


@pytest.mark.parametrize(("name", "line"), [("lines", b"0\n"), ("tags", b"\n"), ("choices", b'{"label": 0}\n')])
def test_too_many_answers_raise(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, line: bytes) -> None:
    """A megabyte of the same line, packed to a kilobyte, would otherwise become a gigabyte of answers."""
    monkeypatch.setattr(formats, "MAX_ANSWERS", 1000)
    path = tmp_path / "test-en.tsv.gz"
    path.write_bytes(gzip.compress(line * (1 << 18)))
    with pytest.raises(DataError, match="more than 1,000 answers"):
        FORMATS[name].read(path, KINDS["classification"], str)


def test_binary_file_for_all_languages_raises(tmp_path: Path) -> None:
    path = write(tmp_path / "xquad.json", b'{"en": {"a": "\xff"}}')
    with pytest.raises(DataError, match=r"xquad\.json:1: not UTF-8: byte 0xff"):
        folder.PredictionFolder(tmp_path).find(task("xquad"), "en", "test")
    path.write_bytes(b'{"en": ' + b"[" * 100_000)
    with pytest.raises(DataError, match=r"xquad\.json: not a JSON object by language"):
        folder.PredictionFolder(tmp_path).find(task("xquad"), "en", "test")


@pytest.mark.parametrize("content", [b"name = '\xff'", b"name = " + b"9" * 5_000, b"name = " + b"[" * 5_000])
def test_invalid_system_toml_raises(tmp_path: Path, content: bytes) -> None:
    write(tmp_path / "system.toml", content)
    with pytest.raises(PredictionError, match=r"system\.toml.*: not (UTF-8|TOML)"):
        _ = folder.PredictionFolder(tmp_path).system


@pytest.mark.parametrize(
    ("name", "line"), [("tags", b"NOUN\tX\n"), ("choices", b"x\n"), ("pairs", b"x\n"), ("json lines", b"x\n")]
)
def test_reading_stops_after_too_many_invalid_lines(tmp_path: Path, name: str, line: bytes) -> None:
    path = write(tmp_path / "en.x", line * (MAX_PROBLEMS * 3))
    kind = KINDS["tagging"]
    answers = json_lines(path, kind) if name == "json lines" else FORMATS[name].read(path, kind, str)
    *wrong, last = answers.problems
    assert [problem.where.rpartition(":")[2] for problem in wrong] == [
        str(number) for number in range(1, MAX_PROBLEMS + 1)
    ]
    assert str(last) == f"{path}: … and more: stopped reading after 1,000 problems"


@pytest.mark.parametrize("content", ['name = ""', 'name = " \\t"', "", None])
def test_unnamed_system_is_named_after_its_folder(tmp_path: Path, content: str | None) -> None:
    (tmp_path / "mine").mkdir()
    if content is not None:
        write(tmp_path / "mine/system.toml", content)
    assert folder.PredictionFolder(tmp_path / "mine").system == {"name": "mine"}
