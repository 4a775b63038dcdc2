"""Translate-test of retrieval: queries and candidates in English, whichever of them is in another language."""

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from e2e.command import isogloss
from isogloss.errors import DataError, MissingDataError
from isogloss.metrics.statistics import FloatArray
from isogloss.tasks.examples import Examples
from isogloss.tasks.kinds import kind_of
from isogloss.tasks.kinds.retrieval import pool_of
from isogloss.tasks.loading import load
from isogloss.tasks.registry import task
from isogloss.training.regimes import regime
from isogloss.translation.artefacts import check_translations
from isogloss.translation.translate import translate, write_untranslated
from isogloss.translation.translated_files import translated_test_set
from runs.grid_fake import mini_cache, mini_data

__all__ = ["mini_cache", "mini_data"]

TATOEBA, LAREQA, BUCC = task("mini-tatoeba"), task("mini-lareqa"), task("bucc")


def upper(lines: Sequence[str]) -> list[str]:
    return [line.upper() for line in lines]


@pytest.fixture
def folder(mini_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ISOGLOSS_TRANSLATIONS", str(tmp_path / "translations"))
    return tmp_path / "translations"


def test_english_queries_stay_and_candidates_are_translated(folder: Path) -> None:
    path = translate(TATOEBA, "sw", "test", None, upper)
    assert path == folder / "mini-tatoeba/translate-test/candidates-sw.jsonl"
    originals, translated = load(TATOEBA, "sw"), translated_test_set(TATOEBA, "sw", "test", None)
    assert (translated["text"], translated["targets"]) == (originals["text"], originals["targets"])
    before, after = pool_of(originals), pool_of(translated)
    assert (after.ids, after.language_of) == (before.ids, before.language_of)
    assert after.text == upper(before.text)
    assert set(translated["language"]) == {"en"}
    assert translated.checksum != originals.checksum


def test_shared_pool_needs_the_candidates_of_every_language(folder: Path) -> None:
    languages = [code for code in LAREQA.languages if code != "en"]
    for code in languages[:-1]:
        assert translate(LAREQA, code, "test", None, upper).name == f"{code}.jsonl"
    with pytest.raises(MissingDataError, match=f"candidates from {languages[-1]}") as caught:
        translated_test_set(LAREQA, languages[0], "test", None)
    assert f"isogloss translate mini-lareqa --languages {languages[-1]} --split test" in str(caught.value)
    translate(LAREQA, languages[-1], "test", None, upper)
    # English queries search translated candidates too.
    for code, change in ((languages[0], upper), ("en", list)):
        translated = regime("translate-test").examples(LAREQA, code, "test", None)
        originals = load(LAREQA, code)
        assert translated["text"] == change(originals["text"])
        pool = pool_of(translated)
        for text, before, language in zip(pool.text, pool_of(originals).text, pool.languages, strict=True):
            assert text == (before if language == "en" else before.upper())


def test_missing_and_incomplete_sides_are_reported(folder: Path) -> None:
    with pytest.raises(MissingDataError, match="no translation of mini-lareqa's test queries from "):
        translated_test_set(LAREQA, next(code for code in LAREQA.languages if code != "en"), "test", None)
    path = translate(TATOEBA, "sw", "test", None, upper)
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(lines[1:]))
    with pytest.raises(DataError, match=r"1 of .* examples are not translated, first '0'"):
        translated_test_set(TATOEBA, "sw", "test", None)
    path.write_text("".join([*lines, lines[0]]))
    with pytest.raises(DataError, match="id '0' occurs more than once"):
        translated_test_set(TATOEBA, "sw", "test", None)


def test_report_and_texts_by_hand_have_both_sides(folder: Path, tmp_path: Path) -> None:
    code = next(code for code in LAREQA.languages if code != "en")
    translate(LAREQA, code, "test", None, upper)
    report = check_translations(LAREQA, code, "test")
    originals = load(LAREQA, code)
    side = [
        text for text, own in zip(pool_of(originals).text, pool_of(originals).languages, strict=True) if own == code
    ]
    assert report.texts == len({*originals["text"], *side})
    written = write_untranslated(LAREQA, code, "test", None, tmp_path / "todo.jsonl")
    assert [(one.name, other.name) for one, other in written] == [
        ("todo.jsonl", f"{code}.jsonl"),
        ("todo-candidates.jsonl", f"candidates-{code}.jsonl"),
    ]
    assert [json.loads(line)["text"] for line in written[1][0].read_text().splitlines()] == side


class Letters:
    """Vectors of texts: their counts of upper-case letters."""

    def _vectors(self, texts: Sequence[str]) -> FloatArray:
        return np.array([[1 + text.count(letter) for letter in "ABCDEFGH"] for text in texts], dtype=float)

    def queries(self, examples: Examples) -> FloatArray:
        return self._vectors(examples["text"])

    def candidates(self, examples: Examples) -> FloatArray:
        return self._vectors(pool_of(examples).text)


def test_threshold_of_mining_comes_from_the_translated_dev_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ISOGLOSS_TRANSLATIONS", raising=False)
    for stem, count in (("training", 8), ("sample", 6)):
        base = tmp_path / f"bucc/de-en/de-en.{stem}"
        base.parent.mkdir(parents=True, exist_ok=True)
        letters = "ABCDEFGH"[:count]
        base.with_name(f"{base.name}.de").write_text("".join(f"de-{x}\t{x.lower() * 5} {x.lower()}\n" for x in letters))
        base.with_name(f"{base.name}.en").write_text("".join(f"en-{x}\t{x * 5}\n" for x in letters))
        base.with_name(f"{base.name}.gold").write_text("".join(f"de-{x}\ten-{x}\n" for x in letters))
    monkeypatch.setattr("isogloss.tasks.loading._is_full", lambda *_: True)
    for split in ("test", "dev"):
        translate(BUCC, "de", split, tmp_path, upper)
    translated = translated_test_set(BUCC, "de", "test", tmp_path)
    assert pool_of(translated).text == ["A" * 5, *pool_of(translated).text[1:]]
    assert translated.read_dev is not None
    assert translated.read_dev()["text"][0] == "AAAAA A"
    answers = kind_of(BUCC).answers_from_vectors(BUCC, translated, Letters())
    assert answers == [[f"en-{x}"] for x in "ABCDEFGH"]


def test_retrieval_runs_on_translations(folder: Path, tmp_path: Path) -> None:
    translate(TATOEBA, "sw", "test", None, upper)
    words = ("run", "ngram", "--suite", "mini", "--tasks", "mini-tatoeba", "--languages", "sw", "--seeds", 1)
    done = isogloss(*words, "--regime", "translate-test", "--out", tmp_path / "runs")
    assert done.code == 0, done.err
    assert (tmp_path / "runs/ngram/translate-test/seed-0/mini-tatoeba/sw.jsonl").exists()
