"""Pilots of planned comparisons from scores: published tables, records and CSV files, without predictions."""

from collections.abc import Mapping, Sequence
from math import sqrt

import numpy as np

from isogloss.analysis.finding import AnalysisError
from isogloss.grouping import group_by
from isogloss.metrics.student import ENOUGH
from isogloss.metrics.variance_components import crossed_variances
from isogloss.results.views import ScoreView, ViewedScore
from isogloss.scoring.pilots import PlannedScore
from isogloss.scoring.planning import LANGUAGE, assumed_pilot
from isogloss.tasks.registry import task

SEED = "seed"


def pilots_of_scores(scores: ScoreView, correlation: float) -> list[PlannedScore]:
    """Return a pilot per model and task: its results are runs with different seeds.

    Results belong to one model if they have the same name before the source in brackets, as in `analyze spread`.

    Raises:
        AnalysisError: no score has a known number of examples.
    """
    models = group_by(scores.systems, lambda shown: scores.results[shown].name.partition(" [")[0])
    planned = []
    for model, systems in models.items():
        for name in scores.tasks:
            results = [scores.scores[shown][name] for shown in systems if name in scores.scores[shown]]
            if results:
                shown = f"{name}, {model}" if len(models) > 1 else name
                planned.append(_planned(shown, name, results, correlation))
    if not planned:
        raise AnalysisError("no scores to plan with", fix="Pass other tasks or results")
    return planned


def _planned(shown: str, name: str, results: Sequence[Mapping[str, ViewedScore]], correlation: float) -> PlannedScore:
    codes = [code for code in results[0] if all(code in result for result in results)]
    sizes = [min(result[code].n for result in results) for code in codes]
    if not codes or min(sizes) < ENOUGH:
        reason = f"at least {ENOUGH} examples per language are needed" if codes else "its results share no language"
        return PlannedScore(level="task", name=shown, pilot=None, reason=reason)
    values = np.array([[result[code].value / 100 for code in codes] for result in results])
    pilot = assumed_pilot(
        np.clip(values.mean(axis=0), 0, 1).tolist(),
        len(sizes) / sum(1 / size for size in sizes),
        deviations=_deviations(values),
        runs={SEED: len(results)} if len(results) > 1 else {},
        correlation=correlation,
        parallel=bool(task(name).parallel),
    )
    return PlannedScore(level="task", name=shown, pilot=pilot, sources=round(pilot.freedom + 1))


def _deviations(values: np.typing.NDArray[np.float64]) -> dict[frozenset[str], float]:
    """Return the standard deviation between results, on average over languages and in single languages."""
    results, languages = values.shape
    if results < 2:
        return {}
    several = [LANGUAGE] if languages > 1 else []
    components = crossed_variances(np.outer(values, values), [results, *([languages] if several else [])])
    names = [SEED, *several]
    return {
        frozenset(names[axis] for axis in axes): sqrt(max(0.0, variance))
        for axes, variance in components.items()
        if 0 in axes
    }
