"""What a kind of task declares, in one place: the shape of an answer, how answers are read, checked and judged, what
can be translated, and which attributes its examples have. All other packages ask the kind, never its name.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

import numpy as np
import numpy.typing as npt

from isogloss.errors import DataError
from isogloss.metrics.search import Matrix
from isogloss.metrics.statistics import IntArray, Statistics
from isogloss.tasks.examples import Column, Examples
from isogloss.tasks.task import Task

# One answer per example, in the order of the examples; None where the system gave none.
Values = Sequence[Any]

# Row of the example, what is wrong with its answer, what to do.
RowProblem = tuple[int, str, str]


@dataclass(frozen=True)
class LanguagePairs:
    """Statistics whose rows belong to a query language and a target language."""

    metric: str
    statistics: Statistics
    target_languages: npt.NDArray[np.str_]


@dataclass(frozen=True)
class Judgement:
    """What the answers of one cell are worth.

    Attributes:
        metrics: statistics by metric name.
        pairs: statistics by language pair, for retrieval from a shared pool.
        dialect: of the metrics, "" where there is only one.
        notes: remarks to show beside the figures.
        row_example: the example that each row of the main metrics belongs to; None where there is one row an example.
    """

    metrics: dict[str, Statistics]
    pairs: LanguagePairs | None = None
    dialect: str = ""
    notes: list[str] = field(default_factory=list)
    row_example: IntArray | None = None


class Vectors(Protocol):
    """What has the vectors of both sides of a retrieval task."""

    def queries(self, examples: Examples) -> Matrix:
        """The vectors of the queries, in order."""

    def candidates(self, examples: Examples) -> Matrix:
        """The vectors of the pool, in its order."""


class Kind(ABC):
    """A kind of task. A new one says the first five of these attributes and how it judges; the rest has defaults.

    Attributes:
        form: the shape of an answer in one word, by which systems choose how to make one: "label" (one of the task's),
            "option" (the index of a choice), "tags" (one a token), "answer" (a string from the context), "ranking"
            (candidate ids, best first), "pairs" (ids of translations), or a word of a kind's own.
        answer_type: the type of an answer, for decoding.
        answer_help: the answer in words, for help and messages.
        inputs: columns a system needs to answer, in the order they are exported.
        gold: the column with the right answers.
        lenient: whether missing answers score 0 and extra ones are ignored, as the reference scorer has it for
            this kind; else they are errors.
        silence_is_answer: whether saying nothing about an example is an answer; answers to unknown examples are then
            wrong answers, and not ignored.
        rows: what a row of an explanation is: "example", or "entity" for spans within a sentence.
        label_format: the format of XTREME's own prediction files (see `predictions.formats`), "" for none.
        gold_format: the same of a label folder, where it is another.
        one_file_for_all: whether one JSON file may have the answers in all languages.
        retrieval: whether candidates are searched, so that vectors can be answers.
        ids_tell_gold: whether the ids that a label folder gives to examples tell what is right: who must not see gold
            must not see them.
        shared_pool: whether the candidates of all languages compete.
        translatable: columns whose texts a translator may replace.
        moves_with_text: columns that must be found again in replaced texts.
        no_translated_training: why training sets cannot be translated, "" if they can.
        no_translated_test: why test sets cannot be translated, "" if they can.
        extra_columns: further columns that its tasks may have, from which attributes can be computed.
    """

    form: ClassVar[str]
    answer_type: ClassVar[Any]
    answer_help: ClassVar[str]
    inputs: ClassVar[tuple[str, ...]]
    gold: ClassVar[str]
    lenient: ClassVar[bool] = False
    silence_is_answer: ClassVar[bool] = False
    rows: ClassVar[str] = "example"
    label_format: ClassVar[str] = ""
    gold_format: ClassVar[str] = ""
    ids_tell_gold: ClassVar[bool] = False
    one_file_for_all: ClassVar[bool] = False
    retrieval: ClassVar[bool] = False
    shared_pool: ClassVar[bool] = False
    translatable: ClassVar[tuple[str, ...]] = ()
    moves_with_text: ClassVar[tuple[str, ...]] = ()
    no_translated_training: ClassVar[str] = ""
    no_translated_test: ClassVar[str] = ""
    extra_columns: ClassVar[tuple[str, ...]] = ()

    def __init__(self) -> None:
        needed = ("form", "answer_type", "answer_help", "inputs", "gold")
        if missing := [name for name in needed if not hasattr(self, name)]:
            raise TypeError(f"{type(self).__name__} does not declare {', '.join(missing)}")

    @property
    def provides(self) -> tuple[str, ...]:
        """What attributes can be computed from: columns, and "pool", "shared-pool", "ranking" for what is no column."""
        words = {"pool": self.retrieval, "shared-pool": self.shared_pool, "ranking": self.form == "ranking"}
        return (*self.inputs, self.gold, *self.extra_columns, *(word for word, there in words.items() if there))

    def normalize(self, value: Any) -> Any:
        """An answer in its one canonical form."""
        return value

    def errors(self, task: Task, examples: Examples, values: Values) -> Iterator[RowProblem]:
        """Everything that is wrong with the answers, one by one."""
        return iter(())

    def warnings(self, task: Task, examples: Examples, values: Values) -> Iterator[RowProblem]:
        """What is odd about the answers and scored all the same."""
        return iter(())

    def placeholder(self, examples: Examples) -> str:
        """Why the gold cannot be real, "" where it can: published test files often hide labels behind a constant."""
        labels = list(examples[self.gold]) if self.form in ("label", "option") else []
        if len(labels) >= 20 and len(set(labels)) == 1:
            return f"every gold label is {labels[0]!r}: these are placeholders, not labels"
        return ""

    @abstractmethod
    def judge(self, task: Task, examples: Examples, values: Values) -> Judgement:
        """Statistics of answers without errors against gold; their `units` say what is resampled."""

    def row_id(self, split: str, row: int) -> str | None:
        """The id of a row of the dataset; None where only the dataset knows."""
        return f"{split}-{row}"

    def row_ids(self, examples: Examples) -> list[str]:
        """The ids of the rows of a prediction file that has none, in the file's order."""
        return examples.split_ids or examples.ids

    def known_ids(self, ids: list[str], examples: Examples) -> list[str]:
        """The examples' own ids for ids that other files may have instead."""
        return ids

    def gold_columns(self, task: Task, ids: list[str], values: list[Any]) -> tuple[list[str], dict[str, Column]]:
        """Ids and columns of examples that are known by the labels of a label folder only."""
        return ids, {self.gold: values}

    def overlay(self, full: Examples, part: Examples) -> Examples | None:
        """A whole split with the gold of those examples that a partial set has; None where rows cannot be matched."""
        return None

    def answers_from_vectors(
        self, task: Task, examples: Examples, vectors: Vectors, *, margin: float | None = None
    ) -> Values:
        """Answers by the nearest vectors, for kinds that retrieve.

        Args:
            task: the task.
            examples: its examples in a language.
            vectors: of queries and candidates.
            margin: where pairs are cut if there is no dev set to choose a threshold on; None makes that an error.
        """
        raise DataError(f"vectors are no answers to {task.id}", fix=f"An answer is {self.answer_help}")

    def main_text(self, examples: Examples) -> Sequence[str]:
        """The text that is an example's own: the question, say, rather than a context that others share."""
        if "text_b" in examples.columns:
            return [f"{a} {b}" for a, b in zip(examples["text_a"], examples["text_b"], strict=True)]
        return examples.column(next((name for name in self.inputs if name in examples.columns), self.inputs[0]))

    def text_language(self, examples: Examples) -> str:
        """The language of the main text."""
        return examples.language
