"""isogloss report: one page with all results, and every table and chart as a file."""

from pathlib import Path
from typing import Annotated

import typer

from isogloss.cli.options import Data, Input, Output, progress, say

app = typer.Typer(add_completion=False)


@app.command()
def report(
    results: Annotated[
        list[Path],
        typer.Argument(help="Result records (score --json), run folders, or results of lm-eval, mteb or inspect_ai."),
    ],
    explain: Annotated[
        list[Path] | None, Input(help="JSON from isogloss explain: one system, a comparison, or --bias; repeatable.")
    ] = None,
    data: Data = None,
    out: Annotated[Path, Output("--out", "-o", help="Output folder, or file of another tool.")] = Path("report"),
    form: Annotated[
        str,
        Output(
            "--format",
            "-f",
            help="html, or for other tools: model-index, every-eval-ever, lm-eval, mteb, inspect, wandb, mlflow.",
        ),
    ] = "html",
    title: Annotated[str, Output(help="Page heading.")] = "Isogloss report",
    pictures: Annotated[
        bool | None,
        Output(
            "--pictures/--no-pictures",
            help="Also write every chart as SVG and PNG (default: if vl-convert is installed).",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Write a report on one or more systems: one self-contained HTML file, with tables and charts next to it.

    index.html works offline. tables/ contains every table as CSV, Markdown and
    LaTeX (booktabs), and paper-*.tex systems by task and by language as papers
    print them; charts/ contains every chart as SVG and PNG, and scores.csv every
    number. Run folders with predictions are tested on examples, if the data folder
    has the gold; isogloss score --layout also marks the results of tests.

    --format writes a file for another tool instead: the front matter of a
    model card, Every Eval Ever, results of lm-eval, mteb or inspect_ai, or an
    offline run of W&B or MLflow (docs/formats.md).

    \b
    Examples:
      isogloss report results.json --out report
      isogloss report runs/xlmr/zero-shot/seed-0 mbert.json \\
          --explain explain.json -o report
      isogloss report xlmr.json mbert.json --explain both.json \\
          --explain bias.json -o report
      isogloss report results.json --format model-index --out README.md
    """
    from isogloss.site.write import report as write

    with progress("writing") as step:
        page = write(
            results, out, explain=explain or (), title=title, pictures=pictures, data=data, progress=step, form=form
        )
    say(f"{page} ({page.stat().st_size / 1e6:.1f} MB)" if form == "html" else str(page))
