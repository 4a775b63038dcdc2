"""Result of an analysis: tidy tables, figures and a summary paragraph."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from isogloss.errors import IsoglossError, unknown
from isogloss.figures import difference_interval_text, difference_text
from isogloss.notebooks import arrow_table, data_frame, plot, rich_html, to_latex
from isogloss.scoring.results import json_of

if TYPE_CHECKING:
    from isogloss.results.views import ScoreView

Value = str | int | float | bool | None

# Kind of a column's values, which sets their format: a `score` has one decimal, a `difference` a sign, a `share` or a
# `correlation` (-1..1) two decimals; a `p` is formatted by figures.p_text, a `count` is whole, a `number` unrounded.
Holds = Literal["text", "score", "difference", "share", "correlation", "p", "count", "number"]
# Chart types.
Looks = Literal["scatter", "strip", "lines", "bars", "heatmap"]

# Names of rows with the mean of other rows; charts draw them last.
MEAN_ROW, MEAN_OF_OTHERS = "mean", "mean of others"


class AnalysisError(IsoglossError):
    """Sources that cannot be analysed: too few languages, systems or scores, or missing metadata."""


class Column(msgspec.Struct, frozen=True):
    """A column of a tidy table.

    Attributes:
        name: name in files, one word.
        holds: kind of values.
        label: displayed name, by default `name`.
        low: column with the lower bounds of intervals, "" for none.
        high: column with the upper bounds.
    """

    name: str
    holds: Holds = "text"
    label: str = ""
    low: str = ""
    high: str = ""


# Names, bounds, kind and label of an entry of `columns`.
_ENTRY = re.compile(r"([\w ]+?)(±|\((\w+) (\w+)\))?(?::(\w+))?(?: = (.+))?")


def columns(description: str, **labels: str) -> list[Column]:
    """Return columns from a description such as "system task; n:count = examples; gap±:difference".

    Entries are separated by semicolons. Each has one or more names, then optionally the kind of their values, and a
    label. `gap±` is followed by columns with the bounds of intervals, `gap_low` and `gap_high`; `gap(from to)` names
    them. Labels are formatted with `labels`.
    """
    result: list[Column] = []
    for entry in description.split(";"):
        match = _ENTRY.fullmatch(entry.strip())
        if match is None:
            raise ValueError(f"invalid description of a column: {entry!r}")
        names, bounds, low, high, kind, label = match.groups()
        holds, label = msgspec.convert(kind or "text", Holds), (label or "").format_map(labels)
        for name in names.split():
            ends = (low or f"{name}_low", high or f"{name}_high") if bounds else ()
            result += [Column(name, holds, label, *ends), *(Column(end, holds) for end in ends)]
    return result


class TidyTable(msgspec.Struct, frozen=True):
    """A table with one observation per row; None for missing values.

    Attributes:
        name: file name, one word, unique in its finding.
        shown: number of rows to display; files have all.
    """

    name: str
    title: str
    columns: list[Column]
    rows: list[list[Value]] = []
    notes: list[str] = []
    shown: int = 40

    def add(self, *values: Value) -> None:
        """Add a row."""
        self.rows.append([*values])

    def records(self) -> list[dict[str, Value]]:
        """Return the rows as dicts by column name."""
        names = [column.name for column in self.columns]
        return [dict(zip(names, row, strict=True)) for row in self.rows]

    def to_pandas(self) -> Any:
        """Return the table as a pandas data frame."""
        return data_frame(self.records(), [column.name for column in self.columns])

    def __repr__(self) -> str:
        return f"TidyTable({self.name}: {len(self.rows)} rows of {', '.join(column.name for column in self.columns)})"

    def to_arrow(self) -> Any:
        """Return the table as an Arrow table."""
        return arrow_table(self.records())

    to_latex = to_latex
    _repr_html_ = rich_html


class Figure(msgspec.Struct, frozen=True, kw_only=True):
    """A chart of one table of a finding, by column names.

    Attributes:
        table: name of the table.
        looks: type of chart. A `scatter` gets a least-squares line if `fit`; a `strip` has a row of points per
            `y`; `lines` run along `x`, one per `colour`; `bars` may have intervals; a `heatmap` colours `x` by `y`.
        description: alternative text.
        x: column of the horizontal axis.
        y: column of the vertical axis.
        colour: column of the series; of a heat map, the value.
        label: column with the labels of points.
        panel: column of small multiples.
        fitted: column that is true for fitted points, by default all; others are drawn as diamonds.
        marks: name and value of reference lines, such as human performance.
    """

    table: str
    looks: Looks
    title: str
    description: str
    x: str
    y: str
    colour: str = ""
    label: str = ""
    panel: str = ""
    fit: bool = False
    fitted: str = ""
    log_x: bool = False
    marks: list[tuple[str, float]] = []


def figure(looks: Looks, axes: str, title: str, description: str, **options: Any) -> Figure:
    """Return a figure; `axes` are its table, x, y and optionally colour and panel: "gaps: gap, task, system"."""
    table, _, names = axes.rpartition(": ")
    options.update(zip(("x", "y", "colour", "panel"), names.split(", "), strict=False))
    return Figure(table=table, looks=looks, title=title, description=description, **options)


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """Result of an analysis.

    Attributes:
        analysis: name of the analysis.
        reading: paragraph on what the tables show and their limits.
        notes: choices not specified by the source, and omissions with reasons.
        command: command that reproduces it; `asked` in JSON.
    """

    analysis: str
    title: str
    reading: str
    tables: list[TidyTable]
    figures: list[Figure] = []
    notes: list[str] = []
    command: str = msgspec.field(default="", name="asked")

    def table(self, name: str) -> TidyTable:
        """Return a table by name.

        Raises:
            UnknownNameError: unknown name; the message has the nearest names.
        """
        tables = {table.name: table for table in self.tables}
        if name not in tables:
            raise unknown(f"table of {self.analysis}", name, tables)
        return tables[name]

    def to_pandas(self, name: str | None = None) -> Any:
        """Return a table of the finding as a pandas data frame.

        Args:
            name: name of the table; by default the first, the summary.

        Raises:
            UnknownNameError: unknown table.
            IsoglossError: pandas is not installed.
        """
        return (self.tables[0] if name is None else self.table(name)).to_pandas()

    def to_arrow(self, name: str | None = None) -> Any:
        """Return a table of the finding as an Arrow table, by default the first; see `to_pandas`."""
        return (self.tables[0] if name is None else self.table(name)).to_arrow()

    def to_json(self, path: Path | str | None = None) -> str:
        """Return the record as JSON; with a path, also write it."""
        return json_of(self, path)

    to_latex = to_latex
    plot = plot

    def __repr__(self) -> str:
        sizes = ", ".join(f"{table.name}: {len(table.rows)} rows" for table in self.tables)
        return f"Finding({self.analysis}; {sizes})"

    _repr_html_ = rich_html


def require(scores: "ScoreView", *, systems: int = 1, languages: int = 1, what: str) -> None:
    """Refuse scores of too few systems for an analysis, or without a task in enough languages."""
    if len(scores.systems) < systems:
        raise AnalysisError(f"{what} needs {systems} systems, got {', '.join(scores.systems)}", fix="Pass more results")
    most = max((len(cells) for tasks in scores.scores.values() for cells in tasks.values()), default=0)
    if most < languages:
        raise AnalysisError(f"{what} needs {languages} languages in a task, got at most {most}")


def difference_words(difference: Value, low: Value, high: Value) -> str:
    """Return a difference with its interval for a sentence, and say if it is not significant or not tested."""
    if not isinstance(difference, int | float):
        return "unknown"
    if not isinstance(low, int | float) or not isinstance(high, int | float):
        return f"{difference_text(difference)} (not tested)"
    verdict = "" if low > 0 or high < 0 else ", not significant"
    return f"{difference_text(difference)} ({difference_interval_text(low, high)}{verdict})"


def first_few(sentences: Sequence[str], limit: int = 4) -> str:
    """Join the first few sentences, and mention the number of others."""
    more = len(sentences) - limit
    return " ".join([*sentences[:limit], *([f"The tables have {more} more."] if more > 0 else [])])
