"""One table, four renderings: terminal, Markdown, LaTeX (booktabs), CSV."""

import io
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from isogloss.errors import unknown
from isogloss.escaping import csv_text, latex_text, markdown_text, printable

if TYPE_CHECKING:
    from rich.console import Console

FORMATS = ("table", "md", "latex")
# The header of a column that has the intervals of the one before it.
INTERVAL = "95 %"


@dataclass
class Table:
    """Rows under a header; the first `words` columns are text, the others numbers.

    A row may be marked strong (an average) by standing in `strong`; notes are lines below the table.
    """

    title: str
    header: Sequence[str]
    rows: list[Sequence[str]] = field(default_factory=list)
    words: int = 1
    strong: set[int] = field(default_factory=set)
    notes: list[str] = field(default_factory=list)

    def add(self, *cells: str, strong: bool = False) -> None:
        """One more row."""
        if strong:
            self.strong.add(len(self.rows))
        self.rows.append(cells)

    def markdown(self) -> str:
        """A GitHub-flavoured table."""
        marks = [":--" if column < self.words else "--:" for column in range(len(self.header))]
        head = [markdown_text(cell) for cell in self.header]
        lines = [f"**{markdown_text(self.title)}**", "", _markdown_row(head), _markdown_row(marks)]
        for number, row in enumerate(self.rows):
            cells, bold = map(markdown_text, row), number in self.strong
            lines.append(_markdown_row([f"**{cell}**" if bold and cell else cell for cell in cells]))
        notes = [f"- {markdown_text(note)}" for note in self.notes]
        return "\n".join([*lines, *([""] if notes else []), *notes])

    def latex(self) -> str:
        """A booktabs table, ready for a paper."""
        align = "".join("l" if column < self.words else "r" for column in range(len(self.header)))
        lines = [r"\begin{table}", r"\centering", rf"\begin{{tabular}}{{{align}}}", r"\toprule"]
        lines += [" & ".join(map(latex_text, self.header)) + r" \\", r"\midrule"]
        for number, row in enumerate(self.rows):
            cells, bold = map(latex_text, row), number in self.strong
            lines.append(" & ".join(rf"\textbf{{{c}}}" if bold and c else c for c in cells) + r" \\")
        lines += [r"\bottomrule", r"\end{tabular}", rf"\caption{{{latex_text(self.title)}}}"]
        lines += [f"% {latex_text(note)}" for note in self.notes]
        return "\n".join([*lines, r"\end{table}"])

    def csv(self) -> str:
        """Comma-separated values with the header."""
        import csv

        stream = io.StringIO()
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerows(map(csv_text, row) for row in (self.header, *self.rows))
        return stream.getvalue()

    def plain(self) -> str:
        """As the terminal shows it, for files and pipes: as wide as it is, and without colours."""
        shown = self._printable()
        widths = [max(map(len, column)) for column in zip(shown.header, *shown.rows, strict=True)]
        lines = [
            shown.title,
            "",
            _plain_row(shown.header, widths, self.words),
            " " + "─" * (sum(widths) + 3 * len(widths) - 2),
        ]
        lines += [_plain_row(row, widths, self.words) for row in shown.rows]
        return "\n".join([*lines, "", *(f"  {note}" for note in shown.notes)])

    def print(self, console: "Console") -> None:
        """To the terminal, fitted to its width: number columns that do not fit go into a further part below."""
        shown = self._printable(lines=True)
        for place, part in enumerate(shown._parts(console.width)):
            shown._print_part(console, part, f"{shown.title}, continued" if place else shown.title)
        for note in shown.notes:
            console.print(f"  {note}", markup=False, highlight=False, style="dim")

    def _printable(self, lines: bool = False) -> "Table":
        """The table with nothing in it that a terminal would obey; its cells may be of several lines."""
        return replace(
            self,
            title=printable(self.title),
            header=[printable(cell) for cell in self.header],
            rows=[[printable(cell, lines=lines) for cell in row] for row in self.rows],
            notes=[printable(note) for note in self.notes],
        )

    def _parts(self, width: int) -> list[list[int]]:
        """Which columns stand side by side; the text columns are repeated in every part."""
        # A column takes its longest cell, a blank on either side and the line's place.
        columns = list(zip(self.header, *self.rows, strict=True))
        widths = [max(map(len, column)) + 3 for column in columns]
        text = list(range(self.words))
        # Text may be wrapped down to its longest word, if that saves the table from being cut.
        words = [max(len(word) for cell in column for word in (cell.split() or [""])) + 3 for column in columns]
        least = sum(words[: self.words])
        fits = least + sum(widths[self.words :]) <= width
        room = width - (least if fits else min(sum(widths[: self.words]), width // 2))
        parts: list[list[int]] = []
        used = width
        for together in self._inseparable():
            wide = sum(widths[column] for column in together)
            used += wide
            if used > room:
                parts.append([*text])
                used = wide
            parts[-1] += together
        return parts or [text]

    def _inseparable(self) -> list[list[int]]:
        """The number columns, an interval with what it is of."""
        found: list[list[int]] = []
        for column in range(self.words, len(self.header)):
            if self.header[column] == INTERVAL and found:
                found[-1].append(column)
            else:
                found.append([column])
        return found

    def _widths(self, columns: Sequence[int], room: int) -> dict[int, int]:
        """How wide columns are where text must be wrapped, so that no word is broken; nothing where that cannot be."""
        cells = {column: [self.header[column], *(row[column] for row in self.rows)] for column in columns}
        whole = {column: max(map(len, cells[column])) for column in columns}
        text = [column for column in columns if column < self.words]
        widths = whole | {c: max(len(word) for cell in cells[c] for word in cell.split() or [""]) for c in text}
        spare = room - sum(widths.values()) - 3 * len(columns) + 1
        while spare > 0 and (growing := [column for column in text if widths[column] < whole[column]]):
            widths[min(growing, key=lambda column: widths[column])] += 1
            spare -= 1
        return widths if spare >= 0 and widths != whole else {}

    def _print_part(self, console: "Console", columns: Sequence[int], title: str) -> None:
        from rich.box import SIMPLE_HEAD
        from rich.table import Table as RichTable
        from rich.text import Text

        # Title and cells are data: square brackets and colons in them are not markup.
        console.print(Text(title, style="bold"))
        table = RichTable(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1))
        widths = self._widths(columns, console.width)
        for column in columns:
            number = column >= self.words
            table.add_column(
                Text(self.header[column]),
                justify="right" if number else "left",
                no_wrap=number,
                overflow="fold",
                width=widths.get(column),
            )
        for place, row in enumerate(self.rows):
            cells = [Text(row[column]) for column in columns]
            table.add_row(*cells, style="bold" if place in self.strong else None)
        console.print(table)


def _plain_row(cells: Sequence[str], widths: Sequence[int], words: int) -> str:
    padded = (
        cell.ljust(width) if place < words else cell.rjust(width)
        for place, (cell, width) in enumerate(zip(cells, widths, strict=True))
    )
    return f" {'   '.join(padded)}".rstrip()


def _markdown_row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def render(tables: Sequence[Table], form: str) -> str:
    """The tables as text in Markdown or LaTeX."""
    if form not in FORMATS:
        raise unknown("format", form, FORMATS)
    return "\n\n".join(table.markdown() if form == "md" else table.latex() for table in tables) + "\n"


def show(tables: Sequence[Table], form: str) -> None:
    """Print the tables to standard output in the chosen form."""
    if form == "table" and not sys.stdout.isatty():
        sys.stdout.write("\n".join(f"{table.plain()}\n" for table in tables))
    elif form == "table":
        from rich.console import Console

        console = Console()
        for table in tables:
            table.print(console)
    else:
        sys.stdout.write(render(tables, form))
