"""The report before it has a form: sections of tables and charts, for several systems side by side."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any

from isogloss.explain.analysis import Analysis
from isogloss.explain.bias import Bias
from isogloss.languages import Language
from isogloss.report import charts
from isogloss.report.bias_section import SURVEY, survey_section
from isogloss.report.explain_io import Explained
from isogloss.report.explain_section import explain_charts, explain_table, shades, slug
from isogloss.report.explain_tables import EDGES, analysis_tables, bias_tables
from isogloss.report.flat_rows import Cell, Mean, autonym, cells, gaps, grouped, label, summaries, tasks_of
from isogloss.report.inputs import Inputs
from isogloss.report.pairwise_section import difference_charts, difference_table, versus_section
from isogloss.report.scores import figure, span
from isogloss.report.section import Section
from isogloss.report.tables import Table
from isogloss.scoring.results import PairScores, Results

LEVELS = ("overall", "category", "task")
CELL_HINTS = {"name": "language", "autonym": "autonym", "task": "task", "system": "system", "detail": "metrics"}

EXPLAIN = "Scores by what the examples are like, with 95 % intervals. Choose a bucket to see which examples it holds."


def sections(inputs: Inputs) -> list[Section]:
    """Everything there is to show, the most important first."""
    found, explained = cells(inputs.systems), inputs.explained
    parts = [_overview(inputs.systems), _languages(inputs.systems, found), _groups(inputs.systems, found)]
    if gaps(inputs.systems, found):
        parts.append(_gap(inputs.systems, found))
    if any(results.pairs for results in inputs.systems.values()):
        parts.append(_pairs(inputs.systems))
    if explained.pairs:
        parts.append(versus_section(explained.pairs))
    if explained.explanations:
        parts.append(_explain(explained, inputs.systems))
    if explained.survey is not None:
        parts.append(survey_section(explained.survey))
    return [*parts, _provenance(inputs.systems)]


def analysis_sections(analysis: Analysis) -> list[Section]:
    """An analysis by itself, on a page that nothing lies beside: what to choose from, and the tables in full."""
    tables = {f"analysis-{place}": table for place, table in enumerate(analysis_tables(analysis), 1)}
    intro = "What isogloss explain prints: buckets, differences between systems, and the examples that were kept."
    return [
        Section("explain", "Explain", _about(analysis.edges), panel="explain", files=False),
        Section("tables", "Tables", intro, tables, reference=True, files=False),
    ]


def bias_sections(survey: Bias) -> list[Section]:
    """A survey by itself, on a page that nothing lies beside."""
    tables = {f"survey-{place}": table for place, table in enumerate(bias_tables(survey), 1)}
    return [
        Section("survey", "Data", SURVEY, panel="survey", files=False),
        Section("tables", "Tables", "What isogloss explain --bias prints.", tables, reference=True, files=False),
    ]


def _system(systems: Mapping[str, Any], name: str) -> tuple[str, ...]:
    """The cell that names the system, where there are several."""
    return (name,) if len(systems) > 1 else ()


def _overview(systems: Mapping[str, Results]) -> Section:
    rows = list(summaries(systems))
    names = list(dict.fromkeys(row.name for level in LEVELS for row in rows if row.level == level))
    by_place = {(row.name, row.system): row for row in rows}
    header = [part for name in systems for part in (name, "95 %")]
    table = Table("Overview", ("average", "languages", *header), words=2)
    for name in names:
        of = [by_place.get((name, system)) for system in systems]
        shown = [
            part
            for row in of
            for part in ((figure(row.score) + "*" * row.missing, span(row.score)) if row else ("·", ""))
        ]
        first = next(row for row in of if row)
        table.add(name, first.languages, *shown, strong=first.level != "task")
    if any(row.missing for row in rows):
        table.notes.append("* over a part: see Provenance for what is missing")
    notes = dict.fromkeys(results.overall.note for results in systems.values() if results.overall.note)
    table.notes += list(notes)
    records = [
        {
            "system": row.system,
            "name": row.name,
            "score": row.score.value,
            "low": row.score.low,
            "high": row.score.high,
            "n": row.score.n,
        }
        for row in rows
    ]
    strong = len({row.name for row in rows if row.level != "task"})
    chart = charts.dots("overview", "Averages", records, names, strong)
    intro = "Task averages over languages, category averages over tasks, and the overall figure by the suite's rule."
    return Section("overview", "Overview", intro, {"overview": table}, [chart])


def _cell_record(cell: Cell) -> dict[str, Any]:
    return {
        "system": cell.system,
        "task": cell.task,
        "language": cell.language,
        "name": label(cell.language),
        "autonym": autonym(cell.language),
        "score": round(cell.score, 2),
        "detail": cell.detail,
    }


def _languages(systems: Mapping[str, Results], found: list[Cell]) -> Section:
    tasks = tasks_of(systems)
    codes = sorted({cell.language for cell in found}, key=label)
    by_place = {(cell.system, cell.language, cell.task): cell for cell in found}
    system = _system(systems, "system")
    table = Table("Scores by language", ("code", "language", *system, *tasks), words=2 + len(system))
    for code in codes:
        for name in systems:
            row = [by_place.get((name, code, task)) for task in tasks]
            if any(row):
                shown = [f"{cell.score:.1f}{_mark(cell, systems[name].split)}" if cell else "·" for cell in row]
                table.add(code, label(code), *_system(systems, name), *shown)
    marks = "".join(cell for row in table.rows for cell in row)
    table.notes += ["† partial gold, in no average"] * ("†" in marks) + ["‡ dev, the others test"] * ("‡" in marks)
    order = [label(code) for code in codes]
    records = [_cell_record(cell) for cell in found]
    chart = charts.heat_map(
        "languages", "Task by language", records, x=("task", tasks), y=("name", order), hints=CELL_HINTS
    )
    intro = "One score a cell: the mean of the metrics a task is known by. Dark is low; empty cells were not scored."
    return Section("languages", "Languages", intro, {"languages": table}, [chart])


def _mark(cell: Cell, split: str) -> str:
    return "†" * cell.found.partial + "‡" * (split == "best" and cell.found.split == "dev")


def _groups(systems: Mapping[str, Results], found: list[Cell]) -> Section:
    tasks = tasks_of(systems)
    intro = "Means over the languages of a family or script, which differ in number from task to task."
    section = Section("groups", "Families and scripts", intro)

    def family(entry: Language) -> str:
        return entry.family

    def script(entry: Language) -> str:
        return entry.script

    for name, title, group in (("families", "By family", family), ("scripts", "By script", script)):
        means = grouped(found, group)
        section.tables[name] = _group_table(title, means, systems, tasks)
        order = list(dict.fromkeys(mean.group for mean in means))
        hints = {"group": name, "task": "task", "system": "system", "score": "mean", "languages": "languages"}
        records = [{**asdict(mean), "score": round(mean.score, 2)} for mean in means]
        chart = charts.heat_map(name, title, records, x=("task", tasks), y=("group", order), hints=hints)
        section.charts.append(charts.fixed(chart))
    return section


def _group_table(title: str, means: list[Mean], systems: Mapping[str, Results], tasks: list[str]) -> Table:
    system = _system(systems, "system")
    table = Table(title, ("group", *system, *tasks), words=1 + len(system))
    by_place = {(mean.group, mean.system, mean.task): mean for mean in means}
    for group in dict.fromkeys(mean.group for mean in means):
        for name in systems:
            row = [by_place.get((group, name, task)) for task in tasks]
            if any(row):
                shown = [f"{mean.score:.1f} ({mean.languages})" if mean else "·" for mean in row]
                table.add(group, *_system(systems, name), *shown)
    table.notes = ["in brackets: how many languages"]
    return table


def _gap(systems: Mapping[str, Results], found: list[Cell]) -> Section:
    tasks, rows = tasks_of(systems), gaps(systems, found)
    table = Table("Transfer gap", ("task", "system", "English", "others", "gap", "95 %", "languages"), words=2)
    for row in sorted(rows, key=lambda row: tasks.index(row.task)):
        interval = "·" if row.low is None else f"{row.low:.1f} to {row.high:.1f}"
        table.add(
            row.task,
            row.system,
            f"{row.english:.1f}",
            f"{row.others:.1f}",
            f"{row.gap:.1f}",
            interval,
            str(row.languages),
        )
    table.notes = ["languages: how many others; tasks without English have no gap"]
    if any(row.low is None for row in rows):
        table.notes.append("·: a record of an earlier version, without resamples of English and the others together")
    chart = charts.gap_bars("gap", "Transfer gap", [{**asdict(row), "gap": row.gap} for row in rows], tasks)
    intro = (
        "English minus the mean of the other languages: what is lost on the way. 0 is perfect transfer. In intervals, "
        "examples that are translations of each other are drawn together."
    )
    return Section("gap", "Transfer gap", intro, {"gap": table}, [chart])


def _pairs(systems: Mapping[str, Results]) -> Section:
    intro = "Retrieval by language of the query (rows) and of the target (columns), pooled over all queries."
    section = Section("pairs", "Language pairs", intro)
    by_task: dict[str, dict[str, PairScores]] = {}
    for name, results in systems.items():
        for scores in results.pairs:
            by_task.setdefault(scores.task, {})[name] = scores
    for task, of in by_task.items():
        records = [record for name, scores in of.items() for record in _pair_records(name, scores)]
        queries = sorted({record["name"] for record in records})
        targets = sorted({record["target"] for record in records})
        hints = {"name": "query", "target": "target", "system": "system", "score": "score", "n": "queries"}
        metric = next(iter(of.values())).metric
        section.charts.append(
            charts.heat_map(
                slug(f"pairs-{task}"),
                f"{task}: {metric} by query and target language",
                records,
                x=("target", targets),
                y=("name", queries),
                hints=hints,
                columns=2 if len(targets) <= 12 else 1,
            )
        )
        section.tables[slug(f"pairs-{task}")] = _pair_table(task, of)
    return section


def _pair_records(system: str, scores: PairScores) -> Iterator[dict[str, Any]]:
    for query, row in scores.matrix.items():
        for target, number in row.items():
            place = {"system": system, "language": query, "name": label(query), "target": label(target)}
            yield {**place, "score": round(number.value, 2), "n": number.n}


def _pair_table(task: str, of: Mapping[str, PairScores]) -> Table:
    targets = sorted({target for scores in of.values() for row in scores.matrix.values() for target in row})
    system = _system(of, "system")
    table = Table(f"{task}: query by target", ("code", "language", *system, *targets), words=2 + len(system))
    for query in sorted({query for scores in of.values() for query in scores.matrix}):
        for name, scores in of.items():
            row = scores.matrix.get(query, {})
            table.add(query, label(query), *_system(of, name), *(figure(row.get(target)) or "·" for target in targets))
    for name, scores in of.items():
        subsets = "; ".join(f"{subset} {figure(number)} ({span(number)})" for subset, number in scores.subsets.items())
        table.notes.append(f"{name}: {subsets}")
    if any(scores.metric == "one-target" for scores in of.values()):
        table.notes.append("one-target: MRR@20 of one right answer at a time, the others taken out")
    return table


def _about(edges: str) -> str:
    return f"{EXPLAIN} Here: {EDGES[edges]}."


def _explain(found: Explained, systems: Mapping[str, Results]) -> Section:
    pictures = list(explain_charts(found.explanations, systems))
    tables = {"explain": explain_table(found.explanations)}
    if found.pairs:
        pictures += difference_charts(found.pairs, shades(found.explanations, systems))
        tables["differences-by-bucket"] = difference_table(found.pairs)
    only_files = tuple(tables)
    return Section("explain", "Explain", _about(found.edges), tables, pictures, panel="explain", only_files=only_files)


def _provenance(systems: Mapping[str, Results]) -> Section:
    about = Table("Systems", ("system", "what", "value"), words=3)
    missing = Table("What is missing", ("system", "average", "missing"), words=3)
    signatures = Table("Signatures", ("system", "task", "code", "language", "signature"), words=5)
    for name, results in systems.items():
        facts = {**results.system, "suite": results.suite, "split": results.split, "isogloss": results.isogloss}
        for key, value in {**facts, "schema version": results.schema_version}.items():
            about.add(name, key, str(value))
        for average in (*results.tasks, *results.categories):
            if average.missing:
                missing.add(name, average.name, " ".join(average.missing))
        if results.overall.missing:
            missing.add(name, "overall", " ".join(results.overall.missing))
        for cell in results.cells:
            signatures.add(name, cell.task, cell.language, label(cell.language), cell.signature)
    tables = {"systems": about, **({"missing": missing} if missing.rows else {}), "signatures": signatures}
    intro = "How every number was made: same signature, same task, metric, data and version."
    return Section("provenance", "Provenance", intro, tables, reference=True)
