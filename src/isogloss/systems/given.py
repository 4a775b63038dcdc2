"""Systems that users pass to `isogloss.run` as objects: a `System`, its class, or a function of examples."""

import hashlib
import inspect
from collections.abc import Mapping, Sequence
from typing import Any

from isogloss.errors import IsoglossError
from isogloss.predictions.on_demand import AnswerFunction, Embeddings, answers_of_function, ranked
from isogloss.systems.base import System, SystemFailureError, system
from isogloss.tasks.examples import Examples
from isogloss.tasks.registry import task as find_task
from isogloss.tasks.task import Task


class FunctionSystem(System):
    """A function that predicts examples, as a system without training."""

    def __init__(self, function: AnswerFunction) -> None:
        self.name = getattr(function, "__name__", type(function).__name__)
        self._function = function

    @property
    def metadata(self) -> Mapping[str, Any]:
        """Name, and a checksum of the source, so that predictions of an earlier version are not kept."""
        try:
            source = inspect.getsource(self._function)
        except (OSError, TypeError):  # an object with `__call__`, or a function typed into a console
            source = getattr(getattr(self._function, "__code__", None), "co_code", b"").hex()
        return {"name": self.name, "code": hashlib.sha256(source.encode()).hexdigest()[:12]}

    def needs_training(self, task: Task) -> bool:
        """Return False."""
        return False

    def fit(self, task: Task, train: Examples | None, seed: int) -> "FunctionSystem":
        """Return the system unchanged."""
        return self

    def predict(self, examples: Examples) -> Sequence[Any]:
        """Call the function."""
        answers = answers_of_function(self._function, self.name, examples)
        return ranked(find_task(examples.task), answers, examples) if isinstance(answers, Embeddings) else answers


def given_system(given: object, settings: Mapping[str, Any]) -> System:
    """Return the system for a name, a `System`, a class of systems or a function of examples.

    Raises:
        UnknownNameError: unknown name.
        IsoglossError: the object is none of these; several systems are run one by one.
    """
    if isinstance(given, str):
        return system(given, **settings)
    if isinstance(given, type) and issubclass(given, System):
        given = given()
    elif not isinstance(given, System) and callable(given) and not isinstance(given, type):
        given = FunctionSystem(given)
    if not isinstance(given, System):
        expected = "a name such as 'ngram', 'file.py:Class', a System, or a function that takes Examples"
        advice = "; run several systems one by one" if isinstance(given, list | tuple | set | dict) else ""
        raise IsoglossError(f"a system is {expected}, got {type(given).__name__}{advice}")
    if not isinstance(getattr(given, "name", None), str) or not given.name.strip():
        raise SystemFailureError(f"{type(given).__name__} has no name", fix='Write name = "…" in its class')
    return given
