"""Two systems in one file, as a start for your own: isogloss run my_systems.py:First --suite mini --out runs."""

from collections.abc import Callable, Sequence
from random import Random
from typing import Any

from isogloss.systems import System
from isogloss.tasks import Examples, Task
from isogloss.tasks.kinds import kind_of

# Chooses one item of several.
Pick = Callable[[Sequence[Any]], Any]


class First(System):
    """Always chooses the first label, choice, tag, word or candidate."""

    name = "first"

    def needs_training(self, task: Task) -> bool:
        """Return False: nothing is learned."""
        return False

    def fit(self, task: Task, train: Examples | None, seed: int) -> System:
        """Remember the task."""
        self.task, self.seed = task, seed
        return self

    def predict(self, examples: Examples) -> list[Any]:
        """Answer each example in the form of the task's kind."""
        answers: dict[str, Callable[[dict[str, Any], Pick], Any]] = {
            "label": lambda example, pick: pick(self.task.labels),
            "option": lambda example, pick: pick(range(len(example["choices"]))),
            "tags": lambda example, pick: [pick(self.task.labels) for _ in example["tokens"]],
            "answer": lambda example, pick: pick(example["context"].split()),
            "text": lambda example, pick: pick(example["text"].split()),
            "labels": lambda example, pick: [pick(self.task.labels)],
            "number": lambda example, pick: float(pick(range(2))),
            "ranking": lambda example, pick: [pick(examples.pool.ids)],  # type: ignore[union-attr]
        }
        answer = answers[kind_of(self.task).form]
        return [answer(example, self.picker(example["id"])) for example in examples]

    def picker(self, identifier: str) -> Pick:
        """Return the function that chooses for an example."""
        return lambda items: items[0]


class Chance(First):
    """Chooses at random; the seed and the example decide."""

    name = "chance"

    def picker(self, identifier: str) -> Pick:
        """Return the function that chooses for an example."""
        return Random(f"{self.seed} {identifier}").choice  # noqa: S311 - nothing is secret
