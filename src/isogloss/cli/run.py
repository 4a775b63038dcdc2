"""isogloss run: a system on every task, language and seed, however often the machine dies."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from isogloss.cli.options import Data, Languages, On, Regime, Suite, Tasks, words
from isogloss.escaping import printable

if TYPE_CHECKING:
    from rich.console import Console

    from isogloss.runs.place import Place
    from isogloss.runs.plan import Plan
    from isogloss.runs.summary import RunSummary

app = typer.Typer(add_completion=False)


@app.command()
def run(
    system: Annotated[str, typer.Argument(help="A system, e.g. ngram, embedder:muse or encoder:MODEL#epochs=3.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder of runs, <system>/<regime>/seed-<n> below it.")],
    data: Data = None,
    suite: Suite = "xtreme-r",
    tasks: Tasks = None,
    languages: Languages = None,
    split: Annotated[str, typer.Option(help="test or dev.")] = "test",
    seeds: Annotated[int, typer.Option(min=1, help="How many seeds.")] = 5,
    jobs: Annotated[
        int | None,
        typer.Option(
            "--jobs",
            "-j",
            min=1,
            help="Processes to start; on a cluster the most jobs at a time.",
            show_default="1; on a cluster as many as there is room for",
        ),
    ] = None,
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
    from rich.console import Console

    from isogloss.report.run_tables import seeds_table
    from isogloss.runs.place import Place
    from isogloss.runs.plan import Plan
    from isogloss.scoring.cells import Request

    place = Place.of(on)
    request = Request.of(suite, tasks=words(tasks), languages=words(languages), split=split, data=data)
    plan = Plan.of(system, out, request, seeds=seeds, regime=regime)
    console = Console()
    summary = run_shown(plan, console, jobs=jobs or 0, force=force, place=place)
    if summary.tasks:
        seeds_table(plan, summary).print(console)
    raise typer.Exit(say_summary(plan, console, summary))


def run_shown(
    plan: "Plan",
    console: "Console",
    *,
    jobs: int = 0,
    force: bool = False,
    live: bool = True,
    place: "Place | None" = None,
) -> "RunSummary":
    """Fill a grid while its progress is shown, live or as a log; only the first of processes that fit together returns.

    Raises:
        Exit: it was interrupted, which has been said; or this process has nothing more to do.
    """
    from isogloss.runs.grid import run_plan
    from isogloss.runs.place import HERE
    from isogloss.runs.progress import GridProgress, shown
    from isogloss.runs.summary import count_cells
    from isogloss.training.processes import is_main

    if not is_main():
        run_plan(plan, jobs=jobs)
        raise typer.Exit
    try:
        with shown(GridProgress(plan), live=live) as on_progress:
            return run_plan(plan, jobs=jobs, force=force, on_progress=on_progress, place=place or HERE)
    except KeyboardInterrupt:
        console.print(f"interrupted: {count_cells(plan).cell_counts}", highlight=False, soft_wrap=True)
        detached = place is not None and place.on_interrupt == "detach"
        goes_on = (
            "The cluster goes on; the same command waits for it." if detached else "The same command goes on from here."
        )
        console.print(goes_on)
        raise typer.Exit(130) from None


def say_summary(plan: "Plan", console: "Console", summary: "RunSummary") -> int:
    """Say what went wrong or has no score, and where everything is; gives the exit code."""
    from isogloss.report.run_tables import reason_lines

    for line in reason_lines(plan, summary):
        console.print(printable(line), markup=False, highlight=False, soft_wrap=True)
    ended = printable(f"{summary.cell_counts} in {plan.root}")
    console.print(ended, markup=False, highlight=False, soft_wrap=True, style="bold")
    return 1 if summary.cells["failed"] or not summary.cells["done"] else 0
