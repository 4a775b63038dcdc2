"""The traps of the real files, one by one."""

from collections import Counter
from pathlib import Path

import pytest

import isogloss
from isogloss.errors import DataError
from isogloss.tasks.loading import load_gold
from isogloss.tasks.registry import task


@pytest.mark.parametrize(
    ("language", "split", "wrong"), [("th", "test", 250), ("tr", "test", 51), ("sw", "test", 37), ("et", "test", 0)]
)
def test_xcopa_questions_are_repaired(data_dir: Path, language: str, split: str, wrong: int) -> None:
    examples = isogloss.load("xcopa", language, split=split, data=data_dir)
    trusted = isogloss.load("xcopa", "zh", split=split, data=data_dir)
    assert list(examples["question"]) == list(trusted["question"])
    noted = [note for note in examples.notes if note.startswith(f"{wrong} wrong question")]
    assert bool(noted) == bool(wrong)


def test_english_copa_test_labels_are_placeholders(data_dir: Path) -> None:
    with pytest.raises(DataError, match="placeholders"):
        load_gold(task("xcopa"), "en", "test", data_dir)


@pytest.mark.parametrize("language", task("xquad").languages)
def test_xquad_answers_are_at_their_offsets(data_dir: Path, language: str) -> None:
    examples = isogloss.load("xquad", language, data=data_dir)
    for context, answers, starts in zip(examples.context, examples.answers, examples.answer_starts, strict=True):
        for answer, start in zip(answers, starts, strict=True):
            assert context[start : start + len(answer)] == answer
    has_marks = any("\ufeff" in context for context in examples.context)
    assert has_marks == (language != "en")


def test_xquad_ids_are_shared_across_languages(data_dir: Path) -> None:
    english = isogloss.load("xquad", "en", data=data_dir).ids
    assert set(isogloss.load("xquad", "th", data=data_dir).ids) == set(english)


def test_lareqa_has_the_published_size(data_dir: Path) -> None:
    of = task("lareqa")
    examples = {code: isogloss.load("lareqa", code, data=data_dir) for code in of.languages}
    assert sum(map(len, examples.values())) == 13_090
    pool = examples["en"].pool
    assert pool is not None
    assert len(pool) == 13_014
    assert Counter(pool.languages) == of.counts["candidates"]
    for of_language in examples.values():
        for targets in of_language["targets"]:
            assert len(targets) == len(set(targets)) == 11
            assert {target.partition("_")[0] for target in targets} == set(of.languages)


@pytest.mark.parametrize("language", task("tatoeba").languages)
def test_tatoeba_has_as_many_lines_on_both_sides(data_dir: Path, language: str) -> None:
    examples = isogloss.load("tatoeba", language, data=data_dir)
    assert examples.pool is not None
    assert len(examples.pool.text) == len(examples)


def test_pos_and_ner_carry_raw_text(data_dir: Path) -> None:
    for name, language, split in (("udpos", "he", "test"), ("wikiann", "th", "dev"), ("wikiann", "my", "dev")):
        try:
            examples = isogloss.load(name, language, split=split, data=data_dir)
        except DataError:
            assert (name, language) == ("wikiann", "th")  # no Thai dev file was ever published
            continue
        for tokens, text, offsets in zip(examples.tokens, examples.text, examples.offsets, strict=True):
            assert len(tokens) == len(offsets)
            assert all(0 <= start <= end <= len(text) for start, end in offsets)


def test_partial_treebanks_keep_the_ids_of_the_full_split(data_dir: Path) -> None:
    with pytest.raises(DataError, match=r"1000 examples have gold: use --allow-partial"):
        load_gold(task("udpos"), "ar", "test", data_dir)
    part = load_gold(task("udpos"), "ar", "test", data_dir, allow_partial=True)
    full = isogloss.load("udpos", "ar", data=data_dir)
    assert (len(part), len(full), part.partial) == (1000, 1680, True)
    words = dict(zip(full.ids, full.tokens, strict=True))
    assert all(words[identifier] == tokens for identifier, tokens in zip(part.ids, part.tokens, strict=True))


def test_bucc_counts_gold_pairs(data_dir: Path) -> None:
    examples = isogloss.load("bucc", "zh", split="dev", data=data_dir)
    assert examples.pool is not None
    assert (len(examples), len(examples.pool), sum(map(len, examples.targets))) == (8624, 13589, 257)


def test_pawsx_rows_are_the_same_in_both_distributions(data_dir: Path) -> None:
    labelled = isogloss.load("pawsx", "de", data=data_dir)
    assert labelled.has_gold
    assert labelled.ids[:2] == ["test-0", "test-1"]
    assert len(labelled) == 2000
