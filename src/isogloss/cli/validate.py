"""isogloss validate: every problem of a prediction folder at once."""

from typing import Annotated

import typer

from isogloss.cli.options import Data, Gold, Languages, Predictions, Tasks, progress, words
from isogloss.escaping import printable

app = typer.Typer(add_completion=False)

# Where every file has as many problems as are shown, those of so many files are enough to see why.
MANY = 10


@app.command()
def validate(
    predictions: Predictions,
    data: Data = None,
    tasks: Tasks = None,
    languages: Languages = None,
    gold: Gold = None,
    limit: Annotated[int, typer.Option(min=0, help="Problems shown per file, errors first; 0 shows all.")] = 20,
) -> None:
    """Check a prediction folder: missing, extra and repeated ids, wrong labels, wrong shapes, damaged files.

    Every problem says where it is, what is wrong and what to do. Gold is not
    needed, only the inputs: a cell that score leaves out, because its gold is
    missing, partial or damaged here, is a warning.

    Exit codes: 0 nothing is wrong with the answers (warnings may remain);
    1 something is; 2 wrong usage.

    \b
    Examples:
      isogloss validate my-predictions --data data
      isogloss validate my-predictions --tasks udpos --languages he --limit 0
    """
    from rich.console import Console

    from isogloss.predictions.validate import validate as check
    from isogloss.report.validation_table import validation_table

    with progress("checking") as step:
        report = check(predictions, data, words(tasks), words(languages), gold, step)
    console = Console()
    validation_table(report).print(console)
    by_file = (report.problems, *(cell.problems for cell in report.cells))
    listed = [problem for problems in by_file for problem in problems[: limit or None]]
    if limit:
        listed = sorted(listed, key=lambda problem: problem.warning)[: limit * MANY]
    for problem in listed:
        kind = "[yellow]warning[/]" if problem.warning else "[red]error[/]"
        console.print(f"{kind} ", end="")
        console.print(printable(str(problem)), markup=False, highlight=False, soft_wrap=True)
    if rest := len(report.everything()) - len(listed):
        console.print(f"… and {rest} more; --limit 0 shows all", style="dim")
    console.print(report.summary, style="bold")
    raise typer.Exit(1 if report.errors else 0)
