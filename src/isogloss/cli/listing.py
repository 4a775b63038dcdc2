"""isogloss list: tasks, languages, suites, metrics, systems, analyses, doubts. Imports nothing heavy, to stay fast."""

import json as json_module
import sys
from typing import Annotated

import typer

from isogloss.cli.options import Output
from isogloss.tables.listings import FACTS, rows_of

app = typer.Typer(add_completion=False)

_LONGEST_TABLE = 1000  # rows; longer lists are printed tab-separated, for grep and cut
# Minimum terminal width at which a column is shown; `isogloss list NAME` shows all fields of one task or language.
_NEVER = 10_000
_FROM_WIDTH = {
    ("tasks", "suites"): _NEVER,
    ("tasks", "test size"): 90,
    ("suites", "rule"): 90,
    ("languages", "iso3"): _NEVER,
    ("languages", "branch"): _NEVER,
    ("systems", "from"): _NEVER,
    **{("languages", fact): _NEVER for fact in FACTS},
}


@app.command(name="list")
def listing(
    what: Annotated[
        str | None,
        typer.Argument(
            help="tasks, languages, all-languages, suites, metrics, systems, analyses or doubts; or the name of one "
            "task or language, or a task file."
        ),
    ] = None,
    json: Annotated[bool, Output("--json", help="Print JSON.")] = False,
) -> None:
    """List tasks, languages, suites, metrics, systems, analyses or doubts, or show all fields of a task or language.

    Without an argument, shows what can be listed.

    \b
    Examples:
      isogloss list
      isogloss list tasks
      isogloss list xquad
      isogloss list languages --json
      isogloss list all-languages | grep Mande
    """
    rows = rows_of(what)
    if json:
        sys.stdout.write(json_module.dumps(rows[:], ensure_ascii=False, indent=2) + "\n")
        return
    if len(rows) > _LONGEST_TABLE:  # laying out a table takes a second per thousand rows
        lines = (rows[0], *(row.values() for row in rows))
        sys.stdout.writelines("\t".join("" if cell is None else str(cell) for cell in line) + "\n" for line in lines)
        return
    from rich.console import Console

    from isogloss.tables.table import Table

    console = Console()
    header = [name for name in rows[0] if console.width >= _FROM_WIDTH.get((rows.title.lower(), name), 0)]
    table = Table(rows.title, header, words=sum(not isinstance(rows[0][name], int) for name in header))
    for row in rows:
        table.add(*(str(row[name]) for name in header))
    if what == "languages":
        table.notes.append("isogloss list all-languages shows all others; isogloss list sw shows all fields of one")
    table.print(console)
