"""The n-gram system: a model per form of answer."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, Protocol

from isogloss.systems.base import System, SystemFailureError
from isogloss.systems.ngram.classification import (
    NgramClassifier,
    NgramLabelSets,
    NgramMultipleChoice,
    NgramRegressor,
)
from isogloss.systems.ngram.qa import NgramReader
from isogloss.systems.ngram.retrieval import NgramGenerator, NgramRetriever
from isogloss.systems.ngram.tagging import NgramTagger
from isogloss.tasks.examples import Examples
from isogloss.tasks.kinds import kind_of
from isogloss.tasks.registry import canonical
from isogloss.tasks.task import Task
from isogloss.version import __version__


class _Model(Protocol):
    together: int  # examples predicted at a time, to bound the memory; 0 for all

    def predict(self, examples: Examples) -> Sequence[Any]: ...


_LEARNERS: dict[str, Callable[[Task, Examples, int], _Model]] = {
    "label": NgramClassifier,
    "option": NgramMultipleChoice,
    "tags": NgramTagger,
    "answer": NgramReader,
    "text": NgramGenerator,
    "labels": NgramLabelSets,
    "number": NgramRegressor,
}


class NgramSystem(System):
    """Hashed character n-grams and linear models: a baseline that measures what surface cues alone achieve.

    Deterministic: the seed decides the order of the training examples and the reader's rival spans.

    Args:
        train_on: task of the training set; default: the task's own choice.
    """

    name = "ngram"

    def __init__(self, *, train_on: str = "") -> None:
        self._model: _Model | None = None
        if train_on:
            self.train_on = canonical(train_on)
            self.name = f"ngram-on-{self.train_on}"

    @property
    def metadata(self) -> Mapping[str, Any]:
        """Name, version of Isogloss, and description."""
        facts = {"name": self.name, "version": __version__, "description": "hashed character n-grams, linear models"}
        return {**facts, **({"train_on": self.train_on} if self.train_on else {})}

    def refusal(self, task: Task) -> str:
        """Refuse bitext mining, which needs gold pairs to set a threshold, and unknown forms of answers."""
        form, train_task = kind_of(task).form, self.learns_from(task)
        if form in _LEARNERS and kind_of(train_task).form != form:
            return f"{self.name} cannot learn {task.id} from {train_task.id}: its answers have another form"
        if form == "pairs":
            return f"{self.name} cannot mine pairs: setting the threshold requires gold pairs"
        known = form in _LEARNERS or form == "ranking"
        return "" if known else f"{self.name} has no model for the {form} of {task.id}"

    def needs_training(self, task: Task) -> bool:
        """Return True for every task except retrieval, and generation without training files, which copies."""
        form = kind_of(task).form
        has_training = any(layout.train for layout in self.learns_from(task).layouts)
        return form in _LEARNERS and (form != "text" or has_training)

    def training_key(self, task: Task) -> Hashable | None:
        """Return one key for all question answering tasks: the reader depends on its training set only."""
        return "answer" if kind_of(task).form == "answer" and not self.refusal(task) else None

    def fit(self, task: Task, train: Examples | None, seed: int) -> "NgramSystem":
        """Learn a task, replacing the previous one."""
        if refusal := self.refusal(task):
            raise SystemFailureError(refusal, where=task.id)
        kind = kind_of(task)
        if kind.form == "ranking":
            # LAReQA's single-target metrics look deeper than others.
            self._model = NgramRetriever(30 if kind.shared_pool else 20)
            return self
        if train is None and not self.needs_training(task):
            self._model = NgramGenerator(task, None, seed)
            return self
        if train is None or not len(train) or not train.has_gold:
            problem = "missing" if train is None else "empty" if not len(train) else "without gold labels"
            what = f"{self.name} needs training, but the training set is {problem}"
            raise SystemFailureError(what, where=task.id, fix="Use a training split with gold labels")
        self._model = _LEARNERS[kind.form](task, train, seed)
        return self

    def predict(self, examples: Examples) -> Sequence[Any]:
        """Return one answer per example; never abstains."""
        if self._model is None:
            raise SystemFailureError(f"{self.name} is not fitted", fix="Call fit first")
        together, count = self._model.together, len(examples)
        if not together:
            return self._model.predict(examples)
        parts = (examples.keep(range(start, min(start + together, count))) for start in range(0, count, together))
        return [answer for part in parts for answer in self._model.predict(part)]
