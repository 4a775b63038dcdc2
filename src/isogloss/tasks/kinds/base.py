"""What a kind of task must say: the shape of an answer, what can be wrong with one, and what it is worth."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from isogloss.metrics.statistics import Statistics
from isogloss.tasks.examples import Examples
from isogloss.tasks.task import Task

# One answer per example, in the order of the examples; None where the system gave none.
Values = Sequence[Any]

# Row of the example, what is wrong with its answer, what to do.
Complaint = tuple[int, str, str]


@dataclass(frozen=True)
class Pairs:
    """Statistics whose rows belong to a query language and a target language."""

    metric: str
    statistics: Statistics
    target_languages: npt.NDArray[np.str_]


@dataclass(frozen=True)
class Judgement:
    """What the answers of one cell are worth: statistics per metric, and what should be said beside them."""

    metrics: dict[str, Statistics]
    pairs: Pairs | None = None
    dialect: str = ""
    notes: list[str] = field(default_factory=list)


class Kind(ABC):
    """A kind of task.

    Attributes:
        answer: the type of an answer, for decoding.
        shape: the answer in words, for help and messages.
        inputs: columns a system needs to answer, in the order they are exported.
        lenient: whether missing answers score 0 and extra ones are ignored, as the reference scorer has it for
            this kind; else they are errors.
    """

    answer: ClassVar[Any]
    shape: ClassVar[str]
    inputs: ClassVar[tuple[str, ...]]
    lenient: ClassVar[bool] = False

    def normalize(self, value: Any) -> Any:
        """An answer in its one canonical form."""
        return value

    def errors(self, task: Task, examples: Examples, values: Values) -> Iterator[Complaint]:
        """Everything that is wrong with the answers, one by one."""
        return iter(())

    def warnings(self, task: Task, examples: Examples, values: Values) -> Iterator[Complaint]:
        """What is odd about the answers and scored all the same."""
        return iter(())

    def placeholder(self, examples: Examples) -> str:
        """Why the gold cannot be real, "" where it can."""
        return ""

    @abstractmethod
    def judge(self, task: Task, examples: Examples, values: Values) -> Judgement:
        """Statistics of faultless answers against gold."""


def label_placeholder(labels: Sequence[Any]) -> str:
    """Published test files often hide labels behind one constant; scoring against that would mislead."""
    if len(labels) >= 20 and len(set(labels)) == 1:
        return f"every gold label is {labels[0]!r}: these are placeholders, not labels"
    return ""
