"""Base class of task kinds, which other packages query instead of comparing task names."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from isogloss.errors import DataError
from isogloss.metrics.search import Matrix
from isogloss.metrics.statistics import IntArray, Statistics
from isogloss.notebooks import short_repr
from isogloss.tasks.examples import Column, Examples
from isogloss.tasks.kinds.cells import text_cell
from isogloss.tasks.kinds.replies import UNREAD, Reading, Reply, settled
from isogloss.tasks.task import Task

# One answer per example, in the order of the examples; None if the system gave none.
Values = Sequence[Any]

# Row of the example, problem, and fix.
RowProblem = tuple[int, str, str]


class GoldFault(NamedTuple):
    """Gold of an example that contradicts its inputs: the fault's name, and True if it prevents scoring."""

    row: int
    code: str
    error: bool = False


@dataclass(frozen=True)
class LanguagePairs:
    """Statistics with a query language and a target language for each row."""

    metric: str
    statistics: Statistics
    target_languages: npt.NDArray[np.str_]


@dataclass(frozen=True)
class Judgement:
    """Score of one cell's answers.

    Attributes:
        metrics: statistics by metric name.
        pairs: statistics by language pair, for retrieval from a shared pool.
        dialect: metric dialect, "" if there is only one.
        notes: remarks to show with the scores.
        row_example: example index of each row of the main metrics; None if there is one row per example.
        settings: further parts of the signature, by name, that may differ between languages: tokenizers, references.
    """

    metrics: dict[str, Statistics]
    pairs: LanguagePairs | None = None
    _: KW_ONLY
    dialect: str = ""
    notes: list[str] = field(default_factory=list)
    row_example: IntArray | None = None
    settings: dict[str, str] = field(default_factory=dict)

    __repr__ = short_repr


class Vectors(Protocol):
    """Source of query and candidate vectors for a retrieval task."""

    def queries(self, examples: Examples) -> Matrix:
        """Return the query vectors, in order."""

    def candidates(self, examples: Examples) -> Matrix:
        """Return the candidate vectors, in pool order."""


class Kind(ABC):
    """A kind of task. Subclasses set the first five attributes and implement `judge`; the rest has defaults.

    Attributes:
        form: shape of an answer, by which systems choose how to produce it: "label" (one of the task's labels),
            "option" (the index of a choice), "tags" (one per token), "answer" (a string from the context), "ranking"
            (candidate ids, best first), "pairs" (ids of translations), "text" (a text of its own), "labels" (some of
            the task's labels), "number", or a name of the subclass's own.
        answer_type: type of an answer, for decoding.
        answer_help: description of an answer, for help and messages.
        inputs: input columns, in export order.
        gold: gold column.
        lenient: True if missing answers score 0 and extra ones are ignored, as in the reference scorer of
            this kind; otherwise they are errors.
        silence_is_answer: True if a missing answer is valid (no translation); answers to unknown examples then count as
            wrong instead of being ignored.
        rows: unit of a row in an explanation: "example", or "entity" for spans within a sentence.
        label_format: format of XTREME's prediction files (see `predictions.formats`), "" for none.
        gold_format: format of label folders, if different.
        one_file_for_all: True if one JSON file may hold the answers for all languages.
        retrieval: True if the task searches candidates, so that systems may submit vectors.
        ids_tell_gold: True if example ids from a label folder reveal the gold and must be hidden wherever gold
            is hidden.
        shared_pool: True if candidates of all languages compete.
        translatable: columns that a translator may replace.
        moves_with_text: columns that must be projected onto the translated text.
        no_translated_training: reason why training sets cannot be translated, "" if they can.
        no_translated_test: reason why test sets cannot be translated, "" if they can.
        no_translated_gold: reason why answers cannot be scored on translated gold, "" if they can.
        extra_columns: further columns that attributes may use.
        needed: alternative sets of input columns that a table must have; all of `inputs` if empty.
        needs_labels: True if its tasks declare their labels.
        empty_gold: True if an empty cell of the gold column is an answer, such as no label; otherwise it lacks gold.
        category: category of tasks that name none, "" for the kind's name.
        main: main metrics of tasks that name none.
        dialect: metric dialect of tasks that name none.
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
    no_translated_gold: ClassVar[str] = "its gold does not depend on the text: use translate-test"
    extra_columns: ClassVar[tuple[str, ...]] = ()
    needed: ClassVar[tuple[tuple[str, ...], ...]] = ()
    needs_labels: ClassVar[bool] = False
    empty_gold: ClassVar[bool] = False
    category: ClassVar[str] = ""
    main: ClassVar[tuple[str, ...]] = ()
    dialect: ClassVar[str] = ""

    def __init__(self) -> None:
        needed = ("form", "answer_type", "answer_help", "inputs", "gold")
        if missing := [name for name in needed if not hasattr(self, name)]:
            raise TypeError(f"{type(self).__name__} does not declare {', '.join(missing)}")

    @property
    def provides(self) -> tuple[str, ...]:
        """Inputs available to attributes: columns, plus "pool", "shared-pool" and "ranking"."""
        words = {"pool": self.retrieval, "shared-pool": self.shared_pool, "ranking": self.form == "ranking"}
        return (*self.inputs, self.gold, *self.extra_columns, *(word for word, there in words.items() if there))

    def parse_column(self, name: str, cell: Any) -> Any:
        """Return a cell of a table as a value of a column: by default, a text.

        Raises:
            ValueError: another value is expected; the message says which.
        """
        return text_cell(cell)

    def complete_columns(self, language: str, columns: dict[str, Column]) -> dict[str, Column]:
        """Return columns of a table with those that can be computed from them."""
        return columns

    def normalize(self, value: Any) -> Any:
        """Return an answer in canonical form."""
        return value

    def gold_faults(self, examples: Examples) -> Iterator[GoldFault]:
        """Yield gold that contradicts its inputs, for `isogloss task check`."""
        return iter(())

    def errors(self, task: Task, examples: Examples, values: Values) -> Iterator[RowProblem]:
        """Yield every invalid answer."""
        return iter(())

    def warnings(self, task: Task, examples: Examples, values: Values) -> Iterator[RowProblem]:
        """Yield suspicious answers that are still scored."""
        return iter(())

    def doubt(self, examples: Examples, values: Values) -> str:
        """Return why the answers look like those of another file, or ""; only the inputs are used, never the gold."""
        return ""

    def read_replies(
        self, task: Task, language: str, replies: Sequence[Reply], spellings: Mapping[str, Any]
    ) -> list[Reading]:
        """Return the answers that free-text replies give, and how each was read.

        `spellings` has answers by further spellings of the user's, such as `{"yes": "1"}`. Kinds with
        answers that are not written as text read none.
        """
        return [settled(reply, UNREAD) for reply in replies]

    def placeholder(self, examples: Examples) -> str:
        """Return why the gold looks fake, or "". Published test files often hide labels behind a constant."""
        labels = list(examples[self.gold]) if self.form in ("label", "option") else []
        if len(labels) >= 20 and len(set(labels)) == 1:
            return f"every gold label is {labels[0]!r}; the file has placeholders instead of labels"
        return ""

    @abstractmethod
    def judge(self, task: Task, examples: Examples, values: Values) -> Judgement:
        """Return statistics of valid answers against gold; their `units` define the resampling units."""

    def row_id(self, split: str, row: int) -> str | None:
        """Return the id of a dataset row, or None if only the dataset defines it."""
        return f"{split}-{row}"

    def row_ids(self, examples: Examples) -> list[str]:
        """Return the row ids for a prediction file without ids, in file order."""
        return examples.split_ids or examples.ids

    def known_ids(self, ids: list[str], examples: Examples) -> list[str]:
        """Map ids used by other files to the examples' own ids."""
        return ids

    def gold_columns(self, task: Task, ids: list[str], values: list[Any]) -> tuple[list[str], dict[str, Column]]:
        """Return ids and columns of examples known only from a label folder."""
        return ids, {self.gold: values}

    def overlay(self, full: Examples, part: Examples) -> Examples | None:
        """Return the whole split with the gold of a partial set, or None if rows cannot be matched."""
        return None

    def answers_from_vectors(
        self, task: Task, examples: Examples, vectors: Vectors, *, margin: float | None = None
    ) -> Values:
        """Return answers by nearest neighbours, for retrieval kinds.

        `margin` is the threshold for pairs if there is no dev set to tune one on; None raises an error instead.
        """
        raise DataError(f"{task.id} cannot be answered with vectors", fix=f"Each prediction must be {self.answer_help}")

    def main_text(self, examples: Examples) -> Sequence[str]:
        """Return each example's own text: the question, for instance, not a shared context."""
        if "text_b" in examples.columns:
            return [f"{a} {b}" for a, b in zip(examples["text_a"], examples["text_b"], strict=True)]
        return examples.column(next((name for name in self.inputs if name in examples.columns), self.inputs[0]))

    def text_language(self, examples: Examples) -> str:
        """Return the language of the main text."""
        return examples.language
