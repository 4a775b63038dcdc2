"""The report as one self-contained HTML file that needs no server and no network."""

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any
from urllib.parse import quote

import msgspec
from msgspec import structs

from isogloss.escaping import html_text
from isogloss.explain.model import Explanation
from isogloss.figures import counted
from isogloss.languages import known_language, listed_language
from isogloss.scoring.results import Results
from isogloss.site.bias_section import bias_data
from isogloss.site.page_data import explain_data
from isogloss.site.page_parts import ReportInputs, Section, inlined_page, packaged_file, script_json
from isogloss.tables.charts import Chart
from isogloss.tables.headline import headline
from isogloss.tables.score_tables import mark_legend
from isogloss.tables.table import Table

# Explained cells, as task and language; tables link to them.
ExplainedCells = Collection[tuple[str, str]]
# Part of a whole, shown with a progress bar.
PART = re.compile(r"(\d+) of (\d+)")
# Characters from which a text may be broken anywhere.
LONG = 40
# Size limit of a page in bytes; examples are left out to meet it.
MOST_BYTES = 5_950_000


def html_page(inputs: ReportInputs, sections: Sequence[Section], title: str) -> str:
    """Return the whole page, with its style, script and data."""
    explanations = inputs.explained.explanations
    cells = {(facet.task, facet.language) for explanation in explanations.values() for facet in explanation.facets}
    # The first sentences, and the legend of marks.
    first, *others = headline(inputs.systems, lambda name: f"<bdi>{html_text(name)}</bdi>", inputs.data) or [""]
    lines = [f'<p class="headline">{first}</p>'] * bool(first) + [f'<p class="soft">{line}</p>' for line in others]
    figures = (cell for part in sections for table in part.tables.values() for row in table.rows for cell in row)
    marks = mark_legend(figures) if inputs.systems else ""
    lines += [f'<p class="legend">{html_text(marks)}</p>'] * bool(marks)
    parts = {
        "subtitle": _subtitle(inputs),
        "headline": "\n".join(lines),
        "contents": "".join(f'<li><a href="#{part.id}">{html_text(part.title)}</a></li>' for part in sections),
        "sections": "\n".join(_section(part, cells) for part in sections),
    }
    return inlined_page("report", html_text(title), parts, lambda size: _data(inputs, sections, MOST_BYTES - size))


def _subtitle(inputs: ReportInputs) -> str:
    scored = {name: system.record for name, system in inputs.systems.items()}
    shown: Mapping[str, Results | Explanation] = scored or inputs.explained.explanations
    bias = inputs.explained.bias
    if not shown and bias is not None:
        tasks = ", ".join(dict.fromkeys(each.task for each in bias.distributions))
        return f"Dataset bias of {html_text(tasks)} ({html_text(bias.split)}), without any system"
    if not shown:
        return html_text(inputs.subtitle)
    names = ", ".join(f"<bdi>{html_text(name)}</bdi>" for name in shown)
    suites = ", ".join(sorted({f"{html_text(r.suite)} ({html_text(r.split)})" for r in shown.values()}))
    return f"{names} on {suites}; scores 0–100 with 95 % intervals"


def _data(inputs: ReportInputs, sections: Sequence[Section], room: int) -> dict[str, Any]:
    """Return the script's data, at most about `room` bytes as JSON."""
    charts = {chart.name: page_chart(chart) for part in sections if not part.panel for chart in part.charts}
    data: dict[str, Any] = {"charts": charts, "languages": _search_words(inputs)}
    if inputs.explained.bias is not None:
        data["bias"] = bias_data(inputs.explained.bias)
    if inputs.explained.explanations:
        data["explain"] = explain_data(inputs.explained, inputs.systems, room - len(script_json(data).encode()))
    return data


def page_chart(chart: Chart) -> dict[str, Any]:
    """Return a chart as the page draws it: its fields that are drawn or shown in a tooltip, without its footnotes."""
    used = {chart.x.field, chart.y.field, chart.text, chart.panel, chart.detail, chart.fitted, "language", "partial"}
    used |= {chart.hollow}
    used |= {field for field, _, _ in chart.hints} | {*(chart.interval or ())}
    used |= {chart.series.field} if chart.series else set()
    used |= {chart.scale.field} if chart.scale else set()
    fields = dict.fromkeys(key for record in chart.records for key in record if key in used)
    columns = {}
    for field in fields:
        # The distinct values, and the index of each record's value among them.
        keys = [(type(value), value) for value in (record.get(field) for record in chart.records)]
        index = {key: position for position, key in enumerate(dict.fromkeys(keys))}
        columns[field] = [[value for _, value in index], [index[key] for key in keys] if len(index) > 1 else len(keys)]
    made: dict[str, Any] = msgspec.to_builtins(structs.replace(chart, records=[], footnotes=[]))
    return {**made, "records": columns}


def _search_words(inputs: ReportInputs) -> Mapping[str, str]:
    codes = {cell.language for system in inputs.systems.values() for cell in system.record.cells}
    explained = inputs.explained
    codes |= {facet.language for each in explained.explanations.values() for facet in each.facets}
    codes |= {each.language for each in explained.bias.distributions} if explained.bias else set()
    codes |= {*inputs.languages}
    words = {}
    for code in sorted(codes):
        entry = known_language(code)
        names = (entry.name, entry.autonym, entry.family, entry.branch, entry.script) if entry else ()
        words[code] = " ".join((code, *names)).lower()
    return words


def _section(section: Section, cells: ExplainedCells) -> str:
    body = [
        f'<section id="{section.id}" aria-labelledby="{section.id}-title">',
        f'<h2 id="{section.id}-title">{html_text(section.title)}</h2>',
        f'<p class="intro">{html_text(section.intro)}</p>',
    ]
    if section.panel:
        body.append(packaged_file(f"panel_{section.panel}.html"))
    figures = "" if section.panel else "".join(_figure(chart, section) for chart in section.charts)
    shown = {name: table for name, table in section.tables.items() if name not in section.only_files}
    tables = "\n".join(_folded_table(name, table, section, cells) for name, table in shown.items())
    parts = [f'<div class="{kind}">{part}</div>' for kind, part in (("figures", figures), ("tables", tables)) if part]
    body.append(f'<div class="parts">{"".join(parts)}</div>')
    body += [_notes(section.notes)] if section.notes else []
    files = [_table_files(name, section, section.tables[name].title) for name in section.only_files]
    if files:
        body.append(f'<details class="beside"><summary>Tables as files</summary>{"".join(files)}</details>')
    return "\n".join([*body, "</section>"])


def _figure(chart: Chart, section: Section) -> str:
    content = f'<div class="chart" data-chart="{html_text(chart.name)}"></div>'
    # Tables are as wide as their columns; plots take the width of the page.
    kind = "" if chart.kind == "heatmap" else ' class="stretch"'
    files = _files("charts", chart.name, ("svg", "png")) if section.files and section.pictures else ""
    return (
        f"<figure{kind}><h3>{html_text(chart.title)}</h3>{_scrolling(f'{chart.title}, chart', content)}"
        f"{_notes(chart.footnotes)}{files}</figure>"
    )


def _files(folder: str, name: str, suffixes: Sequence[str], what: str = "") -> str:
    links = " · ".join(f'<a href="{folder}/{name}.{suffix}">{suffix.upper()}</a>' for suffix in suffixes)
    return f'<p class="files">{html_text(what or "Download")}: {links}</p>'


def _table_files(name: str, section: Section, what: str = "") -> str:
    return _files("tables", name, ("csv", "md", "tex"), what) if section.files else ""


def _folded_table(name: str, table: Table, section: Section, cells: ExplainedCells) -> str:
    state = " open" if section.id in ("overview", "replies") else ""
    printed = "" if section.reference and len(table.rows) > 100 else " data-print"
    rows = counted(len(table.rows), "row")
    return (
        f"<details{state}{printed}><summary>{html_text(table.title)}, table ({rows})</summary>"
        f"{_scrolling(f'{table.title}, table', _table(table, cells), 'scroll tall')}"
        f"{_notes(table.notes)}{_table_files(name, section)}</details>"
    )


def _notes(notes: Sequence[str]) -> str:
    items = "".join(f'<li dir="auto">{html_text(note)}</li>' for note in notes)
    return f'<ul class="notes">{items}</ul>' if items else ""


def _scrolling(what: str, content: str, kind: str = "scroll") -> str:
    """Return a part that scrolls on its own and can be reached by keyboard."""
    return f'<div class="{kind}" tabindex="0" role="region" aria-label="{html_text(what)}">{content}</div>'


def _table(table: Table, cells: ExplainedCells) -> str:
    heads = ""
    for column, text in enumerate(table.header):
        # Columns of marks have no heading and cannot be sorted.
        kind = "" if column < table.words else ' class="number"'
        button = f'<button type="button" class="sort"><bdi>{html_text(text)}</bdi></button>'
        heads += f'<th scope="col"{kind}>{button}</th>' if text else "<td></td>"
    rows = "".join(_row(table, number, cells) for number in range(len(table.rows)))
    caption = f'<caption class="sr">{html_text(table.title)}</caption>'
    # Rows of a table with a column of codes need no attribute for the filter.
    codes = f' data-codes="{table.header.index("code")}"' if "code" in table.header else ""
    # The table's classes align numbers and break long texts: a class on every cell would weigh more than its text.
    long = {column + 1 for row in table.rows for column, text in enumerate(row) if len(text) > LONG}
    kinds = " ".join(["data", f"words-{table.words}", *(f"long-{column}" for column in sorted(long))])
    return f'<table class="{kinds}"{codes}>{caption}<thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>'


def _row(table: Table, number: int, cells: ExplainedCells) -> str:
    row = dict(zip(table.header, table.rows[number], strict=False))
    entry = listed_language(row["language"]) if "language" in row else None
    code = row.get("code", entry.code if entry else "")
    attributes = f' data-language="{html_text(code)}"' if code and "code" not in table.header else ""
    attributes += ' class="strong"' if number in table.strong else ""
    content = "".join(_cell(table, column, text, code, cells) for column, text in enumerate(table.rows[number]))
    return f"<tr{attributes}>{content}</tr>"


def _cell(table: Table, column: int, text: str, code: str, cells: ExplainedCells) -> str:
    head = table.header[column]
    shown = html_text(text)
    # Only text beyond ASCII can run from right to left.
    if column < table.words and not text.isascii():
        shown = f"<bdi>{shown}</bdi>"
    entry = listed_language(code) if head == "language" else None
    if entry and entry.autonym:
        shown += f' <bdi lang="{entry.code}">{html_text(entry.autonym)}</bdi>'
    # A table has one column per task, or a column that names the task.
    task = text if head == "task" else head
    if (task, code) in cells and text != "·":
        shown = f'<a href="#explain/{quote(task, safe="")}/{quote(code, safe="")}">{shown}</a>'
    if part := PART.fullmatch(text):
        shown += f' <progress value="{part[1]}" max="{part[2]}" aria-label="{html_text(head)}"></progress>'
    # The first cell heads its row.
    return f'<th scope="row">{shown}</th>' if shown and not column else f"<td>{shown}</td>"
