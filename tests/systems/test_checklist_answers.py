"""A real system through the checklist, end to end."""

from pathlib import Path

import pytest

from isogloss.cli.main import main


def run(*words: str) -> int:
    with pytest.raises(SystemExit) as stop:
        main(list(words))
    return stop.value.code if isinstance(stop.value.code, int) else 0


@pytest.mark.slow
def test_the_floor_answers_and_is_scored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from isogloss.tasks.mini import make

    monkeypatch.setenv("ISOGLOSS_CACHE", str(tmp_path / "cache"))
    make.folder.cache_clear()
    answers = str(tmp_path / "answers")
    assert run("checklist", "answer", "ngram", "--out", answers, "--languages", "en,tr", "--cases", "10") == 0
    assert run("checklist", "score", answers, "--cases", "10", "--failures", "1") == 0
    make.folder.cache_clear()
    text = capsys.readouterr().out
    assert "rule: fair" in text
    assert "Turkish" in text


def test_a_system_that_cannot_read_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["checklist", "answer", "ngram", "--out", str(tmp_path), "--trained-on", "mini-tatoeba"]
    assert run(*words) == 1
    assert "cannot answer questions" in capsys.readouterr().err
