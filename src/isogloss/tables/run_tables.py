"""Tables of a run: scores over the seeds, and why cells failed or were skipped."""

from collections.abc import Iterator, Mapping
from statistics import fmean

from isogloss.figures import counted, interval_text, score_text
from isogloss.grouping import group_by
from isogloss.reply_outcomes import ReplyCounts
from isogloss.runs.plan import CellKey, Plan
from isogloss.runs.records import CellRecord, read_records
from isogloss.runs.summary import RunSummary
from isogloss.scoring.results import CellScore
from isogloss.tables.formatting import interval_notes
from isogloss.tables.reply_tables import UNPARSED, UNPARSED_NOTE, unparsed_text
from isogloss.tables.score_tables import mark_notes, missing_notes
from isogloss.tables.table import Table

# Maximum number of lines per status.
LISTED = 10


def seeds_table(plan: Plan, summary: RunSummary) -> Table:
    """Return one row per task: mean over the seeds, its interval and spread; and the overall score."""
    title = f"{summary.system}, {summary.regime}, on {summary.suite}, {summary.split}: {counted(plan.seeds, 'seed')}"
    unparsed = [UNPARSED] * any(over.replies for over in summary.averages.values())
    table = Table(title, ("task", "mean", "95 %", "sd", "min", "max", *unparsed, "seeds"))
    for name, over in summary.averages.items():
        mean = score_text(over.mean) + "*" * bool(over.missing)
        spread = map(score_text, (over.sd, over.min, over.max))
        interval = interval_text(over.low, over.high)
        share = [unparsed_text(over.replies or None)] * len(unparsed)
        table.add(name, mean, interval, *spread, *share, str(len(over.seeds)), strong=name == "overall")
    shares = [f"{name} {over.seed_share:.0%}" for name, over in summary.averages.items() if over.seed_share is not None]
    table.notes = [f"share of the mean's variance due to seeds: {', '.join(shares)}"] if shares else []
    table.notes += interval_notes(table)
    table.notes += [UNPARSED_NOTE] * len(unparsed)
    table.notes += missing_notes(summary.overall.missing if summary.overall else _missing_cells(summary))
    return table


def _missing_cells(summary: RunSummary) -> list[str]:
    return [f"{name}/{code}" for name, over in summary.tasks.items() for code in over.missing]


def languages_table(plan: Plan, summary: RunSummary) -> Table:
    """Return one row per language, one column per task: mean and range over the seeds; no rows without scores."""
    by_task: dict[str, dict[str, list[float]]] = {name: {} for name in plan.request.tasks}
    partial: set[tuple[str, str]] = set()
    scored: list[CellScore] = []
    for cell, record in read_records(plan, plan.cells).items():
        if record.score is not None:
            by_task[cell.task].setdefault(cell.language, []).append(record.score.score)
            partial |= {(cell.task, cell.language)} if record.score.partial else set()
            scored.append(record.score)
    languages = dict.fromkeys(language for scores in by_task.values() for language in scores)
    title = f"{summary.system}, {summary.regime}, {summary.split}: {counted(plan.seeds, 'seed')}"
    unparsed = [UNPARSED] * any(cell.replies for cell in scored)
    table = Table(title, ("language", *by_task, *unparsed))
    for language in languages:
        replies = ReplyCounts.total(cell.replies for cell in scored if cell.language == language)
        marks = ("†" * ((name, language) in partial) for name in by_task)
        scores = (scores.get(language, []) for scores in by_task.values())
        table.add(language, *map(_mean_and_range, scores, marks), *[unparsed_text(replies)] * len(unparsed))
    means = [summary.tasks.get(name) for name in by_task]
    texts = (_mean_and_range([*over.seeds.values()], "*" * bool(over.missing)) if over else "–" for over in means)
    every = ReplyCounts.total(cell.replies for cell in scored)
    if summary.tasks:
        table.add("mean", *texts, *[unparsed_text(every)] * len(unparsed), strong=True)
    table.notes = ["mean over the seeds (smallest–largest)"] * (plan.seeds > 1)
    table.notes += [UNPARSED_NOTE] * len(unparsed)
    table.notes += mark_notes("†" * bool(partial))
    table.notes += missing_notes(_missing_cells(summary))
    return table


def _mean_and_range(values: list[float], mark: str = "") -> str:
    """Return the mean over the seeds, with the smallest and the largest if there are several."""
    if len(values) < 2:
        return score_text(values[0]) + mark if values else "–"
    return f"{score_text(fmean(values))}{mark} ({interval_text(min(values), max(values))})"


def translation_lines(plan: Plan) -> list[str]:
    """Return one line per task and note on translated sets: lost answers, dropped examples, projected predictions."""
    if not (plan.regime.translated or plan.regime.asks_translated):
        return []
    noted: dict[tuple[str, str], list[str]] = {}
    for cell, record in read_records(plan, plan.cells).items():
        for note in record.score.notes if record.score else ():
            noted.setdefault((cell.task, note), []).append(cell.language)
    lines = [f"{name}/{','.join(dict.fromkeys(codes))}: {note}" for (name, note), codes in noted.items()]
    more = len(lines) - LISTED
    return [*lines[:LISTED], *([f"… and {more} more notes; see the records below .cells"] if more > 0 else [])]


def reason_lines(plan: Plan) -> list[str]:
    """Return why cells failed or were skipped, and why finished cells have no score."""
    records = read_records(plan, plan.cells)
    return list(grouped_reasons({cell: record for cell, record in records.items() if not record.score}))


def grouped_reasons(records: Mapping[CellKey, CellRecord]) -> Iterator[str]:
    """Yield one line per status and reason; reasons that differ only in the name of the cell are merged."""
    for status in ("failed", "skipped", "done"):
        cells = [cell for cell, record in records.items() if record.status == status]
        by_reason = group_by(cells, lambda cell: records[cell].general_reason)
        for first, *others in [*by_reason.values()][:LISTED]:
            more = f" and {len(others):,} more" if others else ""
            yield f"{status}: {first}{more}: {records[first].reason}"
        if len(by_reason) > LISTED:
            yield f"{status}: … and {len(by_reason) - LISTED} more reasons; see the records below .cells"
