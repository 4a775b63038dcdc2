"""The table at the end of a training run: one row a language, one column a task, over all seeds."""

from statistics import fmean

from isogloss.report.tables import Table
from isogloss.runs.plan import Plan
from isogloss.runs.records import read_record
from isogloss.runs.summary import Summary
from isogloss.tasks.registry import task


def training_table(plan: Plan, summary: Summary) -> Table:
    """The scores of a run: the mean over the seeds, and how far they are apart.

    Args:
        plan: says which cells there are, and where their records lie.
        summary: has the averages of the tasks.
    """
    of_task = {name: _by_language(plan, name) for name in plan.request.tasks}
    languages = dict.fromkeys(language for scores in of_task.values() for language in scores)
    title = f"{summary.system}, {summary.regime}, {summary.split}: {plan.seeds} seed{'s' if plan.seeds > 1 else ''}"
    table = Table(title, ("language", *of_task))
    for language in languages:
        table.add(language, *(_spread(scores.get(language, [])) for scores in of_task.values()))
    means = ([*summary.tasks[name].seeds.values()] if name in summary.tasks else [] for name in of_task)
    table.add("mean", *map(_spread, means), strong=True)
    if plan.seeds > 1:
        table.notes.append("mean over the seeds (smallest–largest)")
    return table


def _by_language(plan: Plan, name: str) -> dict[str, list[float]]:
    """The scores of a task by language, one a seed that has it."""
    found: dict[str, list[float]] = {}
    for place in plan.places:
        record = read_record(plan.record(place)) if place.task == name else None
        if record is not None and record.score is not None:
            numbers = record.score.metrics
            found.setdefault(place.language, []).append(fmean(numbers[main].value for main in task(name).main))
    return found


def _spread(values: list[float]) -> str:
    """The mean of the seeds' scores, with the smallest and the largest where there are several."""
    if len(values) < 2:
        return f"{values[0]:.1f}" if values else "–"
    return f"{fmean(values):.1f} ({min(values):.1f}–{max(values):.1f})"
