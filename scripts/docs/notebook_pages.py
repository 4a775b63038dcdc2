"""Run the notebooks and turn them into pages with their outputs: tables as HTML, charts as SVG drawings."""

import ast
import contextlib
import io
import json
import re
import tempfile
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

import altair as alt


class Cell(NamedTuple):
    """A cell of a notebook, what it prints, and the value of its last line."""

    kind: str
    text: str
    printed: str = ""
    value: Any = None


def cells(notebook: Path) -> list[Cell]:
    """Return the cells of a notebook as stored, without outputs."""
    decoded = json.loads(notebook.read_text(encoding="utf-8"))
    return [Cell(cell["cell_type"], "".join(cell["source"])) for cell in decoded["cells"]]


def executed(notebook: Path) -> Iterator[Cell]:
    """Run a notebook in an empty folder; yield its cells with their outputs."""
    names: dict[str, Any] = {"__name__": "__main__"}
    with tempfile.TemporaryDirectory() as folder:
        for cell in cells(notebook):
            if cell.kind == "markdown":
                yield cell
                continue
            printed = io.StringIO()
            with contextlib.chdir(folder), contextlib.redirect_stdout(printed):
                value = _run(cell.text, notebook.name, names)
            yield cell._replace(printed=printed.getvalue(), value=value)


def _run(code: str, name: str, names: dict[str, Any]) -> Any:
    """Run a cell; return the value of its last line if that is an expression, which notebooks show."""
    tree = ast.parse(code)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, name, "exec"), names)  # noqa: S102 - our own notebooks
    return last and eval(compile(ast.Expression(last.value), name, "eval"), names)  # noqa: S307


def page(notebook: Path, drawings: Path) -> str:
    """Return the page of a notebook, whose charts are written to the page's folder."""
    parts = []
    for cell in executed(notebook):
        if cell.kind == "markdown":
            parts.append(cell.text)
            continue
        parts.append(f"```python\n{cell.text}\n```")
        if cell.printed:
            parts.append(f"```text\n{cell.printed.rstrip()}\n```")
        if isinstance(cell.value, alt.TopLevelMixin):
            parts.append(_drawing(cell.value, drawings / f"{notebook.stem}-{len(parts)}.svg"))
        elif cell.value is not None:
            parts.append(f'<div class="output">{_html(cell.value)}</div>')
    title, _, rest = "\n\n".join(parts).partition("\n")
    # In HTML, since links to notebooks in Markdown lead to their pages.
    download = f'<a href="{notebook.name}" download>Download this notebook</a>'
    return f"{title}\n\n{download}\n{rest}\n"


def _drawing(chart: alt.TopLevelMixin, path: Path) -> str:
    """Write a chart; return its image with the chart's description."""
    chart.save(path)
    description = chart.to_dict()["description"]
    return f'<div class="output"><img src="{path.name}" alt="{escape(description)}"></div>'


def _html(value: Any) -> str:
    """Return a value's own HTML, in the style of the site, or its representation."""
    if not hasattr(value, "_repr_html_"):
        return f"<pre>{escape(repr(value))}</pre>"
    # The table of a data frame brings its own style.
    text = re.sub(r"<style.*?</style>\s*", "", value._repr_html_(), flags=re.DOTALL)
    return re.sub(r"<table [^>]*>", "<table>", text)
