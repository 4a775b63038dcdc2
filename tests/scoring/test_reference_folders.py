"""Unusual label files in XTREME's layout score as in the reference scorer."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

import isogloss
from isogloss.data.tables import panx_sentences
from isogloss.errors import PredictionError
from isogloss.scoring.results import AverageScore, CellScore, Results


def scored(root: Path, task: str, name: str, gold: str, given: str) -> tuple[CellScore, Results]:
    for folder, text in (("gold", gold), ("given", given)):
        path = root / folder / task / name
        path.parent.mkdir(parents=True)
        path.write_text(text, encoding="utf-8")
    suite = "xtreme" if task == "bucc" else "xtreme-r"
    results = isogloss.score(root / "given", gold=root / "gold", tasks=[task], suite=suite)
    return results.cells[0], results


def test_pairs_of_sources_without_translation_are_wrong(tmp_path: Path) -> None:
    cell, _ = scored(
        tmp_path, "bucc", "test-de.tsv", "de-1\ten-1\nde-2\ten-2\n", "de-1\ten-1\nde-7\ten-7\nde-8\ten-8\n"
    )
    assert cell.metrics["precision"].value == pytest.approx(100 / 3)
    assert cell.metrics["recall"].value == pytest.approx(50)
    assert cell.metrics["f1"].value == pytest.approx(40)


def test_only_wrong_pairs_score_zero(tmp_path: Path) -> None:
    cell, _ = scored(tmp_path, "bucc", "test-de.tsv", "de-1\ten-1\n", "de-7\ten-7\n")
    assert cell.metrics["f1"].value == 0


def test_file_without_pairs_raises(tmp_path: Path) -> None:
    with pytest.raises(PredictionError, match="no answer for"):
        scored(tmp_path, "bucc", "test-de.tsv", "de-1\ten-1\n", "")


def test_duplicate_candidate_counts_once_and_takes_a_rank(tmp_path: Path) -> None:
    gold = {"a": ["Q1"], "b": ["Q2"]}
    given = {"a": ["Q9", "Q9", "Q1"], "b": ["Q2"]}
    cell, _ = scored(tmp_path, "mewslix", "test-de.json", json.dumps(gold), json.dumps(given))
    assert cell.metrics["map@20"].value == pytest.approx(100 * (1 / 3 + 1) / 2)
    assert "candidate 'Q9' is ranked more than once" in cell.notes[0]


def test_unknown_part_of_speech_is_accepted(tmp_path: Path) -> None:
    cell, _ = scored(tmp_path, "udpos", "test-de.tsv", "NOUN\nNOUN\nVERB\n\nX\n", "NOUN\nNOUN\nO\n\nX\n")
    # Gold chunks: NOUN NOUN, VERB, X; predicted: the first and the last.
    assert cell.metrics["f1"].value == pytest.approx(100 * 2 * 2 / (3 + 2))


def test_raw_spelling_of_a_label_is_accepted(tmp_path: Path) -> None:
    cell, _ = scored(tmp_path, "xnli", "test-de.tsv", "contradictory\nneutral\n", "contradiction\nneutral\n")
    assert cell.metrics["accuracy"].value == 100


def test_aliases_and_string_paths_are_accepted(tmp_path: Path) -> None:
    cell, results = scored(tmp_path, "udpos", "test-de.tsv", "NOUN\nVERB\n", "NOUN\nVERB\n")
    average = results["udpos"]
    assert isinstance(average, AverageScore)
    for alias, name in isogloss.tasks.registry.ALIASES.items():
        if name == "udpos":
            assert results[alias] == average
            assert results[alias, "de"] == cell
    with pytest.raises(KeyError):
        results["xnli", "de"]
    results.to_json(str(tmp_path / "r.json"))
    results.to_csv(str(tmp_path / "r.csv"))
    assert Results.from_json(str(tmp_path / "r.json")) == results


def test_line_with_three_columns_ends_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "dev"
    path.write_text("de:a\tO\nde:b\tO\tx\nde:c\tB-PER\n", encoding="utf-8")
    assert list(panx_sentences(path)) == [(["a"], ["O"]), (["c"], ["B-PER"])]


def test_every_public_function_is_importable_from_the_package() -> None:
    code = "import isogloss; print(isogloss.checklist.matches('a', 'a', language='en', mode='paper'))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "True\n"
    assert all(getattr(isogloss, name) is not None for name in isogloss.__all__)
