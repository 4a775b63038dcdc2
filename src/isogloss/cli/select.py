"""isogloss select: compare rules for checkpoint selection."""

from pathlib import Path
from typing import Annotated

import typer

from isogloss.cli import options as o
from isogloss.cli.analyze import write_and_show

app = typer.Typer(add_completion=False)


@app.command()
def select(
    checkpoints: Annotated[
        list[Path], typer.Argument(help="Run or fit folders, or CSV: step, seed, language, split, value.")
    ],
    task: Annotated[
        str, o.Selection("--task", "-t", help="Restrict to this task (also assumed for CSV files).", show_default="all")
    ] = "",
    metric: Annotated[str, o.Selection(help="Metric used as the score.", show_default="the task's main metrics")] = "",
    source: Annotated[str, o.Selection(help="Training language.")] = "en",
    single: Annotated[
        str, o.Selection(help="Language used to select for all languages.", show_default="each in turn")
    ] = "",
    data: o.Data = None,
    from_step: Annotated[int, o.Selection(min=0, help="Ignore checkpoints before this step.")] = 0,
    test_size: Annotated[int, o.Statistics(min=0, help="Examples per test set.", show_default="as recorded")] = 0,
    json: o.Json = None,
    csv: o.Csv = None,
    html: o.Html = None,
) -> None:
    """Compare rules for selecting a checkpoint: English dev, target dev, last, and more.

    Takes records written by isogloss train for several seeds, or any CSV with
    the columns step, seed, language, split (dev or test) and value (0–100),
    optionally metric and n (number of examples). Shows the test score per
    language of the checkpoint each rule selects, the spread between runs, and
    how often dev and test scores move together, after Keung et al. (2020). With
    the data folder of a recorded run, the best score is also cross-fitted.

    \b
    Examples:
      isogloss select runs/encoder-xlmr/zero-shot --task xnli
      isogloss select runs/encoder-xlmr/zero-shot/seed-*/.training/udpos \\
          --html selection.html
      isogloss select scores.csv --single sw --test-size 5010 --csv tables
    """
    from isogloss.analysis.checkpoint_selection import select as compare_rules

    with o.progress("selecting"):
        options = {"task": task, "metric": metric, "source": source, "single": single}
        finding = compare_rules(checkpoints, **options, test_size=test_size, from_step=from_step, data=data)
    write_and_show(finding, json, csv, html)
