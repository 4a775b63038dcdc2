"""The n-gram system: which model gives which form of answer."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from isogloss.systems.base import System, SystemFailureError
from isogloss.systems.ngram.classification import NgramClassifier, NgramMultipleChoice
from isogloss.systems.ngram.qa import NgramReader
from isogloss.systems.ngram.retrieval import NgramRetriever
from isogloss.systems.ngram.tagging import NgramTagger
from isogloss.tasks.examples import Examples
from isogloss.tasks.kinds import kind_of
from isogloss.tasks.registry import canonical
from isogloss.tasks.task import Task
from isogloss.version import __version__


class _Model(Protocol):
    def predict(self, examples: Examples) -> Sequence[Any]: ...


_LEARNERS: dict[str, Callable[[Task, Examples, int], _Model]] = {
    "label": NgramClassifier,
    "option": NgramMultipleChoice,
    "tags": NgramTagger,
    "answer": NgramReader,
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
        """Bitext mining: where to cut the ranked pairs off can only be learnt from gold pairs; and unknown answers."""
        form, train_task = kind_of(task).form, self.learns_from(task)
        if form in _LEARNERS and kind_of(train_task).form != form:
            return f"{self.name} cannot learn {task.id} from {train_task.id}, which has answers of another form"
        if form in _LEARNERS or form == "ranking":
            return ""
        if form == "pairs":
            return f"{self.name} finds no pairs: the threshold would have to be chosen on gold pairs, and it has none"
        return f"{self.name} has no model for the {form} of {task.id}"

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
        kind = kind_of(task)
        if kind.form == "ranking":
            # LAReQA's one-target figures look deeper than others.
            self._model = NgramRetriever(30 if kind.shared_pool else 20)
            return self
        if train is None or not len(train) or not train.has_gold:
            lack = "missing" if train is None else "empty" if not len(train) else "without answers"
            what = f"{self.name} must be trained, but the training set is {lack}"
            raise SystemFailureError(what, where=task.id, fix="Give it the English training split, or any with gold")
        self._model = _LEARNERS[kind.form](task, train, seed)
        return self

    def predict(self, examples: Examples) -> Sequence[Any]:
        """An answer for every example; it never abstains."""
        if self._model is None:
            raise SystemFailureError(f"{self.name} has not learnt a task yet", fix="Call fit first")
        return self._model.predict(examples)
