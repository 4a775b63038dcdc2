"""Fitting a system once for a group of cells, and reading the examples of each cell."""

import threading
import time
import traceback
from collections.abc import Callable, Hashable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from isogloss.errors import IsoglossError, MissingDataError
from isogloss.runs.plan import FitGroup, Plan
from isogloss.runs.records import CellStatus, InputFiles
from isogloss.scoring.results import CellScore
from isogloss.systems.base import FitContext, FurtherFit, System, SystemFailureError, explained
from isogloss.tasks.examples import Examples
from isogloss.tasks.kinds import Kind, kind_of
from isogloss.tasks.loading import load
from isogloss.tasks.registry import task
from isogloss.tasks.task import Task
from isogloss.training.processes import in_step
from isogloss.training.regimes import Fit, Regime, demonstrations


class NotAvailableError(IsoglossError):
    """Missing data or an unsupported task: the cell is skipped."""


@dataclass(frozen=True, kw_only=True)
class CellOutcome:
    """Outcome of a cell or a fit: status, reason, `cause` (the reason without the cell's name), files read, score."""

    status: CellStatus = "done"
    reason: str = ""
    cause: str = ""
    traceback: str = ""
    files: InputFiles | None = None
    score: CellScore | None = None

    @classmethod
    def of_error(cls, error: Exception) -> "CellOutcome":
        """Return the outcome of the exception being handled."""
        if isinstance(error, NotAvailableError):
            return cls(status="skipped", reason=str(error), cause=error.cause)
        if isinstance(error, IsoglossError):
            return cls(status="failed", reason=str(error), cause=error.cause, traceback=traceback.format_exc())
        return cls(status="failed", reason=f"{type(error).__name__}: {error}", traceback=traceback.format_exc())


@dataclass(frozen=True)
class CellInput:
    """The examples of a cell, and the state of their files when they were read."""

    examples: Examples
    files: InputFiles


@dataclass(frozen=True, kw_only=True)
class FitJob:
    """A fit of a task: regime, seed, data folder, the folder for what it writes, and those of other regimes.

    With `allow_partial`, sets to predict may have an unexpected number of examples.
    """

    regime: Regime
    task: Task
    fit: Fit
    seed: int
    data: Path | None
    folder: Path
    same_training: tuple[Path, ...] = ()
    allow_partial: bool = False

    @classmethod
    def of(cls, plan: Plan, group: FitGroup) -> "FitJob":
        """Return the fit job of a group."""
        return cls(
            regime=plan.regime,
            task=task(group.task),
            fit=plan.fit(group),
            seed=group.seed,
            data=plan.request.data,
            folder=plan.fit_folder(group),
            same_training=plan.same_training_folders(group),
            allow_partial=plan.request.allow_partial,
        )

    def training(self, system: System) -> Examples | None:
        """Return the training set of a system, or None if it needs none; raise a NotAvailableError if it is missing."""
        with explained(system.name, f"cannot learn {self.task.id}"):
            train_task = system.learns_from(self.task)
            refusal = (
                system.refusal(self.task)
                or self.regime.mismatch(prompted=system.prompted)
                or self.regime.refusal(self.task, train_task)
            )
            needs_training = not refusal and system.needs_training(self.task)
            whole = needs_training and system.trains_on_dev(self.task)
        if refusal:
            raise NotAvailableError(refusal)
        if self.regime.untrained:
            return None
        if needs_training and system.prompted:
            return _available(lambda: demonstrations(self.regime, train_task, self.fit, self.data))
        if needs_training:
            instead = "" if train_task.id == self.task.id else "set train_on to a task with a training set"
            fit, data, seed = self.fit, self.data, self.seed
            return _available(lambda: self.regime.training(train_task, fit, data, seed, whole=whole), instead)
        if self.regime.sources != ("en",) or self.regime.per_language or self.regime.all_languages:
            same = system.usual_regime
            what = f"{system.name} needs no training for {self.task.id}: {self.regime.name} would equal {same}"
            raise NotAvailableError(what)
        return None

    def read(self, language: str, split: str) -> CellInput:
        """Read the examples to predict in a language; raise a NotAvailableError if they are missing."""
        examples = _available(lambda: self._examples(language, split))
        return CellInput(examples, InputFiles.of(examples))

    def _examples(self, language: str, split: str) -> Examples:
        return self.regime.examples(self.task, language, split, self.data, allow_partial=self.allow_partial)

    def _probe_examples(self, language: str, split: str) -> Examples:
        """Return examples for evaluating checkpoints; their predictions are scored without projection."""
        if self.regime.asks_translated and language != "en" and kind_of(self.task).moves_with_text:
            what = f"{self.regime.name} projects predictions of {self.task.id}, but not those of checkpoints"
            raise MissingDataError(what)
        return self._examples(language, split)

    def context(self, system: System) -> FitContext:
        """Return the folder of the fit, and examples for evaluating checkpoints.

        Languages of pseudo test sets have no dev sets: they choose no checkpoint, and need no fit of their own.
        """
        own = tuple(code for code in self.fit.languages if code in self.task.every_language)
        return FitContext(
            folder=self.folder,
            languages=own or self.fit.languages,
            examples=self._probe_examples,
            dev_languages=("en",) if self.regime.translated else (),
            train_task_dev=lambda language: load(system.learns_from(self.task), language, "dev", self.data),
            same_training=self.same_training,
        )


def _available(read: Callable[[], Examples], instead: str = "") -> Examples:
    try:
        return read()
    except MissingDataError as error:
        fix = f"{error.fix}; or {instead}" if error.fix and instead else error.fix or instead.capitalize()
        raise NotAvailableError(error.what, fix=fix, cause=error.cause) from error


@dataclass(frozen=True, kw_only=True)
class FitResult:
    """A fitted system, or None and the reason: the outcome of the fit, or outcomes of single cells by language.

    `inputs` are examples read before the fit, by language; they are removed when used.
    """

    job: FitJob
    system: System | None = None
    config: dict[str, Any]
    seconds: float = 0.0
    outcome: CellOutcome = field(default_factory=CellOutcome)
    cell_outcomes: Mapping[str, CellOutcome] = field(default_factory=dict)
    inputs: dict[str, CellInput] = field(default_factory=dict)

    @classmethod
    def without_examples(cls, job: FitJob, system: System, cell_outcomes: Mapping[str, CellOutcome]) -> "FitResult":
        """Return the result for a group without examples: no fit, and the outcomes from `read_ahead`."""
        try:
            job.training(system)
        except Exception as error:  # report first why the system cannot be trained
            return cls(job=job, config=system.configuration, outcome=CellOutcome.of_error(error))
        return cls(job=job, config=system.configuration, cell_outcomes=cell_outcomes)


# Finds further fits that a training run on some examples serves as well.
FindOthers = Callable[[Examples], Sequence[FurtherFit]]


def fit_system(system: System, job: FitJob, others: FindOthers | None = None) -> tuple[System, InputFiles | None]:
    """Fit a system and return it with its training files (None if it needs none)."""
    with in_step():
        train = job.training(system)
        files = None if train is None else InputFiles.of(train)
    identity = None
    if train is not None and not keeps_fits(system):
        identity = system, training_key(system, job.task), job.seed, training_identity(train)
        if identity == getattr(_LAST, "identity", None):
            return _LAST.fitted, files
    context = job.context(system)
    if others is not None and train is not None:
        context = replace(context, others=partial(others, train))
    _LAST.identity = None
    with explained(system.name, f"cannot learn {job.task.id}"):
        fitted = system.learn(job.task, train, job.seed, context)
    if not isinstance(fitted, System):
        what = f"the fit of system {system.name!r} for {job.task.id} returned a {type(fitted).__name__}, not a system"
        raise SystemFailureError(what, fix="End its fit with: return self")
    _LAST.identity, _LAST.fitted = identity, fitted
    return fitted, files


# The fit that this thread made last, and its identity: further tasks with the same training run reuse it.
_LAST = threading.local()


def keeps_fits(system: System) -> bool:
    """Return True if a system writes its fits to a folder, by overriding `learn`."""
    return type(system).learn is not System.learn


def training_key(system: System, target: Task) -> Hashable:
    """Return a key that is equal for tasks with the same training run if their training sets are equal."""
    try:
        key = system.training_key(target)
        hash(key)
        return target.id if key is None else key
    except Exception:  # any error of the system, which its fit reports
        return target.id


def training_identity(examples: Examples) -> tuple[str, str, list[str]]:
    """Return a key that is equal for equal training sets; a checksum may cover more examples than the set."""
    return examples.language, examples.checksum, examples.ids


def predict(system: System, task: Task, examples: Examples) -> Sequence[Any]:
    """Return the predictions of a fitted system, one per example; raise a SystemFailureError if they are invalid."""
    where, name = f"{examples.task}/{examples.language}", f"system {system.name!r}"
    with explained(system.name, "cannot predict", where):
        values = system.predict(examples)
    kind, what, fix = kind_of(task), "", "Return a list with one prediction per example"
    if not hasattr(values, "__len__") or isinstance(values, str | bytes | Mapping | Set):
        what = f"{name} returned a {type(values).__name__}, expected a list of predictions"
    elif len(values) != len(examples):
        what, fix = f"{name} returned {len(values)} predictions for {len(examples)} examples", ""
    elif not _is_answer(list(values), kind, is_list=True):
        wrong = (row for row, value in enumerate(values) if not _is_answer(value, kind))
        if (row := next(wrong, None)) is not None:
            what = f"{name} predicts {repr(values[row])[:60]} ({type(values[row]).__name__}) for {examples.ids[row]!r}"
            fix = f"Each prediction must be {kind.answer_help}"
    if what:
        raise SystemFailureError(what, where=where, fix=fix, cause=what)
    return values


def _is_answer(value: Any, kind: Kind, *, is_list: bool = False) -> bool:
    """Return True if a value, or every value of a list, has the type of a kind's predictions."""
    expected = kind.answer_type | None
    try:
        msgspec.convert(value, list[expected] if is_list else expected)  # type: ignore[valid-type]
    except msgspec.ValidationError:
        return False
    return True


def fit_group(
    plan: Plan, group: FitGroup, system: System, inputs: Mapping[str, CellInput] = {}, others: FindOthers | None = None
) -> FitResult:
    """Fit a system for a group; an error becomes the outcome of every cell."""
    start = time.perf_counter()
    result = FitResult(job=FitJob.of(plan, group), config=system.configuration, inputs=dict(inputs))
    try:
        fitted, files = fit_system(system, result.job, others)
    except Exception as error:  # a system may raise anything
        return replace(result, outcome=CellOutcome.of_error(error))
    return replace(result, system=fitted, seconds=time.perf_counter() - start, outcome=CellOutcome(files=files))


def read_ahead(plan: Plan, group: FitGroup) -> tuple[dict[str, CellInput], dict[str, CellOutcome]]:
    """Return the first examples that a group has, and the outcomes of the cells tried before."""
    job = FitJob.of(plan, group)
    outcomes: dict[str, CellOutcome] = {}
    for language in group.languages:
        try:
            return {language: job.read(language, plan.request.split)}, outcomes
        except Exception as error:  # such as a damaged file
            outcomes[language] = CellOutcome.of_error(error)
    return {}, outcomes
