"""Filling one cell: predict, judge in memory, write answers and statistics, and last of all the record."""

import platform
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path

from isogloss.data.files import atomic_write, remove_file
from isogloss.predictions.formats import parse_json_lines
from isogloss.predictions.problems import refuse
from isogloss.predictions.write import encode_predictions
from isogloss.runs.fit import CellOutcome, FitJob, FitResult, predict
from isogloss.runs.plan import CellKey, Plan
from isogloss.runs.records import AnswerChecksums, CellRecord, Provenance, checksum, write_record
from isogloss.scoring.cells import Cell, judge_answers
from isogloss.scoring.score import score_cell
from isogloss.scoring.stored import can_store, write_cell
from isogloss.systems.base import System
from isogloss.tasks.examples import Examples
from isogloss.tasks.kinds import kind_of
from isogloss.tasks.loading import load
from isogloss.tasks.task import Task


@dataclass(frozen=True)
class _AnsweredCell:
    """The answers of a cell as they are stored, and as they were judged, None where there is no gold."""

    content: bytes
    judged: Cell | None


def fill_cell(plan: Plan, cell: CellKey, fit_result: FitResult) -> CellRecord:
    """Fill a cell whose lock is held: the answers first, the record last.

    Raises:
        IsoglossError: a file cannot be written; nothing of the cell is left then.
    """
    _reset_peak_memory()
    began, start = datetime.now(UTC), time.perf_counter()
    if fit_result.system is None:
        outcome, answered = fit_result.cell_outcome(cell.language), None
    else:
        outcome, answered = _predict_and_judge(plan, cell, fit_result, fit_result.system)
    with writing_cell(plan, cell):
        checksums = _write_answers(plan, cell, answered)
        provenance = Provenance(
            fit_result.config,
            began.isoformat(timespec="milliseconds"),
            data=outcome.files,
            training=fit_result.outcome.files,
            fit_seconds=round(fit_result.seconds, 4),
            seconds=round(time.perf_counter() - start, 4),
            peak_memory_mb=_peak_memory_mb(),
            node=platform.node(),
        )
        return write_outcome(plan, cell, outcome, provenance, checksums)


@contextmanager
def writing_cell(plan: Plan, cell: CellKey) -> Iterator[None]:
    """A context in which the files of a cell whose lock is held are written: all of them, or none is left."""
    for path in plan.cell_paths(cell):
        # Of a killed process: nobody else writes this cell while we have its lock.
        for leftover in path.parent.glob(f".{path.name}.*.part"):
            remove_file(leftover)
    try:
        yield
    except BaseException:  # a full disk, or Ctrl-C
        remove_cell(plan, cell)
        raise


def remove_cell(plan: Plan, cell: CellKey) -> None:
    """Remove the files of a cell whose lock is held, the record first: without it there is no cell."""
    for path in reversed(plan.cell_paths(cell)):
        remove_file(path)


def write_outcome(
    plan: Plan,
    cell: CellKey,
    outcome: CellOutcome,
    provenance: Provenance,
    checksums: AnswerChecksums | None = None,
) -> CellRecord:
    """Record how a cell ended."""
    record = CellRecord(
        plan.system,
        plan.regime.name,
        cell.seed,
        cell.task,
        cell.language,
        plan.request.split,
        outcome.status,
        provenance,
        outcome.score,
        outcome.reason,
        outcome.traceback,
        checksums,
    )
    write_record(plan.record_path(cell), record)
    return record


def _predict_and_judge(
    plan: Plan, cell: CellKey, fit_result: FitResult, system: System
) -> tuple[CellOutcome, _AnsweredCell | None]:
    """Predict and judge a cell; whatever goes wrong must not stop the other cells."""
    job, path = fit_result.job, plan.predictions_path(cell)
    try:
        cell_input = fit_result.inputs.pop(cell.language, None) or job.read(cell.language, plan.request.split)
        values = predict(system, job.task, cell_input.examples)
        content = encode_predictions(path, cell_input.examples.ids, values)
        reason = _no_gold(job.task, cell_input.examples)
        judged = None if reason else _judge(job, _with_gold(job, cell_input.examples), content, path)
        score = None if judged is None else score_cell(judged)
    except Exception as error:
        return CellOutcome.of_error(error), None
    return CellOutcome(reason=reason, files=cell_input.files, score=score), _AnsweredCell(content, judged)


def _write_answers(plan: Plan, cell: CellKey, answered: _AnsweredCell | None) -> AnswerChecksums | None:
    """Write answers and statistics; what is not there must not be on disk, where it would be taken for this cell's."""
    predictions, statistics = plan.predictions_path(cell), plan.statistics_path(cell)
    if answered is None:
        remove_file(predictions)
        remove_file(statistics)
        return None
    with atomic_write(predictions) as stream:
        stream.buffer.write(answered.content)
    return AnswerChecksums(sha256(answered.content).hexdigest(), write_statistics(statistics, answered.judged))


def write_statistics(path: Path, judged: Cell | None) -> str:
    """Keep the statistics of a cell beside its record; gives their checksum, "" where there are none to keep."""
    if judged is None or not can_store(judged):
        remove_file(path)
        return ""
    write_cell(path, judged)
    return checksum(path)


def _no_gold(task: Task, examples: Examples) -> str:
    """Why a cell cannot be scored, "" where it can."""
    if not examples.has_gold:
        return f"not scored: the {examples.split} file has no gold answers"
    placeholder = kind_of(task).placeholder(examples)
    return f"not scored: {placeholder}" if placeholder else ""


def _with_gold(job: FitJob, examples: Examples) -> Examples:
    """What answers are judged against: the examples themselves, or the originals of translated ones."""
    if job.regime.asks_translated and examples.language != "en":
        return load(job.task, examples.language, examples.split, job.data)
    return examples


def _judge(job: FitJob, examples: Examples, content: bytes, path: Path) -> Cell | None:
    """Judge the content of a prediction file, just as it would be judged from the file.

    Raises:
        PredictionError: the answers cannot be scored.
    """
    answered, problems = judge_answers(job.task, examples, parse_json_lines(content, path, kind_of(job.task)))
    refuse(problems)
    return None if answered is None else answered.cell


def _reset_peak_memory() -> None:
    """Forget earlier peaks, where the system can (Linux); elsewhere the peak is that of the process so far."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")


def _peak_memory_mb() -> float:
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(peak / (1 << 20 if sys.platform == "darwin" else 1 << 10), 1)
