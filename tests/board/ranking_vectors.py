"""Write `ranking_vectors.json`: synthetic scores and their ranks in every view, to test the page's ranking code.

Run it: `python tests/board/ranking_vectors.py`. In the file, `cells` has for each task a row a system, in the order of
the task's languages. A case names the tasks and the languages that count (a task without any of them does not), and
weights of tasks for the view `weights`, the weighted mean over tasks. `figures`, `ranks` and the rank sets `low` and
`high` are by view, one per system; the figures of `gini` are from 0 to 1, and less is better. `groups` are systems that
are not significantly different in a view, and `p` has the uncorrected p-values of the first system against all others,
or null without a test.
"""

import json
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from isogloss.analysis.ranking_views import RankingPanel, View, ranked_view, views
from isogloss.languages import language
from isogloss.metrics.language_tests import language_tests
from isogloss.results.published_scores import speakers
from isogloss.tasks.registry import task

FILE = Path(__file__).with_name("ranking_vectors.json")
TASKS = {
    "xnli": "en ar de sw zh th vi",
    "xcopa": "et ht id it sw ta th qu zh",
    "wikiann": "en ar de he ja ka ko my ta yo zh sw",
    "tydiqa": "en ar bn fi id ko sw",
    "tatoeba": "ar de fi he ja jv ka ko ta zh",
}
CODES = sorted({code for codes in TASKS.values() for code in codes.split()})
SYSTEMS = 12
CASES: dict[str, dict[str, Any]] = {
    "everything": {},
    "two tasks": {"tasks": ["xnli", "tydiqa"]},
    "languages of one family": {"languages": ["ar", "he"]},
    "few languages, of which some tasks have none": {"languages": ["qu", "et", "ht"]},
    "languages without known sizes count in no weighted view": {"languages": ["yo", "my", "sw", "en"]},
    "weights": {"weights": {"xnli": 3.0, "xcopa": 0.5, "wikiann": 0.0, "tatoeba": 1.25}},
}


def vectors() -> dict[str, Any]:
    """Return the content of the file."""
    draw = Random(4)
    cells = {
        name: [[round(draw.uniform(20, 95), 2) for _ in codes.split()] for _ in range(SYSTEMS)]
        for name, codes in TASKS.items()
    }
    for rows in cells.values():  # with ties, systems that tests tell apart, and one without scores
        rows[3] = list(rows[2])
        for place in (7, 8, 9):
            rows[place] = [round(score / 4 + 25 * (place - 7), 2) for score in rows[place]]
        rows[-1] = [0.0] * len(rows[-1])
    return {
        "about": " ".join((__doc__ or "").split("\n\n", 1)[1].split()),
        "tasks": [
            {"id": name, "category": task(name).category, "languages": codes.split()} for name, codes in TASKS.items()
        ],
        "languages": [_language(code) for code in CODES],
        "systems": SYSTEMS,
        "cells": cells,
        "cases": [{"name": name, **case, **_answers(cells, **case)} for name, case in CASES.items()],
    }


def _language(code: str) -> dict[str, Any]:
    entry = language(code)
    people = speakers().get(code)
    return {
        "code": code,
        "family": entry.family,
        "speakers": None if people is None else round(1e6 * people),
        "articles": entry.wikipedia_articles,
    }


def _answers(
    cells: dict[str, list[list[float]]],
    tasks: list[str] | None = None,
    languages: list[str] | None = None,
    weights: dict[str, float] | None = None,
) -> dict[str, Any]:
    names = tasks or list(TASKS)
    inside = {code for name in names for code in TASKS[name].split()}
    codes = [code for code in languages or CODES if code in inside]
    scores = np.zeros((SYSTEMS, len(names), len(codes)))
    present = np.zeros((len(names), len(codes)), dtype=bool)
    for row, name in enumerate(names):
        for column, code in enumerate(codes):
            if code in (own := TASKS[name].split()):
                present[row, column] = True
                scores[:, row, column] = [of[own.index(code)] for of in cells[name]]
    used = present.any(axis=1)
    kept = [name for name, is_used in zip(names, used, strict=True) if is_used]
    panel = RankingPanel(
        name="",
        systems=[str(place) for place in range(SYSTEMS)],
        tasks=kept,
        languages=codes,
        scores=scores[:, used],
        present=present[used],
    )
    by_name = views(panel, speakers())
    by_name["weights"] = views(panel, {}, weights or {})["flat"]
    return {
        name: {view: answer[name] for view, answer in _by_view(panel, by_name).items()}
        for name in ("figures", "ranks", "low", "high", "groups", "p")
    }


def _by_view(panel: RankingPanel, by_name: dict[str, View]) -> dict[str, dict[str, Any]]:
    answers = {}
    for name, view in by_name.items():
        found = ranked_view(panel, view)
        p = language_tests(found.figures, view.moves(panel.scores), view.languages, panel.families)
        answers[name] = {
            "figures": [round(figure, 9) for figure in found.figures.tolist()],
            "ranks": found.ranks.tolist(),
            "low": found.order.low.tolist(),
            "high": found.order.high.tolist(),
            "groups": found.order.groups if found.tested else None,
            "p": [float(f"{each:.9g}") for each in p[0].tolist()] if found.tested else None,
        }
    return answers


if __name__ == "__main__":
    FILE.write_text(json.dumps(vectors(), indent=1) + "\n", encoding="utf-8")
