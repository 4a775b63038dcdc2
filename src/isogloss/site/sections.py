"""Sections of a page in order: a report, an analysis, or dataset bias."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict
from typing import Any, Literal

from isogloss.analysis.api import analyze
from isogloss.analysis.finding import AnalysisError, Finding
from isogloss.errors import DataError
from isogloss.explain.analysis import Analysis
from isogloss.explain.bias import DatasetBias
from isogloss.figures import difference_interval_text, interval_text, rounded, score_text
from isogloss.plugins import load_object
from isogloss.results.averages import LEVELS, Systems, average_rows, gap_rows, group_rows, tasks_of
from isogloss.scoring.main_score import lower_is_better
from isogloss.scoring.names import autonym, language_name
from isogloss.scoring.results import PairScores
from isogloss.site.bias_section import BIAS_INTRO, bias_section
from isogloss.site.explain_section import explain_intro, explain_section, pairwise_section
from isogloss.site.page_parts import ReportInputs, Section
from isogloss.tables import charts, score_tables
from isogloss.tables.charts import Chart, ColourScale, Hint, Record, file_name, tenths
from isogloss.tables.contamination_tables import contamination_table
from isogloss.tables.coverage import coverage, coverage_table, same_cells, shared_chart, shared_scores, shared_table
from isogloss.tables.explain_io import explain_records
from isogloss.tables.explain_tables import analysis_tables, bias_tables
from isogloss.tables.findings import ROWS_ON_PAGE, finding_charts, finding_tables
from isogloss.tables.reply_tables import failure_table
from isogloss.tables.single_tables import ON_PAGE, calibration_tables
from isogloss.tables.table import Table
from isogloss.tasks.suites import SUITES

# Analyses that a report includes.
IN_REPORTS = ("families", "rankings", "saturation")


def report_sections(inputs: ReportInputs) -> list[Section]:
    """Return all sections of a report, the most important first."""
    explained, systems = inputs.explained, inputs.systems
    parts = [overview_section(systems), *reply_sections(systems), *contamination_sections(systems)]
    parts += [language_section(systems), group_section(systems)]
    if gap_rows(systems):
        parts.append(gap_section(systems))
    if any(system.record.pairs for system in systems.values()):
        parts.append(pair_section(systems))
    parts += suite_sections(systems)
    parts += finding_sections(systems)
    if explained.pairs:
        parts.append(pairwise_section(explained.pairs))
    if explained.explanations:
        parts.append(explain_section(explained, systems))
    if explained.bias is not None:
        parts.append(bias_section(explained.bias))
    intro = "Provenance of every number: equal signatures mean equal task, metric, data and version."
    tables = score_tables.provenance_tables(systems)
    return [*parts, Section(id="provenance", title="Provenance", intro=intro, tables=tables, reference=True)]


def suite_sections(systems: Systems) -> list[Section]:
    """Return the tables that suites define for their records, as in `isogloss score`."""
    tables: dict[str, Table] = {}
    for system in systems.values():
        name = system.record.suite
        made = load_object(SUITES[name].tables) if name in SUITES and SUITES[name].tables else lambda record: []
        for table in made(system.record):
            tables[f"suite-{len(tables) + 1}"] = table
    intro = "Tables of the suite itself, beside its published systems."
    return [Section(id="suite", title="The suite's own tables", intro=intro, tables=tables)] if tables else []


def finding_sections(systems: Systems) -> list[Section]:
    """Return the sections of analyses that the records allow."""
    findings = []
    for name in IN_REPORTS:
        with suppress(AnalysisError, DataError):
            findings.append(analyze(name, *(system.record for system in systems.values())))
    return [finding_section(finding) for finding in findings]


def finding_section(finding: Finding, *, files: bool = True) -> Section:
    """Return the section of a finding; long tables are files, or cut if the page has no files."""
    taken: set[str] = set()
    names = [file_name(f"{finding.analysis}-{table.name}", taken) for table in finding.tables]
    longest = max((len(table.rows) for table in finding.tables), default=0)
    long = [name for name, table in zip(names, finding.tables, strict=True) if len(table.rows) > ROWS_ON_PAGE]
    return Section(
        id=finding.analysis,
        title=finding.title,
        intro=finding.reading,
        tables=dict(zip(names, finding_tables(finding, most=max(ROWS_ON_PAGE, longest * files)), strict=True)),
        charts=finding_charts(finding),
        only_files=tuple(long) if files else (),
        notes=tuple(finding.notes),
        files=files,
    )


def analysis_sections(analysis: Analysis) -> list[Section]:
    """Return the sections of an analysis: the panel, and all tables."""
    calibration = calibration_tables(explain_records(analysis).explanations)
    calibrated = {ON_PAGE: calibration[ON_PAGE]} if calibration else {}
    about = explain_intro(analysis.edges, analysis.correction)
    intro = "Tables of isogloss explain: buckets, differences between systems, and listed examples."
    return [
        Section(id="explain", title="Explain", intro=about, tables=calibrated, panel="explain", files=False),
        _all_tables("analysis", intro, analysis_tables(analysis)),
    ]


def bias_sections(bias: DatasetBias) -> list[Section]:
    """Return the sections of dataset bias."""
    return [
        Section(id="bias", title="Dataset bias", intro=BIAS_INTRO, panel="bias", files=False),
        _all_tables("bias", "Tables of isogloss explain --bias.", bias_tables(bias)),
    ]


def _all_tables(name: str, intro: str, tables: Sequence[Table]) -> Section:
    named = {f"{name}-{number}": table for number, table in enumerate(tables, 1)}
    return Section(id="tables", title="Tables", intro=intro, tables=named, reference=True, files=False)


def overview_section(systems: Systems) -> Section:
    """Return averages over languages, tasks and the whole suite."""
    # The chart has the overall figure on top; the table has it at the bottom, like a sum.
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
    task_names = {row.name for row in rows if row.level == "task"}
    errors = bool(task_names) and all(map(lower_is_better, task_names))
    what = "error rate, 0–100, lower is better, with 95 % interval" if errors else "score, 0–100, with 95 % interval"
    title = "Averages" if same_cells(systems) else "Averages over each system's own cells"
    chart = charts.average_dots("overview", title, records, names, strong=len(names) - len(task_names), what=what)
    chart = charts.with_footnotes(chart, score_tables.partial_summary(systems))
    intro = "Task averages over languages, category averages over tasks, and the overall figure by the suite's rule."
    section = Section(id="overview", title="Overview", intro=intro, charts=[chart])
    if len(systems) > 1 or not all(coverage(system.record).complete for system in systems.values()):
        section.tables["coverage"] = coverage_table(systems)
    shared = shared_scores(systems)
    if shared.places and not same_cells(systems):
        # Shared cells can be compared, so they come first.
        section.charts.insert(0, shared_chart(shared))
        section.tables["shared"] = shared_table(shared)
    section.tables["overview"] = score_tables.overview_table(systems)
    return section


def reply_sections(systems: Systems) -> list[Section]:
    """Return the replies of language models without an answer; nothing if all have one."""
    table = failure_table(systems)
    intro = "Replies of language models that gave no answer, by reason. They count as wrong in every score."
    return [Section(id="replies", title="Replies", intro=intro, tables={"replies": table})] if table else []


def contamination_sections(systems: Systems) -> list[Section]:
    """Return the probes for memorised examples; nothing if there are none."""
    findings = {name: system.contamination for name, system in systems.items() if system.contamination}
    intro = (
        "Continuations of examples by language models, compared with the dataset: signs that examples were in their "
        "training data. Scores are not changed."
    )
    tables = {"contamination": contamination_table(findings)}
    return [Section(id="contamination", title="Contamination", intro=intro, tables=tables)] if findings else []


def language_section(systems: Systems) -> Section:
    """Return every task in every language."""
    cells = score_tables.marked_cells(systems)
    order = [language_name(code) for code in sorted({cell.language for _, cell, _ in cells}, key=language_name)]
    fields = {"name": "language", "autonym": "autonym", "task": "task", "system": "system", "detail": "metrics"}
    records = [
        {
            "system": system,
            "task": cell.task,
            "language": cell.language,
            "name": language_name(cell.language),
            "autonym": autonym(cell.language),
            "score": rounded(cell.score),
            "label": score_text(cell.score, 0) + marks,
            "detail": "; ".join(
                f"{name} {score_text(number.value)} ({interval_text(number.low, number.high)}, n = {number.n:,})"
                for name, number in cell.metrics.items()
            ),
        }
        for system, cell, marks in cells
    ]
    maps = _task_heat_maps("languages", "Task by language", systems, records, y=("name", order), hints=tenths(fields))
    notes = score_tables.mark_notes("".join(marks for *_, marks in cells))
    pictures = [*pseudo_strip(systems), *(charts.with_footnotes(chart, notes) for chart in maps)]
    intro = "One score per cell: the mean of the task's main metrics. Darker means worse; empty cells were not scored."
    tables = {"languages": score_tables.language_table(systems)}
    return Section(id="languages", title="Languages", intro=intro, tables=tables, charts=pictures)


def pseudo_strip(systems: Systems) -> Iterator[Chart]:
    """Yield the scores of all languages by task, as in XTREME's Figure 1, if some are on pseudo test sets."""
    cells = [(name, system.record, cell) for name, system in systems.items() for cell in system.record.cells]
    cells = [each for each in cells if not lower_is_better(each[2].task)]
    if not any(record.is_apart(cell) for _, record, cell in cells):
        return
    records = [
        {
            "system": name,
            "task": cell.task,
            "language": cell.language,
            "name": language_name(cell.language),
            "score": rounded(cell.score),
            "pseudo": record.is_apart(cell),
            "test_set": "pseudo (machine-translated)" if record.is_apart(cell) else "human",
        }
        for name, record, cell in cells
    ]
    tasks = [task for task in tasks_of(systems) if any(record["task"] == task for record in records)]
    chart = charts.language_strip("pseudo", "Languages by task; hollow: pseudo test sets", records, tasks)
    yield charts.with_footnotes(
        chart, [f"hollow: {score_tables.PSEUDO_NOTE.removeprefix(score_tables.PSEUDO).strip()}"]
    )


def group_section(systems: Systems) -> Section:
    """Return means over language families and scripts."""
    intro = (
        "Means over the languages of a family or script, which differ in number from task to task. Darker means worse."
    )
    section = Section(id="groups", title="Families and scripts", intro=intro)
    groups: dict[str, Literal["family", "script"]] = {"families": "family", "scripts": "script"}
    for name, by in groups.items():
        section.tables[name] = score_tables.group_table(systems, by)
        rows = group_rows(systems, by)
        order = list(dict.fromkeys(row.group for row in rows))
        fields = {"group": by, "task": "task", "system": "system", "score": "mean", "languages": "languages"}
        records = [
            {**asdict(row), "score": rounded(row.score), "label": score_text(row.score, 0) + "*" * row.partial}
            for row in rows
        ]
        pictures = _task_heat_maps(name, f"By {by}", systems, records, y=("group", order), hints=tenths(fields))
        notes = score_tables.partial_summary(systems) if any(row.partial for row in rows) else []
        section.charts.extend(charts.with_footnotes(charts.without_filter(chart), notes) for chart in pictures)
    return section


def _task_heat_maps(
    name: str, title: str, systems: Systems, records: Sequence[Record], *, y: tuple[str, list[str]], hints: list[Hint]
) -> Iterator[Chart]:
    """Yield heat maps with one column per task; error rates have their own map, in which high is dark."""
    maps: tuple[tuple[bool, str, str, ColourScale], ...] = (
        (False, name, title, charts.SCORE_SCALE),
        (True, f"{name}-errors", f"{title}: error rates", charts.ERROR_SCALE),
    )
    for errors, file, heading, scale in maps:
        tasks = [task for task in tasks_of(systems) if lower_is_better(task) == errors]
        if inside := [record for record in records if record["task"] in tasks]:
            yield charts.heat_map(file, heading, inside, x=("task", tasks), y=y, hints=hints, scale=scale)


def gap_section(systems: Systems) -> Section:
    """Return English against the other languages."""
    rows = gap_rows(systems)
    records = [
        {
            **asdict(row),
            **{key: rounded(getattr(row, key)) for key in ("english", "others", "gap")},
            **charts.interval_fields(row.low, row.high, difference_interval_text(row.low, row.high)),
        }
        for row in rows
    ]
    chart = charts.gap_bars("gap", "Transfer gap", records, tasks_of(systems))
    notes = score_tables.partial_summary(systems) if any(row.partial for row in rows) else []
    intro = (
        "English minus the mean of the other languages; 0 is perfect transfer. In intervals, translations of an "
        "example belong together."
    )
    tables = {"gap": score_tables.gap_table(systems)}
    # Gaps next to human or in-language scores, if there are any.
    with suppress(AnalysisError, DataError):
        finding = analyze("transfer-gap", *(system.record for system in systems.values()))
        tables["gap-ceilings"] = finding_tables(finding, most=len(finding.table("gaps").rows))[0]
    drawn = [charts.with_footnotes(chart, notes)]
    return Section(id="gap", title="Transfer gap", intro=intro, tables=tables, charts=drawn)


def pair_section(systems: Systems) -> Section:
    """Return retrieval by language of the query and of the target."""
    intro = "Retrieval by language of the query (rows) and of the target (columns), pooled over all queries."
    tables = {"pairs": score_tables.pair_table(systems)}
    section = Section(id="pairs", title="Language pairs", intro=intro, tables=tables)
    by_task: dict[str, dict[str, PairScores]] = {}
    for name, system in systems.items():
        for scores in system.record.pairs:
            by_task.setdefault(scores.task, {})[name] = scores
    for task, by_system in by_task.items():
        file = file_name(f"pairs-{task}")
        section.charts.append(_pair_heat_map(file, task, by_system))
        section.tables[file] = score_tables.pair_matrix_table(task, by_system)
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
    hints = tenths({"name": "query", "target": "target", "system": "system", "score": "score", "n": "queries"})
    title = f"{task}: {next(iter(by_system.values())).metric} by query and target language"
    x, y = ("target", targets), ("name", queries)
    return charts.heat_map(file, title, records, x=x, y=y, hints=hints)
