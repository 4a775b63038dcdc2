"""Tests of two systems on the same cells: paired if their answers are available, otherwise from scores and sizes."""

from collections.abc import Sequence
from dataclasses import replace
from math import fsum, sqrt
from pathlib import Path

from isogloss.errors import IsoglossError
from isogloss.metrics.unpaired import difference_p, two_proportions
from isogloss.predictions.folder import tasks_in
from isogloss.predictions.run_folders import run_folders
from isogloss.results.views import ScoreView, ViewedScore
from isogloss.scoring.compare import SystemRuns, compare_runs
from isogloss.scoring.request import Request
from isogloss.scoring.score import judged_systems
from isogloss.tasks.registry import task as find_task


def unpaired_p(first: ViewedScore, second: ViewedScore) -> float | None:
    """Return the p-value of two scores by their intervals or, without any, as shares of right answers.

    Return None if a score has neither an interval nor a number of examples.
    """
    if first.error is None and second.error is None and first.n and second.n:
        counts = [(round(min(max(score.value, 0.0), 100.0) / 100 * score.n), score.n) for score in (first, second)]
        return two_proportions(*counts[0], *counts[1])
    return mean_difference_p([first], [second])


def mean_difference_p(first: Sequence[ViewedScore], second: Sequence[ViewedScore]) -> float | None:
    """Return the p-value of the mean scores of two systems over the languages of one task.

    Languages of a parallel test share their examples, so their errors are assumed to be equal, an upper bound; those of
    other tests are independent. Return None if a score has neither an interval nor a number of examples.
    """
    errors = []
    for scores in (first, second):
        own = [_error(score) for score in scores]
        known = [error for error in own if error is not None]
        if len(known) < len(own):
            return None
        total = fsum(known) if find_task(scores[0].task).parallel else sqrt(fsum(error**2 for error in known))
        errors.append(total / len(known))
    means = [fsum(score.value for score in scores) / len(scores) for scores in (first, second)]
    return difference_p(means[0] - means[1], *errors)


def _error(score: ViewedScore) -> float | None:
    """Return the standard error in points; without an interval, that of a share of independent right answers."""
    if score.error is not None or not score.n:
        return score.error
    share = min(max(score.value, 0.0), 100.0) / 100
    # One further answer right and one wrong: a perfect score has an error, too (Agresti and Coull 1998).
    share, n = (share * score.n + 1) / (score.n + 2), score.n + 2
    return 100 * sqrt(share * (1 - share) / n)


class PairedAnswers:
    """Answers of the systems of a view that were read from folders with predictions.

    `problems` are the reasons why answers could not be judged.
    """

    def __init__(self, scores: ScoreView, data: Path | None) -> None:
        self.problems: dict[str, None] = {}
        self._scores, self._data = scores, data
        self._runs: dict[tuple[str, str], SystemRuns | None] = {}

    def p_value(self, first: str, second: str, task: str, languages: Sequence[str]) -> float | None:
        """Return the p-value of two systems in a language, or on average over several; None without all answers."""
        if self._data is None:
            return None
        one, two = (self._cells(system, task, languages) for system in (first, second))
        if one is None or two is None:
            return None
        try:
            compared = compare_runs(one, two, self._request(first, task))
        except IsoglossError as error:
            self.problems[f"{task}: {error.what}"] = None
            return None
        contrasts = compared.cells if len(languages) == 1 else compared.tasks
        return contrasts[0].p if contrasts else None

    def _cells(self, system: str, task: str, languages: Sequence[str]) -> SystemRuns | None:
        """Return the judged cells of a system in some languages, or None if one is missing."""
        runs = self._judged(system, task)
        if runs is None or not all((task, code) in runs.cells for code in languages):
            return None
        return replace(runs, cells={(task, code): runs.cells[task, code] for code in languages})

    def _judged(self, system: str, task: str) -> SystemRuns | None:
        """Return the judged cells of a system, once per task, or None without predictions or gold."""
        key = system, task
        if key not in self._runs:
            self._runs[key] = None
            source = self._scores.results[system].source
            folder = Path(source)
            if source and folder.is_dir() and any(map(tasks_in, run_folders(folder).values())):
                try:
                    [judged] = judged_systems([folder], self._request(system, task))
                    metric = self._scores.metrics[task]
                    self._runs[key] = SystemRuns.of(system, judged.runs, [], metric, judged.names)
                except IsoglossError as error:
                    self.problems[f"{system} on {task}: {error.what}"] = None
        return self._runs[key]

    def _request(self, system: str, task: str) -> Request:
        result, codes = self._scores.results[system], list(self._scores.values(system, task))
        suite, split = result.suite or "xtreme-r", result.scorer.split or "test"
        return Request.of(suite, tasks=[task], languages=codes, split=split, data=self._data)
