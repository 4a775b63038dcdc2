"""isogloss validate: every problem of a prediction folder at once."""

from typing import Annotated

import typer

from isogloss.cli.options import Data, Gold, Languages, Predictions, Tasks, progress, words
from isogloss.escaping import printable

app = typer.Typer(add_completion=False)


@app.command()
def validate(
    predictions: Predictions,
    data: Data = None,
    tasks: Tasks = None,
    languages: Languages = None,
    gold: Gold = None,
    limit: Annotated[int, typer.Option(min=0, help="Problems shown per file; 0 shows all.")] = 20,
) -> None:
    """Check a prediction folder: missing, extra and repeated ids, wrong labels, wrong shapes, damaged files.

    Gold is not needed, only the inputs. Every problem says where it is, what is
    wrong and what to do.

    Exit codes: 0 it can be scored (warnings may remain); 1 it cannot; 2 wrong
    usage.

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
    for problems in (report.problems, *(cell.problems for cell in report.cells)):
        for problem in problems[: limit or None]:
            kind = "[yellow]warning[/]" if problem.warning else "[red]error[/]"
            console.print(f"{kind} ", end="")
            console.print(printable(str(problem)), markup=False, highlight=False, soft_wrap=True)
        if limit and len(problems) > limit:
            console.print(f"  … and {len(problems) - limit} more here; --limit 0 shows all", style="dim")
    console.print(report.summary, style="bold")
    raise typer.Exit(1 if report.errors else 0)
