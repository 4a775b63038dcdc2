"""Results in notebooks: the tables of the command line as HTML and LaTeX, and the charts of the pages in Altair.

`isogloss.notebooks` calls these functions by name, since results are defined in packages that know no tables.
"""

import re
from functools import singledispatch
from importlib import import_module
from typing import Any

from msgspec.structs import replace

from isogloss.analysis.finding import Finding, TidyTable
from isogloss.errors import IsoglossError, unknown
from isogloss.escaping import html_text, printable_values
from isogloss.explain.analysis import Analysis
from isogloss.explain.bias import DatasetBias
from isogloss.explain.model import Explanation
from isogloss.figures import difference_interval_text, difference_text, p_text, rounded
from isogloss.notebooks import CAPTION, LEFT, html_table
from isogloss.plugins import load_object
from isogloss.results.averages import Systems
from isogloss.results.readers import system_of_record
from isogloss.scoring.comparison import Comparison, ScoreContrast, SystemOrder, SystemsComparison, averages_first
from isogloss.scoring.main_score import lower_is_better
from isogloss.scoring.names import distinct_names
from isogloss.scoring.results import Results
from isogloss.site.explain_section import explain_charts, pairwise_section
from isogloss.site.sections import language_section, overview_section, pair_section
from isogloss.tables.charts import Chart, difference_dots, difference_scale, heat_map, interval_fields, tenths
from isogloss.tables.comparison_tables import comparison_tables, systems_tables
from isogloss.tables.explain_tables import analysis_tables, bias_tables
from isogloss.tables.findings import finding_charts, finding_tables, shown_rows
from isogloss.tables.score_tables import score_tables
from isogloss.tables.table import Table, render
from isogloss.tables.vega import vega_spec
from isogloss.tasks.registry import TASKS
from isogloss.tasks.suites import SUITES

# Rows of a table in a notebook; files have all.
ROWS_SHOWN = 120
# Longer notes, such as lists of missing languages, are folded after so many characters.
_LONGEST_NOTE, _NOTE_SHOWN = 200, 100
# A score with its marks: 71.3, 71.3*, 71.3†.
_SCORE = re.compile(r"(\d+\.\d)[~*†‡°]*(?: \(\d+\))?")
# Look of a chart's title: pages have it above the chart.
_TITLE = {"anchor": "start", "frame": "group", "fontSize": 13, "subtitleFontSize": 12, "offset": 10}
# Viridis at equal steps from 0 to 100, as in the charts; dark is low.
_VIRIDIS = ((68, 1, 84), (59, 82, 139), (33, 145, 140), (94, 201, 98), (253, 231, 37))


@singledispatch
def tables_of(record: Any) -> list[Table]:
    """Return the tables that the command line prints for a record."""
    raise TypeError(f"no tables of {type(record).__name__}")


@tables_of.register
def _(record: Results) -> list[Table]:
    own = load_object(SUITES[record.suite].tables) if record.suite in SUITES and SUITES[record.suite].tables else None
    return [*score_tables(_systems(record)), *(own(record) if own else [])]


@tables_of.register
def _(record: Comparison) -> list[Table]:
    return comparison_tables(record)


@tables_of.register
def _(record: SystemsComparison) -> list[Table]:
    return systems_tables(record)


@tables_of.register
def _(record: Analysis) -> list[Table]:
    return analysis_tables(record)


@tables_of.register
def _(record: DatasetBias) -> list[Table]:
    return bias_tables(record)


@tables_of.register
def _(record: Finding) -> list[Table]:
    return finding_tables(record)


@tables_of.register
def _(record: TidyTable) -> list[Table]:
    return [shown_rows(record, record.shown or ROWS_SHOWN)]


@singledispatch
def charts_of(record: Any) -> list[Chart]:
    """Return the charts of a record, the most important first."""
    raise TypeError(f"no charts of {type(record).__name__}")


@charts_of.register
def _(record: Results) -> list[Chart]:
    systems = _systems(record)
    pairs = pair_section(systems).charts if record.pairs else []
    return [*language_section(systems).charts, *overview_section(systems).charts, *pairs]


@charts_of.register
def _(record: Comparison) -> list[Chart]:
    averages = [*([record.overall] if record.overall else []), *record.tasks]
    charts = []
    for name, rows, strong in (("averages", averages, len(averages) - len(record.tasks)), ("cells", record.cells, 0)):
        title, records = f"{record.first} against {record.second}: {name}", [_difference(record, row) for row in rows]
        charts.append(difference_dots(name, title, records, (record.first, record.second), strong=strong))
    return charts


def _difference(record: Comparison, row: ScoreContrast) -> dict[str, Any]:
    low, high = row.interval_for_all
    return {
        "name": row.label,
        **{name: rounded(getattr(row, name)) for name in ("first", "second", "difference")},
        **interval_fields(low, high, difference_interval_text(low, high)),
        "p": p_text(row.p),
        "better": {"first": record.first, "second": record.second, "": ""}[row.winner],
    }


@charts_of.register
def _(record: SystemsComparison) -> list[Chart]:
    if not record.orders:
        return charts_of(record.pairs[0])
    return [_differences_of_pairs(record, order) for order in averages_first(record.orders)]


def _differences_of_pairs(record: SystemsComparison, order: SystemOrder) -> Chart:
    """Return the differences of all pairs overall or on a task as a heat map, the best system first."""
    records: list[dict[str, Any]] = []
    for pair in record.pairs:
        [row] = (row for row in pair.averages() if (row.level, row.name) == (order.level, order.name))
        mark = " ●" * row.significant
        for first, second, difference in (
            (pair.first, pair.second, row.difference),
            (pair.second, pair.first, -row.difference),
        ):
            own = {"row": first, "column": second, "difference": rounded(difference), "p": p_text(row.p)}
            ahead = rounded(-difference if row.lower_is_better else difference)
            records.append({**own, "ahead": ahead, "label": f"{difference_text(difference)}{mark}"})
    hints = tenths({name: name for name in ("row", "column", "difference", "p")})
    scale = difference_scale(max(5.0, *(abs(each["ahead"]) for each in records)))
    title = f"{order.label}: row minus column, ● p < 0.05"
    x, y = ("column", order.systems), ("row", order.systems)
    return heat_map(order.name or order.level, title, records, x=x, y=y, hints=hints, scale=scale)


@charts_of.register
def _(record: Analysis) -> list[Chart]:
    differences = pairwise_section(record.pairs).charts if record.pairs else []
    # Scores by bucket, first of the attributes with findings.
    names = distinct_names([str(single.system["name"]) for single in record.explanations])
    sorted_facets = (sorted(single.facets, key=lambda facet: not facet.insight) for single in record.explanations)
    singles = map(lambda single, facets: replace(single, facets=facets), record.explanations, sorted_facets)
    return [*differences, *explain_charts(dict(zip(names, singles, strict=True)), names)]


@charts_of.register
def _(record: Finding) -> list[Chart]:
    return finding_charts(record)


def _systems(record: Results) -> Systems:
    name = str(record.system.get("name", ""))
    return {name: system_of_record(record, name)}


def html(record: Any) -> str:
    """Return the tables of a record as HTML; scores by language are a heat map."""
    tables = tables_of(record)
    if isinstance(record, Comparison | SystemsComparison):  # the verdict is above the tables, not below the first
        for table in tables:
            table.notes = [note for note in table.notes if note != record.verdict()]
    return _introduction(record) + "".join(map(html_of_table, tables))


def _introduction(record: Any) -> str:
    """Return what a record says before its tables: its summary or verdict, or what is significant of each system."""
    if isinstance(record, Finding):
        return f"<p>{html_text(record.reading)}</p>"
    if isinstance(record, Comparison | SystemsComparison):
        return f"<p><b>{html_text(record.verdict())}</b></p>"
    if not isinstance(record, Analysis) or not record.pairs:  # the tables of a single system include its findings
        return ""
    rows = [(str(single.system["name"]), *finding) for single in record.explanations for finding in single.sentences]
    title = "Significant findings" + (f" ({record.correction})" if record.correction else "")
    return html_table(title, ("system", "cell", "finding"), rows)


def html_of_table(table: Table) -> str:
    """Return a table as HTML with inline styles, its notes below; columns of tasks are coloured by score."""
    by_task = [name if column >= table.words and name in TASKS else "" for column, name in enumerate(table.header)]
    lines = []
    sides = [LEFT if column < table.words else "" for column in range(len(table.header))]
    for number, row in enumerate(table.rows[:ROWS_SHOWN]):
        style = ' style="font-weight:bold"' if number in table.strong else ""
        cells = (_cell(text, task, side) for text, task, side in zip(row, by_task, sides, strict=True))
        lines.append(f"<tr{style}>{''.join(cells)}</tr>")
    left = len(table.rows) - ROWS_SHOWN
    notes = [*table.notes, *([f"{left:,} more rows: use to_pandas for all"] if left > 0 else [])]
    heading = "".join(f"<th{side}>{html_text(name)}</th>" for name, side in zip(table.header, sides, strict=True))
    legend = "<p><small>darker cells are worse</small></p>" * any("background" in line for line in lines)
    below = "".join(map(_note, notes))
    head = f"<caption{CAPTION}>{html_text(table.title)}</caption><tr>{heading}</tr>"
    shown = f'<table style="text-align:right">{head}{"".join(lines)}</table>'
    return shown + legend + f"<ul>{below}</ul>" * bool(below)


def _note(text: str) -> str:
    """Return a note as a list item; the end of a long one is folded."""
    if len(text) <= _LONGEST_NOTE:
        return f"<li>{html_text(text)}</li>"
    cut = max(text.rfind(mark, 0, _NOTE_SHOWN) for mark in " ,") + 1 or _NOTE_SHOWN
    start, rest = html_text(text[:cut]), html_text(text[cut:])
    return f"<li><details><summary>{start}…</summary>{rest}</details></li>"


def _cell(text: str, task: str, side: str) -> str:
    score = _SCORE.fullmatch(text) if task else None
    if score is None:
        return f"<td{side}>{html_text(text)}</td>"
    value = float(score[1])
    red, green, blue = _colour(100 - value if lower_is_better(task) else value)
    # The relative luminance at which black and white text have the same contrast.
    ink = "#000" if 0.2126 * red + 0.7152 * green + 0.0722 * blue > 118 else "#fff"
    return f'<td style="background:rgb({red},{green},{blue});color:{ink}">{html_text(text)}</td>'


def _colour(score: float) -> tuple[int, int, int]:
    """Return the colour of a score, 0..100."""
    place = min(max(score, 0.0), 100.0) / 100 * (len(_VIRIDIS) - 1)
    step = min(int(place), len(_VIRIDIS) - 2)
    low, high = _VIRIDIS[step], _VIRIDIS[step + 1]
    red, green, blue = (round(a + (b - a) * (place - step)) for a, b in zip(low, high, strict=True))
    return red, green, blue


def _only_system(record: Any) -> str:
    """Return the name of the system that a record is about, "" if there are several or none."""
    if isinstance(record, Analysis) and len(record.explanations) == 1:
        record = record.explanations[0]
    return str(record.system.get("name", "")) if isinstance(record, Results | Explanation) else ""


def latex(record: Any, *, siunitx: bool = False) -> str:
    """Return the tables of a record in LaTeX (booktabs), with numbers aligned by siunitx where a table supports it."""
    return render(tables_of(record), "siunitx" if siunitx else "latex")


def plot(record: Any, name: str = "") -> Any:
    """Return a chart of a record as an Altair chart, by default the first.

    Raises:
        IsoglossError: Altair is not installed, or the record has no chart.
        UnknownNameError: unknown name of a chart.
    """
    charts = {chart.name: chart for chart in charts_of(record)}
    if not charts:
        raise IsoglossError(f"there is no chart of {record!r}", fix="Use to_pandas and draw your own")
    if name and name not in charts:
        raise unknown("chart", name, charts)
    try:
        altair = import_module("altair")
    except ImportError:
        from isogloss.installation import install_command

        raise IsoglossError("altair is not installed", fix=f"Run {install_command('notebooks')}") from None
    chart = charts[name] if name else next(iter(charts.values()))
    name = _only_system(record)
    title = {"text": f"{name}: {chart.title}" if name else chart.title, **_TITLE}
    title |= {"subtitle": chart.footnotes} if chart.footnotes else {}
    spec = printable_values({**vega_spec(chart), "title": title})
    return altair.Chart.from_dict(spec)
