"""Guides: cheap systems with answers to all examples, which predict those of an expensive system."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from isogloss.errors import PredictionError
from isogloss.metrics.statistics import Statistics
from isogloss.predictions.check import align
from isogloss.predictions.memory import Predictions, PredictionSource, open_predictions
from isogloss.predictions.problems import refuse
from isogloss.tasks.examples import Examples
from isogloss.tasks.kinds import Judgement, judge
from isogloss.tasks.task import Task


@dataclass(frozen=True)
class Guide:
    """Judged answers to all examples of a cell: the mean of some systems, or a system that skips every example."""

    name: str  # "" without a system
    checksum: str
    judgement: Judgement  # statistics of every example

    @property
    def metrics(self) -> dict[str, Statistics]:
        """Statistics by metric."""
        return self.judgement.metrics


# Predictions of no guide, of one or of several.
Guides = Predictions | Sequence[Predictions] | None


def open_guides(guide: Guides) -> tuple[PredictionSource, ...]:
    """Open the predictions of guides."""
    if guide is None:
        return ()
    several = isinstance(guide, Sequence) and not isinstance(guide, str)
    return tuple(map(open_predictions, guide if several else [guide]))  # type: ignore[arg-type]


def names_of(systems: Sequence[PredictionSource]) -> str:
    """Return the names of guides in one text."""
    return " + ".join(str(system.system["name"]) for system in systems)


def without_answers(task: Task, examples: Examples) -> Guide:
    """Return the statistics of a system that skips every example, which show the weight of each."""
    return Guide("", "", judge(task, examples, [None] * len(examples)))


def judge_guide(systems: Sequence[PredictionSource], task: Task, examples: Examples) -> Guide:
    """Return the mean statistics of systems that answered all examples.

    Raises:
        PredictionError: a system has no answers for the cell or invalid ones, or the systems differ in their kind.
    """
    judgements = [_judged(system, task, examples) for system in systems]
    first = judgements[0]
    if any(other.dialect != first.dialect for other in judgements):
        where = ", ".join(str(system.root) for system in systems)
        raise PredictionError("the guides' answers are of different kinds", where=where)
    metrics = {
        name: replace(statistics, rows=np.mean([other.metrics[name].rows for other in judgements], axis=0))
        for name, statistics in first.metrics.items()
        if all(name in other.metrics for other in judgements)
    }
    content = hashlib.sha256()
    for name in task.main:
        content.update(np.ascontiguousarray(metrics[name].rows).tobytes())
    return Guide(names_of(systems), content.hexdigest()[:12], replace(first, metrics=metrics, pairs=None))


def _judged(system: PredictionSource, task: Task, examples: Examples) -> Judgement:
    file = system.find(task, examples.language, examples.split)
    if file is None:
        what = f"the guide has no answers for {task.id}/{examples.language} {examples.split}"
        raise PredictionError(what, where=str(system.root), fix="A guide needs answers to all examples")
    values, problems = align(task, examples, system.read(task, file, examples))
    refuse(problems)
    return judge(task, examples, values)
