"""Filling one cell: fit once for a group, then predict, write, score and record language by language."""

import sys
import time
import traceback
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from isogloss.errors import DataError, IsoglossError
from isogloss.predictions.write import write_predictions
from isogloss.scoring.results import CellScore
from isogloss.scoring.score import score_request
from isogloss.systems.base import System, SystemFailureError
from isogloss.systems.plan import Group, Place, Plan, seed_folder
from isogloss.systems.records import Files, Provenance, Record, Status, write_record
from isogloss.tasks.examples import Examples
from isogloss.tasks.kinds import kind
from isogloss.tasks.loading import load
from isogloss.tasks.registry import task
from isogloss.tasks.task import Task

__all__ = ["Fit", "Outcome", "answers", "fill", "fit", "fitted", "inputs", "settle"]


class NothingThereError(IsoglossError):
    """What a cell needs is not there, and nothing is broken: the cell is skipped."""


@dataclass(frozen=True)
class Outcome:
    """How a cell or a fit ended, and what is known from then on."""

    status: Status = "done"
    reason: str = ""
    traceback: str = ""
    files: Files | None = None
    score: CellScore | None = None

    @classmethod
    def of(cls, error: Exception) -> "Outcome":
        """The end that an exception made, which is being handled."""
        if isinstance(error, NothingThereError):
            return cls("skipped", str(error))
        said = str(error) if isinstance(error, IsoglossError) else f"{type(error).__name__}: {error}"
        return cls("failed", said, traceback.format_exc())


@dataclass(frozen=True)
class Fit:
    """A fitted system, or none and why; `outcome` has the files it learnt from."""

    system: System | None
    config: dict[str, Any]
    seconds: float = 0.0
    outcome: Outcome = field(default_factory=Outcome)


def fitted(system: System, of: Task, seed: int, data: Path | None) -> tuple[System, Files | None]:
    """The system, having learnt a task, and the files it learnt from (None where it needs none).

    Raises:
        IsoglossError: the system refuses the task, or there is no English training set.
    """
    train = _training(system, of, data)
    return system.fit(of, train, seed), None if train is None else Files.of(train)


def inputs(
    system: System, of: Task, language: str, split: str, data: Path | None
) -> tuple[Files | None, Files | None] | str:
    """The files a cell would be made from now (examples, training set), or why it cannot be filled here."""
    try:
        train = _training(system, of, data)
        examples = _loaded(of, language, split, data)
    except NothingThereError as error:
        return str(error)
    return Files.of(examples), None if train is None else Files.of(train)


def _training(system: System, of: Task, data: Path | None) -> Examples | None:
    if refusal := system.refusal(of):
        raise NothingThereError(refusal)
    if not system.needs_training(of):
        return None
    if "en" not in (*of.languages, *of.also):
        raise NothingThereError(f"{of.id} has no English training set")
    return _loaded(of, "en", "train", data)


def answers(system: System, of: Task, language: str, split: str, data: Path | None) -> tuple[Examples, Sequence[Any]]:
    """The examples of a cell and the system's answers, one for each."""
    examples = _loaded(of, language, split, data)
    values = system.predict(examples)
    if len(values) != len(examples):
        what = f"{system.name} gave {len(values)} answers to {len(examples)} examples"
        raise SystemFailureError(what, where=f"{of.id}/{language}")
    return examples, values


def _loaded(of: Task, language: str, split: str, data: Path | None) -> Examples:
    try:
        return load(of, language, split, data)
    except DataError as error:
        # An error that names a file is about a damaged one; without, there is none.
        if error.where:
            raise
        raise NothingThereError(error.what, fix=error.fix) from error


def fit(plan: Plan, group: Group, system: System) -> Fit:
    """Fit a system for a group; what goes wrong is kept, to be recorded in every cell."""
    start = time.perf_counter()
    config = dict(system.metadata)
    try:
        learnt, files = fitted(system, task(group.task), group.seed, plan.request.data)
    except Exception as error:  # a system may fail in any way whatever
        return Fit(None, config, outcome=Outcome.of(error))
    return Fit(learnt, config, time.perf_counter() - start, Outcome(files=files))


def fill(plan: Plan, place: Place, ready: Fit) -> Record:
    """Fill a cell whose lock is held: the answers first, the record last."""
    _remove_leftovers(plan, place)
    _reset_peak_memory()
    began, start = datetime.now(UTC), time.perf_counter()
    outcome = ready.outcome if ready.system is None else _outcome(plan, place, ready.system)
    provenance = Provenance(
        ready.config,
        began.isoformat(timespec="milliseconds"),
        data=outcome.files,
        training=ready.outcome.files,
        fit_seconds=round(ready.seconds, 4),
        seconds=round(time.perf_counter() - start, 4),
        peak_memory_mb=_peak_memory_mb(),
    )
    return settle(plan, place, outcome, provenance)


def settle(plan: Plan, place: Place, outcome: Outcome, provenance: Provenance) -> Record:
    """Record how a cell ended."""
    record = Record(
        plan.system,
        plan.regime,
        place.seed,
        place.task,
        place.language,
        plan.request.split,
        outcome.status,
        provenance,
        outcome.score,
        outcome.reason,
        outcome.traceback,
    )
    write_record(plan.record(place), record)
    return record


def _outcome(plan: Plan, place: Place, system: System) -> Outcome:
    of, split, data = task(place.task), plan.request.split, plan.request.data
    try:
        examples, values = answers(system, of, place.language, split, data)
        write_predictions(
            seed_folder(plan.root, place.seed), of, place.language, split, examples.ids, values, force=True
        )
        reason = _no_gold(of, examples)
        score = None if reason else _score(plan, place)
        return Outcome(files=Files.of(examples), score=score, reason=reason)
    except Exception as error:  # whatever it is, it must not stop the other cells
        # Answers that cannot be scored would stand in the way of everything that reads the folder.
        plan.predictions(place).unlink(missing_ok=True)
        return Outcome.of(error)


def _no_gold(of: Task, examples: Examples) -> str:
    """Why a cell cannot be scored, "" where it can."""
    if not examples.has_gold:
        return f"not scored: the {examples.split} file has no gold answers"
    placeholder = kind(of.kind).placeholder(examples)
    return f"not scored: {placeholder}" if placeholder else ""


def _score(plan: Plan, place: Place) -> CellScore:
    """The cell's scores, by the code that scores whole folders."""
    request = replace(plan.request, tasks=(place.task,), languages=(place.language,))
    [cell] = score_request(seed_folder(plan.root, place.seed), request).cells
    return cell


def _remove_leftovers(plan: Plan, place: Place) -> None:
    """Remove the unfinished files of a killed process: nobody else writes this cell while we have its lock."""
    for path in (plan.predictions(place), plan.record(place)):
        for leftover in path.parent.glob(f".{path.name}.*.part"):
            leftover.unlink(missing_ok=True)


def _reset_peak_memory() -> None:
    """Forget earlier peaks, where the system can (Linux); elsewhere the peak is that of the process so far."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")


def _peak_memory_mb() -> float:
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(peak / (1 << 20 if sys.platform == "darwin" else 1 << 10), 1)
