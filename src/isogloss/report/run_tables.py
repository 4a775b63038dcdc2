"""Tables of a run, scores over the seeds, and the reasons of cells that are not done."""

from collections import defaultdict
from collections.abc import Iterator
from statistics import fmean

from isogloss.report.tables import Table
from isogloss.runs.plan import Plan
from isogloss.runs.progress import without_cell
from isogloss.runs.records import read_records
from isogloss.runs.summary import RunSummary

# Lines of each status, at most.
LISTED = 10


def seeds_table(summary: RunSummary, seeds: int) -> Table:
    """One row a task: mean, smallest and largest score over the seeds."""
    title = f"{summary.system}, {summary.regime}, on {summary.suite}, {summary.split}: {_seeds(seeds)}"
    table = Table(title, ("task", "mean", "min", "max", "seeds"))
    for name, over in summary.averages.items():
        mark = "*" if over.missing else ""
        figures = (f"{over.mean:.1f}{mark}", f"{over.min:.1f}", f"{over.max:.1f}", str(len(over.seeds)))
        table.add(name, *figures, strong=name == "overall")
    if any(over.missing for over in summary.averages.values()):
        table.notes.append("* partial: not all of the suite is there")
    return table


def languages_table(plan: Plan, summary: RunSummary) -> Table:
    """One row a language, one column a task: the mean over the seeds, and how far they are apart."""
    by_task = _scores_by_language(plan)
    languages = dict.fromkeys(language for scores in by_task.values() for language in scores)
    title = f"{summary.system}, {summary.regime}, {summary.split}: {_seeds(plan.seeds)}"
    table = Table(title, ("language", *by_task))
    for language in languages:
        table.add(language, *(_mean_and_range(scores.get(language, [])) for scores in by_task.values()))
    means = ([*summary.tasks[name].seeds.values()] if name in summary.tasks else [] for name in by_task)
    table.add("mean", *map(_mean_and_range, means), strong=True)
    if plan.seeds > 1:
        table.notes.append("mean over the seeds (smallest–largest)")
    return table


def _seeds(count: int) -> str:
    return f"{count} seed{'s' if count > 1 else ''}"


def _scores_by_language(plan: Plan) -> dict[str, dict[str, list[float]]]:
    """The scores of every task by language, one a seed that has it."""
    scores: dict[str, dict[str, list[float]]] = {name: {} for name in plan.request.tasks}
    for cell, record in read_records(plan, plan.cells).items():
        if record.score is not None:
            scores[cell.task].setdefault(cell.language, []).append(record.score.score)
    return scores


def _mean_and_range(values: list[float]) -> str:
    """The mean of the seeds' scores, with the smallest and the largest where there are several."""
    if len(values) < 2:
        return f"{values[0]:.1f}" if values else "–"
    return f"{fmean(values):.1f} ({min(values):.1f}–{max(values):.1f})"


def reason_lines(plan: Plan, summary: RunSummary) -> list[str]:
    """Why cells are failed or skipped, and why cells that are done have no score."""
    records = read_records(plan, plan.cells).items()
    unscored = {str(cell): record.reason for cell, record in records if record.status == "done" and not record.score}
    return list(grouped_reasons({"failed": summary.failed, "skipped": summary.skipped, "done": unscored}))


def grouped_reasons(by_status: dict[str, dict[str, str]]) -> Iterator[str]:
    """The reasons of cells; those with one reason, but for the name of the cell in it, in one line."""
    for status, reasons in by_status.items():
        by_reason = _cells_by_reason(reasons)
        for cells in by_reason[:LISTED]:
            more = f" and {len(cells) - 1:,} more" if len(cells) > 1 else ""
            yield f"{status}: {cells[0]}{more}: {reasons[cells[0]]}"
        if len(by_reason) > LISTED:
            yield f"{status}: … and {len(by_reason) - LISTED} more reasons; the records below .cells have all"


def _cells_by_reason(reasons: dict[str, str]) -> list[list[str]]:
    """Cells (`seed-0 xnli/sw`) by reason; reasons that name but their own cell are one."""
    exactly: dict[str, list[str]] = defaultdict(list)
    for cell, reason in reasons.items():
        exactly[reason].append(cell)
    alike: dict[str, list[str]] = defaultdict(list)
    for reason, cells in exactly.items():
        # A reason that several cells have may name one of them, but is not about that one.
        own = len({cell.rpartition(" ")[2] for cell in cells}) == 1
        alike[without_cell(reason, cells[0]) if own else reason] += cells
    return [*alike.values()]
