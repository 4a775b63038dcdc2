"""isogloss compare: paired tests between systems."""

from pathlib import Path
from typing import Annotated

import typer

from isogloss.cli import options as o

app = typer.Typer(add_completion=False)


@app.command()
@o.expand_bundles
def compare(
    systems: Annotated[list[Path], typer.Argument(help="Two or more prediction folders.")],
    *,
    cells: o.AnswerOptions,
    margin: Annotated[
        float | None,
        o.Statistics(
            help="Differences below this many points are equivalent: say better, worse, equivalent or cannot tell."
        ),
    ] = None,
    json: o.Json = None,
    form: o.Format = "table",
    jobs: o.Jobs = 1,
) -> None:
    """Compare systems on the cells they share: differences with 95 % intervals and corrected p-values.

    The p-values come from a paired permutation test: if two systems are equally
    good, their predictions for an article, premise or example are exchangeable,
    and p is the share of exchanges with a difference at least as large. A folder
    of seeds (seed-0, seed-1, …) represents a method; the test then includes the
    variance between seeds. So does a folder of prompts (prompt-short/seed-0, …).

    Three or more systems are compared on the cells that all of them have, with
    verdicts that hold for all pairs together: ranks, letters and a matrix.

    \b
    Examples:
      isogloss compare mbert xlmr --data data
      isogloss compare mbert xlmr --margin 1.0
      isogloss compare mbert xlmr mt5 --tasks xquad --languages en,zh \\
          --json comparison.json
      isogloss compare runs/*/zero-shot --data data --jobs 8
    """
    from isogloss.scoring.compare import compare_request
    from isogloss.scoring.results import write_json
    from isogloss.tables.comparison_tables import systems_tables
    from isogloss.tables.table import show
    from isogloss.workers import local_workers

    if len(systems) < 2:
        raise typer.BadParameter("expected at least two prediction folders", param_hint="SYSTEMS")
    request = cells.request()
    with o.progress("comparing") as step, local_workers(jobs) as workers:
        comparison = compare_request(systems, request, step, workers, margin)
    if json is not None:
        # The record of two systems is a list with one comparison, as in earlier versions.
        write_json(json, comparison if comparison.orders else comparison.pairs)
    show(systems_tables(comparison), form)
