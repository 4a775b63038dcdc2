"""Systems with predictions on the package's own tasks: gold with random mistakes, scored and explained."""

import json
import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import isogloss
from isogloss.tasks.examples import Examples
from isogloss.tasks.registry import task

LANGUAGES = ("de", "en", "sw")
SUITE = """title = "Three tasks"
tasks = ["mini-xnli", "mini-wikiann", "mini-xquad"]
languages = ["de", "en", "sw"]
"""
ONE_TASK = 'title = "One"\ntasks = ["mini-xnli"]\nlanguages = ["de", "en", "sw"]\n'
CHECKLIST = """title = "Two tests"
tasks = ["checklist-comparisons", "checklist-properties"]
languages = ["de", "en", "sw"]
"""


def write_suite(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def build_answered(root: Path, suite: str, tasks: Sequence[str], mistakes: Mapping[str, float]) -> Path:
    """Return a folder with a suite, the predictions of systems with their rates of mistakes, and their board."""
    path = write_suite(root / "suite.toml", suite)
    folders = [answered(root / name, path, tasks, name, rate) for name, rate in mistakes.items()]
    isogloss.build_board(folders, root / "site", suite=str(path))
    return root


def answered(
    folder: Path,
    suite: Path,
    tasks: Sequence[str],
    name: str,
    mistakes: float,
    languages: Sequence[str] = ("de", "en", "sw"),
) -> Path:
    """Return a run folder with the predictions of a system at a rate of mistakes, and its record."""
    draw = random.Random(name)
    for of in tasks:
        (folder / of).mkdir(parents=True)
        for code in LANGUAGES:
            examples = isogloss.load(of, code)
            lines = [
                json.dumps({"id": identifier, "prediction": _answer(of, examples, row, draw, mistakes)})
                for row, identifier in enumerate(examples.ids)
            ]
            (folder / of / f"{code}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (folder / "system.toml").write_text(f'name = "{name}"\nregime = "zero-shot"\n', encoding="utf-8")
    isogloss.score(folder, suite=str(suite)).to_json(folder / "results.json")
    return folder


def _answer(name: str, examples: Examples, row: int, draw: random.Random, mistakes: float) -> Any:
    """Return a right or wrong answer; longer texts are more often wrong."""
    entry = task(name)
    text = examples[next(iter(examples.columns))][row]
    wrong = draw.random() < mistakes * min(2.0, len(text) / 40)
    if entry.kind == "tagging":
        return [draw.choice(entry.labels) if draw.random() < mistakes else tag for tag in examples["tags"][row]]
    if entry.kind == "classification":
        gold = examples["label"][row]
        return draw.choice([label for label in entry.labels if label != gold]) if wrong else gold
    gold = examples["answers"][row][0]
    if entry.kind == "match" and wrong:
        return str(examples["wrong"][row])
    return " ".join([*gold.split()[: draw.randint(0, 1)], "zzz"]) if wrong else gold
