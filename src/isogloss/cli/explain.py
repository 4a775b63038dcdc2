"""isogloss explain: where a system fails, where two differ, and what the data are like."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Union

import typer

from isogloss.cli.findings import FindingHtml, check_charts
from isogloss.cli.options import Data, Languages, Split, Tasks, make_request, progress, say, words

if TYPE_CHECKING:
    from isogloss.explain.analysis import Analysis
    from isogloss.explain.bias import DatasetBias
    from isogloss.explain.selection import AttributeSelection
    from isogloss.scoring.cells import Request

app = typer.Typer(add_completion=False)

Attributes = Annotated[
    str | None,
    typer.Option(
        "--attributes",
        "-a",
        help="Only these, e.g. aLen,qType; two crossed, aLen+qType; aLen@whitespace counts words everywhere; "
        "mine@FILE.jsonl and fertility@VOCAB.txt come from files. Buckets are cut at edges, aLen=2:5:13, "
        "or alike in all languages, all=shared, or filled one by one, all=greedy.",
    ),
]
ConventionName = Annotated[
    str,
    typer.Option(
        "--convention",
        help="Whose attributes and buckets: ours, paper (XTREME-R, Table 25) or explainaboard (its reports).",
    ),
]


@app.command()
def explain(
    systems: Annotated[list[Path] | None, typer.Argument(help="One prediction folder, or more to compare.")] = None,
    data: Data = None,
    tasks: Tasks = None,
    languages: Languages = None,
    split: Split = "test",
    attributes: Attributes = None,
    convention: ConventionName = "ours",
    # Not among the ten that are listed: docs/explain.md has them.
    suite: Annotated[str, typer.Option("--suite", "-s", hidden=True)] = "xtreme-r",
    dialect: Annotated[str, typer.Option(hidden=True)] = "",
    across: Annotated[bool, typer.Option("--across", hidden=True)] = False,
    strict: Annotated[bool, typer.Option("--strict", hidden=True)] = False,
    resample: Annotated[str, typer.Option(hidden=True)] = "source",
    jobs: Annotated[int, typer.Option("--jobs", "-j", min=1, hidden=True)] = 1,
    examples: Annotated[int, typer.Option(help="List this many examples a bucket, with their texts.", min=0)] = 0,
    bias: Annotated[bool, typer.Option("--bias", help="Only the data: no system needed.")] = False,
    json: Annotated[Path | None, typer.Option(help="Write everything that was found out as JSON.")] = None,
    html: FindingHtml = None,
) -> None:
    """Explain scores: cut the examples into buckets by length, overlap, type, script …, and score every bucket.

    Continuous attributes get four buckets of equal counts (XS, S, L, XL),
    others one bucket a value; every bar has a 95 % interval, and a sentence is
    said only where best and worst bucket really differ. With two systems or
    more: differences bucket by bucket, and where their order turns. Scores of
    questions are the mean of F1 and exact match.

    \b
    Examples:
      isogloss explain my-predictions --data data --tasks xquad \\
          --languages en,zh
      isogloss explain mbert xlmr --data data --tasks xquad --examples 5 \\
          --html explained.html
      isogloss explain my-predictions --data data --tasks xquad \\
          --convention paper
      isogloss explain --bias --data data --tasks xquad,tydiqa
    """
    from isogloss.explain.selection import select_attributes

    request = make_request(suite, tasks, languages, split, data, None, False if strict else None, resample, dialect)
    selection = select_attributes(words(attributes), request, convention)
    check_charts(html)
    if bias:
        _write_and_show(_survey(request, selection), json, html, across=across)
    elif systems:
        _write_and_show(_explained(systems, request, selection, examples, jobs), json, html, across=across)
    else:
        raise typer.BadParameter("give a prediction folder, or --bias for the data alone", param_hint="SYSTEMS")


def _survey(request: "Request", selection: "AttributeSelection") -> "DatasetBias":
    from isogloss.explain.bias import bias_request

    with progress("looking at the data") as step:
        return bias_request(request, selection, step)


def _explained(
    systems: list[Path], request: "Request", selection: "AttributeSelection", examples: int, jobs: int
) -> "Analysis":
    from isogloss.explain.analysis import explain_request
    from isogloss.workers import local_workers

    with progress("explaining") as step, local_workers(jobs) as workers:
        return explain_request(systems, request, selection, examples=examples, progress=step, workers=workers)


def _write_and_show(
    found: Union["Analysis", "DatasetBias"], json: Path | None, html: Path | None, *, across: bool
) -> None:
    from isogloss.explain.bias import DatasetBias
    from isogloss.report.bias_tables import bias_tables
    from isogloss.report.explain_tables import analysis_tables
    from isogloss.report.left_out import left_out_notes
    from isogloss.report.tables import show
    from isogloss.scoring.results import write_json

    if html is not None:
        from isogloss.report.write import write_analysis, write_bias

        write_bias(found, html) if isinstance(found, DatasetBias) else write_analysis(found, html)
    if json is not None:
        write_json(json, found, indent=1)
    tables = bias_tables(found) if isinstance(found, DatasetBias) else analysis_tables(found, across=across)
    if not tables:
        say("There are no buckets to show: the chosen attributes have one value, or none of the tasks has them.")
        for note in [] if isinstance(found, DatasetBias) else left_out_notes(found.left_out):
            say(note)
    show(tables, "table")
