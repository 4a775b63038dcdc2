"""isogloss run: a system on every task, language and seed, however often the machine dies."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from isogloss.cli.options import (
    ClusterJobs,
    Data,
    Languages,
    On,
    Regime,
    RunsFolder,
    Seeds,
    Suite,
    Tasks,
    TestOrDev,
    words,
)
from isogloss.escaping import printable

if TYPE_CHECKING:
    from rich.console import Console

    from isogloss.report.tables import Table
    from isogloss.runs.place import Place
    from isogloss.runs.plan import Plan
    from isogloss.runs.summary import RunSummary

app = typer.Typer(add_completion=False)


@app.command()
def run(
    system: Annotated[str, typer.Argument(help="A system, e.g. ngram, embedder:muse or encoder:MODEL#epochs=3.")],
    out: RunsFolder,
    data: Data = None,
    suite: Suite = "xtreme-r",
    tasks: Tasks = None,
    languages: Languages = None,
    split: TestOrDev = "test",
    seeds: Seeds = 5,
    jobs: ClusterJobs = None,
    regime: Regime = "zero-shot",
    force: Annotated[bool, typer.Option("--force", help="Do these cells again.")] = False,
    on: On = None,
) -> None:
    """Fill a grid of cells: fit once per task and seed (or, as the regime says, per language), predict and score.

    Issue the command again and it does only what is missing: failed cells are
    retried, a killed one is missing. Several commands, on several machines, may
    fill one folder. Each seed's folder is a prediction folder like any other.

    Exit codes: 0 no cell failed; 1 some did, or none could be done; 130
    interrupted.

    \b
    Examples:
      isogloss run ngram --suite mini --out runs --jobs 2
      isogloss run embedder:muse --tasks tatoeba,lareqa --data data \\
          --out runs --seeds 1
      isogloss run ngram --tasks tydiqa --regime in-language --data data \\
          --out runs
      isogloss run ngram --data data --out /shared/runs --on ray://head:10001
      isogloss score runs/ngram/zero-shot/seed-0 --suite mini
    """
    from isogloss.report.run_tables import seeds_table
    from isogloss.runs.place import Place
    from isogloss.runs.plan import Plan
    from isogloss.scoring.cells import Request

    place = Place.of(on)
    request = Request.of(suite, tasks=words(tasks), languages=words(languages), split=split, data=data)
    plan = Plan.of(system, out, request, seeds=seeds, regime=regime)
    run_and_exit(plan, place, seeds_table, jobs=jobs or 0, force=force)


def run_and_exit(
    plan: "Plan",
    place: "Place",
    table_of: "Callable[[Plan, RunSummary], Table]",
    *,
    jobs: int = 0,
    force: bool = False,
    live: bool = True,
) -> NoReturn:
    """Fill a grid while its progress is shown, live or as a log; then print its scores, and what has none.

    Raises:
        Exit: always, with the exit code that the verbs' help tells of.
    """
    from rich.console import Console

    console = Console()
    summary = _run_shown(plan, place, console, jobs=jobs, force=force, live=live)
    if summary.tasks:
        table_of(plan, summary).print(console)
    raise typer.Exit(_say_summary(plan, console, summary))


def _run_shown(plan: "Plan", place: "Place", console: "Console", *, jobs: int, force: bool, live: bool) -> "RunSummary":
    """Fill a grid while its progress is shown; only the first of processes that fit together returns.

    Raises:
        Exit: it was interrupted, which has been said; or this process has nothing more to do.
    """
    from isogloss.runs.grid import run_plan
    from isogloss.runs.progress import GridProgress, shown
    from isogloss.runs.summary import count_cells
    from isogloss.training.processes import is_main

    if not is_main():
        run_plan(plan, jobs=jobs)
        raise typer.Exit
    try:
        with shown(GridProgress(plan), live=live) as on_progress:
            return run_plan(plan, jobs=jobs, force=force, on_progress=on_progress, place=place)
    except KeyboardInterrupt:
        console.print(f"interrupted: {count_cells(plan).cell_counts}", highlight=False, soft_wrap=True)
        if place.on_interrupt == "detach":
            console.print("The cluster goes on; the same command waits for it.")
        else:
            console.print("The same command goes on from here.")
        raise typer.Exit(130) from None


def _say_summary(plan: "Plan", console: "Console", summary: "RunSummary") -> int:
    """Say what went wrong or has no score, and where everything is; gives the exit code."""
    from isogloss.report.run_tables import reason_lines

    for line in reason_lines(plan, summary):
        console.print(printable(line), markup=False, highlight=False, soft_wrap=True)
    ended = printable(f"{summary.cell_counts} in {plan.root}")
    console.print(ended, markup=False, highlight=False, soft_wrap=True, style="bold")
    return 1 if summary.cells["failed"] or not summary.cells["done"] else 0
