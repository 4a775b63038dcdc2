"""Match answers to the examples of a cell by id, never by position, and check them against its gold.

A cell without usable gold is left out. Faulty answers are a problem, with or without gold.
"""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TypeVar

import msgspec

from isogloss.data.files import sha256_of, unpacked_name
from isogloss.decoding import decode_json
from isogloss.errors import DataError, IsoglossError
from isogloss.notebooks import short_repr
from isogloss.predictions.folder import CELL_RECORDS, PredictionFile, PredictionFolder
from isogloss.predictions.formats import Answers, json_lines
from isogloss.predictions.gold import GoldSource
from isogloss.predictions.memory import PredictionSource
from isogloss.predictions.nearby_subset import nearby_subset
from isogloss.predictions.problems import (
    LISTED,
    MAX_PROBLEMS,
    LeftOut,
    Problem,
    ProblemCode,
    first_problems,
    grouped,
    stopped,
)
from isogloss.reply_outcomes import ReplyFacts
from isogloss.tasks.examples import REST, Examples
from isogloss.tasks.kinds import RowProblem, Values, kind_of
from isogloss.tasks.task import Task

T = TypeVar("T")

_SUBSET_HINT = ". If only a subset was to be answered, pass its file with --subset"


@dataclass(kw_only=True)
class CheckedAnswers:
    """The answers of one cell, with their problems and, if the cell cannot be scored here, the reason."""

    split: str
    count: int = 0  # answers in the file
    examples: Examples | None = None  # with gold; None if the cell is left out
    values: Values = ()  # one answer per example, None where it is missing
    problems: list[Problem] = field(default_factory=list)
    left_out: LeftOut | None = None
    confidences: list[float | None] | None = None  # of each answer, if the file has them
    replies: list[ReplyFacts | None] | None = None  # of each answer, if the file has them

    __repr__ = short_repr

    @property
    def can_be_judged(self) -> bool:
        """True if there is gold and no problem prevents scoring."""
        return self.examples is not None and all(problem.warning for problem in self.problems)


def align(task: Task, examples: Examples, answers: Answers) -> tuple[Values, list[Problem]]:
    """Return one answer per example in their order, None where it is missing; and all problems of the answers."""
    kind = kind_of(task)
    if REST in examples.ids:
        answers = _merge_unnamed(examples, answers)
    first_row, duplicates = _first_rows(answers)
    problems = grouped([*answers.problems, *duplicates])
    rows = [first_row.get(identifier, -1) for identifier in examples.ids]
    values = [answers.values[row] if row >= 0 else None for row in rows]
    cell = {"task": task.id, "language": examples.language}
    of_file = partial(Problem, total=len(examples), file=str(answers.path), task=task.id, language=examples.language)
    missing = [identifier for identifier, row in zip(examples.ids, rows, strict=True) if row < 0]
    unread = {problem.code for problem in answers.problems if not problem.warning}
    # The lines that could not be read explain the missing answers.
    explained = ProblemCode.TOO_MANY_PROBLEMS in unread or (unread and not answers.ids)
    # In mining most sentences have no translation, so a source may be left out, but not every source.
    if missing and not explained and not (kind.silence_is_answer and answers.ids):
        warning, ids = kind.lenient and len(missing) < len(examples), tuple(missing[:LISTED])
        # A subset of the answers is a likelier reason than a system that skips most examples.
        advice = _SUBSET_HINT if 2 * len(missing) > len(examples) > len(missing) and not examples.drawn else ""
        problem = of_file(code=ProblemCode.UNANSWERED, ids=ids, count=len(missing), advice=advice, warning=warning)
        problems.append(problem)
    known_ids = set(examples.split_ids or examples.ids)
    if extra := [identifier for identifier in first_row if identifier not in known_ids]:
        # If no id matches, the file belongs to another language or split, and a score of 0 would mislead.
        # In mining an unknown source makes a wrong pair, which must count.
        warning = kind.lenient and len(extra) < len(first_row) and not kind.silence_is_answer
        about = {**cell, "split": examples.split, "ids": tuple(extra[:LISTED]), "count": len(extra)}
        row, total = first_row[extra[0]], len(first_row)
        problems.append(answers.problem(ProblemCode.UNKNOWN_IDS, row, **about, total=total, warning=warning))
    if examples.drawn:
        own = set(examples.ids)
        if others := [name for name in first_row if name in known_ids and name not in own]:
            ids, count, total = tuple(others[:LISTED]), len(others), len(first_row)
            problems.append(of_file(code=ProblemCode.NOT_DRAWN, ids=ids, count=count, total=total, warning=True))
    if all(problem.warning for problem in answers.problems):
        for check, warning in ((kind.errors, False), (kind.warnings, True)):
            described, complete = _described(check(task, examples, values))
            invalid: list[Problem] = []
            for (what, fix), (index, count) in described.items():
                about = {"ids": (examples.ids[index],), "count": count if count > 1 else 0, "warning": warning}
                texts = {"detail": what, "advice": fix}
                invalid.append(answers.problem(ProblemCode.INVALID_ANSWER, rows[index], **cell, **about, **texts))
            problems += grouped(invalid)
            if not complete:
                problems.append(stopped(str(answers.path), len(described)))
        if doubt := kind.doubt(examples, values):
            advice = "Check that the file is named after the language of its answers"
            problems.append(of_file(code=ProblemCode.UNLIKELY_ANSWERS, detail=doubt, advice=advice, warning=True))
    null = sum(row >= 0 and answers.values[row] is None for row in rows)
    if null:
        problems.append(of_file(code=ProblemCode.NULL_ANSWERS, count=null, warning=True))
    return values, problems


def _described(row_problems: Iterable[RowProblem]) -> tuple[dict[tuple[str, str], tuple[int, int]], bool]:
    """Return the first row and the number of rows of every description and fix; False if there are too many."""
    described: dict[tuple[str, str], tuple[int, int]] = {}
    for row, what, fix in row_problems:
        first, count = described.get((what, fix), (row, 0))
        if not count and len(described) == MAX_PROBLEMS:
            return described, False
        described[what, fix] = first, count + 1
    return described, True


def _merge_unnamed(examples: Examples, answers: Answers) -> Answers:
    """Merge the pairs of all sources that gold does not name into one answer to `REST`."""
    named = set(examples.ids)
    merged = Answers(answers.path, problems=answers.problems)
    unnamed: list[str] = []
    for identifier, value, number in zip(answers.ids, answers.values, answers.numbers, strict=True):
        if identifier in named:
            merged.add(identifier, value, number)
        else:
            unnamed += [f"{identifier} {item}" for item in value or ()]
    if unnamed:
        merged.add(REST, unnamed)
    return merged


def _first_rows(answers: Answers) -> tuple[dict[str, int], list[Problem]]:
    """Return the first row of every id, and a problem for each repetition."""
    rows: dict[str, int] = {}
    for row, identifier in enumerate(answers.ids):
        rows.setdefault(identifier, row)
    duplicates = (
        answers.problem(ProblemCode.DUPLICATE_ID, row, ids=(identifier,), detail=answers.where(rows[identifier]))
        for row, identifier in enumerate(answers.ids)
        if rows[identifier] != row
    )
    return rows, first_problems(duplicates, str(answers.path)) if len(rows) < len(answers.ids) else []


def by_example(column: list[T | None] | None, answers: Answers, examples: Examples) -> list[T | None] | None:
    """Return a column of a prediction file in the order of the examples, None where an example has no value."""
    if column is None:
        return None
    rows, _ = _first_rows(answers)
    return [column[rows[name]] if name in rows else None for name in examples.ids]


def check_answers(
    source: PredictionSource, task: Task, language: str, files: Mapping[str, PredictionFile], gold: GoldSource
) -> CheckedAnswers:
    """Check the answers to the first answered split that has gold; `files` has at least one file, by split."""
    for split, file in files.items():
        try:
            examples = gold.examples(task, language, split)
        except DataError as error:
            left_out = LeftOut.of_error(error, task.id, language, split)
        else:
            return _against_gold(source, task, file, examples, gold)
    return _against_inputs(source, task, file, gold, left_out)


def _aligned(
    source: PredictionSource, task: Task, examples: Examples, answers: Answers, gold: GoldSource
) -> tuple[Values, list[Problem]]:
    """Align the answers of a cell; those to an exported subset that was not passed are one problem."""
    values, problems = align(task, examples, answers)
    unanswered = [problem for problem in problems if problem.code is ProblemCode.UNANSWERED]
    if not unanswered or examples.drawn or not gold.seek_subset or not isinstance(source, PredictionFolder):
        return values, problems
    answered = set(answers.ids).intersection(examples.ids)
    path = nearby_subset(source.root, task, examples, answered)
    if path is None:
        return values, problems
    first, detail = unanswered[0], str(path)
    advice = "; to count the other examples as wrong, move that file away" if first.warning else ""
    about = replace(first, count=len(answered), ids=(), detail=detail, advice=advice, warning=False)
    subset = replace(about, code=ProblemCode.SUBSET_ANSWERS)
    return values, [subset if problem in unanswered else problem for problem in problems]


def _against_gold(
    source: PredictionSource, task: Task, file: PredictionFile, examples: Examples, gold: GoldSource
) -> CheckedAnswers:
    checked = CheckedAnswers(split=examples.split)
    try:
        answers = source.read(task, file, examples)
    except IsoglossError as error:
        # Ranking vectors needs a pool, and mining a tuned threshold: data that may be missing here. A fault of the
        # vector files is a PredictionError.
        if isinstance(error, DataError) and file.layout == "embeddings":
            checked.left_out = LeftOut.of_error(error, task.id, examples.language, examples.split)
        else:
            checked.problems = [Problem.of_error(error, str(file.path))]
        return checked
    checked.examples, checked.count = examples, len(answers.ids)
    checked.values, problems = _aligned(source, task, examples, answers, gold)
    checked.confidences = by_example(answers.confidences, answers, examples)
    checked.replies = by_example(answers.replies, answers, examples)
    checked.problems = [*_file_problems(source, task, examples.language, file), *problems]
    return checked


def _against_inputs(
    source: PredictionSource, task: Task, file: PredictionFile, gold: GoldSource, left_out: LeftOut
) -> CheckedAnswers:
    checked = CheckedAnswers(split=left_out.split, left_out=left_out)
    try:
        examples = gold.inputs(task, left_out.language, left_out.split)
    except DataError:
        answers, problems = _form_only(task, file)
    else:
        try:
            answers = source.read(task, file, examples)
        except IsoglossError as error:
            answers, problems = Answers(file.path), [Problem.of_error(error, str(file.path))]
        else:
            _, problems = _aligned(source, task, examples, answers, gold)
    checked.count = len(answers.ids)
    checked.problems = [*_file_problems(source, task, left_out.language, file), *problems]
    return checked


def _form_only(task: Task, file: PredictionFile) -> tuple[Answers, list[Problem]]:
    """Check only the format and duplicate ids, because the examples are not available."""
    note = Problem(code=ProblemCode.NOT_CHECKED, file=str(file.path), warning=True)
    if file.layout != "jsonl":
        return Answers(file.path), [note]
    try:
        answers = json_lines(file.path, kind_of(task))
    except DataError as error:
        return Answers(file.path), [Problem.of_error(error, str(file.path))]
    _, duplicates = _first_rows(answers)
    return answers, [*grouped([*answers.problems, *duplicates]), note]


class _RecordedChecksums(msgspec.Struct):
    predictions: str = ""


class _RunRecord(msgspec.Struct):
    """The part of a cell's run record that describes its answers."""

    checksums: _RecordedChecksums = msgspec.field(default_factory=_RecordedChecksums)


def _file_problems(source: PredictionSource, task: Task, language: str, file: PredictionFile) -> list[Problem]:
    """Warn about further files of a cell, which are ignored, and report answers that differ from the run's record."""
    problems: list[Problem] = []
    path = str(file.path)
    if file.passed_over:
        others = ", ".join(other.name if other.parent == file.path.parent else str(other) for other in file.passed_over)
        code = ProblemCode.SEVERAL_FILES
        problems.append(Problem(code=code, task=task.id, language=language, file=path, detail=others, warning=True))
    if file.layout == "jsonl":
        record_path = source.root / CELL_RECORDS / task.id / Path(unpacked_name(file.path)).with_suffix(".json")
        with suppress(OSError, DataError):
            record: _RunRecord = decode_json(record_path.read_bytes(), str(record_path), _RunRecord)
            if record.checksums.predictions not in ("", sha256_of(file.path)):
                problems.append(Problem(code=ProblemCode.CHANGED_FILE, file=path, detail=str(record_path)))
    return problems
