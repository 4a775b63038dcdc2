"""isogloss analyze: cross-lingual analyses with tables, a chart and a paragraph."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from isogloss.analysis.registry import ANALYSES, find_analysis
from isogloss.cli import options as o

if TYPE_CHECKING:
    from isogloss.analysis.finding import Finding

app = typer.Typer(add_completion=False)


@app.command(epilog=f"Analyses: {', '.join(ANALYSES)}.")
def analyze(
    name: Annotated[str | None, typer.Argument(help="Analysis to run; omit it to list all.")] = None,
    results: Annotated[
        list[str] | None,
        typer.Argument(
            help="results.json, run folders, published, published:NAME, or tidy CSV. Some analyses take prediction "
            "folders, checkpoints or languages instead; see the list."
        ),
    ] = None,
    data: o.Data = None,
    partial_gold: o.PartialGold = None,
    tasks: o.Tasks = None,
    languages: o.Languages = None,
    settings: Annotated[
        list[str] | None, o.Statistics("--set", help="Analysis option as key=value; repeatable.")
    ] = None,
    json: o.Json = None,
    csv: o.Csv = None,
    html: o.Html = None,
) -> None:
    """Analyse results across languages: transfer gaps, families, rankings, saturation and more.

    Every analysis prints tidy tables with intervals and a paragraph with its
    conclusions and limits, and can write a chart. published means the
    per-language systems of the papers' tables; published:further,
    published:mteb and published:all include more, published:NAME is one system,
    published:checklist has the error rates of MultiCheckList, and
    published:keung the results of several papers for one model.

    \b
    Examples:
      isogloss analyze
      isogloss analyze transfer-gap results.json
      isogloss analyze rankings published mine.json --html rankings.html
      isogloss analyze families "published:XLM-R Large" --tasks udpos \\
          --set group=branch --csv tables
    """
    if name is None:
        from isogloss.tables.table import Table, show

        table = Table("Analyses", ("analysis", "answers", "takes"), words=3)
        for entry in ANALYSES.values():
            table.add(entry.name, entry.about, entry.takes)
        show([table], "table")
        return
    find_analysis(name)
    options: dict[str, Any] = {**_options(settings or [])}
    if partial_gold is not None:
        options |= {"allow_partial": partial_gold, "strict": not partial_gold}
    from isogloss.analysis.api import analyze as run

    with o.progress("analysing"):
        finding = run(name, *results or (), data=data, tasks=o.words(tasks), languages=o.words(languages), **options)
    write_and_show(finding, json, csv, html)


def _options(settings: list[str]) -> dict[str, str]:
    options = {}
    for setting in settings:
        key, equals, value = setting.partition("=")
        if not equals or not key.strip().isidentifier():
            raise typer.BadParameter(f"expected key=value, got {setting!r}", param_hint="--set")
        options[key.strip()] = value.strip()
    if clash := {"name", "results", "data", "tasks", "languages"}.intersection(options):
        raise typer.BadParameter(f"{clash.pop()} is not an analysis option", param_hint="--set")
    return options


def write_and_show(finding: "Finding", json: Path | None, csv: Path | None, html: Path | None) -> None:
    """Write a finding to the requested files and print its tables, interpretation and notes."""
    from isogloss.tables.findings import finding_tables
    from isogloss.tables.table import show

    write_finding_files(finding, json, csv, html)
    show(finding_tables(finding), "table")
    o.say_prose(finding.reading)
    for note in finding.notes:
        o.say_prose(note, bullet="- ")


def write_finding_files(finding: "Finding", json: Path | None, csv: Path | None, html: Path | None) -> None:
    """Write a finding to the requested files."""
    from isogloss.scoring.results import write_json
    from isogloss.site.write import write_finding, write_tidy_tables

    if html is not None:
        write_finding(finding, html)
    if json is not None:
        write_json(json, finding, indent=1)
    if csv is not None:
        write_tidy_tables(finding, csv)
