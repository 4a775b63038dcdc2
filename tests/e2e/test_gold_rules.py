"""Usable gold: splits, and missing, partial, placeholder and damaged gold."""

import json
import lzma
import shutil
from pathlib import Path
from typing import Any

import pytest

from e2e import rawfiles
from e2e.command import cell, refused, scored, values, write, write_answers, write_xtreme
from e2e.corrupted import wikiann, xcopa
from e2e.independent import tagging_scores


def words_of(path: Path) -> list[list[str]]:
    """Return the sentences of a prepared file without tags."""
    return [block.split("\n") for block in rawfiles.text(path).rstrip("\n").split("\n\n")]


# ---------------------------------------------------------------------------------------------------------------
# Splits


def test_test_set_without_gold_names_the_split_that_has_it(data_dir: Path, tmp_path: Path) -> None:
    tokens = words_of(data_dir / "panx/test-jv.tsv")
    write_answers(tmp_path / "run", "wikiann", "jv", {f"test-{i}": ["O"] * len(s) for i, s in enumerate(tokens)})
    message = refused(tmp_path / "run", "--data", data_dir, "--tasks", "wikiann")
    assert "wikiann/jv" in message
    assert "no gold" in message
    assert "--split dev" in message


def test_best_takes_test_where_it_has_gold_else_dev(data_dir: Path, tmp_path: Path) -> None:
    ner, copa = wikiann(data_dir, "jv"), xcopa(data_dir, "et")
    write_answers(tmp_path / "run", "wikiann", "jv", ner.answers, split="dev")
    # Test predictions without gold do not prevent scoring those for dev.
    write_answers(tmp_path / "run", "wikiann", "jv", {"test-0": ["O"]})
    write_answers(tmp_path / "run", "xcopa", "et", copa.answers)
    record = scored(tmp_path / "run", "--data", data_dir, "--split", "best")
    assert {(c["task"], c["split"]) for c in record["cells"]} == {("wikiann", "dev"), ("xcopa", "test")}
    assert "|split:dev|n:100|" in cell(record, "wikiann", "jv")["signature"]
    for task, language, answered in (("wikiann", "jv", ner), ("xcopa", "et", copa)):
        expected = {name: score for name, (score, _) in answered.expected.items()}
        assert values(cell(record, task, language)["metrics"]) == pytest.approx(expected, abs=1e-9)
    assert record["overall"]["score"] is None
    assert "different splits" in record["overall"]["note"]
    assert "‡ dev split, the others test" in record["printed"]
    assert f"{ner.expected['f1'][0]:.1f}‡" in record["printed"]
    assert f"{copa.expected['accuracy'][0]:.1f}‡" not in record["printed"]


def test_best_reports_gold_and_predictions_of_different_splits(data_dir: Path, tmp_path: Path) -> None:
    tokens = words_of(data_dir / "panx/test-jv.tsv")
    write_answers(tmp_path / "run", "wikiann", "jv", {f"test-{i}": ["O"] * len(s) for i, s in enumerate(tokens)})
    write_answers(tmp_path / "run", "xcopa", "et", xcopa(data_dir, "et").answers)
    message = refused(tmp_path / "run", "--data", data_dir, "--split", "best", "--strict")
    assert "wikiann/jv test" in message
    assert "no gold" in message
    record = scored(tmp_path / "run", "--data", data_dir, "--split", "best")
    assert [(c["task"], c["language"]) for c in record["cells"]] == [("xcopa", "et")]
    assert "left out: wikiann/jv test: " in record["printed"]
    assert "The dev split has gold" in record["printed"]


def test_dev_predictions_are_not_taken_for_test(data_dir: Path, tmp_path: Path) -> None:
    write_answers(tmp_path / "run", "wikiann", "jv", wikiann(data_dir, "jv").answers, split="dev")
    assert "no test predictions for wikiann" in refused(tmp_path / "run", "--data", data_dir, "--tasks", "wikiann")


def test_missing_split_is_an_error(data_dir: Path, tmp_path: Path) -> None:
    write_answers(tmp_path / "run", "lareqa", "en", {"x": ["en_1_0"]}, split="dev")
    message = refused(tmp_path / "run", "--data", data_dir, "--tasks", "lareqa", "--split", "dev")
    assert "lareqa has no dev split" in message


# ---------------------------------------------------------------------------------------------------------------
# Partial gold: of Arabic's 1,680 sentences the last 1,000 (PUD) have tags here


@pytest.fixture(scope="module")
def arabic(data_dir: Path) -> tuple[list[list[str]], list[list[str]]]:
    """Write gold for the last thousand sentences and answers for all, with every 4th gold tag missing."""
    gold = [sentence.tags for sentence in rawfiles.treebanks(data_dir, "ar")]
    tokens = words_of(data_dir / "udpos/xtreme_r_tsv/test-ar.tsv")
    assert [sentence.words for sentence in rawfiles.treebanks(data_dir, "ar")] == tokens[-len(gold) :]
    spoilt = [["X" if (i + row) % 4 == 0 else tag for i, tag in enumerate(s)] for row, s in enumerate(gold)]
    return gold, [["NOUN"] * len(sentence) for sentence in tokens[: -len(gold)]] + spoilt


def test_partial_gold_error_reports_the_number_of_examples(arabic: Any, data_dir: Path, tmp_path: Path) -> None:
    write_answers(tmp_path / "run", "udpos", "ar", {f"test-{row}": tags for row, tags in enumerate(arabic[1])})
    message = refused(tmp_path / "run", "--data", data_dir, "--tasks", "udpos")
    assert "udpos/ar" in message
    assert "1000 examples have gold" in message
    assert "--allow-partial" in message


@pytest.mark.parametrize("layout", ["own", "xtreme", "covered"])
def test_partial_gold_is_scored_on_demand_and_kept_out_of_averages(
    layout: str, arabic: Any, data_dir: Path, tmp_path: Path
) -> None:
    """Complete submissions and answers to only the covered sentences are both scored."""
    gold, given = arabic
    if layout == "xtreme":
        text = "\n".join("".join(f"{tag}\n" for tag in sentence) for sentence in given)
        write_xtreme(tmp_path / "run", "udpos", "ar", text)
    else:
        first = len(given) - len(gold) if layout == "covered" else 0
        answers = {f"test-{row}": tags for row, tags in enumerate(given) if row >= first}
        write_answers(tmp_path / "run", "udpos", "ar", answers)
    telugu = [sentence.tags for sentence in rawfiles.treebanks(data_dir, "te")]
    write_answers(tmp_path / "run", "udpos", "te", {f"test-{row}": tags for row, tags in enumerate(telugu)})
    record = scored(tmp_path / "run", "--data", data_dir, "--tasks", "udpos", "--allow-partial")
    found = cell(record, "udpos", "ar")
    assert values(found["metrics"]) == pytest.approx(tagging_scores(gold, given[-len(gold) :]), abs=1e-9)
    assert found["partial"] is True
    assert "|n:1000|" in found["signature"]
    (average,) = record["tasks"]
    assert (average["members"], average["score"]["value"]) == (["te"], 100.0)
    assert "ar" in average["missing"]
    assert "udpos/ar" in record["overall"]["missing"]
    assert "partial gold, not averaged: udpos/ar (n=1000)" in record["printed"]


# ---------------------------------------------------------------------------------------------------------------
# Implausible gold


def test_placeholder_labels_are_refused(data_dir: Path, tmp_path: Path) -> None:
    """The English COPA test file has 500 labels of 0."""
    write_answers(tmp_path / "run", "xcopa", "en", {str(row): 0 for row in range(500)})
    message = refused(tmp_path / "run", "--data", data_dir, "--tasks", "xcopa", "--languages", "en")
    assert "xcopa/en" in message
    assert "placeholders" in message


def test_romanian_is_scored_but_excluded_from_averages(data_dir: Path, tmp_path: Path) -> None:
    for language, right in (("en", True), ("ro", False)):
        gold = rawfiles.squad(data_dir / f"xquad/xquad.{language}.json")
        answers = {name: texts[0] if right else "-" for name, texts in gold.items()}
        write_answers(tmp_path / "run", "xquad", language, answers)
    record = scored(tmp_path / "run", "--data", data_dir, "--tasks", "xquad", "--languages", "en,ro")
    assert values(cell(record, "xquad", "ro")["metrics"]) == {"f1": 0.0, "em": 0.0}
    for average in (*record["tasks"], *record["categories"], record["overall"]):
        assert (average["score"]["value"], average["score"]["high"]) == (100.0, 100.0)
        # All 1,190 are right, but from only 48 articles.
        assert 92 < average["score"]["low"] < 93


# ---------------------------------------------------------------------------------------------------------------
# Damaged data files


def _answer_all(root: Path, data: Path) -> None:
    answers = {name: texts[0] for name, texts in rawfiles.squad(data / "xquad/xquad.en.json").items()}
    write_answers(root, "xquad", "en", answers)


def test_short_data_file_is_an_error_with_the_numbers(data_dir: Path, tmp_path: Path) -> None:
    _answer_all(tmp_path / "run", data_dir)
    file = json.loads(rawfiles.text(data_dir / "xquad/xquad.en.json"))
    lost = sum(len(paragraph["qas"]) for paragraph in file["data"].pop()["paragraphs"])
    path = write(tmp_path / "data" / "xquad" / "xquad.en.json", json.dumps(file))
    message = refused(tmp_path / "run", "--data", tmp_path / "data", "--tasks", "xquad")
    assert f"{path}: {1190 - lost} examples, but xquad/en test has 1190" in message


@pytest.mark.parametrize("damage", ["cut", "garbage", "not-json", "not-utf8"])
def test_damaged_data_file_is_named(damage: str, data_dir: Path, tmp_path: Path) -> None:
    _answer_all(tmp_path / "run", data_dir)
    packed = data_dir / "xquad/xquad.en.json.xz"
    path = tmp_path / "data" / "xquad" / "xquad.en.json.xz"
    path.parent.mkdir(parents=True)
    if damage == "cut":
        path.write_bytes(packed.read_bytes()[:-2000])
    elif damage == "garbage":
        path.write_bytes(b"not xz at all")
    else:
        plain = lzma.decompress(packed.read_bytes())
        path.write_bytes(lzma.compress(plain[:-9] if damage == "not-json" else plain[:500] + b"\xff" + plain[501:]))
    assert str(path) in refused(tmp_path / "run", "--data", tmp_path / "data", "--tasks", "xquad")


def test_missing_pool_file_is_named(data_dir: Path, tmp_path: Path) -> None:
    shutil.copytree(data_dir / "lareqa", tmp_path / "data" / "lareqa", ignore=shutil.ignore_patterns("el.*"))
    write_answers(tmp_path / "run", "lareqa", "en", {"x": ["en_1_0"]})
    message = refused(tmp_path / "run", "--data", tmp_path / "data", "--tasks", "lareqa")
    assert "missing: el" in message


def test_missing_data_error_names_the_searched_paths(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    write_answers(tmp_path / "run", "xcopa", "et", {"0": 1})
    message = refused(tmp_path / "run", "--data", tmp_path / "data", "--tasks", "xcopa")
    assert "isogloss fetch xcopa" in message
    assert "xcopa/data/{lang}/test.{lang}.jsonl" in message


# ---------------------------------------------------------------------------------------------------------------
# Label folders


def test_labels_that_are_missing_or_damaged_are_named(tmp_path: Path) -> None:
    for language in ("sw", "ur"):
        write_xtreme(tmp_path / "run", "xnli", language, "neutral\nneutral\n")
    labels = write_xtreme(tmp_path / "gold", "xnli", "sw", "neutral\nentailment\n")
    words = ("--gold", tmp_path / "gold", "--tasks", "xnli")
    assert "no labels for xnli/ur test" in refused(tmp_path / "run", *words, "--strict")
    record = scored(tmp_path / "run", *words)
    assert values(cell(record, "xnli", "sw")["metrics"]) == {"accuracy": 50.0}
    assert [(left["language"], left["reason"]) for left in record["left_out"]] == [("ur", "no labels for xnli/ur test")]
    (tmp_path / "run-results.json").unlink()
    labels.write_bytes(b"neutral\n\xff\n")
    assert f"{labels}:2: not UTF-8" in refused(tmp_path / "run", *words, "-l", "sw")
    labels.write_text("neutral\n")
    assert "1 id is not in xnli/sw" in refused(tmp_path / "run", *words, "-l", "sw")


def test_questions_without_answer_are_not_gold(tmp_path: Path) -> None:
    question = {"id": "q1", "question": "?", "answers": []}
    file = {"data": [{"paragraphs": [{"context": "c", "qas": [question]}]}]}
    path = write_xtreme(tmp_path / "gold", "xquad", "en", json.dumps(file))
    write_answers(tmp_path / "run", "xquad", "en", {"q1": "c"})
    message = refused(tmp_path / "run", "--gold", tmp_path / "gold", "--tasks", "xquad")
    assert f"{path}: question 'q1' has no answer" in message
