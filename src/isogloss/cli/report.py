"""isogloss report: one page that shows everything, and every table and chart as a file."""

from pathlib import Path
from typing import Annotated

import typer

from isogloss.cli.options import progress, say

app = typer.Typer(add_completion=False)


@app.command()
def report(
    results: Annotated[list[Path], typer.Argument(help="results.json records, or run folders that have one.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for the report.")] = Path("report"),
    explain: Annotated[
        list[Path] | None,
        typer.Option(help="JSON of isogloss explain: one system, several compared, or --bias; repeatable."),
    ] = None,
    title: Annotated[str, typer.Option(help="The heading.")] = "Isogloss report",
    pictures: Annotated[bool, typer.Option(help="Also write every chart as SVG and PNG.")] = True,
) -> None:
    """Make a report of one or more systems: one HTML file that works offline, tables and charts beside it.

    index.html is self-contained. tables/ has every table as CSV, Markdown and
    LaTeX (booktabs), charts/ every chart as SVG and PNG, scores.csv every
    number.

    \b
    Examples:
      isogloss report results.json --out report
      isogloss report runs/xlmr/zero-shot/seed-0 mbert.json \\
          --explain explain.json -o report
      isogloss report xlmr.json mbert.json --explain both.json \\
          --explain bias.json -o report
    """
    from isogloss.report.write import report as write

    with progress("writing") as step:
        page = write(results, out, explain=explain or (), title=title, pictures=pictures, progress=step)
    say(f"{page} ({page.stat().st_size / 1e6:.1f} MB)")
