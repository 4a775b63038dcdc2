"""Tables of a run, scores over the seeds, and the reasons of cells that are not done."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean

from isogloss.figures import interval_text, score_text
from isogloss.report.formatting import interval_notes
from isogloss.report.score_tables import names_by_task
from isogloss.report.tables import Table
from isogloss.runs.plan import Plan
from isogloss.runs.progress import without_cell
from isogloss.runs.records import read_records
from isogloss.runs.summary import OverSeeds, RunSummary

# Lines of each status, at most.
LISTED = 10


def seeds_table(plan: Plan, summary: RunSummary) -> Table:
    """One row a task: mean over the seeds, its interval and their spread; the overall score of more than one cell."""
    title = f"{summary.system}, {summary.regime}, on {summary.suite}, {summary.split}: {_seeds(plan.seeds)}"
    table = Table(title, ("task", "mean", "95 %", "sd", "min", "max", "seeds"))
    shown = summary.tasks if _is_one_cell(plan, summary) else summary.averages
    for name, over in shown.items():
        mean = score_text(over.mean) + "*" * bool(over.missing)
        spread = map(score_text, (over.sd, over.min, over.max))
        interval = interval_text(over.low, over.high)
        table.add(name, mean, interval, *spread, str(len(over.seeds)), strong=name == "overall")
    table.notes = (
        _seed_notes(shown)
        + interval_notes(table)
        + _partial_notes(summary.overall.missing if summary.overall else _missing_cells(summary))
    )
    return table


def _seed_notes(shown: Mapping[str, OverSeeds]) -> list[str]:
    """How much of the uncertainty is due to the seeds."""
    shares = [f"{name} {over.seed_share:.0%}" for name, over in shown.items() if over.seed_share is not None]
    return [f"of the variance of the mean due to seeds: {', '.join(shares)}"] if shares else []


def _is_one_cell(plan: Plan, summary: RunSummary) -> bool:
    """Whether all scores are of one cell, of a suite that has more."""
    languages = [plan.request.suite.languages_of(name) for name in summary.tasks]
    count = sum(map(len, languages)) - sum(len(over.missing) for over in summary.tasks.values())
    return count == 1 and summary.overall is not None and bool(summary.overall.missing)


def _partial_notes(missing: Sequence[str]) -> list[str]:
    """What a star beside a figure means."""
    return [f"* partial, missing: {names_by_task(missing)}"] if missing else []


def _missing_cells(summary: RunSummary) -> list[str]:
    return [f"{name}/{code}" for name, over in summary.tasks.items() for code in over.missing]


def languages_table(plan: Plan, summary: RunSummary) -> Table:
    """One row a language, one column a task: the mean over the seeds, and how far they are apart."""
    by_task = _scores_by_language(plan)
    languages = dict.fromkeys(language for scores in by_task.values() for language in scores)
    title = f"{summary.system}, {summary.regime}, {summary.split}: {_seeds(plan.seeds)}"
    table = Table(title, ("language", *by_task))
    for language in languages:
        table.add(language, *(_mean_and_range(scores.get(language, [])) for scores in by_task.values()))
    table.add("mean", *(_task_mean(summary.tasks.get(name)) for name in by_task), strong=True)
    table.notes = ["mean over the seeds (smallest–largest)"] * (plan.seeds > 1) + _partial_notes(
        _missing_cells(summary)
    )
    return table


def _task_mean(over: OverSeeds | None) -> str:
    return "–" if over is None else _mean_and_range([*over.seeds.values()], "*" * bool(over.missing))


def _seeds(count: int) -> str:
    return f"{count} seed{'s' if count > 1 else ''}"


def _scores_by_language(plan: Plan) -> dict[str, dict[str, list[float]]]:
    """The scores of every task by language, one a seed that has it."""
    scores: dict[str, dict[str, list[float]]] = {name: {} for name in plan.request.tasks}
    for cell, record in read_records(plan, plan.cells).items():
        if record.score is not None:
            scores[cell.task].setdefault(cell.language, []).append(record.score.score)
    return scores


def _mean_and_range(values: list[float], mark: str = "") -> str:
    """The mean of the seeds' scores, with the smallest and the largest where there are several."""
    if len(values) < 2:
        return score_text(values[0]) + mark if values else "–"
    return f"{score_text(fmean(values))}{mark} ({interval_text(min(values), max(values))})"


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
