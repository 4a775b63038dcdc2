"""isogloss explain: scores by bucket, differences between systems, and dataset statistics."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Union

import typer

from isogloss.cli import options as o

if TYPE_CHECKING:
    from isogloss.explain.analysis import Analysis
    from isogloss.explain.bias import DatasetBias

app = typer.Typer(add_completion=False)


@app.command()
@o.expand_bundles
def explain(
    systems: Annotated[list[Path] | None, typer.Argument(help="One prediction folder, or several to compare.")] = None,
    *,
    cells: o.RequestOptions,
    partial_gold: o.PartialGold = None,
    attributes: Annotated[
        str | None,
        o.Selection(
            "--attributes",
            "-a",
            help="Only these attributes, e.g. aLen,qType. aLen+qType crosses two; aLen@whitespace counts words in "
            "every language; mine@FILE.jsonl and fertility@VOCAB.txt read a file. Set bucket edges with aLen=2:5:13, "
            "edges shared by all languages with all=shared, or fill buckets greedily with all=greedy.",
        ),
    ] = None,
    bias: Annotated[bool, o.Selection("--bias", help="Describe the data only; no predictions needed.")] = False,
    convention: Annotated[
        str,
        o.Statistics(
            help="Attributes and buckets of: ours, paper (XTREME-R, Table 25) or explainaboard (its reports)."
        ),
    ] = "ours",
    dialect: Annotated[
        str,
        o.Statistics(
            help="Compare answers as another scorer does, e.g. mlqa, in the languages it supports.",
            show_default="the task's own",
        ),
    ] = "",
    examples: Annotated[int, o.Output(help="List this many examples per bucket, with texts.", min=0)] = 0,
    across: Annotated[bool, o.Output("--across", help="Print each bucket once, averaged over all languages.")] = False,
    json: o.Json = None,
    html: o.Html = None,
    jobs: o.Jobs = 1,
) -> None:
    """Explain scores: group examples into buckets by length, overlap, type, script, …, and score each bucket.

    Continuous attributes get four buckets of equal size (XS, S, L, XL), others
    one bucket per value. Every score has a 95 % interval. A trend, a
    difference or a best bucket is stated only if it is significant among all
    that is tested in this call: at most 5 % of the statements are false on
    average. With several systems, shows the differences per bucket and where
    the ranking flips. Question answering scores are the mean of F1 and exact
    match. Of a folder of runs, pass one run: my-system/seed-0.

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

    request = cells.request(partial_gold=partial_gold, dialect=dialect)
    selection = select_attributes(o.words(attributes), request, convention)
    if bias:
        from isogloss.explain.bias import bias_request

        with o.progress("analysing the data") as step:
            survey = bias_request(request, selection, step)
        _write_and_show(survey, json, html, across=across)
    elif systems:
        from isogloss.explain.analysis import explain_request
        from isogloss.workers import local_workers

        with o.progress("explaining") as step, local_workers(jobs) as workers:
            analysis = explain_request(systems, request, selection, examples=examples, progress=step, workers=workers)
        _write_and_show(analysis, json, html, across=across)
    else:
        raise typer.BadParameter("expected a prediction folder, or --bias to describe the data", param_hint="SYSTEMS")


def _write_and_show(
    result: Union["Analysis", "DatasetBias"], json: Path | None, html: Path | None, *, across: bool
) -> None:
    from isogloss.explain.bias import DatasetBias
    from isogloss.scoring.results import write_json
    from isogloss.tables.explain_tables import analysis_tables, bias_tables
    from isogloss.tables.formatting import left_out_notes
    from isogloss.tables.table import show

    if html is not None:
        from isogloss.site.write import write_analysis, write_bias

        write_bias(result, html) if isinstance(result, DatasetBias) else write_analysis(result, html)
    if json is not None:
        write_json(json, result, indent=1)
    tables = bias_tables(result) if isinstance(result, DatasetBias) else analysis_tables(result, across=across)
    if not tables:
        o.say("No buckets to show: the selected attributes are constant, or no selected task has them.")
        for note in [] if isinstance(result, DatasetBias) else left_out_notes(result.left_out):
            o.say(note)
    show(tables, "table")
