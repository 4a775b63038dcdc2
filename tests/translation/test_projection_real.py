"""Projection on real files: XQuAD's English answers in the machine-translated passages of SQuAD-es, and Apertium."""

import json
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from isogloss.data.files import read_bytes, resolve
from isogloss.tasks.kinds import judge
from isogloss.tasks.loading import load
from isogloss.tasks.registry import task
from isogloss.translation.alignment import spelling_aligner
from isogloss.translation.back_projection import project_back
from isogloss.translation.lines import LineTranslator
from isogloss.translation.projection import STEPS, SpanProjector, SpanToProject
from isogloss.translation.translate import translate
from isogloss.translation.translated_files import translated_test_set
from isogloss.translation.translators import open_translator

Span = tuple[int, int]


def overlap(one: Span, other: Span) -> float:
    """Return the F1 of the letters of two spans."""
    return 2 * max(0, min(one[1], other[1]) - max(one[0], other[0])) / (one[1] - one[0] + other[1] - other[0])


@pytest.fixture(scope="module")
def stored(data_dir: Path) -> list[tuple[SpanToProject, Span]]:
    """English answers to project, and the spans that SQuAD-es has for them; it has none for many questions."""
    name = "mt_xtreme/squad-es/dev-v1.1-es_small.json"
    path = resolve(data_dir / name)
    if path is None:
        pytest.skip(f"{name} is missing")
    english = load("xquad", "en", "test", data_dir)
    rows = {identifier: row for row, identifier in enumerate(english.ids)}
    pairs = []
    for article in json.loads(read_bytes(path))["data"]:
        for paragraph in article["paragraphs"]:
            for question in paragraph["qas"]:
                answer, row = question["answers"][0], rows.get(question["id"])
                if row is None or answer["answer_start"] < 0:
                    continue
                start, text = english["answer_starts"][row][0], english["answers"][row][0]
                span = SpanToProject(
                    original=english["context"][row], translation=paragraph["context"], span=(start, start + len(text))
                )
                own = answer["answer_start"], answer["answer_start"] + len(answer["text"])
                pairs.append((span, own))
    return pairs


def agreement(stored: list[tuple[SpanToProject, Span]], projector: SpanProjector) -> tuple[float, Counter[str]]:
    """Return the share of answers that mostly overlap with the stored spans, and the number found by each step."""
    found = projector.project([span for span, _ in stored])
    agree = [
        place is not None and overlap(place.span, own) >= 0.5 for place, (_, own) in zip(found, stored, strict=True)
    ]
    return sum(agree) / len(agree), Counter("lost" if place is None else place.step for place in found)


@pytest.mark.slow
def test_answers_in_stored_translations(stored: list[tuple[SpanToProject, Span]]) -> None:
    assert len(stored) == 603
    # Without any translator, names, numbers and cognates are found.
    share, steps = agreement(stored, SpanProjector(LineTranslator(list), spelling_aligner(), mark=False))
    assert share > 0.65
    assert {*steps} <= {*STEPS}
    assert steps["lost"] < 0.2 * len(stored)


@pytest.fixture
def apertium() -> None:
    """Skip without the translator."""
    if shutil.which("apertium") is None:
        pytest.skip("apertium is not installed: apt-get install apertium apertium-eng-spa")
    modes = subprocess.run(["apertium", "-l"], capture_output=True, text=True, check=False).stdout.split()
    if not {"eng-spa", "spa-eng"} <= set(modes):
        pytest.skip("apertium has no English-Spanish data: apt-get install apertium-eng-spa")


@pytest.mark.slow
@pytest.mark.usefixtures("apertium")
def test_another_translator_helps_to_align_stored_translations(stored: list[tuple[SpanToProject, Span]]) -> None:
    lines = LineTranslator(open_translator("apertium:eng-spa"))
    share, steps = agreement(stored, SpanProjector(lines, spelling_aligner(lines.dictionary), mark=False))
    assert share > 0.8
    assert steps["lost"] < 0.04 * len(stored)


@pytest.mark.slow
@pytest.mark.usefixtures("apertium")
def test_questions_there_and_back(data_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ISOGLOSS_TRANSLATIONS", str(tmp_path))
    xquad = task("xquad")
    translate(xquad, "es", "test", data_dir, open_translator("apertium:spa-eng"))
    translated, originals = translated_test_set(xquad, "es", "test", data_dir), load(xquad, "es", "test", data_dir)
    answers = [texts[0] if texts else None for texts in translated["translated_answers"]]
    assert sum(answer is None for answer in answers) < 0.01 * len(answers)
    # A system that finds every translated answer would score this on the original.
    back, _ = project_back(xquad, originals, translated, answers)
    scores = judge(xquad, originals, back).metrics
    assert scores["f1"].score > 0.93
    assert scores["em"].score > 0.83
