"""isogloss select: which dev set should choose the checkpoint."""

from pathlib import Path
from typing import Annotated

import typer

from isogloss.cli.findings import FindingCsv, FindingHtml, FindingJson, check_charts, write_and_show
from isogloss.cli.options import progress

app = typer.Typer(add_completion=False)


@app.command()
def select(
    checkpoints: Annotated[
        list[Path], typer.Argument(help="Folders of runs or fits, or CSV: step, seed, language, split, value.")
    ],
    task: Annotated[
        str, typer.Option("--task", "-t", help="Only fits of this task; of it are CSV files, too.", show_default="all")
    ] = "",
    metric: Annotated[
        str, typer.Option(help="The metric that is the score.", show_default="the task's main ones")
    ] = "",
    source: Annotated[str, typer.Option(help="The language that was learnt from.")] = "en",
    single: Annotated[
        str, typer.Option(help="The language whose dev set should choose for all.", show_default="each in turn")
    ] = "",
    test_size: Annotated[int, typer.Option(min=0, help="Examples of a test set.", show_default="as recorded")] = 0,
    from_step: Annotated[int, typer.Option(min=0, help="Leave out the checkpoints before this step.")] = 0,
    json: FindingJson = None,
    csv: FindingCsv = None,
    html: FindingHtml = None,
) -> None:
    """Compare the ways of choosing a checkpoint: English dev, target dev, the last, and more.

    Takes the records that isogloss train writes, of several seeds, or any CSV
    with the columns step, seed, language, split (dev or test) and value, 0..100;
    metric and n (examples) may follow. Shows the test score in every language at
    the checkpoint that each rule chooses, how far runs lie apart, and how often
    dev and test scores move the same way, after Keung et al. (2020).

    \b
    Examples:
      isogloss select runs/encoder-xlmr/zero-shot --task xnli
      isogloss select runs/encoder-xlmr/zero-shot/seed-*/.training/udpos \\
          --html selection.html
      isogloss select scores.csv --single sw --test-size 5010 --csv tables
    """
    from isogloss.analysis.checkpoint_selection import select as find

    check_charts(html)
    with progress("selecting"):
        found = find(
            checkpoints,
            task=task,
            metric=metric,
            source=source,
            single=single,
            test_size=test_size,
            from_step=from_step,
        )
    write_and_show(found, json, csv, html)
