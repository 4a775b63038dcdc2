"""isogloss translate end to end."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from e2e.command import isogloss


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Write two English training pairs."""
    monkeypatch.delenv("ISOGLOSS_TRANSLATIONS", raising=False)
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
    for words in (("xquad", "--split", "test"), ("udpos",), ("lareqa",)):
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
