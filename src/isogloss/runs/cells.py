"""Filling one cell: fit once for a group, then predict, write, score and record language by language."""

import sys
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from isogloss.errors import DataError, IsoglossError
from isogloss.predictions.write import write_predictions
from isogloss.runs.plan import CellKey, FitGroup, Plan, seed_folder
from isogloss.runs.records import Files, Provenance, Record, Status, write_record
from isogloss.scoring.results import CellScore
from isogloss.scoring.score import score_request
from isogloss.systems.base import FitContext, System, SystemFailureError
from isogloss.tasks.examples import Examples
from isogloss.tasks.kinds import kind_of
from isogloss.tasks.registry import task
from isogloss.tasks.task import Task
from isogloss.training.processes import in_step
from isogloss.training.regimes import Fit, Regime


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
class FitResult:
    """A fitted system, or none and why; `outcome` has the files it learnt from.

    `ends` says how cells end whose language has its own reason, where there is no system.
    """

    job: "FitJob"
    system: System | None
    config: dict[str, Any]
    seconds: float = 0.0
    outcome: Outcome = field(default_factory=Outcome)
    ends: Mapping[str, Outcome] = field(default_factory=dict)

    def end(self, language: str) -> Outcome:
        """How the cell of a language ends without a system."""
        return self.ends.get(language, self.outcome)


@dataclass(frozen=True)
class FitJob:
    """What is to be learnt: a task, by one fit of a regime, with a seed; from a data folder, in a folder of its own."""

    regime: Regime
    task: Task
    fit: Fit
    seed: int
    data: Path | None
    folder: Path

    @classmethod
    def of(cls, plan: Plan, group: FitGroup) -> "FitJob":
        """The job of a group."""
        data = plan.request.data
        return cls(plan.learning, task(group.task), plan.fit(group), group.seed, data, plan.fit_folder(group))

    def training(self, system: System) -> Examples | None:
        """What a system learns from; None where it needs nothing.

        Raises:
            NothingThereError: the system refuses the task, the regime is not for it, or there is no training set.
        """
        learnt = system.learns_from(self.task)
        if refusal := system.refusal(self.task) or self.regime.refusal(self.task, learnt):
            raise NothingThereError(refusal)
        if system.needs_training(self.task):
            return _there(lambda: self.regime.training(learnt, self.fit, self.data, self.seed))
        if self.regime.sources != ("en",) or self.regime.per_language or self.regime.all_languages:
            what = f"{system.name} learns nothing for {self.task.id}: under {self.regime.name} it would be as zero-shot"
            raise NothingThereError(what)
        return None

    def examples(self, language: str, split: str) -> Examples:
        """What it is asked in a language."""
        return _there(lambda: self.regime.examples(self.task, language, split, self.data))

    def context(self) -> FitContext:
        """Where it is learnt."""

        def examples(language: str, split: str) -> Examples:
            return self.regime.examples(self.task, language, split, self.data)

        return FitContext(self.folder, self.fit.languages, examples)


def _there(read: Callable[[], Examples]) -> Examples:
    try:
        return read()
    except DataError as error:
        # An error that names a file is about a damaged one; without, there is none.
        if error.where:
            raise
        raise NothingThereError(error.what, fix=error.fix) from error


def fitted(system: System, job: FitJob) -> tuple[System, Files | None]:
    """The system, fitted for a job, and the files it learnt from (None where it needs none).

    Raises:
        IsoglossError: the system or the regime refuses the task, or there is nothing to learn from.
    """
    with in_step():
        train = job.training(system)
    learnt = system.learn(job.task, train, job.seed, job.context())
    return learnt, None if train is None else Files.of(train)


def answers(system: System, job: FitJob, language: str, split: str) -> tuple[Examples, Sequence[Any]]:
    """The examples of a cell and the system's answers, one for each."""
    examples = job.examples(language, split)
    values = system.predict(examples)
    if len(values) != len(examples):
        what = f"{system.name} gave {len(values)} answers to {len(examples)} examples"
        raise SystemFailureError(what, where=f"{job.task.id}/{language}")
    return examples, values


def fit(plan: Plan, group: FitGroup, system: System) -> FitResult:
    """Fit a system for a group; what goes wrong is kept, to be recorded in every cell."""
    start = time.perf_counter()
    job, config = FitJob.of(plan, group), dict(system.metadata)
    try:
        learnt, files = fitted(system, job)
    except Exception as error:  # a system may fail in any way whatever
        return FitResult(job, None, config, outcome=Outcome.of(error))
    return FitResult(job, learnt, config, time.perf_counter() - start, Outcome(files=files))


def nothing_to_predict(plan: Plan, group: FitGroup, system: System) -> FitResult | None:
    """What fitting for a group would come to if none of its cells can be asked anything; None where one can."""
    job, config = FitJob.of(plan, group), dict(system.metadata)
    ends: dict[str, Outcome] = {}
    for language in group.languages:
        try:
            job.examples(language, plan.request.split)
        except Exception as error:  # a damaged file, say
            ends[language] = Outcome.of(error)
        else:
            return None
    try:
        job.training(system)
    except Exception as error:  # what keeps it from learning is the better reason
        return FitResult(job, None, config, outcome=Outcome.of(error))
    return FitResult(job, None, config, ends=ends)


def fill(plan: Plan, place: CellKey, ready: FitResult) -> Record:
    """Fill a cell whose lock is held: the answers first, the record last."""
    _remove_leftovers(plan, place)
    _reset_peak_memory()
    began, start = datetime.now(UTC), time.perf_counter()
    outcome = ready.end(place.language) if ready.system is None else _outcome(plan, place, ready.job, ready.system)
    provenance = Provenance(
        ready.config,
        began.isoformat(timespec="milliseconds"),
        data=outcome.files,
        training=ready.outcome.files,
        fit_seconds=round(ready.seconds, 4),
        seconds=round(time.perf_counter() - start, 4),
        peak_memory_mb=_peak_memory_mb(),
    )
    return write_outcome(plan, place, outcome, provenance)


def write_outcome(plan: Plan, place: CellKey, outcome: Outcome, provenance: Provenance) -> Record:
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


def _outcome(plan: Plan, place: CellKey, job: FitJob, system: System) -> Outcome:
    of, split = job.task, plan.request.split
    try:
        examples, values = answers(system, job, place.language, split)
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
    placeholder = kind_of(of).placeholder(examples)
    return f"not scored: {placeholder}" if placeholder else ""


def _score(plan: Plan, place: CellKey) -> CellScore:
    """The cell's scores, by the code that scores whole folders."""
    request = replace(plan.request, tasks=(place.task,), languages=(place.language,))
    [cell] = score_request(seed_folder(plan.root, place.seed), request).cells
    return cell


def _remove_leftovers(plan: Plan, place: CellKey) -> None:
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
