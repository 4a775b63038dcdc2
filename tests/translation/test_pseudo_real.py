"""Pseudo test sets on real files: machine translations published for SQuAD, and Apertium."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from e2e.command import isogloss
from isogloss.data import squad
from isogloss.data.files import resolve
from isogloss.tasks.loading import load
from isogloss.tasks.registry import task
from isogloss.translation.artefacts import pseudo_quality


@pytest.fixture(autouse=True)
def translations(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "translations"
    monkeypatch.setenv("ISOGLOSS_TRANSLATIONS", str(folder))
    return folder


@pytest.mark.parametrize(
    ("code", "name", "kept", "quality"),
    [("es", "squad-es/dev-v1.1-es_small.json", 698, (56, 75)), ("it", "squad-it/SQuAD_it-test.json", 773, None)],
)
def test_published_machine_translations_of_squad_are_a_pseudo_xquad(
    data_dir: Path, tmp_path: Path, code: str, name: str, kept: int, quality: tuple[float, float] | None
) -> None:
    path = resolve(data_dir / "mt_xtreme" / name)
    if path is None:
        pytest.skip(f"no {name} in the data folder")
    english = load("xquad", "en", "test", data_dir)
    row_of = {identifier: row for row, identifier in enumerate(english.ids)}
    pairs: dict[str, str] = {}
    for paragraph, question in squad.questions(squad.read(path)):
        if (row := row_of.get(str(question.id))) is not None:
            pairs.setdefault(english["question"][row], question.question)
            pairs.setdefault(english["context"][row], " ".join(paragraph.context.split("\n")))
            pairs.setdefault(english["answers"][row][0], question.answers[0].text)
    stored = tmp_path / "stored.jsonl"
    lines = (json.dumps({"source": source, "target": target}) for source, target in pairs.items())
    stored.write_text("\n".join(lines), encoding="utf-8")
    done = isogloss("translate", "xquad", "--pseudo", "-l", code, "--with", f"replay:{stored}", "--data", data_dir)
    assert done.code == 0, done.err
    pseudo = load("xquad", code, "pseudo", data_dir)
    assert len(pseudo) == kept
    scores = [score.value for score in pseudo_quality(task("xquad"), code, "pseudo", data_dir)]
    assert (scores == []) == (quality is None)  # XQuAD has no Italian
    if quality is not None:
        assert all(score > least for score, least in zip(scores, quality, strict=True))


@pytest.mark.slow
def test_apertium_makes_a_set_close_to_the_human_one(data_dir: Path, tmp_path: Path) -> None:
    if shutil.which("apertium") is None:
        pytest.skip("apertium is not installed: apt-get install apertium apertium-eng-spa")
    modes = subprocess.run(["apertium", "-l"], capture_output=True, text=True, check=False).stdout.split()
    if "eng-spa" not in modes or not (data_dir / "sib200").is_dir():
        pytest.skip("needs apertium-eng-spa, and SIB-200 in the data folder")
    words = ("translate", "sib200", "--pseudo", "-l", "es", "--with", "apertium:eng-spa", "--data", data_dir)
    done = isogloss(*words, "--cache", tmp_path / "cache")
    assert done.code == 0, done.err
    pseudo, human = load("sib200", "es", "pseudo", data_dir), load("sib200", "es", "test", data_dir)
    assert dict(zip(pseudo.ids, pseudo["label"], strict=True)) == dict(zip(human.ids, human["label"], strict=True))
    bleu, chrf = (score.value for score in pseudo_quality(task("sib200"), "es", "pseudo", data_dir))
    assert bleu > 8
    assert chrf > 40
