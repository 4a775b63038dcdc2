"""The formats a prediction file may have: ours (JSON lines with ids) and XTREME's own, each read into answers.

XTREME's line formats have no ids; the caller says how their rows are called.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from isogloss.data import squad
from isogloss.data.files import blocks, lines, read_text
from isogloss.decoding import MARK, decode_python_json, decode_text
from isogloss.errors import DataError, unknown
from isogloss.predictions.problems import Problem
from isogloss.tasks.kinds import Kind

# The id of a row, counted from 0.
RowName = Callable[[int], str]

# The largest cell of the benchmark has half a million answers; beyond this, memory would decide what happens.
MAX_ANSWERS = 5_000_000
# A file with more wrong rows than this is of another format, say: the rest of it would tell no more.
MAX_WRONG = 1_000

T = TypeVar("T")


@dataclass
class Answers:
    """What a file says: ids and answers in file order, the line of each (0: not known), and what is wrong.

    `articles` names what each is about, where the file says it; `confidences` is how sure the system was of each, a
    probability or None, and None as a whole where the file says nothing of it.
    """

    path: Path
    ids: list[str] = field(default_factory=list)
    values: list[Any] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    articles: list[str] | None = None
    confidences: list[float | None] | None = None

    def add(self, identifier: str, value: Any, number: int = 0) -> None:
        """One more answer."""
        self.ids.append(identifier)
        self.values.append(value)
        self.numbers.append(number)
        self._refuse_too_many()

    def extend(self, ids: list[str], values: list[Any], numbers: Iterable[int]) -> None:
        """Many more answers."""
        self.ids += ids
        self.values += values
        self.numbers += numbers
        self._refuse_too_many()

    def _refuse_too_many(self) -> None:
        if len(self.ids) > MAX_ANSWERS:
            raise DataError(f"more than {MAX_ANSWERS:,} answers", where=str(self.path))

    def convert(self, kind: Kind, identifier: str, value: Any) -> None:
        """One more answer, as JSON or a caller gave it; one of the wrong type is a problem."""
        try:
            typed = kind.normalize(msgspec.convert(value, kind.answer_type))
        except msgspec.ValidationError as error:
            self.wrong(0, f"answer to {identifier!r}: {error}", f"Write {kind.answer_help}")
        else:
            self.add(identifier, typed)

    def where(self, row: int) -> str:
        """File and line of an answer."""
        number = self.numbers[row]
        return f"{self.path}:{number}" if number else str(self.path)

    def wrong(self, number: int, what: str, fix: str = "") -> None:
        """Note a problem at a line."""
        self.problems.append(Problem(f"{self.path}:{number}" if number else str(self.path), what, fix))
        if len(self.problems) == MAX_WRONG:
            self.problems.append(Problem(str(self.path), f"… and more: read no further after {MAX_WRONG:,} problems"))

    def worth_reading(self, rows: Iterable[T]) -> Iterator[T]:
        """The rows of the file, until too many are wrong."""
        for row in rows:
            if len(self.problems) > MAX_WRONG:
                return
            yield row


def json_lines(path: Path, kind: Kind) -> Answers:
    """Our own format: `{"id": …, "prediction": …}` a line, with a `confidence` at will; further keys are ignored."""
    return _read_json_lines(blocks(path), path, kind)


def parse_json_lines(raw: bytes, path: Path, kind: Kind) -> Answers:
    """The content of a file of our own format; `path` is what problems name."""
    return _read_json_lines([raw.removeprefix(MARK)], path, kind)


def _read_json_lines(runs: Iterable[bytes], path: Path, kind: Kind) -> Answers:
    """Runs of whole lines, each decoded at once; only one with a blank line or a fault is looked at line by line."""
    fields: list[Any] = [("id", str | int), ("prediction", kind.answer_type | None), ("confidence", Any, None)]
    line_type = msgspec.defstruct("Line", fields, gc=False)
    decoder: msgspec.json.Decoder[Any] = msgspec.json.Decoder(line_type)
    answers = Answers(path)
    confidences: list[Any] = []
    normalize = kind.normalize
    before = 0
    for raw in answers.worth_reading(runs):
        count = raw.count(b"\n") + (not raw.endswith(b"\n"))
        try:
            decoded = decoder.decode_lines(raw)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            decoded = []
        if len(decoded) == count:
            answers.extend(
                [line.id if isinstance(line.id, str) else str(line.id) for line in decoded],
                [None if line.prediction is None else normalize(line.prediction) for line in decoded],
                range(before + 1, before + count + 1),
            )
            confidences += [line.confidence for line in decoded]
        elif not raw.isspace():
            confidences += _one_by_one(raw, before, decoder, kind, answers)
        before += count
    answers.confidences = _probabilities(confidences, answers)
    return answers


def _probabilities(confidences: list[Any], answers: Answers) -> list[float | None] | None:
    """The confidences of a file that gives any; one that is no probability spoils all, and a warning says so."""
    for row, value in enumerate(confidences):
        sound = value is None or (type(value) in (int, float) and 0 <= value <= 1)
        if not sound:
            what, fix = f"confidence {value!r:.40} is no number from 0 to 1", "No confidence of this file is used"
            answers.problems.append(Problem(answers.where(row), what, fix, warning=True))
            return None
    return None if all(value is None for value in confidences) else confidences


def _one_by_one(raw: bytes, before: int, decoder: msgspec.json.Decoder[Any], kind: Kind, answers: Answers) -> list[Any]:
    """The slow path: find each error; the confidences of the others."""
    confidences: list[Any] = []
    for number, line in answers.worth_reading(enumerate(raw.split(b"\n"), before + 1)):
        if not line.strip():
            continue
        try:
            decode_text(line, str(answers.path))
            decoded = decoder.decode(line)
        except msgspec.ValidationError as error:
            fix = f'Write {{"id": …, "prediction": …}} with {kind.answer_help}'
            answers.wrong(number, f"{_answer_of(line)}{error}", fix)
        except DataError as error:
            answers.wrong(number, error.what, "Write the file as UTF-8")
        except (msgspec.DecodeError, RecursionError) as error:
            answers.wrong(number, f"not JSON: {error}", "Write one JSON object a line")
        else:
            value = None if decoded.prediction is None else kind.normalize(decoded.prediction)
            answers.add(str(decoded.id), value, number)
            confidences.append(decoded.confidence)
    return confidences


def _answer_of(line: bytes) -> str:
    """Which answer a line with a wrong type gives, "" where it does not say."""
    try:
        found = msgspec.json.decode(line)
    except (msgspec.DecodeError, RecursionError):
        return ""
    identifier = found.get("id") if isinstance(found, dict) else None
    return f"answer to {identifier!r}: " if isinstance(identifier, str | int) else ""


def labels(path: Path, kind: Kind, name: RowName) -> Answers:
    """One label or index a line, stripped; an index in brackets, as the baseline writes it, is unwrapped."""
    answers = Answers(path)
    for number, line in answers.worth_reading(enumerate(lines(path), 1)):
        text = line.strip()
        if not text:
            answers.wrong(number, "an empty line", "Every line is one answer; remove it")
        answers.add(name(number - 1), kind.normalize(text.removeprefix("[").removesuffix("]")), number)
    return answers


def tags(path: Path, kind: Kind, name: RowName) -> Answers:
    """One tag a line, a blank line after each sentence; two blank lines make an empty sentence, as upstream."""
    answers = Answers(path)
    sentence: list[str] = []
    number = 0
    for number, line in answers.worth_reading(enumerate(lines(path), 1)):
        tag = line.strip()
        if tag:
            if "\t" in tag:
                answers.wrong(number, "more than one column", "Write the tag alone")
            sentence.append(tag)
        else:
            answers.add(name(len(answers.ids)), sentence, number - len(sentence))
            sentence = []
    if sentence:
        answers.add(name(len(answers.ids)), sentence, number - len(sentence) + 1)
    return answers


def choices(path: Path, kind: Kind, name: RowName) -> Answers:
    """One JSON object with `label` a line."""
    answers = Answers(path)
    for number, line in answers.worth_reading(enumerate(lines(path), 1)):
        try:
            value = decode_python_json(line, str(path))["label"]
        except (DataError, KeyError, TypeError):
            answers.wrong(number, "no JSON object with a label", 'Write {"label": 0} or {"label": 1}')
            value = None
        answers.add(name(number - 1), value, number)
    return answers


def by_id(path: Path, kind: Kind, name: RowName) -> Answers:
    """One JSON object: id to answer. An id that stands twice is kept twice, so that it can be reported."""
    answers = Answers(path)
    pairs = decode_python_json(read_text(path), str(path), object_pairs_hook=lambda found: found)
    if not isinstance(pairs, list) or not all(isinstance(pair, tuple) for pair in pairs):
        raise DataError("not one JSON object of ids and answers", where=str(path))
    for identifier, value in answers.worth_reading(pairs):
        answers.convert(kind, identifier, value)
    return answers


def sentence_pairs(path: Path, kind: Kind, name: RowName) -> Answers:
    """`source id<TAB>English id` a line; several lines may name one source. Repeated pairs collapse."""
    answers = Answers(path)
    found: dict[str, dict[str, int]] = {}
    for number, line in answers.worth_reading(enumerate(lines(path), 1)):
        first, tab, second = line.strip().partition("\t")
        if tab:
            found.setdefault(first, {}).setdefault(second, number)
        else:
            answers.wrong(number, "not two ids separated by a tab", "Write `source id<TAB>English id`")
    for first, seconds in found.items():
        answers.add(first, list(seconds), next(iter(seconds.values())))
    return answers


def squad_questions(path: Path, kind: Kind, name: RowName) -> Answers:
    """A SQuAD file: (question, context, answer texts) of each question id."""
    answers = Answers(path)
    articles = squad.read(path)
    answers.articles = squad.article_names(articles)
    for paragraph, question in squad.questions(articles):
        texts = [answer.text for answer in question.answers]
        if not texts:
            raise DataError(f"question {str(question.id)!r} has no answer", where=str(path))
        answers.add(str(question.id), (question.question, paragraph.context, texts))
    return answers


@dataclass(frozen=True)
class FileFormat:
    """A format of XTREME's own files: their suffix, and what reads one."""

    suffix: str
    read: Callable[[Path, Kind, RowName], Answers]


# By the names that kinds give as `label_format` and `gold_format`.
FORMATS = {
    "lines": FileFormat(".tsv", labels),
    "tags": FileFormat(".tsv", tags),
    "choices": FileFormat(".jsonl", choices),
    "by-id": FileFormat(".json", by_id),
    "pairs": FileFormat(".tsv", sentence_pairs),
    "squad": FileFormat(".json", squad_questions),
}


def file_format(name: str) -> FileFormat:
    """The format that a kind names.

    Raises:
        UnknownNameError: there is none of that name.
    """
    if name not in FORMATS:
        raise unknown("file format", name, FORMATS)
    return FORMATS[name]
