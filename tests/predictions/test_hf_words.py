"""Words and tags of older versions of run_ner.py: `test_predictions.txt`."""

import json
from pathlib import Path

import pytest

from isogloss.cli.main import main
from isogloss.errors import PredictionError
from isogloss.predictions.importers import import_files
from isogloss.tasks.task import Task

GOLD = [["Kofi", "va", "Lome"], *([f"w{row}", "2,000"] for row in range(19))]


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Stage a small Ewe test set."""
    written(tmp_path / "data/masakhaner2/data/ewe/test.txt", [[(word, "O") for word in words] for words in GOLD])
    monkeypatch.setattr(Task, "expected", lambda *_: None)
    return tmp_path / "data"


def written(path: Path, sentences: list[list[tuple[str, str]]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    text = "\n".join("".join(f"{word} {tag}\n" for word, tag in sentence) for sentence in sentences)
    path.write_text(text, encoding="utf-8")
    return path


def predicted(sentences: list[list[str]]) -> list[list[tuple[str, str]]]:
    return [[(word, "B-PER" if word == "Kofi" else "O") for word in words] for words in sentences]


def test_tags_follow_the_order_of_sentences(tmp_path: Path, data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = written(tmp_path / "test_predictions.txt", predicted(GOLD))
    with pytest.raises(SystemExit) as done:
        main(["import", "hf", str(file), "-t", "masakhaner", "-l", "ewe", "-d", str(data), "-o", str(tmp_path / "out")])
    assert not done.value.code
    assert capsys.readouterr().err == ""
    lines = (tmp_path / "out/masakhaner/ee.jsonl").read_text(encoding="utf-8").splitlines()
    assert json.loads(lines[0]) == {"id": "test-0", "prediction": ["B-PER", "O", "O"]}
    assert len(lines) == 20


def test_a_corrected_word_is_noted(tmp_path: Path, data: Path) -> None:
    older = [*GOLD[:-1], [GOLD[-1][0], "2"]]
    imported = import_files("hf", [written(tmp_path / "p.txt", predicted(older))], "masakhaner", "ee", data=data)
    assert len(imported.ids) == 20
    assert imported.notes == ["words differ from the examples in 1 of 20 sentences; tags are matched by position"]


@pytest.mark.parametrize(
    ("sentences", "message"),
    [
        (GOLD[::-1], "tokens of 'test-0' is"),
        ([["Kofi", "va"], *GOLD[1:]], "2 tags for the 3 words of test-0"),
        ([*GOLD, ["more"]], "answer for row 20, but masakhaner/ee test has rows 0 to 19"),
        ([["other", "words", "here"]] * 3 + GOLD[3:], "(20 of 20 examples differ)|tokens of 'test-0'"),
    ],
)
def test_other_sentences_are_refused(tmp_path: Path, data: Path, sentences: list[list[str]], message: str) -> None:
    with pytest.raises(PredictionError, match=message):
        import_files("hf", [written(tmp_path / "p.txt", predicted(sentences))], "masakhaner", "ee", data=data)


def test_a_tag_of_another_set_is_refused(tmp_path: Path, data: Path) -> None:
    sentences = predicted(GOLD)
    sentences[1] = [("w0", "B-MISC"), ("2,000", "O")]
    with pytest.raises(PredictionError, match="tag 'B-MISC' of test-1 is not one of O, B-PER"):
        import_files("hf", [written(tmp_path / "p.txt", sentences)], "masakhaner", "ee", data=data)
