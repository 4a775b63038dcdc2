"""What verbs that end in a finding share: its files, and how it is shown."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from isogloss.cli.options import say

if TYPE_CHECKING:
    from isogloss.analysis.finding import Finding

FindingJson = Annotated[Path | None, typer.Option("--json", help="Write everything that was found as JSON.")]
FindingCsv = Annotated[
    Path | None, typer.Option("--csv", help="Write every table into this folder; a name in .csv has the first alone.")
]
FindingHtml = Annotated[Path | None, typer.Option("--html", help="Write it as one HTML page that works offline.")]


def check_charts(html: Path | None) -> None:
    """Raise where a page is wanted that cannot be drawn, before anything is computed."""
    if html is not None:
        from isogloss.report.charts import chart_library

        chart_library()


def write_and_show(found: "Finding", json: Path | None, csv: Path | None, html: Path | None) -> None:
    """Write a finding to the files that are wanted, and print its tables, its reading and its notes."""
    from isogloss.report.finding_tables import finding_tables
    from isogloss.report.tables import show
    from isogloss.report.write import write_finding, write_tidy_tables
    from isogloss.scoring.results import write_json

    if html is not None:
        write_finding(found, html)
    if json is not None:
        write_json(json, found, indent=1)
    if csv is not None:
        write_tidy_tables(found, csv)
    show(finding_tables(found), "table")
    say(found.reading)
    for note in found.notes:
        say(f"- {note}")
