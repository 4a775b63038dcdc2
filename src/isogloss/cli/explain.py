"""isogloss explain: where a system fails, where two differ, and what the data are like."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from isogloss.cli.options import Data, Languages, Split, Suite, Tasks, progress, request, words

if TYPE_CHECKING:
    from isogloss.explain.analysis import Analysis
    from isogloss.explain.bias import Bias

app = typer.Typer(add_completion=False)


@app.command()
def explain(
    systems: Annotated[list[Path] | None, typer.Argument(help="One prediction folder, or more to compare.")] = None,
    data: Data = None,
    suite: Suite = "xtreme-r",
    tasks: Tasks = None,
    languages: Languages = None,
    split: Split = "test",
    attributes: Annotated[
        str | None,
        typer.Option(
            "--attributes",
            "-a",
            help="Only these: aLen, at edges aLen=2:5:13, from a file mine@FILE.jsonl, fertility@VOCAB.txt.",
        ),
    ] = None,
    edges: Annotated[str, typer.Option(help="Of buckets: per language, or shared by the languages of a task.")] = (
        "language"
    ),
    examples: Annotated[int, typer.Option(help="List this many examples a bucket, with their texts.", min=0)] = 0,
    bias: Annotated[bool, typer.Option("--bias", help="Only the data: no system needed.")] = False,
    json: Annotated[Path | None, typer.Option(help="Write everything that was found out as JSON.")] = None,
    html: Annotated[Path | None, typer.Option(help="Write it as one HTML page that works offline.")] = None,
) -> None:
    """Explain scores: cut the examples into buckets by length, overlap, type, script …, and score every bucket.

    Continuous attributes get four buckets of equal counts (XS, S, L, XL), others one bucket a value; every bar has a
    95 % interval, and a sentence is said only where best and worst bucket really differ. With two systems or more:
    differences bucket by bucket, and where their order turns. Scores of questions are the mean of F1 and exact match.

    Examples:

      isogloss explain my-predictions --data data --tasks xquad --languages en,zh

      isogloss explain mbert xlmr --data data --tasks xquad --examples 5 --html explained.html

      isogloss explain --bias --data data --tasks xquad,tydiqa
    """
    import msgspec

    from isogloss.data.files import atomic_write
    from isogloss.explain.analysis import wanted
    from isogloss.report.tables import show

    asked = request(suite, tasks, languages, split, data, None, False)
    chosen = wanted(words(attributes), asked)
    found: Analysis | Bias
    if bias:
        if html is not None:
            raise typer.BadParameter("a page shows systems; --json writes a survey of the data", param_hint="--html")
        from isogloss.explain.bias import survey
        from isogloss.report.explanations import bias_tables

        with progress("surveying") as step:
            found = survey(asked, chosen, step)
        tables = bias_tables(found)
    else:
        from isogloss.explain.analysis import analyse, edges_named
        from isogloss.report.bundle import write_analysis
        from isogloss.report.charts import converter
        from isogloss.report.explanations import analysis_tables

        if not systems:
            raise typer.BadParameter("give a prediction folder, or --bias for the data alone", param_hint="SYSTEMS")
        if html is not None:
            converter()  # before anything is computed
        with progress("explaining") as step:
            found = analyse(systems, asked, chosen, edges=edges_named(edges), examples=examples, progress=step)
        tables = analysis_tables(found)
        if html is not None:
            write_analysis(found, html)
    if json is not None:
        with atomic_write(json) as stream:
            stream.write(msgspec.json.format(msgspec.json.encode(found), indent=1).decode() + "\n")
    show(tables, "table")
