"""Predictions that cannot be scored: exit code 1, no traceback, every problem with its file and line."""

import json
from pathlib import Path
from typing import Any

import pytest

from e2e import rawfiles
from e2e.command import cell, isogloss, refused, scored, write, write_answers, write_xtreme
from e2e.corrupted import tydiqa, wikiann, xcopa, xnli


@pytest.fixture
def copa(data_dir: Path) -> dict[str, Any]:
    """Write correct answers to Estonian XCOPA, to be corrupted."""
    return dict(xcopa(data_dir, "et").answers)


def refuse_copa(data_dir: Path, tmp_path: Path, answers: dict[str, Any]) -> tuple[str, Path]:
    path = write_answers(tmp_path / "run", "xcopa", "et", answers)
    return refused(tmp_path / "run", "--data", data_dir, "--tasks", "xcopa"), path


# ---------------------------------------------------------------------------------------------------------------
# Ids


def test_missing_ids(copa: dict[str, Any], data_dir: Path, tmp_path: Path) -> None:
    del copa["7"], copa["123"]
    message, path = refuse_copa(data_dir, tmp_path, copa)
    assert str(path) in message
    assert "no answer for 2 of 500 examples: 7, 123" in message


def test_extra_ids(copa: dict[str, Any], data_dir: Path, tmp_path: Path) -> None:
    message, path = refuse_copa(data_dir, tmp_path, {**copa, "500": 1, "501": 0})
    assert f"{path}:501: 2 ids are not in xcopa/et test: '500', '501'" in message


def test_duplicate_ids(copa: dict[str, Any], data_dir: Path, tmp_path: Path) -> None:
    path = write_answers(tmp_path / "run", "xcopa", "et", copa)
    with path.open("a") as stream:
        stream.write('{"id": "9", "prediction": 0}\n')
    message = refused(tmp_path / "run", "--data", data_dir, "--tasks", "xcopa")
    assert f"{path}:501: duplicate id '9', first at {path}:10" in message


def test_numbers_are_ids_too(copa: dict[str, Any], data_dir: Path, tmp_path: Path) -> None:
    rows = (json.dumps({"id": int(name), "prediction": label}) for name, label in copa.items())
    write(tmp_path / "run" / "xcopa" / "et.jsonl", "\n".join(rows))
    found = cell(scored(tmp_path / "run", "--data", data_dir, "--tasks", "xcopa"), "xcopa", "et")
    assert found["metrics"]["accuracy"]["n"] == 500


def test_duplicate_id_in_a_json_object(data_dir: Path, tmp_path: Path) -> None:
    gold = rawfiles.squad(data_dir / "tydiqa_goldp/bengali_tydiqa_dev.json")
    first = next(iter(gold))
    text = json.dumps(dict(tydiqa(data_dir, "bn").answers))[:-1] + f', "{first}": "x"}}'
    path = write_xtreme(tmp_path / "run", "tydiqa", "bn", text)
    message = refused(tmp_path / "run", "--data", data_dir, "--tasks", "tydiqa")
    assert f"{path}: duplicate id '{first}'" in message


@pytest.mark.parametrize("change", [-1, 1])
def test_files_without_ids_need_every_line(change: int, data_dir: Path, tmp_path: Path) -> None:
    lines = xnli(data_dir, "sw").xtreme.splitlines()
    lines = lines[:change] if change < 0 else [*lines, "neutral"]
    path = write_xtreme(tmp_path / "run", "xnli", "sw", "\n".join(lines))
    message = refused(tmp_path / "run", "--data", data_dir, "--tasks", "xnli")
    assert str(path) in message
    assert ("no answer for 1 of 5010" if change < 0 else "1 id is not in xnli/sw test") in message


def test_wrong_language_is_noticed(data_dir: Path, tmp_path: Path) -> None:
    """QA ignores extra ids, but rejects a file without any known id: a score of 0 would mislead."""
    write_answers(tmp_path / "run", "tydiqa", "bn", tydiqa(data_dir, "sw").answers)
    said = refused(tmp_path / "run", "--data", data_dir, "--tasks", "tydiqa")
    assert "ids are not in tydiqa/bn test" in said
    assert "Check the language and the split" in said


# ---------------------------------------------------------------------------------------------------------------
# Answers


def test_labels_outside_the_set(data_dir: Path, tmp_path: Path) -> None:
    answers = dict(xnli(data_dir, "sw").answers)
    answers["test-41"] = "entails"
    path = write_answers(tmp_path / "run", "xnli", "sw", answers)
    message = refused(tmp_path / "run", "--data", data_dir, "--tasks", "xnli")
    assert f"{path}:42 (xnli/sw/test-41): label 'entails' is not one of entailment, neutral, contradiction" in message
    assert "Did you mean entailment?" in message


@pytest.mark.parametrize(
    ("answer", "what"), [("1", "'1' is a string"), (2, "2 is not the index"), (0.5, "0.5 is not the index")]
)
def test_invalid_choices(answer: object, what: str, copa: dict[str, Any], data_dir: Path, tmp_path: Path) -> None:
    message, path = refuse_copa(data_dir, tmp_path, {**copa, "3": answer})
    assert f"{path}:4 (xcopa/et/3): {what}" in message


@pytest.mark.parametrize("layout", ["own", "xtreme"])
def test_wrong_number_of_tags_names_the_sentence(layout: str, data_dir: Path, tmp_path: Path) -> None:
    answers = {name: list(tags) for name, tags in wikiann(data_dir, "jv").answers.items()}
    tokens = len(answers["dev-6"])
    answers["dev-6"].pop()
    if layout == "own":
        path = write_answers(tmp_path / "run", "wikiann", "jv", answers, split="dev")
        line = 7
    else:
        text = "\n".join("".join(f"{tag}\n" for tag in tags) for tags in answers.values())
        path = write_xtreme(tmp_path / "run", "wikiann", "jv", text, split="dev")
        line = 1 + sum(len(answers[f"dev-{row}"]) + 1 for row in range(6))
    message = refused(tmp_path / "run", "--data", data_dir, "--tasks", "wikiann", "--split", "dev")
    assert f"{path}:{line} (wikiann/jv/dev-6): {tokens - 1} tags for {tokens} tokens" in message


def test_tags_outside_the_set(data_dir: Path, tmp_path: Path) -> None:
    answers = {name: list(tags) for name, tags in wikiann(data_dir, "jv").answers.items()}
    answers["dev-6"][0] = "B-MISC"
    path = write_answers(tmp_path / "run", "wikiann", "jv", answers, split="dev")
    message = refused(tmp_path / "run", "--data", data_dir, "--tasks", "wikiann", "--split", "dev")
    assert f"{path}:7 (wikiann/jv/dev-6): tag 'B-MISC' is not one of" in message


def test_answer_of_another_shape(copa: dict[str, Any], data_dir: Path, tmp_path: Path) -> None:
    message, path = refuse_copa(data_dir, tmp_path, {**copa, "3": {"choice": 1}})
    assert f"{path}:4: " in message


# ---------------------------------------------------------------------------------------------------------------
# Files


@pytest.mark.parametrize(
    ("line", "what"),
    [
        (b'{"id": "3", "prediction": 1', "not JSON"),
        (b'{"id": "3", "answer": 1}', "prediction"),
        (b'{"id": "\xff3", "prediction": 1}', "not UTF-8"),
        (b"\x00\x01", "not JSON"),
    ],
)
def test_bad_line(line: bytes, what: str, copa: dict[str, Any], data_dir: Path, tmp_path: Path) -> None:
    path = write_answers(tmp_path / "run", "xcopa", "et", copa)
    rows = path.read_bytes().splitlines()
    rows[3] = line
    path.write_bytes(b"\n".join(rows))
    message = refused(tmp_path / "run", "--data", data_dir, "--tasks", "xcopa")
    assert f"{path}:4: " in message
    assert what in message


def test_bad_utf8_in_a_file_without_ids(data_dir: Path, tmp_path: Path) -> None:
    path = write_xtreme(tmp_path / "run", "xnli", "sw", xnli(data_dir, "sw").xtreme)
    rows = path.read_bytes().splitlines()
    rows[41] = b"neutr\xe4l"
    path.write_bytes(b"\n".join(rows))
    message = refused(tmp_path / "run", "--data", data_dir, "--tasks", "xnli")
    assert f"{path}:42: not UTF-8: byte 0xe4" in message


@pytest.mark.parametrize(
    ("raw", "what"),
    [
        (b'{"a": "b",\n "c": }', "test-bn.json:2: not JSON: Expecting value"),
        (b'{"a":\n "\xff"}', "test-bn.json:2: not UTF-8"),
        (b'["a", "b"]', "expected one JSON object"),
        (b'{"a": 5}', "answer to 'a'"),
        (b"", "not JSON"),
        (b"[" * 100_000, "not JSON"),
    ],
    ids=["syntax", "utf8", "list", "number", "empty", "deep"],
)
def test_bad_json_object(raw: bytes, what: str, data_dir: Path, tmp_path: Path) -> None:
    path = write_xtreme(tmp_path / "run", "tydiqa", "bn", "")
    path.write_bytes(raw)
    message = refused(tmp_path / "run", "--data", data_dir, "--tasks", "tydiqa")
    assert str(path) in message
    assert what in message


def test_deeply_nested_line(data_dir: Path, tmp_path: Path) -> None:
    path = write_xtreme(tmp_path / "run", "xcopa", "et", "[" * 100_000)
    assert f"{path}:1: " in refused(tmp_path / "run", "--data", data_dir, "--tasks", "xcopa")


def test_blank_lines_are_counted(data_dir: Path, tmp_path: Path) -> None:
    path = write_answers(tmp_path / "run", "xnli", "sw", {**xnli(data_dir, "sw").answers, "test-41": "entails"})
    path.write_text("\n\n" + path.read_text())
    assert f"{path}:44 (xnli/sw/test-41)" in refused(tmp_path / "run", "--data", data_dir, "--tasks", "xnli")


def test_problems_of_all_files_are_reported_together(copa: dict[str, Any], data_dir: Path, tmp_path: Path) -> None:
    first = write_answers(tmp_path / "run", "xcopa", "et", {**copa, "3": 7})
    second = write_answers(tmp_path / "run", "xcopa", "th", {**copa, "5": 8})
    third = write_xtreme(tmp_path / "run", "xnli", "sw", "perhaps\n")
    message = refused(tmp_path / "run", "--data", data_dir)
    assert all(str(path) in message for path in (first, second, third))


def test_byte_order_mark_and_windows_line_ends_are_ignored(data_dir: Path, tmp_path: Path) -> None:
    answered = xnli(data_dir, "sw")
    path = write_xtreme(tmp_path / "run", "xnli", "sw", "\ufeff" + answered.xtreme.replace("\n", "\r\n"))
    assert path.read_bytes().startswith(b"\xef\xbb\xbf")
    found = cell(scored(tmp_path / "run", "--data", data_dir, "--tasks", "xnli"), "xnli", "sw")
    assert found["metrics"]["accuracy"]["value"] == pytest.approx(answered.expected["accuracy"][0], abs=1e-9)


# ---------------------------------------------------------------------------------------------------------------
# Names


def test_missing_or_empty_folder(data_dir: Path, tmp_path: Path) -> None:
    assert "no such folder" in refused(tmp_path / "nowhere", "--data", data_dir)
    (tmp_path / "empty").mkdir()
    assert "no test predictions for xnli" in refused(tmp_path / "empty", "--data", data_dir, "--tasks", "xnli")


@pytest.mark.parametrize(
    ("option", "wrong", "near"),
    [
        ("--tasks", "xqad", "xquad"),
        ("--suite", "xtrem-r", "xtreme-r"),
        ("--split", "tset", "test"),
        ("--languages", "xx", "language of xtreme-r 'xx'"),
    ],
)
def test_misspelt_names(option: str, wrong: str, near: str, tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    message = refused(tmp_path / "run", option, wrong, code=2)
    assert wrong in message
    assert near in message


def test_wrong_option_is_wrong_usage(tmp_path: Path) -> None:
    assert isogloss("score", tmp_path, "--no-such-option").code == 2
    assert isogloss("scroe", tmp_path).code == 2


def test_record_that_cannot_be_written_is_an_error(copa: dict[str, Any], data_dir: Path, tmp_path: Path) -> None:
    write_answers(tmp_path / "run", "xcopa", "et", copa)
    (tmp_path / "folder").mkdir()
    done = isogloss("score", tmp_path / "run", "--data", data_dir, "--json", tmp_path / "folder")
    assert done.code == 1
    assert str(tmp_path / "folder") in done.err
