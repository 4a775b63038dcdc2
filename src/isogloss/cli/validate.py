"""isogloss validate: report every problem in a prediction folder."""

from pathlib import Path
from typing import Annotated

import typer

from isogloss.cli.options import Data, Gold, Languages, Output, Subset, Tasks, progress, words
from isogloss.escaping import printable

app = typer.Typer(add_completion=False)

# Show at most `limit` problems for each of this many files.
FILES_SHOWN = 10


@app.command()
def validate(
    predictions: Annotated[
        Path, typer.Argument(help="Prediction folder, or runs of a system (seed-0/, prompt-NAME/seed-0/, …).")
    ],
    data: Data = None,
    gold: Gold = None,
    subset: Subset = None,
    tasks: Tasks = None,
    languages: Languages = None,
    limit: Annotated[int, Output(min=0, help="Problems shown per file, errors first; 0 shows all.")] = 20,
) -> None:
    """Check a prediction folder for missing, extra and duplicate ids, invalid labels and shapes, and damaged files.

    Every problem comes with its location and a fix. Needs the task's inputs but
    no gold labels. Cells that score would skip, because their gold is missing,
    partial or damaged, are warnings. In a folder of runs (seed-0/,
    prompt-NAME/seed-0/, …) every run is checked.

    Exit codes: 0 the predictions are valid (warnings may remain); 1 errors;
    2 wrong usage.

    \b
    Examples:
      isogloss validate my-predictions --data data
      isogloss validate my-predictions --tasks udpos --languages he --limit 0
    """
    from rich.console import Console

    from isogloss.predictions.validate import validate as check
    from isogloss.tables.formatting import validation_table

    with progress("checking") as step:
        report = check(predictions, data, words(tasks), words(languages), gold, step, subset=subset)
    console = Console()
    validation_table(report).print(console)
    by_file = (report.problems, *(cell.problems for cell in report.cells))
    listed = [problem for problems in by_file for problem in problems[: limit or None]]
    if limit:
        listed = sorted(listed, key=lambda problem: problem.warning)[: limit * FILES_SHOWN]
    for problem in listed:
        kind = "[yellow]warning[/]" if problem.warning else "[red]error[/]"
        console.print(f"{kind} ", end="")
        console.print(printable(str(problem)), markup=False, highlight=False, soft_wrap=True)
    if rest := len(report.everything()) - len(listed):
        console.print(f"… and {rest} more; --limit 0 shows all", style="dim")
    console.print(report.summary, style="bold")
    raise typer.Exit(1 if report.errors else 0)
