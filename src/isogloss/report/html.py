"""The report as one HTML file that needs nothing but itself: no server, no network."""

import re
from collections.abc import Collection, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

import msgspec

from isogloss.explain.model import Explanation
from isogloss.report.charts import Chart, converter
from isogloss.report.document import Section
from isogloss.report.explained import explain_data
from isogloss.report.frames import known
from isogloss.report.inputs import Inputs
from isogloss.report.tables import Table
from isogloss.scoring.results import Results
from isogloss.version import __version__

__all__ = ["page"]

# Cells of a task and language that have an explanation, which tables link to.
Explained = Collection[tuple[str, str]]
CHOICES = ("task", "language", "attribute", "metric")


def page(inputs: Inputs, sections: Sequence[Section], title: str) -> str:
    """The whole page: style, script, data and the drawing library are inside."""
    explained = {(facet.task, facet.language) for found in inputs.explanations.values() for facet in found.facets}
    shown: Mapping[str, Results | Explanation] = inputs.systems or inputs.explanations
    names = ", ".join(f"<bdi>{escape(name)}</bdi>" for name in shown)
    suites = ", ".join(sorted({f"{escape(r.suite)} ({escape(r.split)})" for r in shown.values()}))
    parts = {
        "title": escape(title),
        "version": escape(__version__),
        "subtitle": f"{names} on {suites}; scores 0–100 with 95 % intervals",
        "style": _asset("style.css"),
        "contents": "".join(f'<li><a href="#{part.id}">{escape(part.title)}</a></li>' for part in sections),
        "sections": "\n".join(_section(part, explained) for part in sections),
        "data": _json(_data(inputs, sections)),
        "bundle": _inside_script(converter().javascript_bundle()),
        "script": _asset("page.js"),
    }
    # One pass, so that what is put in is never searched for places itself.
    return re.sub(r"\{\{(\w+)\}\}", lambda found: parts[found[1]], _asset("template.html"))


def _asset(name: str) -> str:
    return Path(__file__).with_name(name).read_text(encoding="utf-8")


def _json(value: Any) -> str:
    """JSON that cannot end the script element it stands in."""
    return msgspec.json.encode(value).decode().replace("<", "\\u003c")


def _inside_script(code: str) -> str:
    """JavaScript whose strings cannot end the element either, or open a comment in it."""
    return code.replace("</script", r"<\/script").replace("<!--", r"<\!--")


def _data(inputs: Inputs, sections: Sequence[Section]) -> dict[str, Any]:
    shown = {chart.name: chart.spec for part in sections if not part.panel for chart in part.charts}
    data: dict[str, Any] = {"charts": shown, "languages": _search_words(inputs)}
    if inputs.explanations:
        data["explain"] = explain_data(inputs.explanations, inputs.systems, inputs.cases)
    return data


def _search_words(inputs: Inputs) -> Mapping[str, str]:
    """What each language is found by: its names, family, branch and script."""
    codes = {cell.language for results in inputs.systems.values() for cell in results.cells}
    codes |= {cell.language for rates in inputs.checklists.values() for cell in rates}
    codes |= {facet.language for found in inputs.explanations.values() for facet in found.facets}
    words = {}
    for code in sorted(codes):
        entry = known(code)
        found = (entry.name, entry.autonym, entry.family, entry.branch, entry.script) if entry else ()
        words[code] = " ".join((code, *found)).lower()
    return words


def _section(section: Section, explained: Explained) -> str:
    body = [f'<section id="{section.id}" aria-labelledby="{section.id}-title">']
    body.append(f'<h2 id="{section.id}-title">{escape(section.title)}</h2>')
    body.append(f'<p class="intro">{escape(section.intro)}</p>')
    if section.panel:
        body += [_panel(), *(_table_files(name, section) for name in section.tables)]
    else:
        figures = "".join(_figure(chart, section) for chart in section.charts)
        body += [f'<div class="figures">{figures}</div>'] * bool(figures)
        for name, table in section.tables.items():
            body.append(_folded(name, table, section, explained))
    return "\n".join([*body, "</section>"])


def _figure(chart: Chart, section: Section) -> str:
    place = f'<div class="chart" data-chart="{escape(chart.name)}"></div>'
    files = _files("charts", chart.name, ("svg", "png")) if section.files and section.pictures else ""
    return f"<figure><h3>{escape(chart.title)}</h3>{_region(f'{chart.title}, chart', place)}{files}</figure>"


def _files(folder: str, name: str, suffixes: Sequence[str]) -> str:
    links = " · ".join(f'<a href="{folder}/{name}.{suffix}">{suffix.upper()}</a>' for suffix in suffixes)
    return f'<p class="files">Beside this page: {links}</p>'


def _table_files(name: str, section: Section) -> str:
    return _files("tables", name, ("csv", "md", "tex")) if section.files else ""


def _region(what: str, content: str, tall: bool = False) -> str:
    """A part that scrolls by itself, and can be reached by keyboard for that."""
    kind = "scroll tall" if tall else "scroll"
    return f'<div class="{kind}" tabindex="0" role="region" aria-label="{escape(what)}">{content}</div>'


def _folded(name: str, table: Table, section: Section, explained: Explained) -> str:
    """A table that can be folded away; the first section's stands open."""
    state = " open" if section.id == "overview" else ""
    printed = "" if section.reference and len(table.rows) > 100 else " data-print"
    notes = "".join(f'<li dir="auto">{escape(note)}</li>' for note in table.notes)
    below = f'<ul class="notes">{notes}</ul>' if notes else ""
    return (
        f"<details{state}{printed}><summary>{escape(table.title)}, table ({len(table.rows)} rows)</summary>"
        f"{_region(f'{table.title}, table', _table(table, explained), tall=True)}"
        f"{below}{_table_files(name, section)}</details>"
    )


def _table(table: Table, explained: Explained) -> str:
    heads = "".join(
        f'<th scope="col"{_number(table, column)}><button type="button"><bdi>{escape(text)}</bdi></button></th>'
        for column, text in enumerate(table.header)
    )
    rows = "".join(_row(table, number, explained) for number in range(len(table.rows)))
    return f"<table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>"


def _row(table: Table, number: int, explained: Explained) -> str:
    row = dict(zip(range(len(table.header)), table.rows[number], strict=True))
    code = row[table.header.index("code")] if "code" in table.header else ""
    attributes = f' data-language="{escape(code)}"' if code else ""
    attributes += ' class="strong"' if number in table.strong else ""
    cells = "".join(_cell(table, column, text, code, explained) for column, text in row.items())
    return f"<tr{attributes}>{cells}</tr>"


def _cell(table: Table, column: int, text: str, code: str, explained: Explained) -> str:
    head = table.header[column]
    shown = escape(text)
    if column < table.words and shown:
        shown = f'<bdi dir="auto">{shown}</bdi>'
    entry = known(code) if head == "language" else None
    if entry:
        shown += f' <bdi lang="{entry.code}" dir="auto">{escape(entry.autonym)}</bdi>'
    if (head, code) in explained and text != "·":
        shown = f'<a href="#explain/{escape(head)}/{escape(code)}">{shown}</a>'
    kind = ' class="long"' if len(text) > 40 else _number(table, column)
    return f"<td{kind}>{shown}</td>"


def _number(table: Table, column: int) -> str:
    return "" if column < table.words else ' class="number"'


def _panel() -> str:
    """The frame that the page fills with the explanation its reader chooses."""
    selects = "".join(f'<label>{key}<select id="choose-{key}"></select></label>' for key in CHOICES)
    words, numbers = ("system", "language", "bucket"), ("edges", "n", "score", "95 %")
    heads = "".join(f'<th scope="col"><button type="button">{head}</button></th>' for head in words)
    heads += "".join(f'<th scope="col" class="number"><button type="button">{head}</button></th>' for head in numbers)
    table = f'<table><thead><tr>{heads}<td></td></tr></thead><tbody id="bucket-rows"></tbody></table>'
    place = '<div class="chart" id="explain-chart"></div>'
    return (
        f'<div class="choices">{selects}</div><div id="insights"></div>'
        f"{_region('Scores by bucket, chart', place)}"
        f"{_region('Scores by bucket, table', table, tall=True)}"
        '<div id="examples" aria-live="polite"></div><div id="confusion" class="scroll"></div>'
        '<details id="findings"><summary>What stands out</summary><ul></ul></details>'
    )
