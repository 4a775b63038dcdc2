"""Short representations and rows for notebooks: small HTML tables, pandas data frames, Arrow tables."""

import reprlib
from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from typing import Any

from isogloss.errors import IsoglossError
from isogloss.escaping import html_text

# Maximum length of a representation in characters: notebooks and consoles print it whenever a value is not assigned.
LONGEST_REPR = 2_000
# Attribute of a cell with text: notebooks align all cells on the right.
LEFT = ' style="text-align:left"'
# Attribute of a caption, which may be wider than its table.
CAPTION = ' style="text-align:left;white-space:nowrap"'
# Maximum length of the text in a cell of a table of examples.
LONGEST_CELL = 120
_SHORT = reprlib.Repr()
_SHORT.maxlevel, _SHORT.maxlist, _SHORT.maxtuple, _SHORT.maxdict, _SHORT.maxset = 2, 3, 3, 3, 3
_SHORT.maxstring, _SHORT.maxother = 80, 120


def short_repr(record: Any) -> str:
    """Return a record's class and fields with long values cut; classes with large fields use it as `__repr__`."""
    names = getattr(record, "__struct_fields__", None) or record.__dataclass_fields__
    values = ((name, _SHORT.repr(getattr(record, name))) for name in names if name != "_")
    text = f"{type(record).__name__}({', '.join(f'{name}={value}' for name, value in values)})"
    return text if len(text) <= LONGEST_REPR else f"{text[: LONGEST_REPR - 2]}…)"


def short_text(value: Any) -> str:
    """Return a value as the text of a table's cell, with the end of a long one cut."""
    text = value if isinstance(value, str) else _SHORT.repr(value)
    return text if len(text) <= LONGEST_CELL else f"{text[: LONGEST_CELL - 1]}…"


def html_table(caption: str, heading: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table of texts for notebooks; without rows, only its caption."""
    lines = "".join(f"<tr>{''.join(f'<td{LEFT}>{html_text(word)}</td>' for word in row)}</tr>" for row in rows)
    names = "".join(f"<th{LEFT}>{html_text(word)}</th>" for word in heading)
    head = f"<caption{CAPTION}>{html_text(caption)}</caption><tr>{names}</tr>"
    return f"<table>{head}{lines}</table>" if lines else f"<p>{html_text(caption)}</p>"


def rich_html(self: Any) -> str:
    """Return the tables that the command line prints, as HTML; `_repr_html_` of results."""
    text: str = _views().html(self)
    return text


def to_latex(self: Any, *, siunitx: bool = False) -> str:
    """Return the tables that the command line prints in LaTeX.

    With `siunitx`, numbers are aligned by that package where a table supports it; otherwise booktabs is enough.
    """
    text: str = _views().latex(self, siunitx=siunitx)
    return text


def plot(self: Any, name: str = "") -> Any:
    """Return a chart for notebooks, an `altair.Chart`: the most important one, or the one called `name`.

    An unknown name raises an error that lists all.

    Raises:
        IsoglossError: Altair (the extra `notebooks`) is not installed, or there is no chart.
        UnknownNameError: unknown chart.
    """
    return _views().plot(self, name)


def _views() -> Any:
    """Return the module that renders results; it is imported by name, since it is above the packages of results."""
    return import_module("isogloss.site.notebook_views")


def data_frame(rows: Sequence[Mapping[str, Any]], columns: Sequence[str] | None = None) -> Any:
    """Return rows as a pandas data frame; raise an IsoglossError if pandas is not installed."""
    return _library("pandas").DataFrame(rows, columns=columns)


def arrow_table(rows: Sequence[Mapping[str, Any]], columns: Sequence[str] = ()) -> Any:
    """Return rows as an Arrow table; raise an IsoglossError if pyarrow is not installed.

    `columns` are those of a table without rows.
    """
    pyarrow = _library("pyarrow")
    return pyarrow.Table.from_pylist(rows) if rows else pyarrow.table({name: [] for name in columns})


def hub_dataset(rows: Sequence[Mapping[str, Any]]) -> Any:
    """Return rows as a `datasets.Dataset`; raise an IsoglossError if `datasets` is not installed."""
    return _library("datasets", "hub").Dataset.from_list(list(rows))


def _library(name: str, extra: str = "tables") -> Any:
    try:
        return import_module(name)
    except ImportError:
        from isogloss.installation import install_command

        raise IsoglossError(f"{name} is not installed", fix=f"Run {install_command(extra)}") from None
