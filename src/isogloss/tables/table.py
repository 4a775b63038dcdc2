"""One table, four renderings: terminal, Markdown, LaTeX (booktabs), CSV."""

import io
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import TYPE_CHECKING, Literal

from isogloss.errors import unknown
from isogloss.escaping import csv_text, latex_text, markdown_text, printable

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

FORMATS = ("table", "md", "latex", "siunitx")
# Header of a column with the intervals of the column before it.
INTERVAL = "95 %"


@dataclass
class Table:
    """Rows under a header; the first `words` columns are text, the others numbers.

    Rows in `strong` (averages) are set in bold; notes are lines below the table.
    """

    title: str
    header: Sequence[str]
    _: KW_ONLY
    rows: list[Sequence[str]] = field(default_factory=list)
    words: int = 1
    strong: set[int] = field(default_factory=set)
    notes: list[str] = field(default_factory=list)

    def add(self, *cells: str, strong: bool = False) -> None:
        """Add a row."""
        if strong:
            self.strong.add(len(self.rows))
        self.rows.append(cells)

    def markdown(self) -> str:
        """Return a GitHub-flavoured Markdown table."""
        marks = [":--" if column < self.words else "--:" for column in range(len(self.header))]
        head = [markdown_text(cell) for cell in self.header]
        styles = {"strong": "**{}**", "best": "**{}**", "tied": "<u>{}</u>", "untested": "{}†"}
        rows = (f"| {' | '.join(cells)} |" for cells in (head, marks, *self._texts(markdown_text, styles)))
        notes = [f"- {markdown_text(note)}" for note in self.notes]
        return "\n".join([f"**{markdown_text(self.title)}**", "", *rows, *([""] if notes else []), *notes])

    latex_escape = staticmethod(latex_text)

    def latex(self, siunitx: bool = False) -> str:
        """Return a LaTeX booktabs table, ready for a paper."""
        align = "".join("l" if column < self.words else "r" for column in range(len(self.header)))
        lines = [r"\begin{table}", r"\centering", rf"\begin{{tabular}}{{{align}}}", r"\toprule"]
        lines += [" & ".join(map(latex_text, self.header)) + r" \\", r"\midrule"]
        lines += [" & ".join(cells) + r" \\" for cells in self._texts(latex_text, {"strong": r"\textbf{{{}}}"})]
        lines += [r"\bottomrule", r"\end{tabular}", rf"\caption{{{latex_text(self.title)}}}"]
        lines += [f"% {latex_text(note)}" for note in self.notes]
        return "\n".join([*lines, r"\end{table}"])

    def _texts(self, escape: Callable[[str], str], styles: Mapping[str, str]) -> Iterator[list[str]]:
        """Yield the escaped cells of each row in their styles."""
        for row, cells in enumerate(self.rows):
            yield [self.styled(row, column, escape, styles) for column in range(len(cells))]

    def styled(self, row: int, column: int, escape: Callable[[str], str], styles: Mapping[str, str]) -> str:
        """Return an escaped cell in its style: "strong" for those of strong rows."""
        text = escape(self.rows[row][column])
        return styles.get("strong", "{}").format(text) if row in self.strong and text else text

    def csv(self) -> str:
        """Return comma-separated values with the header."""
        import csv

        stream = io.StringIO()
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerows(map(csv_text, row) for row in (self.header, *self.rows))
        return stream.getvalue()

    def plain(self) -> str:
        """Return plain text for files and pipes, at full width and without colours."""
        shown = self._printable()
        widths = [max(map(len, column)) for column in zip(shown.header, *shown.rows, strict=True)]
        head, *rows = (_plain_row(row, widths, self.words) for row in (shown.header, *shown.rows))
        line = " " + "─" * (sum(widths) + 3 * len(widths) - 2)
        return "\n".join([shown.title, "", head, line, *rows, "", *(f"  {note}" for note in shown.notes)])

    def print(self, console: "Console") -> None:
        """Print to the terminal, fitted to its width: number columns that do not fit go into a further part below."""
        from rich.padding import Padding
        from rich.text import Text

        shown = self._printable(lines=True)
        for index, part in enumerate(shown._parts(console.width)):
            shown._print_part(console, part, f"{shown.title}, continued" if index else shown.title)
        for note in shown.notes:
            console.print(Padding(Text(note, style="dim"), (0, 0, 0, 2), expand=False))

    def _printable(self, lines: bool = False) -> "Table":
        """Return the table without control characters; cells may have several lines."""
        return replace(
            self,
            title=printable(self.title),
            header=[printable(cell) for cell in self.header],
            rows=[[printable(cell, lines=lines) for cell in row] for row in self.rows],
            notes=[printable(note) for note in self.notes],
        )

    def _parts(self, width: int) -> list[list[int]]:
        """Return the columns of each part; text columns are repeated in every part."""
        # A column takes its longest cell, a blank on either side and one character for the line.
        columns = list(zip(self.header, *self.rows, strict=True))
        widths = [max(map(len, column)) + 3 for column in columns]
        text = list(range(self.words))
        # Text may be wrapped down to its longest word if that keeps the table in one part.
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
        """Return the number columns; an interval stays with its value."""
        groups: list[list[int]] = []
        for column in range(self.words, len(self.header)):
            if self.header[column] != INTERVAL or not groups:
                groups.append([])
            groups[-1].append(column)
        return groups

    def _widths(self, columns: Sequence[int], room: int) -> dict[int, int]:
        """Return column widths that wrap text without breaking words, or nothing if that is impossible."""
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

        # Titles and cells are data: square brackets and colons in them are not markup.
        console.print(Text(title, style="bold"))
        table = RichTable(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1))
        widths = self._widths(columns, console.width)
        for column in columns:
            head, width, is_number = Text(self.header[column]), widths.get(column), column >= self.words
            justify: Literal["left", "right"] = "right" if is_number else "left"
            table.add_column(head, justify=justify, no_wrap=is_number, overflow="fold", width=width)
        for number in range(len(self.rows)):
            cells = [self.rich_cell(number, column) for column in columns]
            table.add_row(*cells, style="bold" if number in self.strong else None)
        console.print(table)

    def rich_cell(self, row: int, column: int) -> "Text":
        """Return a cell for the terminal."""
        from rich.text import Text

        return Text(self.rows[row][column])


def _plain_row(cells: Sequence[str], widths: Sequence[int], words: int) -> str:
    padded = (
        cell.ljust(width) if index < words else cell.rjust(width)
        for index, (cell, width) in enumerate(zip(cells, widths, strict=True))
    )
    return f" {'   '.join(padded)}".rstrip()


def render(tables: Sequence[Table], form: str) -> str:
    """Return the tables as Markdown or LaTeX text, with numbers aligned by siunitx where a table supports it."""
    if form not in FORMATS:
        raise unknown("format", form, FORMATS)
    return "\n\n".join(table.markdown() if form == "md" else table.latex(form == "siunitx") for table in tables) + "\n"


def show(tables: Sequence[Table], form: str) -> None:
    """Print the tables to standard output in the chosen form."""
    if form == "table" and not sys.stdout.isatty():
        sys.stdout.write("\n".join(f"{table.plain()}\n" for table in tables))
    elif form == "table":
        from rich.console import Console

        console = Console()
        for index, table in enumerate(tables):
            if index:
                console.print()
            table.print(console)
    else:
        sys.stdout.write(render(tables, form))
