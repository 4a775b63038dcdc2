"""One figure a language from several tasks, none of which has all languages."""

from collections.abc import Mapping

import numpy as np

from isogloss.analysis.correlation import standardised
from isogloss.analysis.finding import AnalysisError


def pooled_over_tasks(scores: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    """How each language fares over all tasks, in standard deviations of a task's scores; the mean language has 0.

    Each task's scores are standardised, then languages and tasks are fitted beside each other by least squares
    (score = language + task), so that a language is not better off for being in the easier tasks.

    Args:
        scores: by task and language; tasks with one language or the same score everywhere are left out.

    Raises:
        AnalysisError: no task is left, or the tasks fall into groups that share no language.
    """
    cells = [
        (task, code, float(value))
        for task, of in scores.items()
        if len(of) > 1 and (column := standardised(list(of.values()))) is not None
        for code, value in zip(of, column, strict=True)
    ]
    tasks, codes = list(dict.fromkeys(task for task, _, _ in cells)), list(dict.fromkeys(code for _, code, _ in cells))
    if not cells:
        raise AnalysisError("no task has scores that differ between languages")
    design = np.zeros((len(cells), len(codes) + len(tasks)))
    for row, (task, code, _) in enumerate(cells):
        design[row, codes.index(code)] = design[row, len(codes) + tasks.index(task)] = 1
    if np.linalg.matrix_rank(design) < design.shape[1] - 1:
        raise AnalysisError("the tasks fall into groups that share no language, and cannot be pooled")
    effects = np.linalg.lstsq(design, np.array([value for _, _, value in cells]), rcond=None)[0][: len(codes)]
    return dict(zip(codes, (effects - effects.mean()).tolist(), strict=True))
