"""What every importer is given and gives back, and the reading that they share."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from isogloss.data.files import read_text
from isogloss.decoding import decode_python_json
from isogloss.errors import PredictionError
from isogloss.predictions.formats import Answers
from isogloss.tasks.examples import Examples
from isogloss.tasks.kinds import Kind, kind_of
from isogloss.tasks.task import Task


@dataclass(frozen=True)
class Target:
    """The cell the answers are for.

    Attributes:
        examples: the examples of the cell; None where no data folder was given, and then nothing can be checked.
        labels: the labels in the order of the tool's class indices, as the user gives it.
        filter: which of several answer filters to take, as the user names it.
    """

    task: Task
    language: str
    split: str
    examples: Examples | None = None
    labels: tuple[str, ...] = ()
    filter: str = ""

    @property
    def kind(self) -> Kind:
        """The kind of the task, which knows the shape of an answer."""
        return kind_of(self.task)

    @property
    def name(self) -> str:
        """The cell in words."""
        return f"{self.task.id}/{self.language} {self.split}"

    def row_id(self, row: int, where: str) -> str:
        """The id of a row of the dataset."""
        if self.examples is None:
            name = self.kind.row_id(self.split, row)
            if name is None:
                raise self.needs_data("the file has no question ids, only an order", where)
            return name
        if not 0 <= row < len(self.examples):
            what = f"an answer for row {row}, but {self.name} has rows 0 to {len(self.examples) - 1}"
            raise PredictionError(what, where=where, fix="Is this the right task, language and split?")
        return self.examples.ids[row]

    def needs_data(self, why: str, where: str) -> PredictionError:
        """An error for what cannot be imported without the examples."""
        return PredictionError(f"{why}, so the examples are needed", where=where, fix="Give their folder with --data")


@dataclass
class ImportedAnswers(Answers):
    """Answers from another tool's files, with what those files say about the examples.

    Attributes:
        paths: the file of each answer; `path` is the one being read.
        evidence: what the files quote of the examples, by column and id; it proves that they are the same examples.
        notes: what the user should know.
    """

    paths: list[Path] = field(default_factory=list)
    evidence: dict[str, dict[str, str]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def add(self, identifier: str, value: Any, number: int = 0) -> None:
        """One more answer, from the file that is being read."""
        super().add(identifier, value, number)
        self.paths.append(self.path)

    def where(self, row: int) -> str:
        """File and line of an answer."""
        number = self.numbers[row]
        return f"{self.paths[row]}:{number}" if number else str(self.paths[row])

    def quote(self, column: str, identifier: str, text: object) -> None:
        """Remember what the file says of an example."""
        self.evidence.setdefault(column, {})[identifier] = str(text)


def alike(first: str, second: str) -> bool:
    """Whether two texts have the same letters and digits: tools change blanks, punctuation and case."""
    return first == second or _letters(first) == _letters(second)


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text.casefold()))


def shown(text: str, limit: int = 60) -> str:
    """A text short enough for a message."""
    return repr(text if len(text) <= limit else text[: limit - 1] + "…")


def read_json(path: Path) -> Any:
    """A whole JSON file; NaN is let through, because Python's tools write it."""
    return decode_python_json(read_text(path), str(path))


def one_file(files: Sequence[Path]) -> Path:
    """The only file, of formats whose rows are counted from the beginning of a file."""
    if len(files) > 1:
        what = f"{len(files)} files, but rows are counted from the beginning of one"
        raise PredictionError(what, where=str(files[1]), fix="Import one file for one language")
    return files[0]
