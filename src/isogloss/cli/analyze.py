"""isogloss analyze: one question across languages, answered with tables, a chart and a paragraph."""

from typing import Annotated, Any

import typer

from isogloss.analysis.registry import ANALYSES, find_analysis
from isogloss.cli.findings import FindingCsv, FindingHtml, FindingJson, check_charts, write_and_show
from isogloss.cli.options import Data, Languages, PartialGold, Tasks, progress, words

app = typer.Typer(add_completion=False)


@app.command(epilog=f"Analyses: {', '.join(ANALYSES)}.")
def analyze(
    name: Annotated[str | None, typer.Argument(help="Which analysis; without one, they are listed.")] = None,
    results: Annotated[
        list[str] | None,
        typer.Argument(
            help="results.json, run folders, published, published:NAME, or tidy CSV; for some prediction folders, "
            "checkpoints or languages: the list says which."
        ),
    ] = None,
    data: Data = None,
    tasks: Tasks = None,
    languages: Languages = None,
    settings: Annotated[
        list[str] | None, typer.Option("--set", help="An option of the analysis, as key=value; repeatable.")
    ] = None,
    partial_gold: PartialGold = None,
    json: FindingJson = None,
    csv: FindingCsv = None,
    html: FindingHtml = None,
) -> None:
    """Ask what holds across languages: transfer gaps, families, rankings, saturation, and more.

    Every analysis ends in tidy tables with intervals, a chart, and a paragraph
    that says what they show and what they do not. published stands for the
    systems of the papers' tables by language; published:further, published:mteb
    and published:all have more, published:NAME has one.

    \b
    Examples:
      isogloss analyze
      isogloss analyze transfer-gap results.json
      isogloss analyze rankings published mine.json --html rankings.html
      isogloss analyze families "published:XLM-R Large" --tasks udpos \\
          --set group=branch --csv tables
    """
    if name is None:
        _list_analyses()
        return
    find_analysis(name)
    options: dict[str, Any] = {**_options(settings or [])}
    if partial_gold is not None:
        options |= {"allow_partial": partial_gold, "strict": not partial_gold}
    from isogloss.analysis.api import analyze as run

    check_charts(html)
    with progress("analysing"):
        found = run(name, *results or (), data=data, tasks=words(tasks), languages=words(languages), **options)
    write_and_show(found, json, csv, html)


def _list_analyses() -> None:
    from isogloss.report.tables import Table, show

    table = Table("Analyses", ("analysis", "answers", "takes"), words=3)
    for each in ANALYSES.values():
        table.add(each.name, each.about, each.takes)
    show([table], "table")


def _options(settings: list[str]) -> dict[str, str]:
    options = {}
    for setting in settings:
        key, equals, value = setting.partition("=")
        if not equals or not key.strip().isidentifier():
            raise typer.BadParameter(f"{setting!r} is not key=value", param_hint="--set")
        options[key.strip()] = value.strip()
    if clash := {"name", "results", "data", "tasks", "languages"}.intersection(options):
        raise typer.BadParameter(f"{clash.pop()} is not an option of an analysis", param_hint="--set")
    return options
