"""The report's sections on scores, for one system or several: each its tables and the charts drawn of them."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from isogloss.figures import difference_interval_text, interval_text, rounded, score_text
from isogloss.report import charts
from isogloss.report.charts import Chart, ColourScale, Record
from isogloss.report.coverage import coverage, coverage_table
from isogloss.report.finding_section import gap_ceilings
from isogloss.report.flat_rows import (
    LEVELS,
    CellRow,
    GroupRow,
    LanguageGroup,
    Systems,
    TransferGapRow,
    average_rows,
    cell_rows,
    gap_rows,
    group_rows,
    tasks_of,
)
from isogloss.report.score_tables import (
    cell_marks,
    gap_table,
    group_table,
    language_table,
    mark_notes,
    overview_table,
    pair_matrix_table,
    pair_table,
    partial_summary,
    provenance_tables,
)
from isogloss.report.section import Section, file_name
from isogloss.report.shared_cells import same_cells, shared_chart, shared_scores, shared_table
from isogloss.scoring.main_score import lower_is_better
from isogloss.scoring.names import autonym, language_name
from isogloss.scoring.results import PairScores


def score_sections(systems: Systems) -> list[Section]:
    """Everything result records have to show, the most important first."""
    sections = [overview_section(systems), language_section(systems), group_section(systems)]
    if gap_rows(systems):
        sections.append(gap_section(systems))
    if any(results.pairs for results in systems.values()):
        sections.append(pair_section(systems))
    return sections


def overview_section(systems: Systems) -> Section:
    """Averages over languages, tasks and the whole suite."""
    # The chart has the most important on top, the table below its parts, as sums stand.
    rows = sorted(average_rows(systems), key=lambda row: -LEVELS.index(row.level))
    records: list[dict[str, Any]] = [
        {
            "system": row.system,
            "name": f"{row.name}, {row.detail}" if row.level == "overall" else row.name,
            "score": rounded(row.score.value),
            **charts.interval_fields(row.score.low, row.score.high),
            "n": row.score.n,
            "coverage": row.coverage,
            "partial": row.partial,
        }
        for row in rows
    ]
    names = list(dict.fromkeys(record["name"] for record in records))
    of_tasks = {row.name for row in rows if row.level == "task"}
    errors = bool(of_tasks) and all(map(lower_is_better, of_tasks))
    what = "error rate, 0–100, lower is better, with 95 % interval" if errors else "score, 0–100, with 95 % interval"
    title = "Averages" if same_cells(systems) else "Averages, each system over what it has"
    chart = charts.average_dots("overview", title, records, names, strong=len(names) - len(of_tasks), what=what)
    chart = charts.with_footnotes(chart, partial_summary(systems))
    intro = "Task averages over languages, category averages over tasks, and the overall figure by the suite's rule."
    section = Section("overview", "Overview", intro, charts=[chart])
    if len(systems) > 1 or not all(coverage(results).complete for results in systems.values()):
        section.tables["coverage"] = coverage_table(systems)
    shared = shared_scores(systems)
    if shared.places and not same_cells(systems):
        # What all have in common can be compared, and so comes before what each has by itself.
        section.charts.insert(0, shared_chart(shared))
        section.tables["shared"] = shared_table(shared)
    section.tables["overview"] = overview_table(systems)
    return section


def language_section(systems: Systems) -> Section:
    """Every task in every language."""
    cells = cell_rows(systems)
    order = [language_name(code) for code in sorted({cell.language for cell in cells}, key=language_name)]
    hints = {"name": "language", "autonym": "autonym", "task": "task", "system": "system", "detail": "metrics"}
    records = [_language_record(cell) for cell in cells]
    maps = _task_heat_maps("languages", "Task by language", systems, records, y=("name", order), hints=hints)
    notes = mark_notes("".join(map(cell_marks, cells)))
    pictures = [charts.with_footnotes(chart, notes) for chart in maps]
    intro = "One score a cell: the mean of the metrics a task is known by. Dark is bad; empty cells were not scored."
    return Section("languages", "Languages", intro, {"languages": language_table(systems)}, pictures)


def _language_record(cell: CellRow) -> dict[str, Any]:
    numbers = cell.record.metrics.items()
    return {
        "system": cell.system,
        "task": cell.task,
        "language": cell.language,
        "name": language_name(cell.language),
        "autonym": autonym(cell.language),
        "score": rounded(cell.score),
        "label": score_text(cell.score, 0) + cell_marks(cell),
        "detail": "; ".join(
            f"{name} {score_text(n.value)} ({interval_text(n.low, n.high)}, n = {n.n:,})" for name, n in numbers
        ),
    }


def group_section(systems: Systems) -> Section:
    """Means over language families, and over scripts."""
    intro = "Means over the languages of a family or script, which differ in number from task to task. Dark is bad."
    section = Section("groups", "Families and scripts", intro)
    groups: tuple[tuple[str, LanguageGroup], ...] = (("families", "family"), ("scripts", "script"))
    for name, by in groups:
        section.tables[name] = group_table(systems, by)
        rows = group_rows(systems, by)
        order = list(dict.fromkeys(row.group for row in rows))
        hints = {"group": by, "task": "task", "system": "system", "score": "mean", "languages": "languages"}
        records = [_group_record(row) for row in rows]
        pictures = _task_heat_maps(name, f"By {by}", systems, records, y=("group", order), hints=hints)
        notes = partial_summary(systems) if any(row.partial for row in rows) else []
        section.charts.extend(charts.with_footnotes(charts.without_filter(chart), notes) for chart in pictures)
    return section


def _group_record(row: GroupRow) -> dict[str, Any]:
    return {**asdict(row), "score": rounded(row.score), "label": score_text(row.score, 0) + "*" * row.partial}


def _task_heat_maps(
    name: str, title: str, systems: Systems, records: Sequence[Record], *, y: tuple[str, list[str]], hints: Record
) -> Iterator[Chart]:
    """One column a task; error rates, of which the high ones are dark, have a map of their own."""
    maps: tuple[tuple[bool, str, str, ColourScale], ...] = (
        (False, name, title, charts.SCORE_SCALE),
        (True, f"{name}-errors", f"{title}: error rates", charts.ERROR_SCALE),
    )
    for errors, file, heading, scale in maps:
        tasks = [task for task in tasks_of(systems) if lower_is_better(task) == errors]
        inside = [record for record in records if record["task"] in tasks]
        if inside:
            yield charts.heat_map(file, heading, inside, x=("task", tasks), y=y, hints=hints, scale=scale)


def gap_section(systems: Systems) -> Section:
    """English against the other languages."""
    rows = gap_rows(systems)
    chart = charts.gap_bars("gap", "Transfer gap", [_gap_record(row) for row in rows], tasks_of(systems))
    chart = charts.with_footnotes(chart, partial_summary(systems) if any(row.partial for row in rows) else [])
    intro = (
        "English minus the mean of the other languages: what is lost on the way. 0 is perfect transfer. In intervals, "
        "examples that are translations of each other are drawn together."
    )
    return Section("gap", "Transfer gap", intro, {"gap": gap_table(systems), **gap_ceilings(systems)}, [chart])


def _gap_record(row: TransferGapRow) -> dict[str, Any]:
    numbers = {"english": rounded(row.english), "others": rounded(row.others), "gap": rounded(row.gap)}
    interval = charts.interval_fields(row.low, row.high, difference_interval_text(row.low, row.high))
    return {**asdict(row), **numbers, **interval}


def pair_section(systems: Systems) -> Section:
    """Retrieval by language of the query and of the target."""
    intro = "Retrieval by language of the query (rows) and of the target (columns), pooled over all queries."
    section = Section("pairs", "Language pairs", intro, {"pairs": pair_table(systems)})
    by_task: dict[str, dict[str, PairScores]] = {}
    for name, results in systems.items():
        for scores in results.pairs:
            by_task.setdefault(scores.task, {})[name] = scores
    for task, by_system in by_task.items():
        file = file_name(f"pairs-{task}")
        section.charts.append(_pair_heat_map(file, task, by_system))
        section.tables[file] = pair_matrix_table(task, by_system)
    return section


def _pair_heat_map(file: str, task: str, by_system: dict[str, PairScores]) -> Chart:
    records: list[dict[str, Any]] = [
        {
            "system": name,
            "language": query,
            "name": language_name(query),
            "target": language_name(target),
            "score": rounded(number.value),
            "label": score_text(number.value, 0),
            "n": number.n,
        }
        for name, scores in by_system.items()
        for query, row in scores.matrix.items()
        for target, number in row.items()
    ]
    queries = sorted({record["name"] for record in records})
    targets = sorted({record["target"] for record in records})
    hints = {"name": "query", "target": "target", "system": "system", "score": "score", "n": "queries"}
    title = f"{task}: {next(iter(by_system.values())).metric} by query and target language"
    columns = 2 if len(targets) <= 12 else 1
    x, y = ("target", targets), ("name", queries)
    return charts.heat_map(file, title, records, x=x, y=y, hints=hints, columns=columns)


def provenance_section(systems: Systems) -> Section:
    """How every number was made."""
    intro = "How every number was made: same signature, same task, metric, data and version."
    return Section("provenance", "Provenance", intro, provenance_tables(systems), reference=True)
