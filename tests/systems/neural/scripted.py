"""A tiny encoder with scripted answers: tests set its quality per language and checkpoint."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from isogloss.errors import MissingDataError
from isogloss.systems.base import FitContext
from isogloss.systems.encoder.adapter import EncoderClassifier
from isogloss.systems.neural.system import NeuralSystem
from isogloss.tasks.examples import Examples
from isogloss.tasks.task import Task

# Sixteen examples, two updates per checkpoint, four checkpoints.
QUICK = {"batch": 8, "epochs": 4, "checkpoints": 25, "learning_rate": 1e-3}
STEPS = [2, 4, 6, 8]


def labelled(task: Task, language: str, split: str, count: int) -> Examples:
    """Sentence pairs with cycling labels."""
    ids = [f"{split}-{row}" for row in range(count)]
    columns: dict[str, Any] = {
        "text_a": [f"Eric is {row} years old." for row in range(count)],
        "text_b": [f"Eric is older than {row}." for row in range(count)],
        "label": [task.labels[row % 3] for row in range(count)],
    }
    return Examples(task.id, language, split, ids, columns, "label", checksum=f"{language} {split}")


def context(folder: Path, task: Task, *languages: str, dev: Sequence[str] = ("en", "de", "sw")) -> FitContext:
    """A fit context in which some languages have a dev set."""

    def examples(language: str, split: str) -> Examples:
        if split == "dev" and language not in dev:
            raise MissingDataError(f"no dev file of {task.id}/{language}")
        return labelled(task, language, split, 10)

    return FitContext(folder=folder, languages=languages, examples=examples)


class _Scripted(EncoderClassifier):
    """Right on the scripted number of ten dev examples; elsewhere its answers reveal its weights."""

    script: dict[str, list[int]]
    seen: list[tuple[int, str]]

    def predict(self, model: Any, examples: Examples) -> list[str]:
        if examples.split != "dev":
            return super().predict(model, examples)
        turn = sum(language == examples.language for _, language in self.seen)
        self.seen.append((turn, examples.language))
        right = self.script[examples.language][turn]
        labels = self.task.labels
        return [
            gold if row < right else labels[(labels.index(gold) + 1) % 3] for row, gold in enumerate(examples["label"])
        ]


class ScriptedSystem(NeuralSystem):
    """An encoder with `_Scripted` adapters; `script` has a number for every checkpoint."""

    family = "scripted"

    def __init__(self, model: str, script: dict[str, list[int]], **settings: Any) -> None:
        super().__init__(model, **{"quiet": True, **QUICK, **settings})
        self.script = script

    def refusal(self, task: Task) -> str:
        return "" if task.kind == "classification" else f"it does no {task.kind}"

    def adapter(self, task: Task) -> EncoderClassifier:
        made = _Scripted(task, self.recipe_for(task), self.source)
        made.script, made.seen = self.script, []
        return made
