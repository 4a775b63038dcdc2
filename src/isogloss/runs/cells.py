"""Filling one cell: predict, score in memory, write predictions and statistics, then the record."""

import platform
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path

import msgspec
from msgspec import structs

from isogloss.data.files import atomic_write, read_bytes, remove_file
from isogloss.errors import IsoglossError, PredictionError
from isogloss.predictions.formats import parse_json_lines
from isogloss.predictions.problems import refuse
from isogloss.predictions.write import encode_predictions
from isogloss.runs.drawn_cells import draw_cell, drawn_cells, drawn_examples
from isogloss.runs.fit import CellOutcome, FitResult, predict
from isogloss.runs.locks import Lock
from isogloss.runs.plan import CellKey, Plan
from isogloss.runs.records import AnswerChecksums, CellRecord, Provenance, checksum
from isogloss.scoring.cells import Cell, judge_answers
from isogloss.scoring.score import score_cell
from isogloss.scoring.stored import can_store, write_cell
from isogloss.scoring.subset import whole_cell
from isogloss.systems.base import System, replies_of
from isogloss.tasks.kinds import kind_of
from isogloss.tasks.loading import load, unusable_gold
from isogloss.tasks.registry import task
from isogloss.translation.back_projection import project_back


def fill_cell(plan: Plan, cell: CellKey, fit_result: FitResult, lock: Lock) -> CellRecord:
    """Fill a cell, predictions first and record last; after an error, no file of it remains.

    Raises:
        LockLostError: another process has taken over the cell in the meantime.
    """
    import resource  # Unix only

    with suppress(OSError):  # resets the peak memory on Linux; elsewhere it covers the whole process
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    began, start = datetime.now(UTC), time.perf_counter()
    content, judged = None, None
    if fit_result.system is None:
        outcome = fit_result.cell_outcomes.get(cell.language, fit_result.outcome)
    else:
        try:
            outcome, content, judged = _predict_and_judge(plan, cell, fit_result, fit_result.system)
        except Exception as error:  # must not stop the other cells
            outcome = CellOutcome.of_error(error)
    with writing_cell(plan, cell, lock):
        checksums = None
        if content is None:
            # Old files must not pass for this cell's.
            remove_file(plan.predictions_path(cell))
            remove_file(plan.statistics_path(cell))
        else:
            with atomic_write(plan.predictions_path(cell)) as stream:
                stream.buffer.write(content)
            statistics = write_statistics(plan.statistics_path(cell), judged)
            checksums = AnswerChecksums(sha256(content).hexdigest(), statistics)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1 << 20 if sys.platform == "darwin" else 1 << 10)
        provenance = Provenance(
            config=fit_result.config,
            started=began.isoformat(timespec="milliseconds"),
            data=outcome.files,
            training=fit_result.outcome.files,
            fit_seconds=round(fit_result.seconds, 4),
            seconds=round(time.perf_counter() - start, 4),
            peak_memory_mb=round(peak, 1),
            node=platform.node(),
            subset=plan.subset,
        )
        return write_outcome(plan, cell, outcome, provenance, checksums)


class LockLostError(IsoglossError):
    """The lock of a cell was taken away while the cell was being filled."""


@contextmanager
def writing_cell(plan: Plan, cell: CellKey, lock: Lock) -> Iterator[None]:
    """Context for writing the files of a cell under its lock; after an error, none of them remains.

    A worker may outlive its cluster. Once its lock is gone, the files belong to another process.
    """
    if not lock.is_held:
        raise LockLostError(f"another process has taken over {cell}")
    for path in plan.cell_paths(cell):
        # Left by a killed process: only the lock's owner writes this cell.
        for leftover in path.parent.glob(f".{path.name}.*.part"):
            remove_file(leftover)
    try:
        yield
    except BaseException:  # such as a full disk or Ctrl-C
        if lock.is_held:
            remove_cell(plan, cell)
        raise


def remove_cell(plan: Plan, cell: CellKey) -> None:
    """Remove the files of a cell while its lock is held, the record first."""
    for path in reversed(plan.cell_paths(cell)):
        remove_file(path)


def write_outcome(
    plan: Plan, cell: CellKey, outcome: CellOutcome, provenance: Provenance, checksums: AnswerChecksums | None = None
) -> CellRecord:
    """Write the record of a cell."""
    record = CellRecord(
        system=plan.system,
        regime=plan.regime.name,
        seed=cell.seed,
        task=cell.task,
        language=cell.language,
        split=plan.request.split,
        status=outcome.status,
        provenance=provenance,
        score=outcome.score,
        reason=outcome.reason,
        cause=outcome.cause or msgspec.UNSET,
        traceback=outcome.traceback,
        checksums=checksums,
    )
    record.write(plan.record_path(cell))
    return record


def _predict_and_judge(
    plan: Plan, cell: CellKey, fit_result: FitResult, system: System
) -> tuple[CellOutcome, bytes, Cell | None]:
    """Return the outcome of a cell, its encoded predictions, and its scored cell, or None without gold."""
    job, path = fit_result.job, plan.predictions_path(cell)
    cell_input = fit_result.inputs.pop(cell.language, None) or job.read(cell.language, plan.request.split)
    examples, kind = cell_input.examples, kind_of(job.task)
    gold = examples
    projected = job.regime.asks_translated and not job.regime.translated_gold and cell.language != "en"
    if projected:
        # The originals have the gold.
        gold = load(job.task, cell.language, examples.split, job.data, allow_partial=job.allow_partial)
    all_translated = gold if job.regime.translated_gold else None
    if drawn := draw_cell(plan, cell, gold):
        examples, gold = drawn.kept(examples), drawn.kept(gold)
    values, files = predict(system, job.task, examples), cell_input.files
    replies = replies_of(values)
    if projected:
        values, note = project_back(job.task, gold, examples, values)
        if note:
            gold.notes = [*gold.notes, note]
            files = structs.replace(files, notes=[*files.notes, note])
    if learnt_from := fit_result.outcome.files:
        # Results name what a training set lacks, such as sentences that lost their tags in translation.
        gold.notes = [*gold.notes, *(f"training set: {note}" for note in learnt_from.notes)]
    content = encode_predictions(path, examples.ids, values, replies)
    if no_gold := unusable_gold(job.task, gold):
        return CellOutcome(reason=f"not scored: {no_gold}", files=files), content, None
    # The content is scored as if read from the file.
    answered, problems = judge_answers(job.task, gold, parse_json_lines(content, path, kind))
    refuse(problems)
    request = replace(plan.request, subset=drawn_cells(plan, cell)) if drawn else plan.request
    judged = None if answered is None else whole_cell(answered, request, all_translated)
    score = None if judged is None else score_cell(judged)
    return CellOutcome(files=files, score=score), content, judged


def judge_translated(plan: Plan, cell: CellKey) -> Cell:
    """Judge the stored predictions of a cell on translated gold again."""
    target, path, request = task(cell.task), plan.predictions_path(cell), plan.request
    gold = plan.regime.examples(target, cell.language, request.split, request.data, allow_partial=request.allow_partial)
    every = gold
    if drawn := drawn_examples(plan, target, gold):
        gold, request = drawn.kept(gold), replace(request, subset=drawn_cells(plan, cell))
    answered, problems = judge_answers(target, gold, parse_json_lines(read_bytes(path), path, kind_of(target)))
    refuse(problems)
    if answered is None:
        raise PredictionError("the predictions cannot be scored", where=str(path), fix="Run with --force")
    return whole_cell(answered, request, every)


def write_statistics(path: Path, judged: Cell | None) -> str:
    """Write the statistics of a cell and return their checksum, "" if it has none."""
    if judged is None or not can_store(judged):
        remove_file(path)
        return ""
    write_cell(path, judged)
    return checksum(path)
