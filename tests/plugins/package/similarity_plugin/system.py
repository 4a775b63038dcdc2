"""A system: a class that answers the examples of a task."""

from isogloss.systems import System
from isogloss.tasks import Examples, Task
from isogloss.tasks.kinds import kind_of


class WordOverlap(System):
    """Predicts similarity as the share of words that two sentences have in common."""

    name = "word-overlap"

    def refusal(self, task: Task) -> str:
        """Refuse all tasks except those with numbers as answers."""
        return "" if kind_of(task).form == "number" else f"{self.name} answers with numbers only"

    def needs_training(self, task: Task) -> bool:
        """Return False: it learns nothing."""
        return False

    def fit(self, task: Task, train: Examples | None, seed: int) -> "WordOverlap":
        """Return the system unchanged."""
        return self

    def predict(self, examples: Examples) -> list[float]:
        """Return the number of shared words divided by the number of all words."""
        pairs = zip(examples["text_a"], examples["text_b"], strict=True)
        words = [({*first.split()}, {*second.split()}) for first, second in pairs]
        return [len(first & second) / len(first | second) for first, second in words]
