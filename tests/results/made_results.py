"""Systems for tests, from scores by task and language."""

from collections.abc import Mapping

from isogloss.languages import known_language
from isogloss.results.system import CellResult, SystemResult
from isogloss.scoring.results import Number
from isogloss.tasks.registry import task


def made_system(
    name: str,
    scores: Mapping[str, Mapping[str, float]],
    *,
    regime: str = "zero-shot",
    margin: float | None = None,
    n: int = 0,
) -> SystemResult:
    """Return a system with these values of the first main metric, and intervals of `margin` on both sides."""
    cells = {}
    for task_name, values in scores.items():
        scored_task = task(task_name)
        for code, value in values.items():
            low, high = (None, None) if margin is None else (value - margin, value + margin)
            metrics = {scored_task.main[0]: Number(value, low, high, n)}
            cells[scored_task.id, code] = CellResult(
                task=scored_task, code=code, language=known_language(code), metrics=metrics
            )
    return SystemResult(name=name, regime=regime, cells=cells)
