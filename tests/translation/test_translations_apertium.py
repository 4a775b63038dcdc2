"""Translation regimes end to end with a real translator: Debian's Apertium, English and Spanish."""

import shutil
import subprocess
from pathlib import Path

import pytest

from caches import new_cache
from e2e.command import isogloss
from isogloss.errors import IsoglossError
from isogloss.runs.records import read_record
from isogloss.tasks.loading import load
from isogloss.tasks.mini import make
from isogloss.tasks.registry import task as find_task
from isogloss.translation.translated_files import translated_test_set
from isogloss.translation.translators import open_translator
from runs.grid_fake import mini_cache, mini_data

__all__ = ["mini_cache", "mini_data"]

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("spanish")]

TO_SPANISH, TO_ENGLISH = "apertium:eng-spa", "apertium:{source3}-{target3}"


@pytest.fixture
def spanish(mini_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Folder for translations; skipped without the translator."""
    if shutil.which("apertium") is None:
        pytest.skip("apertium is not installed: apt-get install apertium apertium-eng-spa")
    modes = subprocess.run(["apertium", "-l"], capture_output=True, text=True, check=False).stdout.split()
    if not {"eng-spa", "spa-eng"} <= set(modes):
        pytest.skip("apertium has no English-Spanish data: apt-get install apertium-eng-spa")
    monkeypatch.setenv("ISOGLOSS_TRANSLATIONS", str(tmp_path / "translations"))
    monkeypatch.setenv("ISOGLOSS_CACHE", str(new_cache(tmp_path / "cache")))
    assert make.folder().is_dir()


def test_spanish_is_learnt_from_translated_english(tmp_path: Path) -> None:
    made = isogloss("translate", "mini-xquad", "--language", "es", "--with", TO_SPANISH)
    assert made.code == 0, made.err
    words = ("--suite", "mini", "--tasks", "mini-xquad", "--languages", "es,sw", "--seeds", 1, "--out", tmp_path)
    done = isogloss("run", "ngram", *words, "--regime", "translate-train")
    assert done.code == 0, done.err
    assert "1 cell done, 1 skipped" in done.out
    assert "no translation of mini-xquad's English training set to sw" in done.out
    found = read_record(tmp_path / "ngram/translate-train/seed-0/.cells/mini-xquad/es.json")
    assert found is not None
    assert found.score is not None
    assert found.score.metrics["f1"].value > 25  # a random word scores about 5
    assert found.provenance.training is not None
    # Some answers are translated differently outside their passage; markers find nearly all.
    counts = found.provenance.training.notes[0]
    assert counts.startswith("answers: ")
    assert float(counts.partition("lost (")[2].partition("%")[0]) < 5


def test_spanish_queries_are_english(tmp_path: Path) -> None:
    made = isogloss("translate", "mini-xnli", "--language", "es", "--split", "test", "--with", TO_ENGLISH)
    assert made.code == 0, made.err
    words = ("--suite", "mini", "--tasks", "mini-xnli", "--languages", "es", "--seeds", 1, "--out", tmp_path)
    assert isogloss("run", "ngram", *words, "--regime", "translate-test").code == 0
    found = read_record(tmp_path / "ngram/translate-test/seed-0/.cells/mini-xnli/es.json")
    assert found is not None
    assert found.score is not None
    assert (found.score.language, found.score.metrics["accuracy"].n) == ("es", 60)
    assert found.score.metrics["accuracy"].value > 50  # chance is a third


def test_spanish_questions_are_answered_in_english_both_ways(tmp_path: Path) -> None:
    made = isogloss("translate", "mini-xquad", "--language", "es", "--split", "test", "--with", TO_ENGLISH)
    assert made.code == 0, made.err
    words = ("--suite", "mini", "--tasks", "mini-xquad", "--languages", "es", "--seeds", 1, "--out", tmp_path)
    scores = {}
    for regime in ("translate-test", "translate-test-xtreme"):
        done = isogloss("run", "ngram", *words, "--regime", regime)
        assert done.code == 0, done.err
        found = read_record(tmp_path / f"ngram/{regime}/seed-0/.cells/mini-xquad/es.json")
        assert found is not None
        assert found.score is not None
        scores[regime] = found.score
        assert found.score.metrics["f1"].value > 20
    assert not scores["translate-test"].partial
    assert scores["translate-test-xtreme"].partial
    assert scores["translate-test"].metrics["f1"].n >= scores["translate-test-xtreme"].metrics["f1"].n


@pytest.mark.parametrize("name", ["mini-udpos", "mini-wikiann"])
def test_spanish_tags_are_learnt_from_translated_english(name: str, tmp_path: Path) -> None:
    made = isogloss("translate", name, "--language", "es", "--with", TO_SPANISH)
    assert made.code == 0, made.err
    words = ("--suite", "mini", "--tasks", name, "--languages", "es", "--seeds", 1, "--out", tmp_path)
    scores = {}
    for regime in ("zero-shot", "translate-train"):
        assert isogloss("run", "ngram", *words, "--regime", regime).code == 0
        found = read_record(tmp_path / f"ngram/{regime}/seed-0/.cells/{name}/es.json")
        assert found is not None
        assert found.score is not None
        scores[regime] = found.score.metrics["f1"].value
    assert found.provenance.training is not None
    assert found.provenance.training.notes[0].startswith("tags: ")
    # Words of closed classes differ between the languages; names do not.
    assert scores["translate-train"] > (scores["zero-shot"] if name == "mini-udpos" else 80)


def test_translation_does_not_depend_on_other_texts() -> None:
    """In Apertium's own format `line`, a word agrees with the next line, and full stops are lost."""
    texts = ["I see the", "red house", "The house is red.", "Who is it?", "one\ntwo."]
    translator = open_translator("apertium:eng-spa", "en", "es")
    together = translator.translate(texts)
    assert together == [translator.translate([text])[0] for text in texts]
    assert [text[-1] for text in together[2:]] == [".", "?", "."]
    assert together[4].count("\n") == 1
    assert open_translator("apertium:eng-spa#batch=2").translate(texts) == together


def test_language_in_between() -> None:
    there, back = open_translator("apertium:eng-spa"), open_translator("apertium:spa-eng")
    texts = ["The house is red.", "I see a dog."]
    both = open_translator("apertium:eng-spa, spa-eng")
    assert both.translate(texts) == back.translate(there.translate(texts))
    assert both.version == f"{there.version}-{back.version}"
    with pytest.raises(IsoglossError, match="the translator exited with"):
        open_translator("apertium:eng-xyz").translate(texts)
    with pytest.raises(IsoglossError, match="no pair of languages"):
        open_translator("apertium:")


def test_real_premises_and_hypotheses(data_dir: Path) -> None:
    words = ("translate", "xnli", "--languages", "es", "--split", "dev", "--with", TO_ENGLISH, "--data", data_dir)
    done = isogloss(*words)
    assert done.code == 0, done.err
    assert "xnli/es dev: 3,320 distinct texts, 3,320 translated" in done.err
    originals = load("xnli", "es", "dev", data_dir)
    translated = translated_test_set(find_task("xnli"), "es", "dev", data_dir)
    assert (translated.ids, translated["label"]) == (originals.ids, originals["label"])
    pairs = list(zip(originals["text_b"], translated["text_b"], strict=True))
    assert all(text for _, text in pairs)
    stops = [english.endswith(".") for spanish, english in pairs if spanish.endswith(".")]
    assert len(stops) > 2000
    assert sum(stops) > 0.99 * len(stops)
    before = Path(done.out.strip()).read_bytes()
    assert "3,320 from the cache" in isogloss(*words).err
    assert Path(done.out.strip()).read_bytes() == before
