"""The whole grid of XTREME-R on synthetic labels: overall scores of complete and partial grids."""

import json
from collections.abc import Callable
from pathlib import Path
from random import Random
from statistics import fmean
from typing import Any

import pytest

from e2e.command import XTREME_FOLDERS, cell, scored, values, write_xtreme
from e2e.independent import (
    XTREME_R,
    accuracy,
    category_mean,
    one_target,
    qa_scores,
    ranking_scores,
    tagging_scores,
    task_score,
)

# Text of a label file, text of a prediction file, and the expected score.
Made = tuple[str, str, dict[str, float]]
EXAMPLES = 5


def _lines(items: list[Any]) -> str:
    return "".join(f"{item}\n" for item in items)


def _label(draw: Random, labels: list[Any], text: Callable[[Any], Any] = str) -> Made:
    gold, given = draw.choices(labels, k=EXAMPLES), draw.choices(labels, k=EXAMPLES)
    return _lines([text(x) for x in gold]), _lines([text(x) for x in given]), {"accuracy": accuracy(gold, given)}


def _lines_to_find(draw: Random) -> Made:
    gold = draw.sample(range(50), EXAMPLES)
    given = [line if draw.random() < 0.5 else 99 for line in gold]
    return _lines(gold), _lines(given), {"accuracy": accuracy(gold, given)}


def _tagged(draw: Random, tags: list[str]) -> Made:
    gold = [draw.choices(tags, k=draw.randint(1, 6)) for _ in range(EXAMPLES)]
    given = [[tag if draw.random() < 0.7 else draw.choice(tags) for tag in sentence] for sentence in gold]
    texts = ["\n".join(_lines(sentence) for sentence in side) for side in (gold, given)]
    return texts[0], texts[1], tagging_scores(gold, given)


def _asked(draw: Random, mlqa_language: str | None) -> Made:
    gold = {f"q{row}": [f"{draw.choice(['red', 'blue'])} {draw.choice(['house', 'boat'])}"] for row in range(EXAMPLES)}
    given = {name: draw.choice([answer[0], answer[0].split()[0], "none"]) for name, answer in gold.items()}
    questions = [
        {"id": name, "question": "?", "answers": [{"text": answer[0], "answer_start": 0}]}
        for name, answer in gold.items()
    ]
    file = {"data": [{"paragraphs": [{"context": "", "qas": questions}]}]}
    return json.dumps(file), json.dumps(given), qa_scores(gold, given, mlqa_language)


def _ranked(draw: Random, targets: int) -> Made:
    """Return rankings of depth 30 over a pool of 60, which may lack an id's last targets."""
    pool = [f"c{number}" for number in range(60)]
    gold = {f"m{row}": draw.sample(pool, targets) for row in range(EXAMPLES)}
    given = {name: draw.sample(pool, 30) for name in gold}
    scores = ranking_scores(list(given.values()), list(gold.values()))
    if targets > 1:
        pairs = [one_target(given[name], target, wanted) for name, wanted in gold.items() for target in wanted]
        scores["one-target"] = 100 * fmean(pairs)
    return json.dumps(gold), json.dumps(given), scores


MAKERS: dict[str, Callable[[Random, str], Made]] = {
    "xnli": lambda draw, _: _label(draw, ["entailment", "neutral", "contradiction"]),
    "xcopa": lambda draw, _: _label(draw, [0, 1], lambda label: json.dumps({"label": label})),
    "udpos": lambda draw, _: _tagged(draw, ["NOUN", "VERB", "SCONJ", "CCONJ", "INTJ", "X"]),
    "wikiann": lambda draw, _: _tagged(draw, ["O", "B-PER", "I-PER", "B-LOC", "I-LOC"]),
    "xquad": lambda draw, _: _asked(draw, None),
    "mlqa": _asked,
    "tydiqa": lambda draw, _: _asked(draw, None),
    "tatoeba": lambda draw, _: _lines_to_find(draw),
    "mewslix": lambda draw, _: _ranked(draw, 1),
    "lareqa": lambda draw, _: _ranked(draw, 11),
}

Grid = dict[str, dict[str, dict[str, float]]]


def make_grid(root: Path) -> Grid:
    """Write labels and predictions for every cell of XTREME-R; return the expected scores."""
    expected: Grid = {}
    for task, languages in XTREME_R.items():
        expected[task] = {}
        for language in languages.split():
            gold, given, expected[task][language] = MAKERS[task](Random(f"{task}/{language}"), language)
            write_xtreme(root / "gold", task, language, gold)
            write_xtreme(root / "run", task, language, given)
    return expected


def test_full_grid(tmp_path: Path) -> None:
    expected = make_grid(tmp_path)
    record = scored(tmp_path / "run", "--gold", tmp_path / "gold")
    assert len(record["cells"]) == sum(len(cells) for cells in expected.values()) == 202
    for task, cells in expected.items():
        for language, scores in cells.items():
            assert values(cell(record, task, language)["metrics"]) == pytest.approx(scores, abs=1e-9)
    task_scores = {task: task_score(task, cells.values()) for task, cells in expected.items()}
    found = {average["name"]: average["score"]["value"] for average in record["tasks"]}
    assert found == pytest.approx(task_scores, abs=1e-9)
    overall = record["overall"]
    assert (overall["rule"], overall["missing"], overall["note"]) == ("category", [], "")
    assert overall["score"]["value"] == pytest.approx(category_mean(task_scores), abs=1e-9)
    assert overall["score"]["low"] < overall["score"]["value"] < overall["score"]["high"]
    assert [average["missing"] for average in (*record["tasks"], *record["categories"])] == [[]] * 14
    assert "*" not in record["printed"]
    assert "partial" not in record["printed"]


def test_partial_grid_is_marked_with_missing_cells(tmp_path: Path) -> None:
    expected = make_grid(tmp_path)
    lost = {("xnli", "sw"), ("xnli", "ur"), ("wikiann", "yo"), ("tydiqa", "te")}
    lost |= {("mewslix", language) for language in expected["mewslix"]}
    for task, language in lost:
        (path,) = (tmp_path / "run" / XTREME_FOLDERS.get(task, task)).glob(f"test-{language}.*")
        path.unlink()
        del expected[task][language]
    del expected["mewslix"]
    record = scored(tmp_path / "run", "--gold", tmp_path / "gold")
    overall = record["overall"]
    assert sorted(overall["missing"]) == ["mewslix", "tydiqa/te", "wikiann/yo", "xnli/sw", "xnli/ur"]
    scores = {task: task_score(task, cells.values()) for task, cells in expected.items()}
    # The remaining retrieval tasks make the category's mean.
    scores["mewslix"] = fmean((scores["lareqa"], scores["tatoeba"]))
    assert overall["score"]["value"] == pytest.approx(category_mean(scores), abs=1e-9)
    assert {a["name"]: a["missing"] for a in record["tasks"] if a["missing"]} == {
        "xnli": ["sw", "ur"],
        "wikiann": ["yo"],
        "tydiqa": ["te"],
    }
    assert f"{overall['score']['value']:.1f}*" in record["printed"]
    printed = " ".join(record["printed"].split())
    assert "* partial, missing: " in printed
    assert all(name in printed for name in ("xnli/sw,ur", "wikiann/yo", "tydiqa/te", "mewslix"))


def test_chosen_tasks_and_languages_make_a_partial_overall(tmp_path: Path) -> None:
    expected = make_grid(tmp_path)
    words = ("--gold", tmp_path / "gold", "--tasks", "xquad,panx", "--languages", "en,sw")
    record = scored(tmp_path / "run", *words)
    assert {(c["task"], c["language"]) for c in record["cells"]} == {
        ("xquad", "en"), ("wikiann", "en"), ("wikiann", "sw")
    }  # fmt: skip
    missing = {f"xquad/{code}" for code in expected["xquad"]} - {"xquad/en"}
    missing |= {f"wikiann/{code}" for code in expected["wikiann"]} - {"wikiann/en", "wikiann/sw"}
    missing |= set(expected) - {"xquad", "wikiann"}
    assert set(record["overall"]["missing"]) == missing


def test_same_folder_gives_the_same_record(tmp_path: Path) -> None:
    make_grid(tmp_path)
    words = ("--gold", tmp_path / "gold", "--tasks", "xnli,udpos,lareqa")
    assert scored(tmp_path / "run", *words) == scored(tmp_path / "run", *words)


def test_other_cells_do_not_change_a_cell(tmp_path: Path) -> None:
    """Scores and intervals do not depend on other cells."""
    make_grid(tmp_path)
    alone = scored(tmp_path / "run", "--gold", tmp_path / "gold", "--tasks", "udpos", "--languages", "he")
    among = scored(tmp_path / "run", "--gold", tmp_path / "gold", "--tasks", "udpos")
    assert cell(alone, "udpos", "he") == cell(among, "udpos", "he")
