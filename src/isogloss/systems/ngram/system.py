"""The n-gram system: which model answers which kind of task."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from isogloss.systems.base import System, SystemFailureError
from isogloss.systems.ngram.classification import Chooser, Classifier
from isogloss.systems.ngram.qa import Reader
from isogloss.systems.ngram.retrieval import Retriever
from isogloss.systems.ngram.tagging import Tagger
from isogloss.tasks.examples import Examples
from isogloss.tasks.kinds import kind_of
from isogloss.tasks.registry import canonical
from isogloss.tasks.task import Task
from isogloss.version import __version__


class _Model(Protocol):
    def predict(self, examples: Examples) -> Sequence[Any]: ...


_LEARNERS: dict[str, Callable[[Task, Examples, int], _Model]] = {
    "label": Classifier,
    "option": Chooser,
    "tags": Tagger,
    "answer": Reader,
}


class NgramSystem(System):
    """Hashed character n-grams and linear models: what a task gives away to a system that understands nothing.

    Deterministic: all that is random, the order of the training examples and the reader's rival spans, is the seed's.

    Args:
        train_on: the task whose training set it learns from, where it is not the task's own choice.

    Raises:
        UnknownNameError: no such task.
    """

    name = "ngram"

    def __init__(self, *, train_on: str = "") -> None:
        self._model: _Model | None = None
        if train_on:
            self.train_on = canonical(train_on)
            self.name = f"ngram-on-{self.train_on}"

    @property
    def metadata(self) -> Mapping[str, Any]:
        """The name, the version of Isogloss it comes with, and what it is."""
        said = {"name": self.name, "version": __version__, "description": "hashed character n-grams, linear models"}
        return {**said, **({"train_on": self.train_on} if self.train_on else {})}

    def refusal(self, task: Task) -> str:
        """Bitext mining is refused: where to cut the ranked pairs off can only be learnt from gold pairs."""
        form = kind_of(task).form
        if form in _LEARNERS or form == "ranking":
            return ""
        return f"{self.name} does no {task.kind}: the threshold would have to be chosen on gold pairs, and it has none"

    def needs_training(self, task: Task) -> bool:
        """All but retrieval learn from the English training set."""
        return kind_of(task).form in _LEARNERS

    def fit(self, task: Task, train: Examples | None, seed: int) -> "NgramSystem":
        """Learn a task, forgetting the one before.

        Raises:
            SystemFailureError: the task is refused, or the training set is missing, empty or without answers.
        """
        if refusal := self.refusal(task):
            raise SystemFailureError(refusal, where=task.id)
        form = kind_of(task).form
        if form == "ranking":
            self._model = Retriever(task.kind)
            return self
        if train is None or not len(train) or not train.has_gold:
            lack = "missing" if train is None else "empty" if not len(train) else "without answers"
            what = f"{self.name} must be trained, but the training set is {lack}"
            raise SystemFailureError(what, where=task.id, fix="Give it the English training split, or any with gold")
        self._model = _LEARNERS[form](task, train, seed)
        return self

    def predict(self, examples: Examples) -> Sequence[Any]:
        """An answer for every example; it never abstains."""
        if self._model is None:
            raise SystemFailureError(f"{self.name} has not learnt a task yet", fix="Call fit first")
        return self._model.predict(examples)
