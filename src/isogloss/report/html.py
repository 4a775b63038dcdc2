"""The report as one HTML file that needs nothing but itself: no server, no network."""

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any
from urllib.parse import quote

from isogloss.escaping import html_text
from isogloss.explain.model import Explanation
from isogloss.report.bias_section import bias_data
from isogloss.report.charts import Chart, chart_library
from isogloss.report.flat_rows import Systems
from isogloss.report.headline import headline
from isogloss.report.inputs import ReportInputs
from isogloss.report.page_data import explain_data
from isogloss.report.page_parts import (
    filled_page,
    inside_script,
    packaged_file,
    packaged_module,
    page_json,
    script_hashes,
    strict_script,
)
from isogloss.report.panels import panel_html, scrolling_region, sorting_head
from isogloss.report.score_tables import mark_legend
from isogloss.report.section import Section
from isogloss.report.tables import Table
from isogloss.scoring.names import known_language
from isogloss.scoring.results import Results
from isogloss.version import __version__

# Cells, as task and language, that have an explanation, which tables link to.
ExplainedCells = Collection[tuple[str, str]]
# The last of them starts what the others define.
SCRIPTS = ("theme.js", "elements.js", "explain_pairs.js", "explain.js", "survey.js", "page.js")
# A part of a whole, which is also drawn.
PART = re.compile(r"(\d+) of (\d+)")
READY = "document.documentElement.dataset.ready = String(Math.round(performance.now()));"
# A page should stay below this many bytes; examples are left out for that.
MOST_BYTES = 5_950_000


def html_page(inputs: ReportInputs, sections: Sequence[Section], title: str) -> str:
    """The whole page: style, script, data and the drawing library are inside."""
    explanations = inputs.explained.explanations
    cells = {(facet.task, facet.language) for found in explanations.values() for facet in found.facets}
    parts = {
        "title": html_text(title),
        "version": html_text(__version__),
        "subtitle": _subtitle(inputs),
        "headline": _headline(inputs.systems, sections),
        "style": packaged_file("look.css") + packaged_file("style.css"),
        "contents": "".join(f'<li><a href="#{part.id}">{html_text(part.title)}</a></li>' for part in sections),
        "sections": "\n".join(_section(part, cells) for part in sections),
        "bundle": inside_script(chart_library().javascript_bundle()),
        "script": strict_script(*map(packaged_module, SCRIPTS), f"{READY}\n"),
    }
    parts["hashes"] = script_hashes(parts["bundle"], parts["script"])
    parts["data"] = _data(inputs, sections, MOST_BYTES - sum(len(part.encode()) for part in parts.values()))
    return filled_page("template.html", parts)


def _subtitle(inputs: ReportInputs) -> str:
    shown: Mapping[str, Results | Explanation] = inputs.systems or inputs.explained.explanations
    bias = inputs.explained.bias
    if not shown and bias is not None:
        tasks = ", ".join(dict.fromkeys(each.task for each in bias.distributions))
        return f"The data of {html_text(tasks)} ({html_text(bias.split)}); no system was asked"
    if not shown:
        return html_text(inputs.subtitle)
    names = ", ".join(f"<bdi>{html_text(name)}</bdi>" for name in shown)
    suites = ", ".join(sorted({f"{html_text(r.suite)} ({html_text(r.split)})" for r in shown.values()}))
    return f"{names} on {suites}; scores 0–100 with 95 % intervals"


def _headline(systems: Systems, sections: Sequence[Section]) -> str:
    """What the page says first, and what the marks beside its figures mean."""
    first, *others = headline(systems, lambda name: f"<bdi>{html_text(name)}</bdi>") or [""]
    lines = [f'<p class="headline">{first}</p>'] * bool(first) + [f'<p class="soft">{line}</p>' for line in others]
    figures = (cell for part in sections for table in part.tables.values() for row in table.rows for cell in row)
    marks = mark_legend(figures) if systems else ""
    return "\n".join([*lines, *([f'<p class="legend">{html_text(marks)}</p>'] if marks else [])])


def _data(inputs: ReportInputs, sections: Sequence[Section], room: int) -> str:
    """Everything the script draws, as JSON of at most about `room` bytes."""
    # Lines below a chart are the page's own, which are broken where it is narrow.
    shown = {
        chart.name: {key: value for key, value in chart.spec.items() if key != "title"}
        for part in sections
        if not part.panel
        for chart in part.charts
    }
    data: dict[str, Any] = {"charts": shown, "languages": _search_words(inputs)}
    if inputs.explained.bias is not None:
        data["survey"] = bias_data(inputs.explained.bias)
    if inputs.explained.explanations:
        data["explain"] = explain_data(inputs.explained, inputs.systems, room - len(page_json(data).encode()))
    return page_json(data)


def _search_words(inputs: ReportInputs) -> Mapping[str, str]:
    """What each language is found by: its names, family, branch and script."""
    codes = {cell.language for results in inputs.systems.values() for cell in results.cells}
    explained = inputs.explained
    codes |= {facet.language for found in explained.explanations.values() for facet in found.facets}
    codes |= {each.language for each in explained.bias.distributions} if explained.bias else set()
    codes |= {*inputs.languages}
    words = {}
    for code in sorted(codes):
        entry = known_language(code)
        found = (entry.name, entry.autonym, entry.family, entry.branch, entry.script) if entry else ()
        words[code] = " ".join((code, *found)).lower()
    return words


def _section(section: Section, cells: ExplainedCells) -> str:
    body = [f'<section id="{section.id}" aria-labelledby="{section.id}-title">']
    body.append(f'<h2 id="{section.id}-title">{html_text(section.title)}</h2>')
    body.append(f'<p class="intro">{html_text(section.intro)}</p>')
    if section.panel:
        body.append(panel_html(section.panel))
    figures = "" if section.panel else "".join(_figure(chart, section) for chart in section.charts)
    shown = {name: table for name, table in section.tables.items() if name not in section.only_files}
    tables = "\n".join(_folded_table(name, table, section, cells) for name, table in shown.items())
    parts = [f'<div class="figures">{figures}</div>'] * bool(figures) + [f'<div class="tables">{tables}</div>'] * bool(
        tables
    )
    body.append(f'<div class="parts">{"".join(parts)}</div>')
    body += _notes(section.notes)
    files = [_table_files(name, section, section.tables[name].title) for name in section.only_files]
    if files:
        body.append(f'<details class="beside"><summary>Tables, as files</summary>{"".join(files)}</details>')
    return "\n".join([*body, "</section>"])


def _figure(chart: Chart, section: Section) -> str:
    place = f'<div class="chart" data-chart="{html_text(chart.name)}"></div>'
    # What has no steps of its own takes the width there is.
    kind = ' class="stretch"' if isinstance(chart.spec.get("width"), int) else ""
    files = _files("charts", chart.name, ("svg", "png")) if section.files and section.pictures else ""
    return (
        f"<figure{kind}><h3>{html_text(chart.title)}</h3>{scrolling_region(f'{chart.title}, chart', place)}"
        f"{''.join(_notes(chart.footnotes))}{files}</figure>"
    )


def _files(folder: str, name: str, suffixes: Sequence[str], what: str = "") -> str:
    links = " · ".join(f'<a href="{folder}/{name}.{suffix}">{suffix.upper()}</a>' for suffix in suffixes)
    return f'<p class="files">{html_text(what or "Beside this page")}: {links}</p>'


def _table_files(name: str, section: Section, what: str = "") -> str:
    return _files("tables", name, ("csv", "md", "tex"), what) if section.files else ""


def _folded_table(name: str, table: Table, section: Section, cells: ExplainedCells) -> str:
    """A table that can be folded away; the first section's stands open."""
    state = " open" if section.id == "overview" else ""
    printed = "" if section.reference and len(table.rows) > 100 else " data-print"
    below = "".join(_notes(table.notes))
    return (
        f"<details{state}{printed}><summary>{html_text(table.title)}, table ({len(table.rows)} rows)</summary>"
        f"{scrolling_region(f'{table.title}, table', _table(table, cells), tall=True)}"
        f"{below}{_table_files(name, section)}</details>"
    )


def _notes(notes: Sequence[str]) -> list[str]:
    items = "".join(f'<li dir="auto">{html_text(note)}</li>' for note in notes)
    return [f'<ul class="notes">{items}</ul>'] if items else []


def _table(table: Table, cells: ExplainedCells) -> str:
    heads = "".join(
        sorting_head(f"<bdi>{html_text(text)}</bdi>" if text else "", _number(table, column))
        for column, text in enumerate(table.header)
    )
    rows = "".join(_row(table, number, cells) for number in range(len(table.rows)))
    caption = f'<caption class="sr">{html_text(table.title)}</caption>'
    return f"<table>{caption}<thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>"


def _row(table: Table, number: int, cells: ExplainedCells) -> str:
    row = dict(zip(range(len(table.header)), table.rows[number], strict=True))
    code = _row_language(table, number)
    attributes = f' data-language="{html_text(code)}"' if code else ""
    attributes += ' class="strong"' if number in table.strong else ""
    content = "".join(_cell(table, column, text, code, cells) for column, text in row.items())
    return f"<tr{attributes}>{content}</tr>"


def _row_language(table: Table, number: int) -> str:
    """The language that a row is of; "" where it is of none, or of several."""
    row = dict(zip(table.header, table.rows[number], strict=False))
    if "code" in row:
        return row["code"]
    entry = known_language(row["language"]) if "language" in row else None
    return entry.code if entry else ""


def _cell(table: Table, column: int, text: str, code: str, cells: ExplainedCells) -> str:
    head = table.header[column]
    shown = html_text(text)
    # Only text beyond ASCII can run from right to left.
    if column < table.words and not text.isascii():
        shown = f'<bdi dir="auto">{shown}</bdi>'
    entry = known_language(code) if head == "language" else None
    if entry:
        shown += f' <bdi lang="{entry.code}" dir="auto">{html_text(entry.autonym)}</bdi>'
    # A table has a column for each task, or one that names the task of each row.
    task = text if head == "task" else head
    if (task, code) in cells and text != "·":
        shown = f'<a href="#explain/{quote(task, safe="")}/{quote(code, safe="")}">{shown}</a>'
    if part := PART.fullmatch(text):
        shown += f' <progress value="{part[1]}" max="{part[2]}" aria-label="{html_text(head)}"></progress>'
    kind = ' class="long"' if len(text) > 40 else _number(table, column)
    # A row is told by what stands first in it, if anything does.
    return f'<th scope="row"{kind}>{shown}</th>' if shown and not column else f"<td{kind}>{shown}</td>"


def _number(table: Table, column: int) -> str:
    return "" if column < table.words else ' class="number"'
