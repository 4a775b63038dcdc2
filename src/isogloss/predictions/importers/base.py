"""Input and output of importers, and functions they share."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from isogloss.data.files import read_text
from isogloss.decoding import decode_python_json
from isogloss.errors import PredictionError
from isogloss.predictions.formats import Answers
from isogloss.reply_language import script_of
from isogloss.reply_outcomes import Outcome, ReplyFacts
from isogloss.tasks.examples import Examples
from isogloss.tasks.kinds import Kind, Reply, kind_of
from isogloss.tasks.task import Task


@dataclass(frozen=True, kw_only=True)
class Target:
    """The cell that the answers belong to, and the user's choices."""

    task: Task
    language: str
    split: str
    examples: Examples | None = None  # None without a data folder, so that nothing can be checked
    labels: tuple[str, ...] = ()  # in the order of the tool's class indices
    filter: str = ""  # name of the answer filter to import

    @property
    def kind(self) -> Kind:
        """Kind of the task."""
        return kind_of(self.task)

    @property
    def name(self) -> str:
        """The cell as `task/language split`."""
        return f"{self.task.id}/{self.language} {self.split}"

    def row_id(self, row: int, where: str) -> str:
        """Return the id of a row of the dataset."""
        if self.examples is None:
            name = self.kind.row_id(self.split, row)
            if name is None:
                raise self.needs_data("the file has no question ids", where)
            return name
        if not 0 <= row < len(self.examples):
            what = f"answer for row {row}, but {self.name} has rows 0 to {len(self.examples) - 1}"
            raise PredictionError(what, where=where, fix="Check task, language and split")
        return self.examples.ids[row]

    def needs_data(self, why: str, where: str) -> PredictionError:
        """Return an error for files that cannot be imported without the examples."""
        return PredictionError(f"{why}, so the examples are needed", where=where, fix="Pass their folder with --data")


@dataclass
class ImportedAnswers(Answers):
    """Answers from another tool's files, with notes for the user; `path` is the file being read."""

    paths: list[Path] = field(default_factory=list)  # file of each answer
    evidence: dict[str, dict[str, str]] = field(
        default_factory=dict
    )  # texts quoted from the examples, by column and id
    notes: list[str] = field(default_factory=list)
    texts: list[str | None] = field(default_factory=list)  # replies as written, if answers were read from them

    def add(self, identifier: str, value: Any, number: int = 0) -> None:
        """Add an answer from the file being read."""
        super().add(identifier, value, number)
        self.paths.append(self.path)

    def path_of(self, row: int) -> Path:
        """Return the file of an answer."""
        return self.paths[row]

    def quote(self, column: str, identifier: str, text: object) -> None:
        """Store a text that the file quotes from an example."""
        self.evidence.setdefault(column, {})[identifier] = str(text)


def read_replies(imported: ImportedAnswers, target: Target, spellings: Mapping[str, Any]) -> None:
    """Replace replies in free text by the answers that they give, and note how many give none."""
    written = [row for row, value in enumerate(imported.values) if isinstance(value, str)]
    texts, examples = [imported.values[row] for row in written], target.examples
    rows = {} if examples is None else {identifier: row for row, identifier in enumerate(examples.ids)}
    columns = (
        {} if examples is None else {name: examples[name] for name in target.kind.inputs if name in examples.columns}
    )
    places = [rows.get(imported.ids[row]) for row in written]
    inputs = [{} if at is None else {name: column[at] for name, column in columns.items()} for at in places]
    replies = [Reply(*reply) for reply in zip(texts, inputs, strict=True)]
    readings = target.kind.read_replies(target.task, target.language, replies, spellings)
    answers = [reading.answer for reading in readings]
    imported.texts = [value if isinstance(value, str) else None for value in imported.values]
    # A row without a reply is an empty one.
    imported.replies = [ReplyFacts(outcome=Outcome.EMPTY) for _ in imported.values]
    for row, reading, text in zip(written, readings, texts, strict=True):
        imported.values[row] = reading.answer
        imported.replies[row] = ReplyFacts(outcome=reading.outcome, script=script_of(text))
    within = sum(answer not in (None, text.strip()) for answer, text in zip(answers, texts, strict=True))
    if target.kind.form == "answer" and within:
        imported.notes.append(f"answers taken from longer replies: {within:,}; the tool's scores may differ")
    unread = [row for row, answer in zip(written, answers, strict=True) if answer is None]
    if unread:
        counts = Counter(reading.outcome for reading in readings if reading.answer is None)
        reasons = ", ".join(f"{count:,} {_in_words(outcome, count)}" for outcome, count in counts.most_common())
        what = f"replies without an answer: {len(unread):,} of {len(written):,} ({reasons})"
        imported.notes.append(f"{what}, first at {imported.where(unread[0])}; they count as unanswered")


def _in_words(outcome: Outcome, count: int) -> str:
    words = {Outcome.REFUSAL: "refusal" if count == 1 else "refusals", Outcome.NONE: "none of the options"}
    return words.get(outcome, str(outcome))


def alike(first: str, second: str) -> bool:
    """Return True if two texts have the same letters and digits; tools change spaces, punctuation and case."""
    if first == second:
        return True
    one, other = ("".join(filter(str.isalnum, text.casefold())) for text in (first, second))
    return one == other


def shown(text: str, limit: int = 60) -> str:
    """Shorten a text for a message."""
    return repr(text if len(text) <= limit else text[: limit - 1] + "…")


def read_json(path: Path) -> Any:
    """Read a JSON file; NaN is allowed, because Python tools write it."""
    return decode_python_json(read_text(path), str(path))


def one_file(files: Sequence[Path]) -> Path:
    """Return the only file; for formats that number rows from the beginning of the file."""
    if len(files) > 1:
        what = f"expected one file, because its rows are numbered from the beginning; got {len(files)}"
        raise PredictionError(what, where=str(files[1]), fix="Import one file per language")
    return files[0]
