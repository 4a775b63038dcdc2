"""Formats of prediction files: ours (JSON lines with ids) and XTREME's own, each read into `Answers`.

XTREME's line formats have no ids, so the caller names their rows.
"""

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import KW_ONLY, dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from isogloss.data import squad
from isogloss.data.files import blocks, lines, read_text
from isogloss.decoding import MARK, decode_python_json, decode_text
from isogloss.errors import DataError, unknown
from isogloss.notebooks import short_repr
from isogloss.predictions.problems import MAX_PROBLEMS, Problem, ProblemCode, stopped
from isogloss.reply_outcomes import ReplyFacts
from isogloss.tasks.kinds import Kind

# Returns the id of a row, counted from 0.
RowName = Callable[[int], str]

# The largest cell of the benchmark has half a million answers; more than this could exhaust memory.
MAX_ANSWERS = 5_000_000
# The JSON of a line without facts about a reply.
_NO_FACTS = msgspec.Raw(b"null")
# A longer line is not decoded a second time to describe what is wrong with it.
_DESCRIBED_BYTES = 1 << 16

T = TypeVar("T")


@dataclass
class Answers:
    """The answers of a file, in file order, and its problems."""

    path: Path
    _: KW_ONLY
    ids: list[str] = field(default_factory=list)
    values: list[Any] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)  # line of each answer, 0 if unknown
    problems: list[Problem] = field(default_factory=list)
    articles: list[str] | None = None  # article of each answer, if the file names them
    confidences: list[float | None] | None = None  # probability of each answer or None, if the file has any
    replies: list[ReplyFacts | None] | None = None  # facts about the reply behind each answer, if the file has any

    __repr__ = short_repr

    def add(self, identifier: str, value: Any, number: int = 0) -> None:
        """Add an answer."""
        self.ids.append(identifier)
        self.values.append(value)
        self.numbers.append(number)
        self._refuse_too_many()

    def extend(self, ids: list[str], values: list[Any], numbers: Iterable[int]) -> None:
        """Add many answers."""
        self.ids += ids
        self.values += values
        self.numbers += numbers
        self._refuse_too_many()

    def _refuse_too_many(self) -> None:
        if len(self.ids) > MAX_ANSWERS:
            raise DataError(f"more than {MAX_ANSWERS:,} answers", where=str(self.path))

    def convert(self, kind: Kind, identifier: str, value: Any) -> None:
        """Add an untyped answer, None to abstain; a wrong type becomes a problem.

        NaN stands for missing text in data frames. Where answers are numbers, it is what a broken system predicts.
        """
        missing = value is None or (isinstance(value, float) and math.isnan(value) and kind.answer_type is not float)
        try:
            typed = None if missing else kind.normalize(msgspec.convert(value, kind.answer_type))
        except (msgspec.ValidationError, ValueError) as error:  # the latter: numbers of thousands of digits
            self.wrong(0, f"answer to {identifier!r}: {error}", f"Write {kind.answer_help}")
        else:
            self.add(identifier, typed)

    def path_of(self, row: int) -> Path:
        """Return the file of an answer."""
        return self.path

    def where(self, row: int) -> str:
        """Return `file:line` of an answer."""
        return f"{self.path_of(row)}:{self.numbers[row]}" if self.numbers[row] else str(self.path_of(row))

    def problem(self, code: ProblemCode, row: int, **fields: Any) -> Problem:
        """Return a problem of an answer."""
        return Problem(code=code, file=str(self.path_of(row)), line=self.numbers[row], **fields)

    def wrong(self, number: int, what: str, fix: str = "") -> None:
        """Add a problem at a line."""
        file = str(self.path)
        self.problems.append(Problem(code=ProblemCode.INVALID_LINE, file=file, line=number, detail=what, advice=fix))
        if len(self.problems) == MAX_PROBLEMS:
            self.problems.append(stopped(file, MAX_PROBLEMS))

    def numbered_lines(self) -> Iterator[tuple[int, str]]:
        """Yield the lines of the file with their numbers until too many are invalid."""
        return self.worth_reading(enumerate(lines(self.path), 1))

    def worth_reading(self, rows: Iterable[T]) -> Iterator[T]:
        """Yield the rows of the file until too many are invalid."""
        for row in rows:
            if len(self.problems) > MAX_PROBLEMS:
                return
            yield row


def json_lines(path: Path, kind: Kind) -> Answers:
    """Read our own format: one `{"id": …, "prediction": …}` per line, optionally with `confidence` and `reply`."""
    return _read_json_lines(blocks(path), path, kind)


def parse_json_lines(raw: bytes, path: Path, kind: Kind) -> Answers:
    """Read the content of a file in our own format; `path` is for messages."""
    return _read_json_lines([raw.removeprefix(MARK)], path, kind)


def _read_json_lines(runs: Iterable[bytes], path: Path, kind: Kind) -> Answers:
    """Decode blocks of whole lines; a block with a blank or invalid line is decoded line by line."""
    fields: list[Any] = [("id", str | int), ("prediction", kind.answer_type | None), ("confidence", Any, None)]
    # Facts about replies stay JSON at first: an invalid one must not make the line invalid.
    fields.append(("reply", msgspec.Raw, _NO_FACTS))
    line_type = msgspec.defstruct("Line", fields, gc=False)
    decoder: msgspec.json.Decoder[Any] = msgspec.json.Decoder(line_type)
    answers = Answers(path)
    confidences: list[Any] = []
    replies: list[msgspec.Raw] = []
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
        elif not raw.isspace():
            decoded = _one_by_one(raw, before, decoder, kind, answers)
        else:
            decoded = []
        confidences += [line.confidence for line in decoded]
        replies += [line.reply for line in decoded]
        before += count
    answers.confidences = _probabilities(confidences, answers)
    answers.replies = _reply_facts(replies, answers)
    return answers


def _probabilities(confidences: list[Any], answers: Answers) -> list[float | None] | None:
    """Return the confidences, or None if there are none; an invalid value discards all, with a warning."""
    for row, value in enumerate(confidences):
        if value is not None and not (type(value) in (int, float) and 0 <= value <= 1):
            what = f"expected a confidence from 0 to 1, got {value!r:.40}"
            texts = {"detail": what, "advice": "All confidences of this file are ignored"}
            answers.problems.append(answers.problem(ProblemCode.INVALID_CONFIDENCE, row, warning=True, **texts))
            return None
    return None if all(value is None for value in confidences) else confidences


def _reply_facts(replies: list[msgspec.Raw], answers: Answers) -> list[ReplyFacts | None] | None:
    """Return the facts about replies, or None if there are none; an invalid value counts as none, with a warning."""
    if replies.count(_NO_FACTS) == len(replies):
        return None
    try:
        facts = msgspec.json.decode(b"[" + b",".join(replies) + b"]", type=list[ReplyFacts | None])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        facts = _valid_facts(replies, answers)
    return None if all(fact is None for fact in facts) else facts


def _valid_facts(replies: list[msgspec.Raw], answers: Answers) -> list[ReplyFacts | None]:
    """Decode one reply after the other, None for those that are invalid; the warning describes the first of them."""
    decoder = msgspec.json.Decoder(ReplyFacts | None)
    facts: list[ReplyFacts | None] = []
    invalid: list[tuple[int, str]] = []
    for row, reply in enumerate(replies):
        try:
            facts.append(decoder.decode(reply))
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            facts.append(None)
            invalid.append((row, str(error)))
    for row, what in invalid[:1]:
        about = {"detail": f"invalid reply facts: {what}", "count": len(invalid), "total": len(replies)}
        answers.problems.append(answers.problem(ProblemCode.INVALID_REPLY, row, warning=True, **about))
    return facts


def _one_by_one(raw: bytes, before: int, decoder: msgspec.json.Decoder[Any], kind: Kind, answers: Answers) -> list[Any]:
    """Decode line by line, collect the errors, and return the valid lines."""
    valid: list[Any] = []
    for number, line in answers.worth_reading(enumerate(raw.split(b"\n"), before + 1)):
        if not line.strip():
            continue
        try:
            decode_text(line, str(answers.path))
            decoded = decoder.decode(line)
        except msgspec.ValidationError as error:
            answers.wrong(number, *_mistyped(line, error, kind))
        except DataError as error:
            answers.wrong(number, error.what, "Write the file as UTF-8")
        except (msgspec.DecodeError, RecursionError) as error:
            answers.wrong(number, f"not JSON: {error}", "Write one JSON object per line")
        else:
            value = None if decoded.prediction is None else kind.normalize(decoded.prediction)
            answers.add(str(decoded.id), value, number)
            valid.append(decoded)
    return valid


def _mistyped(line: bytes, error: msgspec.ValidationError, kind: Kind) -> tuple[str, str]:
    """Return what is wrong with a line of another type, and how to fix it: wrong keys, or a wrong type of answer."""
    fix = f'Write {{"id": …, "prediction": …}} with {kind.answer_help}'
    if len(line) > _DESCRIBED_BYTES:
        return str(error), fix
    try:
        decoded = msgspec.json.decode(line)
    except (msgspec.DecodeError, RecursionError):
        return str(error), fix
    if not isinstance(decoded, dict):
        return str(error), fix
    if missing := [key for key in ("id", "prediction") if key not in decoded]:
        keys = ", ".join(f"{key!r:.40}" for key in list(decoded)[:10]) or "none"
        rename = "or name your keys with isogloss import table FILE --id KEY --prediction KEY"
        return f"no key {' or '.join(map(repr, missing))}; found {keys}", f"{fix}, {rename}"
    identifier = decoded["id"]
    return (f"answer to {identifier!r}: {error}" if isinstance(identifier, str | int) else str(error)), fix


def _labels(answers: Answers, kind: Kind, name: RowName) -> None:
    """Read one label or index per line; an index in brackets, as the baseline writes it, is unwrapped."""
    for number, line in answers.numbered_lines():
        text = line.strip()
        if not text:
            answers.wrong(number, "empty line", "Remove it: every line is one answer")
        answers.add(name(number - 1), kind.normalize(text.removeprefix("[").removesuffix("]")), number)


def _tags(answers: Answers, kind: Kind, name: RowName) -> None:
    """Read one tag per line, with a blank line after each sentence; two blank lines make an empty sentence."""
    sentence: list[str] = []
    number = 0
    for number, line in answers.numbered_lines():
        tag = line.strip()
        if tag:
            if "\t" in tag:
                answers.wrong(number, "more than one column", "Write only the tag")
            sentence.append(tag)
        else:
            answers.add(name(len(answers.ids)), sentence, number - len(sentence))
            sentence = []
    if sentence:
        answers.add(name(len(answers.ids)), sentence, number - len(sentence) + 1)


def _choices(answers: Answers, kind: Kind, name: RowName) -> None:
    for number, line in answers.numbered_lines():
        try:
            value = decode_python_json(line, str(answers.path))["label"]
        except (DataError, KeyError, TypeError):
            answers.wrong(number, "expected a JSON object with a label", 'Write {"label": 0} or {"label": 1}')
            value = None
        answers.add(name(number - 1), value, number)


def _by_id(answers: Answers, kind: Kind, name: RowName) -> None:
    """Read one JSON object from id to answer; duplicate ids are kept so that they can be reported."""
    pairs = decode_python_json(read_text(answers.path), str(answers.path), object_pairs_hook=lambda pairs: pairs)
    if not isinstance(pairs, list) or not all(isinstance(pair, tuple) for pair in pairs):
        raise DataError("expected one JSON object from id to answer", where=str(answers.path))
    for identifier, value in answers.worth_reading(pairs):
        answers.convert(kind, identifier, value)


def _references(answers: Answers, kind: Kind, name: RowName) -> None:
    """Read one JSON object from id to a right text or a list of them."""
    pairs = decode_python_json(read_text(answers.path), str(answers.path), object_pairs_hook=lambda pairs: pairs)
    if not isinstance(pairs, list) or not all(isinstance(pair, tuple) for pair in pairs):
        raise DataError("expected one JSON object from id to texts", where=str(answers.path))
    for identifier, value in answers.worth_reading(pairs):
        texts = [value] if isinstance(value, str) else value
        if isinstance(texts, list) and texts and all(isinstance(text, str) for text in texts):
            answers.add(identifier, texts)
        else:
            answers.wrong(0, f"references of {identifier!r}: {value!r:.40}", "Write a text or a list of texts")


def _sentence_pairs(answers: Answers, kind: Kind, name: RowName) -> None:
    """Read `source id<TAB>English id` per line; a source may have several lines, repeated pairs collapse."""
    targets: dict[str, dict[str, int]] = {}
    for number, line in answers.numbered_lines():
        first, tab, second = line.strip().partition("\t")
        if tab:
            targets.setdefault(first, {}).setdefault(second, number)
        else:
            answers.wrong(number, "expected two ids separated by a tab", "Write `source id<TAB>English id`")
    for first, seconds in targets.items():
        answers.add(first, list(seconds), next(iter(seconds.values())))


def _squad_questions(answers: Answers, kind: Kind, name: RowName) -> None:
    """Read a SQuAD file: (question, context, answer texts) by question id."""
    articles = squad.read(answers.path)
    answers.articles = squad.article_names(articles)
    for paragraph, question in squad.questions(articles):
        texts = [answer.text for answer in question.answers]
        if not texts:
            raise DataError(f"question {str(question.id)!r} has no answer", where=str(answers.path))
        answers.add(str(question.id), (question.question, paragraph.context, texts))


@dataclass(frozen=True)
class FileFormat:
    """A format of XTREME's own files: suffix and reader."""

    suffix: str
    add_answers: Callable[[Answers, Kind, RowName], None]

    def read(self, path: Path, kind: Kind, name: RowName) -> Answers:
        """Read a file; `name` returns the ids of rows without one."""
        answers = Answers(path)
        self.add_answers(answers, kind, name)
        return answers


# By the names used in `Kind.label_format` and `Kind.gold_format`.
FORMATS = {
    "lines": FileFormat(".tsv", _labels),
    "tags": FileFormat(".tsv", _tags),
    "choices": FileFormat(".jsonl", _choices),
    "by-id": FileFormat(".json", _by_id),
    "references": FileFormat(".json", _references),
    "pairs": FileFormat(".tsv", _sentence_pairs),
    "squad": FileFormat(".json", _squad_questions),
}


def file_format(name: str) -> FileFormat:
    """Return a format by name."""
    if name not in FORMATS:
        raise unknown("file format", name, FORMATS)
    return FORMATS[name]
