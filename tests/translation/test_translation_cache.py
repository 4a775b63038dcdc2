"""The cache of translations: no text is translated twice, whatever happens to commands and files."""

import io
import json
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from isogloss.errors import IsoglossError
from isogloss.translation.cached_translator import CachedTranslator, TranslationCounts
from isogloss.translation.translation_cache import TranslationCache
from isogloss.translation.translators import Translator, UntranslatedError, open_translator

PROGRAM = Path(__file__).with_name("counting_translator.py")
BATCH = 20


def reversing(log: Path, batch: int = BATCH) -> Translator:
    return open_translator(f"{sys.executable} {PROGRAM} {log}", "en", "es", {"batch": batch})


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "log"


def logged(log: Path) -> Counter[str]:
    return Counter(log.read_text(encoding="utf-8").splitlines())


def test_text_is_translated_once(log: Path, tmp_path: Path) -> None:
    translator = CachedTranslator(reversing(log), tmp_path / "cache")
    assert translator.translate(["ab", "cd", "ab", ""]) == ["ba", "dc", "ba", ""]
    assert translator.translate(["cd", "ef"]) == ["dc", "fe"]
    assert logged(log) == Counter(["ab", "cd", "ef"])
    assert (translator.counts.texts, translator.counts.cached, translator.counts.translated) == (3, 0, 3)
    again = CachedTranslator(reversing(log), tmp_path / "cache")
    assert again.translate(["ef", "aba", "ab"]) == ["fe", "aba", "ba"]
    assert logged(log) == Counter(["ab", "cd", "ef", "aba"])
    counts = again.counts
    assert (counts.texts, counts.cached, counts.translated, counts.identical, counts.empty) == (3, 2, 1, 1, 0)


def test_key_has_translator_version_and_languages(log: Path, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text("import sys; sys.stdout.writelines(sys.stdin)\n")
    command = f"{sys.executable} {program}"
    folders = set()
    for source, target in (("en", "es"), ("es", "en")):
        folders.add(TranslationCache(open_translator(command, source, target), tmp_path).folder)
    program.write_text("import sys; sys.stdout.writelines(line.upper() for line in sys.stdin)\n")
    folders.add(TranslationCache(open_translator(command, "en", "es"), tmp_path).folder)
    folders.add(TranslationCache(open_translator(f"{command} ", "en", "es"), tmp_path).folder)
    folders.add(TranslationCache(open_translator(f"{command} -v", "en", "es"), tmp_path).folder)
    assert len(folders) == 4  # white space around a name does not count


def test_damaged_lines_are_translated_again(log: Path, tmp_path: Path) -> None:
    CachedTranslator(reversing(log), tmp_path / "cache").translate(["ab", "cd", "ef"])
    folder = TranslationCache(reversing(log), tmp_path / "cache").folder
    assert json.loads((folder / "translator.json").read_text())["target"] == "es"
    [segment] = folder.glob("*.jsonl")
    lines = segment.read_bytes().splitlines(keepends=True)
    segment.write_bytes(lines[0] + lines[1][:9] + b"\xff\n" + lines[2][:-4])  # damage, and a torn last line
    translator = CachedTranslator(reversing(log), tmp_path / "cache")
    assert translator.translate(["ab", "cd", "ef"]) == ["ba", "dc", "fe"]
    assert logged(log) == Counter(["ab", "cd", "cd", "ef", "ef"])
    assert len(TranslationCache(reversing(log), tmp_path / "cache")) == 3


def test_first_translation_counts(log: Path, tmp_path: Path) -> None:
    one, two = (TranslationCache(reversing(log), tmp_path) for _ in range(2))
    one.add({"a": "first"})
    two.add({"a": "second", "b": "other"})
    for reader in (one, two, TranslationCache(reversing(log), tmp_path)):
        assert reader.find(["b", "a", "c"]) == {"b": "other", "a": "first"}


@given(pairs=st.dictionaries(st.text(min_size=1), st.text(), min_size=1, max_size=8))
def test_any_text_comes_back(tmp_path_factory: pytest.TempPathFactory, pairs: dict[str, str]) -> None:
    root = tmp_path_factory.mktemp("cache")
    cache = TranslationCache(reversing(root / "log"), root)
    cache.add(pairs)
    cache.close()
    assert TranslationCache(reversing(root / "log"), root).find(pairs) == pairs


def test_lone_surrogates_are_translated(log: Path, tmp_path: Path) -> None:
    translator = CachedTranslator(reversing(log), tmp_path / "cache")
    assert translator.translate(["a\ud800"]) == ["?a"]
    again = CachedTranslator(reversing(log), tmp_path / "cache")
    assert again.translate(["a\ud800"]) == ["?a"]
    assert (again.counts.cached, logged(log).total()) == (1, 1)


def test_unwritable_cache_is_reported(log: Path, tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file")
    with pytest.raises(IsoglossError, match="cannot be"):
        CachedTranslator(reversing(log), tmp_path / "cache").translate(["a"])


class Partial(Translator):
    """Translate texts without an x."""

    name, version, source, target = "partial", "1", "en", "es"

    def batches(self, texts):  # type: ignore[no-untyped-def]
        yield {text: text.upper() for text in texts if "x" not in text}
        if missing := [text for text in texts if "x" in text]:
            raise UntranslatedError(dict.fromkeys(missing, "has an x"), len(texts))


def test_other_translations_are_stored_if_some_are_missing(tmp_path: Path) -> None:
    translator = CachedTranslator(Partial(), tmp_path)
    with pytest.raises(UntranslatedError, match=r"2 of 4 texts have no translation \(has an x\), first 'x', 'ax'"):
        translator.translate(["a", "x", "b", "ax"])
    assert len(TranslationCache(Partial(), tmp_path)) == 2
    assert "4 distinct texts, 2 translated" in str(translator.counts)
    assert str(translator.counts).endswith("2 without a translation")


def test_terminal_shows_texts_per_second(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("COLUMNS", "120")
    CachedTranslator(Partial(), tmp_path).translate(["a", "b"])
    assert "en–es" in terminal.getvalue()
    assert "2/2" in terminal.getvalue()
    assert "/s" in terminal.getvalue()


def test_counts_in_words() -> None:
    counts = TranslationCounts(texts=1200, cached=1000, translated=200, empty=1, identical=3, seconds=4.0)
    said = (
        "1,200 distinct texts, 1,000 from the cache, 200 translated (50.0/s), 1 empty translation, 3 identical to the"
    )
    assert str(counts) == f"{said} source"


# Commands that are killed.


@pytest.fixture
def words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, log: Path) -> list[str]:
    """A command that translates 200 texts in batches of 20."""
    monkeypatch.delenv("ISOGLOSS_TRANSLATIONS", raising=False)
    monkeypatch.setenv("ISOGLOSS_CACHE", str(tmp_path / "cache"))
    (tmp_path / "xnli").mkdir()
    rows = [f"premise {number}\thypothesis {number}\tneutral\n" for number in range(100)]
    (tmp_path / "xnli/train-en.tsv").write_text("".join(rows))
    words = [sys.executable, "-m", "isogloss", "translate", "xnli", "--languages", "es", "--data", str(tmp_path)]
    # Reversed numbers are lost numbers.
    return [*words, "--with", f"{sys.executable} {PROGRAM} {log}", "--batch", str(BATCH), "--keep-garbage"]


def started(words: list[str]) -> "subprocess.Popen[str]":
    return subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.mark.slow
def test_killed_command_continues_at_the_sentence(words: list[str], log: Path, tmp_path: Path) -> None:
    expected = {f"{kind} {number}" for kind in ("premise", "hypothesis") for number in range(100)}
    for kill_at in (0, 3 * BATCH, 7 * BATCH):
        (tmp_path / "kill-at").write_text(str(kill_at))
        process = started(words)
        process.communicate(timeout=120)
        assert process.returncode == -9
        assert (logged(log).total() if log.exists() else 0) == kill_at
    done = started(words)
    _, errors = done.communicate(timeout=120)
    assert done.returncode == 0, errors
    assert logged(log) == Counter(expected)  # each once
    assert "200 distinct texts, 140 from the cache, 60 translated" in errors
    path = tmp_path / "translations/xnli/translate-train/es.jsonl"
    first = json.loads(path.read_text().splitlines()[0])
    assert first == {"id": "train-0", "text_a": "0 esimerp", "text_b": "0 sisehtopyh"}
    complete = path.read_bytes()
    again = started(words)
    assert "200 from the cache" in again.communicate(timeout=120)[1]
    assert path.read_bytes() == complete
    assert logged(log).total() == 200


@pytest.mark.slow
def test_kill_at_any_moment_repeats_at_most_a_batch(words: list[str], log: Path) -> None:
    for kills, target in enumerate((1, 50, 110), 1):
        process = started(words)
        while process.poll() is None and not (log.exists() and logged(log).total() >= target):
            time.sleep(0.01)
        process.kill()
        process.communicate(timeout=120)
        repeated = logged(log).total() - len(logged(log))
        assert repeated <= kills * BATCH
    assert started(words).wait(timeout=120) == 0
    assert len(logged(log)) == 200


@pytest.mark.slow
def test_commands_at_the_same_time_share_the_work(words: list[str], log: Path) -> None:
    processes = [started(words) for _ in range(3)]
    for process in processes:
        _, errors = process.communicate(timeout=120)
        assert process.returncode == 0, errors
    assert set(logged(log).values()) == {1}
    assert logged(log).total() == 200
