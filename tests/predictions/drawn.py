"""Made answers to mini tasks, and their restriction to an exported subset."""

import json
import random
from pathlib import Path
from typing import Any

import isogloss
from isogloss.tasks.kinds import kind_of
from isogloss.tasks.registry import task as find_task

Answers = dict[str, dict[str, dict[str, Any]]]


def answers(task: str, languages: list[str], skill: float, seed: int = 0) -> Answers:
    """Return answers that are right with a probability; examples are hard for all seeds alike."""
    kind, labels = kind_of(find_task(task)), find_task(task).labels
    made: Answers = {task: {}}
    for code in languages:
        examples = isogloss.load(task, code)
        hard, own = random.Random(code), random.Random(f"{seed}/{code}")
        made[task][code] = {}
        for identifier, gold in zip(examples.ids, examples[examples.gold], strict=True):
            right = (hard.random() + own.random()) / 2 < skill
            wrong = {
                "label": lambda gold: next(label for label in labels if label != gold),
                "tags": lambda gold: ["O"] * len(gold),
                "answer": lambda gold: "nothing",
            }[kind.form]
            best = gold[0] if kind.form == "answer" else gold
            made[task][code][identifier] = best if right else wrong(gold)
    return made


def exported_ids(folder: Path, task: str, language: str) -> list[str]:
    """Return the ids that were exported."""
    lines = (folder / task / f"{language}.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line)["id"] for line in lines]


def only_drawn(made: Answers, folder: Path) -> Answers:
    """Return the answers to the exported examples."""
    return {
        task: {
            code: {identifier: said[identifier] for identifier in exported_ids(folder, task, code)}
            for code, said in languages.items()
        }
        for task, languages in made.items()
    }
