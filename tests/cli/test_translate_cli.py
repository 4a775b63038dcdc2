"""isogloss translate end to end."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

import isogloss as package
from e2e.command import isogloss


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Write two English training pairs."""
    monkeypatch.delenv("ISOGLOSS_TRANSLATIONS", raising=False)
    monkeypatch.setenv("ISOGLOSS_CACHE", str(tmp_path / "cache"))
    (tmp_path / "xnli").mkdir()
    (tmp_path / "xnli/train-en.tsv").write_text("One dog.\tA dog.\tneutral\nNo.\tA dog.\tneutral\n")
    return tmp_path


def test_command_translates(data: Path) -> None:
    done = isogloss("translate", "xnli", "--language", "es", "--with", "tr a-z A-Z", "--data", data)
    assert done.code == 0, done.err
    path = data / "translations/xnli/translate-train/es.jsonl"
    assert done.out.strip() == str(path)
    assert [json.loads(line) for line in path.read_text().splitlines()] == [
        {"id": "train-0", "text_a": "ONE DOG.", "text_b": "A DOG."},
        {"id": "train-1", "text_a": "NO.", "text_b": "A DOG."},
    ]


def test_several_languages_and_a_summary(data: Path) -> None:
    words = ("translate", "xnli", "--languages", "es,de", "--with", "sed s/^/{target3}:/", "--data", data)
    done = isogloss(*words)
    assert done.code == 0, done.err
    folder = data / "translations/xnli/translate-train"
    assert done.out.splitlines() == [str(folder / "es.jsonl"), str(folder / "de.jsonl")]
    assert json.loads((folder / "de.jsonl").read_text().splitlines()[0])["text_a"] == "deu:One dog."
    assert "xnli/es train: 3 distinct texts, 3 translated (" in done.err
    again = isogloss(*words)
    assert "xnli/de train: 3 distinct texts, 3 from the cache\n" in again.err
    by_hand = isogloss("translate", "xnli", "--languages", "es,de", "--by-hand", data / "x.jsonl", "--data", data)
    assert (by_hand.code, by_hand.out) == (1, "")


def test_incomplete_replay_fails_and_lists_the_texts(data: Path) -> None:
    (data / "pairs.tsv").write_text("One dog.\tUn perro.\nNo.\tNo.\n")
    words = ("translate", "xnli", "--languages", "es,de", "--with", f"replay:{data / 'pairs.tsv'}", "--data", data)
    done = isogloss(*words, "--untranslated", data / "missing.tsv")
    assert (done.code, done.out) == (1, "")
    assert "3 distinct texts, 2 translated" in done.err
    assert "1 without a translation, 1 identical to the source" in done.err
    assert "  'A dog.': not among the stored ones" in done.err
    missing = [f"{code}\tA dog.\tnot among the stored ones\n" for code in ("es", "de")]
    assert (data / "missing.tsv").read_text() == "".join(missing)
    assert not (data / "translations").exists()


def test_settings_of_the_config(data: Path) -> None:
    (data / "settings.toml").write_text("beams = 2\n")
    words = ("translate", "xnli", "--languages", "es", "--with", "cat", "--config", data / "settings.toml")
    done = isogloss(*words, "--data", data)
    assert done.code == 1
    assert "a command has no setting 'beams'" in done.err


def test_verb_in_python(data: Path) -> None:
    made = package.translate("xnli", ["es"], lambda texts: [text.upper() for text in texts], data=data)
    assert [(each.language, each.path, each.counts) for each in made] == [
        ("es", data / "translations/xnli/translate-train/es.jsonl", None)
    ]
    [counted] = package.translate("xnli", "de", "tr a-z A-Z", data=data, settings={"batch": 2}, quiet=True)
    assert counted.counts is not None
    assert counted.counts.translated == 3
    assert counted.path is not None
    assert json.loads(counted.path.read_text().splitlines()[1])["text_a"] == "NO."


def test_by_hand_prints_the_target_path(data: Path) -> None:
    done = isogloss("translate", "xnli", "--language", "es", "--by-hand", data / "todo.jsonl", "--data", data)
    assert done.code == 0, done.err
    assert "translations/xnli/translate-train/es.jsonl" in done.out
    assert json.loads((data / "todo.jsonl").read_text().splitlines()[0])["text_a"] == "One dog."


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("--language", "es"), 1, "no translator"),
        (
            ("--language", "en", "--with", "cat"),
            2,
            "expected a language other than English. Choose one of ar, ",
        ),
        (("--language", "xx", "--with", "cat"), 2, "unknown language of xnli 'xx'"),
        (("--language", "ko", "--with", "cat"), 2, "xnli has no ko. It has ar, bg, "),
        (("--language", "es", "--split", "tset", "--with", "cat"), 2, "Did you mean test"),
        (("--language", "es", "--with", "false"), 1, "the translator exited with 1"),
        (("--language", "es", "--split", "test", "--with", "cat"), 1, "no test file of xnli/es"),
    ],
)
def test_errors_name_the_problem(data: Path, words: tuple[str, ...], code: int, message: str) -> None:
    done = isogloss("translate", "xnli", *words, "--data", data)
    assert done.code == code
    assert message in done.err


def test_unusable_translations_are_refused(tmp_path: Path) -> None:
    for words in (("checklist-comparisons", "--split", "test"), ("tatoeba",), ("lareqa",)):
        done = isogloss("translate", *words, "--language", "de", "--with", "cat", "--data", tmp_path)
        assert done.code == 1
        assert "no regime can use this translation: translate-t" in done.err


def test_translator_that_does_not_read_is_reported(data: Path) -> None:
    """The broken pipe must not kill the command, as the default SIGPIPE handler would."""
    rows = (f"A dog and {number} cats.\tA dog.\tneutral\n" for number in range(20_000))
    (data / "xnli/train-en.tsv").write_text("".join(rows))
    words = ["translate", "xnli", "--language", "es", "--with", "false", "--data", str(data)]
    done = subprocess.run([sys.executable, "-m", "isogloss", *words], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert "false: the translator exited with 1" in done.stderr
