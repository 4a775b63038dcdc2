"""The answers of a cell beside its gold, checked in one way for all verbs that read predictions.

That gold cannot be used here is no fault of the answers: the cell is left out. What is wrong with the answers is a
problem, whether there is gold or not.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from isogloss.data.files import sha256_of, unpacked_name
from isogloss.decoding import decode_json
from isogloss.errors import DataError, IsoglossError
from isogloss.predictions.align import align, aligned_confidences, first_rows
from isogloss.predictions.folder import CELL_RECORDS, PredictionFile
from isogloss.predictions.formats import Answers, json_lines
from isogloss.predictions.gold import GoldSource
from isogloss.predictions.memory import PredictionSource
from isogloss.predictions.problems import LeftOut, Problem
from isogloss.tasks.examples import Examples
from isogloss.tasks.kinds import Values, kind_of
from isogloss.tasks.task import Task


@dataclass
class CheckedAnswers:
    """The answers of one cell.

    Attributes:
        split: whose answers they are.
        count: how many there are.
        examples: what they answer, with gold; None where the cell is left out.
        values: an answer for each example, None where there is none.
        problems: what is wrong with them.
        left_out: why they cannot be scored here, whatever they are.
        confidences: how sure the system was of each answer, where it says so.
    """

    split: str
    count: int = 0
    examples: Examples | None = None
    values: Values = ()
    problems: list[Problem] = field(default_factory=list)
    left_out: LeftOut | None = None
    confidences: list[float | None] | None = None


def check_answers(
    source: PredictionSource, task: Task, language: str, files: Mapping[str, PredictionFile], gold: GoldSource
) -> CheckedAnswers:
    """The answers to the first split that has gold, of those that a system answered.

    Args:
        source: has the answers.
        task: the task of the cell.
        language: its language.
        files: where the answers are, by split; one at least.
        gold: where the gold is.
    """
    for split, file in files.items():
        try:
            examples = gold.examples(task, language, split)
        except DataError as error:
            left_out = _left_out(task, language, split, error)
        else:
            return _against_gold(source, task, file, examples)
    return _against_inputs(source, task, file, gold, left_out)


def _left_out(task: Task, language: str, split: str, error: IsoglossError) -> LeftOut:
    return LeftOut(error.what, error.fix, task.id, language, split, error.where)


def _against_gold(source: PredictionSource, task: Task, file: PredictionFile, examples: Examples) -> CheckedAnswers:
    checked = CheckedAnswers(examples.split)
    try:
        answers = source.read(task, file, examples)
    except IsoglossError as error:
        # To rank by vectors takes a pool, and in mining a threshold: data that may be missing here too.
        of_data = isinstance(error, DataError) and file.layout == "embeddings"
        if of_data and not error.where.startswith(str(source.root)):
            checked.left_out = _left_out(task, examples.language, examples.split, error)
        else:
            checked.problems = [_problem(error, file)]
        return checked
    checked.examples, checked.count = examples, len(answers.ids)
    checked.values, problems = align(task, examples, answers)
    checked.confidences = aligned_confidences(examples, answers)
    checked.problems = [*_passed_over(task, examples.language, file), *_damage(source, task, file), *problems]
    return checked


def _against_inputs(
    source: PredictionSource, task: Task, file: PredictionFile, gold: GoldSource, left_out: LeftOut
) -> CheckedAnswers:
    """What can be said of answers without gold."""
    checked = CheckedAnswers(left_out.split, left_out=left_out)
    try:
        examples = gold.inputs(task, left_out.language, left_out.split)
    except DataError:
        answers, problems = _form_only(task, file)
    else:
        try:
            answers = source.read(task, file, examples)
        except IsoglossError as error:
            answers, problems = Answers(file.path), [_problem(error, file)]
        else:
            _, problems = align(task, examples, answers)
    checked.count = len(answers.ids)
    checked.problems = [*_passed_over(task, left_out.language, file), *_damage(source, task, file), *problems]
    return checked


def _form_only(task: Task, file: PredictionFile) -> tuple[Answers, list[Problem]]:
    """Without the examples only the form of a file with ids can be checked, and its ids against each other."""
    note = Problem(str(file.path), "ids and answers not checked against the examples, which are not here", warning=True)
    if file.layout != "jsonl":
        return Answers(file.path), [note]
    try:
        answers = json_lines(file.path, kind_of(task))
    except DataError as error:
        return Answers(file.path), [_problem(error, file)]
    _, twice = first_rows(answers)
    return answers, [*answers.problems, *twice, note]


def _problem(error: IsoglossError, file: PredictionFile) -> Problem:
    return Problem(error.where or str(file.path), error.what, error.fix)


def _passed_over(task: Task, language: str, file: PredictionFile) -> list[Problem]:
    """That a cell has two files, of which one alone is read."""
    if not file.passed_over:
        return []
    others = ", ".join(path.name if path.parent == file.path.parent else str(path) for path in file.passed_over)
    what = f"{task.id}/{language} has more than one file: {file.path.name} is taken, {others} not"
    return [Problem(str(file.path), what, "Remove what is not meant", warning=True)]


class _RecordedChecksums(msgspec.Struct):
    predictions: str = ""


class _RunRecord(msgspec.Struct):
    """What the record of a run's cell says about its answers; all else in it is not asked for here."""

    checksums: _RecordedChecksums | None = None


def _damage(source: PredictionSource, task: Task, file: PredictionFile) -> list[Problem]:
    """That the answers in the folder of a run are not those that the run recorded."""
    if file.layout != "jsonl":
        return []
    path = source.root / CELL_RECORDS / task.id / Path(unpacked_name(file.path)).with_suffix(".json")
    try:
        record: _RunRecord = decode_json(path.read_bytes(), str(path), _RunRecord)
    except (OSError, DataError):
        return []
    recorded = record.checksums.predictions if record.checksums else ""
    if not recorded or recorded == sha256_of(file.path):
        return []
    fix = f"Fill the cell again with isogloss run; if the change is meant, remove {path}"
    return [Problem(str(file.path), "these are not the answers that the run recorded: they were cut or changed", fix)]
