"""Synthetic gold and systems in XTREME's layout, for trying the verbs without downloads.

The answers are random words, labels and numbers. A system is the gold with errors, more of them in languages with a
small Wikipedia, as with real models.
"""

import json
import random
from collections.abc import Callable
from math import log10
from pathlib import Path
from typing import Any

from isogloss.data.files import atomic_write
from isogloss.languages import language as find_language
from isogloss.predictions.formats import FORMATS
from isogloss.tasks.kinds import kind_of
from isogloss.tasks.registry import task
from isogloss.tasks.suites import Suite
from isogloss.tasks.task import Task

__all__ = ["write_gold", "write_system", "write_systems"]

_WORDS = [first + second for first in ("ba", "do", "ki", "lu", "me", "so", "ti", "za") for second in ("n", "ra", "sto")]


def write_gold(root: Path, suite: Suite, examples: int, seed: int = 0) -> None:
    """Write a label folder for every task and language of a suite."""
    for name in suite.tasks:
        of = task(name)
        for language in suite.languages_of(name):
            gold = _gold(of, examples, random.Random(f"{seed}/{name}"))
            _write(root, of, language, _LABEL_FILES[of.kind](gold))


def write_systems(root: Path, suite: Suite, examples: int, **skills: float) -> Path:
    """Write the labels to `gold` and each system with its skill to a folder of its name; return the root."""
    write_gold(root / "gold", suite, examples)
    for name, skill in skills.items():
        write_system(root / name, suite, examples, name, skill)
    return root


def write_system(root: Path, suite: Suite, examples: int, name: str, skill: float, seed: int = 0) -> None:
    """Write a prediction folder of a system with a share `skill` of correct answers in a high-resource language."""
    with atomic_write(root / "system.toml") as stream:
        stream.write(f'name = "{name}"\nregime = "made up"\n')
    for task_name in suite.tasks:
        of = task(task_name)
        for language in suite.languages_of(task_name):
            rng = random.Random(f"{seed}/{name}/{task_name}/{language}")
            gold = _gold(of, examples, random.Random(f"{seed}/{task_name}"))
            articles = find_language(language).wikipedia_articles or 0.05
            share = skill + 0.12 * log10(articles)
            answers = [_answer(of, value, share, rng) for value in gold]
            _write(root, of, language, _ANSWER_FILES[of.kind](answers))


def _gold(of: Task, examples: int, rng: random.Random) -> list[Any]:
    """Return correct answers in the form of the task's kind."""
    make: dict[str, Callable[[int], Any]] = {
        "classification": lambda row: rng.choice(of.labels),
        "choice": lambda row: rng.randrange(2),
        "tagging": lambda row: [rng.choice(of.labels[:4]) for _ in range(rng.randint(4, 14))],
        "qa": lambda row: " ".join(rng.choices(_WORDS, k=rng.randint(1, 4))),
        "bitext": lambda row: row,
        "pool": lambda row: [f"{of.id}-{row}-{place}" for place in range(11 if of.id == "lareqa" else 1)],
        "mining": lambda row: f"en-{row}",
    }
    answers = [make[of.kind](row) for row in range(examples)]
    if of.kind == "bitext":
        rng.shuffle(answers)
    return answers


def _answer(of: Task, gold: Any, share: float, rng: random.Random) -> Any:
    """Return the correct answer, or a wrong one of the same form."""
    if of.kind == "tagging":
        return [tag if rng.random() < share else rng.choice(of.labels[:4]) for tag in gold]
    if of.kind == "pool":
        others = [f"{of.id}-wrong-{place}" for place in range(30)]
        found = [item for item in gold if rng.random() < share]
        return sorted([*found, *others], key=lambda item: rng.random() + (item in others))[:30]
    wrong = {
        "classification": rng.choice(of.labels or [""]),
        "choice": int(not gold),
        "qa": f"{gold} {rng.choice(_WORDS)}",
        "bitext": f"{gold}0",
        "mining": "en-wrong",
    }
    return gold if rng.random() < share else wrong[of.kind]


def _lines(values: list[Any]) -> str:
    return "".join(f"{value}\n" for value in values)


def _tags(sentences: list[list[str]]) -> str:
    return "\n".join(_lines(sentence) for sentence in sentences)


def _choices(values: list[int]) -> str:
    return _lines([json.dumps({"label": value}) for value in values])


def _by_id(values: list[Any]) -> str:
    return json.dumps({f"q{row}": value for row, value in enumerate(values)})


def _pairs(values: list[str]) -> str:
    return _lines([f"xx-{row}\t{value}" for row, value in enumerate(values)])


def _squad(values: list[str]) -> str:
    paragraphs = [
        {"context": text, "qas": [{"id": f"q{row}", "question": "?", "answers": [{"text": text, "answer_start": 0}]}]}
        for row, text in enumerate(values)
    ]
    return json.dumps({"data": [{"paragraphs": paragraphs}]})


_ANSWER_FILES: dict[str, Callable[[list[Any]], str]] = {
    "classification": _lines,
    "choice": _choices,
    "tagging": _tags,
    "qa": _by_id,
    "bitext": _lines,
    "pool": _by_id,
    "mining": _pairs,
}
_LABEL_FILES = {**_ANSWER_FILES, "qa": _squad}


def _write(root: Path, of: Task, language: str, content: str) -> None:
    suffix = FORMATS[kind_of(of).label_format].suffix
    with atomic_write(root / of.id / f"test-{language}{suffix}") as stream:
        stream.write(content)
