"""Fitting a system once for a group of cells, and reading the examples of each."""

import time
import traceback
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from isogloss.errors import DataError, IsoglossError
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
from isogloss.training.regimes import Fit, Regime


class NotAvailableError(IsoglossError):
    """What a cell needs is not there, and nothing is broken: the cell is skipped."""


@dataclass(frozen=True)
class CellOutcome:
    """How a cell or a fit ended: status, reason, files that were read, score."""

    status: CellStatus = "done"
    reason: str = ""
    traceback: str = ""
    files: InputFiles | None = None
    score: CellScore | None = None

    @classmethod
    def of_error(cls, error: Exception) -> "CellOutcome":
        """The outcome of an exception that is being handled."""
        if isinstance(error, NotAvailableError):
            return cls("skipped", str(error))
        reason = str(error) if isinstance(error, IsoglossError) else f"{type(error).__name__}: {error}"
        return cls("failed", reason, traceback.format_exc())


@dataclass(frozen=True)
class CellInput:
    """The examples of a cell, and their files as they were when they were read."""

    examples: Examples
    files: InputFiles


@dataclass(frozen=True)
class FitJob:
    """What is to be fitted: a task, by one fit of a regime, with a seed, from a data folder, in a folder of its own."""

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
        return cls(plan.regime, task(group.task), plan.fit(group), group.seed, data, plan.fit_folder(group))

    def training(self, system: System) -> Examples | None:
        """The training set of a system; None where it needs none.

        Raises:
            NotAvailableError: the system refuses the task, the regime is not for it, or there is no training set.
        """
        with explained(system.name, f"cannot learn {self.task.id}"):
            train_task = system.learns_from(self.task)
            refusal = system.refusal(self.task) or self.regime.refusal(self.task, train_task)
            needs_training = not refusal and system.needs_training(self.task)
        if refusal:
            raise NotAvailableError(refusal)
        if needs_training:
            instead = "" if train_task.id == self.task.id else "; or set train_on to a task whose training set is there"
            return _available(lambda: self.regime.training(train_task, self.fit, self.data, self.seed), instead)
        if self.regime.sources != ("en",) or self.regime.per_language or self.regime.all_languages:
            what = f"{system.name} learns nothing for {self.task.id}: under {self.regime.name} it would be as zero-shot"
            raise NotAvailableError(what)
        return None

    def read(self, language: str, split: str) -> CellInput:
        """The examples to predict in a language.

        Raises:
            NotAvailableError: there are no such examples.
        """
        examples = _available(lambda: self.regime.examples(self.task, language, split, self.data))
        return CellInput(examples, InputFiles.of(examples))

    def context(self, system: System) -> FitContext:
        """The folder of the fit, and examples that a system may evaluate checkpoints on."""

        def examples(language: str, split: str) -> Examples:
            return self.regime.examples(self.task, language, split, self.data)

        def training_dev(language: str) -> Examples:
            return load(system.learns_from(self.task), language, "dev", self.data)

        dev_languages = ("en",) if self.regime.translated else ()
        return FitContext(self.folder, self.fit.languages, examples, dev_languages, training_dev)


def _available(read: Callable[[], Examples], instead: str = "") -> Examples:
    try:
        return read()
    except DataError as error:
        # An error that names a file is about a damaged one; without, there is none.
        if error.where:
            raise
        raise NotAvailableError(error.what, fix=f"{error.fix}{instead}") from error


@dataclass(frozen=True)
class FitResult:
    """A fitted system, or none and why.

    Attributes:
        config: the system's configuration.
        seconds: how long it took.
        outcome: how it ended, with the files it learnt from.
        cell_outcomes: how the cells end that have a reason of their own, where there is no system.
        inputs: examples that were read before the fit, by language; whoever uses them takes them out.
    """

    job: FitJob
    system: System | None
    config: dict[str, Any]
    seconds: float = 0.0
    outcome: CellOutcome = field(default_factory=CellOutcome)
    cell_outcomes: Mapping[str, CellOutcome] = field(default_factory=dict)
    inputs: dict[str, CellInput] = field(default_factory=dict)

    def cell_outcome(self, language: str) -> CellOutcome:
        """How the cell of a language ends without a system."""
        return self.cell_outcomes.get(language, self.outcome)


# Finds further fits that a training on some examples serves as well.
FindOthers = Callable[[Examples], Sequence[FurtherFit]]


def fit_system(system: System, job: FitJob, others: FindOthers | None = None) -> tuple[System, InputFiles | None]:
    """Fit a system; gives it with the files it learnt from (None where it needs none).

    Args:
        system: what is fitted.
        job: what it learns, and where.
        others: finds what else the system may learn at the same time, by the same training.

    Raises:
        IsoglossError: the system or the regime refuses the task, or there is nothing to learn from.
    """
    with in_step():
        train = job.training(system)
        files = None if train is None else InputFiles.of(train)
    context = job.context(system)
    if others is not None and train is not None:
        context = replace(context, others=partial(others, train))
    with explained(system.name, f"cannot learn {job.task.id}"):
        fitted = system.learn(job.task, train, job.seed, context)
    if not isinstance(fitted, System):
        what = f"system {system.name!r} learnt {job.task.id} and gave a {type(fitted).__name__}, not a system"
        raise SystemFailureError(what, fix="End its fit with: return self")
    return fitted, files


def predict(system: System, task: Task, examples: Examples) -> Sequence[Any]:
    """The answers of a fitted system, one for each example.

    Raises:
        SystemFailureError: it fails; or its answers are not a list, more or fewer than the examples, or one of them is
            no answer to this task.
    """
    where, name = f"{examples.task}/{examples.language}", f"system {system.name!r}"
    with explained(system.name, "cannot answer", where):
        values = system.predict(examples)
    if not hasattr(values, "__len__") or isinstance(values, str | bytes | Mapping | Set):
        what = f"{name} gave a {type(values).__name__}, not a list of answers"
        raise SystemFailureError(what, where=where, fix="predict returns a list with an answer for every example")
    if len(values) != len(examples):
        raise SystemFailureError(f"{name} gave {len(values)} answers to {len(examples)} examples", where=where)
    kind = kind_of(task)
    wrong = (row for row, value in enumerate(values) if not _is_answer(value, kind))
    if not _is_answer(list(values), kind, all_of_them=True) and (row := next(wrong, None)) is not None:
        what = f"{name} answers {repr(values[row])[:60]} ({type(values[row]).__name__}) to {examples.ids[row]!r}"
        raise SystemFailureError(what, where=where, fix=f"An answer is {kind.answer_help}")
    return values


def _is_answer(value: Any, kind: Kind, *, all_of_them: bool = False) -> bool:
    """Whether a value is of the type of a kind's answers, or all values of a list."""
    expected = kind.answer_type | None
    try:
        msgspec.convert(value, list[expected] if all_of_them else expected)  # type: ignore[valid-type]
    except msgspec.ValidationError:
        return False
    return True


def fit_group(
    plan: Plan,
    group: FitGroup,
    system: System,
    inputs: Mapping[str, CellInput] | None = None,
    others: FindOthers | None = None,
) -> FitResult:
    """Fit a system for a group; an error becomes the outcome of every cell."""
    start = time.perf_counter()
    job, config = FitJob.of(plan, group), system.configuration
    try:
        fitted, files = fit_system(system, job, others)
    except Exception as error:  # a system may fail in any way whatever
        return FitResult(job, None, config, outcome=CellOutcome.of_error(error))
    outcome = CellOutcome(files=files)
    return FitResult(job, fitted, config, time.perf_counter() - start, outcome, inputs=dict(inputs or {}))


def read_ahead(plan: Plan, group: FitGroup) -> tuple[dict[str, CellInput], dict[str, CellOutcome]]:
    """The examples of the first cell of a group that has any, and the outcomes of the cells tried before it."""
    job = FitJob.of(plan, group)
    outcomes: dict[str, CellOutcome] = {}
    for language in group.languages:
        try:
            return {language: job.read(language, plan.request.split)}, outcomes
        except Exception as error:  # a damaged file, say
            outcomes[language] = CellOutcome.of_error(error)
    return {}, outcomes


def nothing_to_predict(
    plan: Plan, group: FitGroup, system: System, cell_outcomes: Mapping[str, CellOutcome]
) -> FitResult:
    """The result where no cell has examples: nothing is fitted, and every cell ends as `read_ahead` says."""
    job, config = FitJob.of(plan, group), system.configuration
    try:
        job.training(system)
    except Exception as error:  # what keeps it from learning is the better reason
        return FitResult(job, None, config, outcome=CellOutcome.of_error(error))
    return FitResult(job, None, config, cell_outcomes=cell_outcomes)
