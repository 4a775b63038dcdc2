"""Problems of predictions as data; messages are generated when they are shown."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

import msgspec

from isogloss.errors import DataError, IsoglossError, PredictionError
from isogloss.notebooks import short_repr

# Checking stops after this many errors in a file or folder: more do not help its author, and a file of a few kilobytes
# can have millions.
MAX_PROBLEMS = 1_000
# Maximum number of problems in an error message.
SHOWN = 12
# Maximum number of ids in a message.
LISTED = 5
# Maximum characters of each part of a message: it may quote a whole file.
LONGEST = 600


class ProblemCode(StrEnum):
    """Kind of a problem."""

    DUPLICATE_ID = "duplicate-id"
    UNANSWERED = "unanswered"
    SUBSET_ANSWERS = "subset-answers"
    NULL_ANSWERS = "null-answers"
    UNKNOWN_IDS = "unknown-ids"
    NOT_DRAWN = "not-drawn"
    INVALID_ANSWER = "invalid-answer"
    UNLIKELY_ANSWERS = "unlikely-answers"
    INVALID_LINE = "invalid-line"
    INVALID_CONFIDENCE = "invalid-confidence"
    INVALID_REPLY = "invalid-reply"
    TOO_MANY_PROBLEMS = "too-many-problems"
    ZERO_VECTORS = "zero-vectors"
    UNREADABLE_FILE = "unreadable-file"
    SEVERAL_FILES = "several-files"
    CHANGED_FILE = "changed-file"
    NOT_CHECKED = "not-checked"
    UNKNOWN_TASK = "unknown-task"
    UNKNOWN_LANGUAGE = "unknown-language"
    FILE_INSTEAD_OF_FOLDER = "file-instead-of-folder"
    NO_PREDICTIONS = "no-predictions"
    INCOMPLETE_RUNS = "incomplete-runs"
    LEFT_OUT = "left-out"
    # Raised by boards only.
    INVALID_FORM = "invalid-form"
    INVALID_METADATA = "invalid-metadata"
    INVALID_ARCHIVE = "invalid-archive"
    NOT_SCORED = "not-scored"
    MORE_PROBLEMS = "more-problems"


# Codes with the cell in their description, so that their location needs no cell.
_NAME_THEIR_CELL = (ProblemCode.UNKNOWN_IDS, ProblemCode.SEVERAL_FILES)
# Codes of single rows, which are grouped by their fix, and what a group of equal ones counts.
_ROWS = {
    ProblemCode.INVALID_ANSWER: "predictions",
    ProblemCode.INVALID_LINE: "lines",
    ProblemCode.DUPLICATE_ID: "",
}


class ProblemText(msgspec.Struct, frozen=True, kw_only=True):
    """A problem in words, as boards store and send it; `code` is empty in records of earlier versions."""

    where: str
    what: str
    fix: str = ""
    warning: bool = False
    code: str = ""

    def __str__(self) -> str:
        where, what, fix = (
            part if len(part) <= LONGEST else f"{part[:LONGEST]}…" for part in (self.where, self.what, self.fix)
        )
        return f"{where}: {what}. {fix}" if fix else f"{where}: {what}"


@dataclass(frozen=True, kw_only=True)
class Problem:
    """One problem of a prediction folder, a submission or an archive; `task` is set if it belongs to a cell."""

    code: ProblemCode
    warning: bool = False  # True if the predictions can still be scored, as the reference scorers do
    task: str = ""
    language: str = ""
    split: str = ""
    ids: tuple[str, ...] = ()  # examples concerned
    count: int = 0  # number of examples or rows concerned
    total: int = 0  # number of all examples or rows
    file: str = ""  # path of the file, or name of the field
    line: int = 0  # line in the file, if any
    detail: str = ""  # description, for codes without a fixed text
    advice: str = ""  # suggested fix, for codes without a fixed one, or addition to it
    merged: int = 1  # number of problems that it stands for

    __repr__ = short_repr

    @classmethod
    def of_error(cls, error: IsoglossError, file: str = "") -> "Problem":
        """Return the problem of a file that cannot be read; `file` is the default location."""
        return cls(code=ProblemCode.UNREADABLE_FILE, file=error.where or file, detail=error.what, advice=error.fix)

    @property
    def where(self) -> str:
        """File, line and cell."""
        location = f"{self.file}:{self.line}" if self.line else self.file
        cell = f"{self.task}/{self.language}" if self.language else ""
        if self.code is ProblemCode.LEFT_OUT:
            prefix = "left out" if self.warning else ""
            return ": ".join(filter(None, (prefix, f"{cell} {self.split}".strip(), location)))
        if self.code in _NAME_THEIR_CELL:
            return location
        if self.code is ProblemCode.INVALID_ANSWER and self.ids:
            cell = f"{cell}/{self.ids[0]}"
        return f"{location} ({cell})" if location and cell else location or cell

    @property
    def what(self) -> str:
        """Description of the problem."""
        return self.text.what

    @property
    def fix(self) -> str:
        """Suggested fix, or ""."""
        return self.text.fix

    @property
    def text(self) -> ProblemText:
        """The problem in words."""
        what, *fixes = _TEXTS.get(self.code, ("{many}{detail}", "{advice}"))
        fix = fixes[-1] if self.warning else fixes[0]
        more = ["…"] if self.count > len(self.ids) else []
        words = {
            "task": self.task,
            "cell": f"{self.task}/{self.language}",
            "split": self.split,
            "count": self.count,
            "total": self.total,
            "detail": self.detail or self.code.value.replace("-", " "),
            "advice": self.advice,
            "are": "is" if self.count == 1 else "are",
            # Boards may hide counts and ids.
            "share": f"{self.count} of {self.total}" if self.count else "some",
            "number": number_of(self.count, "id") if self.count else "some ids",
            "id": f" {self.ids[0]!r}" if self.ids else "",
            "ids": f": {', '.join([*self.ids, *more])}" if self.ids else "",
            "quoted": f": {', '.join([*map(repr, self.ids), *more])}" if self.ids else "",
            "first": f", first at {self.detail}" if self.detail else "",
            "many": f"{self.count:,} {_ROWS[self.code]}: " if self.count > 1 and _ROWS.get(self.code) else "",
        }
        texts = {"where": self.where, "what": what.format_map(words), "fix": fix.format_map(words)}
        return ProblemText(**texts, warning=self.warning, code=self.code.value)

    def __str__(self) -> str:
        return str(self.text)


# Description, fix, and fix of a warning if it differs, by code; other codes are described by `detail` and `advice`.
_TEXTS: Mapping[ProblemCode, tuple[str, ...]] = {
    ProblemCode.DUPLICATE_ID: ("duplicate id{id}{first}", "Answer every example once"),
    ProblemCode.UNANSWERED: (
        "no answer for {share} examples{ids}",
        "Answer every id of isogloss export {task}; use null to skip one{advice}",
        "They count as wrong{advice}",
    ),
    ProblemCode.SUBSET_ANSWERS: (
        "answers to {share} examples, those of the subset {detail}",
        "Pass --subset {detail}{advice}",
    ),
    ProblemCode.NULL_ANSWERS: ("{share} answers {are} null", "They count as wrong"),
    ProblemCode.UNKNOWN_IDS: (
        "{number} {are} not in {cell} {split}{quoted}",
        "Check the language and the split",
        "They are ignored",
    ),
    ProblemCode.NOT_DRAWN: ("{share} answers {are} outside the subset{ids}", "They are ignored"),
    ProblemCode.ZERO_VECTORS: (
        "{count:,} of {total:,} vectors are all zeros, so they are equally near to all candidates",
        "Encode those texts again",
    ),
    ProblemCode.TOO_MANY_PROBLEMS: ("… and more: stopped reading after {count:,} problems", ""),
    ProblemCode.SEVERAL_FILES: ("{cell} has more than one file; not used: {detail}", "Remove the unused files"),
    ProblemCode.CHANGED_FILE: (
        "the answers differ from those the run recorded: the file was truncated or changed",
        "Repeat the cell with isogloss run; to keep the change, remove {detail}",
    ),
    ProblemCode.INVALID_REPLY: ("{detail} ({share} replies)", "These replies count as unknown"),
    ProblemCode.NOT_CHECKED: ("ids and answers not checked: the examples are not available", ""),
    ProblemCode.UNKNOWN_LANGUAGE: ("not a language of {task}", "{advice}"),
    ProblemCode.FILE_INSTEAD_OF_FOLDER: ("is a file, expected the folder of {task}", "Write {task}/<language>.jsonl"),
    ProblemCode.NO_PREDICTIONS: ("no predictions found", "Expected <task>/<language>.jsonl, e.g. xquad/sw.jsonl"),
    ProblemCode.MORE_PROBLEMS: ("and {count} more", "isogloss validate lists all"),
}


class LeftOut(msgspec.Struct, frozen=True, kw_only=True):
    """Answers left out of all scores: those of a cell without usable gold, or of a misnamed file or folder."""

    reason: str
    fix: str = ""
    task: str = ""  # "" for a misnamed file or folder
    language: str = ""
    split: str = ""
    path: str = ""  # gold file, if known, or the misnamed file or folder
    cause: str | msgspec.UnsetType = msgspec.UNSET  # reason without the cell's name, if that differs

    __repr__ = short_repr

    @classmethod
    def of_error(cls, error: DataError, task: str, language: str, split: str) -> "LeftOut":
        """Return the record of a cell that cannot be scored with its gold."""
        cause = error.cause or msgspec.UNSET
        names = {"task": task, "language": language, "split": split, "path": error.where}
        return cls(reason=error.what, fix=error.fix, cause=cause, **names)

    @classmethod
    def misnamed(cls, problem: Problem) -> "LeftOut":
        """Return the record of a misnamed file or folder."""
        return cls(reason=problem.what, fix=problem.fix, path=problem.where)

    def __str__(self) -> str:
        return f"left out: {self.problem}"

    @property
    def problem(self) -> Problem:
        """The entry as a problem, for strict requests."""
        return Problem(
            code=ProblemCode.LEFT_OUT,
            task=self.task,
            language=self.language,
            split=self.split,
            file=self.path,
            detail=self.reason,
            advice=self.fix,
        )


def grouped(problems: Iterable[Problem]) -> list[Problem]:
    """Replace the problems of single rows that share their file and fix by one each, at the first of these rows."""
    groups: dict[object, list[Problem]] = {}
    for each in problems:
        key = (each.code, each.file, each.advice, each.warning) if each.code in _ROWS else len(groups)
        groups.setdefault(key, []).append(each)
    return [_together(group) for group in groups.values()]


def _together(group: Sequence[Problem]) -> Problem:
    first = group[0]
    if len(group) == 1:
        return first
    rows, merged = sum(max(1, problem.count) for problem in group), sum(problem.merged for problem in group)
    if _ROWS[first.code] and all(problem.detail == first.detail for problem in group):
        return replace(first, count=rows, merged=merged)
    return replace(first, count=0, detail=f"{first.detail}; {rows - 1:,} more like it", merged=merged)


def number_of_errors(problems: Iterable[Problem]) -> int:
    """Return the number of problems that prevent scoring, each group with those that it stands for."""
    return sum(problem.merged for problem in problems if not problem.warning)


def first_problems(problems: Iterable[Problem], file: str) -> list[Problem]:
    """Return the problems up to the maximum number of errors; if it is reached, the last one says so."""
    kept: list[Problem] = []
    errors = 0
    for problem in problems:
        kept.append(problem)
        errors += not problem.warning
        if errors == MAX_PROBLEMS:
            return [*kept, stopped(file, errors)]
    return kept


def stopped(file: str, count: int) -> Problem:
    """Return the problem that says that reading a file or folder stopped after a number of errors."""
    return Problem(code=ProblemCode.TOO_MANY_PROBLEMS, file=file, count=count)


def number_of(count: int, noun: str) -> str:
    """Return a count with its noun: `1 file`, `2 files`."""
    return f"{count} {noun}{'' if count == 1 else 's'}"


def refuse(problems: Sequence[Problem]) -> None:
    """Raise one error that lists the problems that prevent scoring, if there are any."""
    # Cells that share a file share its problems.
    errors = list(dict.fromkeys(problem.text for problem in problems if not problem.warning))
    if not errors:
        return
    shown = "\n".join(f"  {problem}" for problem in errors[:SHOWN])
    more = f"\n  … and {len(errors) - SHOWN} more" if len(errors) > SHOWN else ""
    what = f"the predictions cannot be scored: {number_of(len(errors), 'problem')}\n{shown}{more}"
    raise PredictionError(f"{what}\nisogloss validate lists all of them")
