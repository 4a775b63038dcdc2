"""isogloss run: run a system on every task, language and seed; resumable."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from isogloss.cli import options as o
from isogloss.escaping import printable

if TYPE_CHECKING:
    from isogloss.runs.place import Place
    from isogloss.runs.plan import Plan
    from isogloss.runs.summary import RunSummary
    from isogloss.tables.table import Table

app = typer.Typer(add_completion=False)


@app.command()
def run(
    system: Annotated[str, typer.Argument(help="System, e.g. ngram, embedder:muse or encoder:MODEL#epochs=3.")],
    *,
    data: o.Data = None,
    allow_partial: o.AllowPartial = False,
    suite: o.Suite = "xtreme-r",
    tasks: o.Tasks = None,
    languages: o.Languages = None,
    split: o.TestOrDev = "test",
    regime: o.Regime = "zero-shot",
    seeds: o.Seeds = 5,
    out: o.RunsFolder,
    on: o.On = None,
    jobs: o.ClusterJobs = None,
    force: Annotated[bool, o.Execution("--force", help="Run finished cells again.")] = False,
) -> None:
    """Run a system on a grid of tasks, languages and seeds: fit, predict and score.

    Fits once per task and seed, or per language if the regime requires it. Run
    the same command to resume: it runs missing cells and retries failed ones.
    Several commands, also on several machines, can fill one folder. Each seed's
    folder is an ordinary prediction folder.

    Exit codes: 0 no cell failed; 1 some cells failed, or none could be run; 130
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
    from isogloss.runs.place import Place
    from isogloss.runs.plan import Plan
    from isogloss.scoring.request import Request
    from isogloss.tables.run_tables import seeds_table

    place = Place.of(on)
    request = Request.of(
        suite,
        tasks=o.words(tasks),
        languages=o.words(languages),
        split=split,
        data=data,
        allow_partial=allow_partial,
    )
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
    """Run a grid, showing live progress or a log; then print the scores and the reasons for missing ones.

    Raises:
        Exit: always, with the exit code documented in the verb's help.
    """
    from rich.console import Console

    from isogloss.interrupts import answering_interrupts
    from isogloss.runs.grid import run_plan
    from isogloss.runs.progress import GridProgress, shown
    from isogloss.runs.summary import summarize
    from isogloss.tables.run_tables import reason_lines
    from isogloss.training.processes import is_main

    if not is_main():  # in a distributed fit, the main process alone reports
        run_plan(plan, jobs=jobs)
        raise typer.Exit
    console = Console()
    try:
        with answering_interrupts(), shown(GridProgress(plan), live=live) as on_progress:
            summary = run_plan(plan, jobs=jobs, force=force, on_progress=on_progress, place=place)
    except KeyboardInterrupt:
        console.print(f"interrupted: {summarize(plan).cell_counts}", highlight=False, soft_wrap=True)
        keeps_running = "The cluster keeps running; run the same command to reattach."
        console.print(keeps_running if place.on_interrupt == "detach" else "Run the same command to resume.")
        raise typer.Exit(130) from None
    if summary.tasks:
        table_of(plan, summary).print(console)
    for line in reason_lines(plan):
        console.print(printable(line), markup=False, highlight=False, soft_wrap=True)
    ending = printable(f"{summary.cell_counts}; saved in {plan.root}")
    console.print(ending, markup=False, highlight=False, soft_wrap=True, style="bold")
    raise typer.Exit(1 if summary.cells["failed"] or not summary.cells["done"] else 0)
