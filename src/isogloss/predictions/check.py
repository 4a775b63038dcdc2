"""Check the answers of a cell against its gold, in the same way for all commands that read predictions.

A cell without usable gold is left out. Faulty answers are a problem, with or without gold.
"""

from collections.abc import Mapping
from contextlib import suppress
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
from isogloss.predictions.problems import LeftOut, Problem, ProblemCode
from isogloss.tasks.examples import Examples
from isogloss.tasks.kinds import Values, kind_of
from isogloss.tasks.task import Task


@dataclass(kw_only=True)
class CheckedAnswers:
    """The answers of one cell.

    Attributes:
        split: split of the answers.
        count: number of answers in the file.
        examples: examples with gold; None if the cell is left out.
        values: one answer per example, None where it is missing.
        problems: problems of the answers.
        left_out: reason why the cell cannot be scored here.
        confidences: confidence of each answer, if the file has them.
    """

    split: str
    count: int = 0
    examples: Examples | None = None
    values: Values = ()
    problems: list[Problem] = field(default_factory=list)
    left_out: LeftOut | None = None
    confidences: list[float | None] | None = None

    @property
    def can_be_judged(self) -> bool:
        """True if there is gold and no problem prevents scoring."""
        return self.examples is not None and all(problem.warning for problem in self.problems)


def check_answers(
    source: PredictionSource, task: Task, language: str, files: Mapping[str, PredictionFile], gold: GoldSource
) -> CheckedAnswers:
    """Check the answers to the first answered split that has gold.

    Args:
        source: predictions of a system.
        task: task of the cell.
        language: language of the cell.
        files: files with answers by split, at least one.
        gold: source of the gold.
    """
    for split, file in files.items():
        try:
            examples = gold.examples(task, language, split)
        except DataError as error:
            left_out = LeftOut.of_error(error, task.id, language, split)
        else:
            return _against_gold(source, task, file, examples)
    return _against_inputs(source, task, file, gold, left_out)


def _against_gold(source: PredictionSource, task: Task, file: PredictionFile, examples: Examples) -> CheckedAnswers:
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
    checked.values, problems = align(task, examples, answers)
    checked.confidences = aligned_confidences(examples, answers)
    checked.problems = [*_file_problems(source, task, examples.language, file), *problems]
    return checked


def _against_inputs(
    source: PredictionSource, task: Task, file: PredictionFile, gold: GoldSource, left_out: LeftOut
) -> CheckedAnswers:
    """Check answers without gold against the inputs."""
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
            _, problems = align(task, examples, answers)
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
    _, duplicates = first_rows(answers)
    return answers, [*answers.problems, *duplicates, note]


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
