"""What an analysis ends in: tidy tables, figures over them, and a paragraph that says what may be concluded."""

from collections.abc import Sequence
from typing import Any, Literal

import msgspec

from isogloss.errors import IsoglossError, unknown
from isogloss.escaping import html_text
from isogloss.notebooks import data_frame, html_table

Value = str | int | float | bool | None

# What a column holds decides how it is printed: a `score` with one decimal, a `difference` with its sign, a `share` or
# a `correlation` (-1..1) with two decimals, a `p` as figures.p_text has it, a `count` whole, a `number` as it is.
Holds = Literal["text", "score", "difference", "share", "correlation", "p", "count", "number"]
# How a figure looks: the charts of the report draw these.
Looks = Literal["scatter", "strip", "lines", "bars", "heatmap"]

# What rows are called that are the mean of others of their table; charts have them last.
MEAN_ROW, MEAN_OF_OTHERS = "mean", "mean of others"


class AnalysisError(IsoglossError):
    """What was given cannot be analysed: too few languages, systems or scores, or metadata that are not there."""


class Column(msgspec.Struct, frozen=True):
    """A column of a tidy table.

    Attributes:
        name: what it is called in files, a word.
        holds: what its values are.
        label: what it is called where people read, by default its name.
        low: the columns of the interval of its values, where they have one.
        high: see `low`.
    """

    name: str
    holds: Holds = "text"
    label: str = ""
    low: str = ""
    high: str = ""


class TidyTable(msgspec.Struct, frozen=True):
    """A table with one observation a row; None where there is nothing to tell.

    Attributes:
        name: a word, unique in its finding: the name of its file.
        shown: how many rows people are shown; the files have all.
    """

    name: str
    title: str
    columns: list[Column]
    rows: list[list[Value]]
    notes: list[str] = []
    shown: int = 40

    def records(self) -> list[dict[str, Value]]:
        """The rows by the names of their columns."""
        names = [column.name for column in self.columns]
        return [dict(zip(names, row, strict=True)) for row in self.rows]

    def to_pandas(self) -> Any:
        """The table as a pandas data frame."""
        return data_frame(self.records(), [column.name for column in self.columns])

    def __repr__(self) -> str:
        return f"TidyTable({self.name}: {len(self.rows)} rows of {', '.join(column.name for column in self.columns)})"

    def _repr_html_(self) -> str:
        def text(value: Value) -> str:
            return "" if value is None else f"{value:.4g}" if isinstance(value, float) else str(value)

        more = len(self.rows) - self.shown
        caption = f"{self.title} ({more:,} more rows)" if more > 0 else self.title
        heading = [column.label or column.name for column in self.columns]
        return html_table(caption, heading, [[*map(text, row)] for row in self.rows[: self.shown]])


class Figure(msgspec.Struct, frozen=True):
    """A chart of one table of the finding, by the names of its columns.

    Attributes:
        table: the name of the table it is drawn from.
        looks: what is drawn. A `scatter` gets a line of least squares if `fit`; a `strip` has a row of points for each
            `y`; `lines` go along `x`, one for each `colour`; `bars` may have intervals; a `heatmap` colours `x` by `y`.
        description: what is seen, for those who cannot see it.
        x: the column along the horizontal axis.
        y: the column along the vertical axis.
        colour: the column that tells series apart; of a heat map, the value.
        label: the column whose text is written beside a point.
        panel: the column by which small multiples are made.
        fitted: the column that is true of the points that are fitted, by default of all; others are diamonds.
        marks: name and value of reference lines: human performance, English, the mean.
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


class Finding(msgspec.Struct, frozen=True):
    """What an analysis has found.

    Attributes:
        analysis: its name, as the verb takes it.
        reading: one paragraph that says what the tables show, and what they do not.
        notes: choices that were made where the source is loose, and what was left out, each with its reason.
        asked: the command that asks for it, with its sources and options.
    """

    analysis: str
    title: str
    reading: str
    tables: list[TidyTable]
    figures: list[Figure] = []
    notes: list[str] = []
    asked: str = ""

    def table(self, name: str) -> TidyTable:
        """The table of that name.

        Raises:
            UnknownNameError: there is none; the message has the nearest names.
        """
        found = {table.name: table for table in self.tables}
        if name not in found:
            raise unknown(f"table of {self.analysis}", name, found)
        return found[name]

    def to_pandas(self, name: str | None = None) -> Any:
        """A table of the finding as a pandas data frame.

        Args:
            name: which table; by default the first, which is the finding in short.

        Raises:
            UnknownNameError: there is no table of that name.
            IsoglossError: pandas is not installed.
        """
        return (self.tables[0] if name is None else self.table(name)).to_pandas()

    def __repr__(self) -> str:
        sizes = ", ".join(f"{table.name}: {len(table.rows)} rows" for table in self.tables)
        return f"Finding({self.analysis}; {sizes})"

    def _repr_html_(self) -> str:
        return f"<p>{html_text(self.reading)}</p>" + "".join(table._repr_html_() for table in self.tables)


def first_few(sentences: Sequence[str], limit: int = 4) -> str:
    """As many sentences as somebody reads; the tables have the rest."""
    more = len(sentences) - limit
    return " ".join([*sentences[:limit], *([f"The tables have {more} more."] if more > 0 else [])])
