"""A system: whatever answers the examples of a task."""

from isogloss.systems import System
from isogloss.tasks import Examples, Task
from isogloss.tasks.kinds import kind_of


class WordOverlap(System):
    """Two sentences are as alike as the share of words that they have in common."""

    name = "word-overlap"

    def refusal(self, task: Task) -> str:
        """It compares two sentences, and its answer is a number."""
        return "" if kind_of(task).form == "number" else f"{self.name} answers with numbers only"

    def needs_training(self, task: Task) -> bool:
        """There is nothing to learn."""
        return False

    def fit(self, task: Task, train: Examples | None, seed: int) -> "WordOverlap":
        """Nothing to learn."""
        return self

    def predict(self, examples: Examples) -> list[float]:
        """Words in common over words in all."""
        pairs = zip(examples["text_a"], examples["text_b"], strict=True)
        words = [({*first.split()}, {*second.split()}) for first, second in pairs]
        return [len(first & second) / len(first | second) for first, second in words]
