"""isogloss compare: paired tests between systems."""

from pathlib import Path
from typing import Annotated

import typer

from isogloss.cli.options import (
    Data,
    Format,
    Gold,
    Jobs,
    Languages,
    PartialGold,
    Resample,
    Split,
    Suite,
    Tasks,
    make_request,
    progress,
)

app = typer.Typer(add_completion=False)


@app.command()
def compare(
    systems: Annotated[list[Path], typer.Argument(help="Two or more prediction folders.")],
    data: Data = None,
    suite: Suite = "xtreme-r",
    tasks: Tasks = None,
    languages: Languages = None,
    split: Split = "test",
    gold: Gold = None,
    partial_gold: PartialGold = None,
    resample: Resample = "source",
    json: Annotated[Path | None, typer.Option(help="Write the comparison as JSON.")] = None,
    form: Format = "table",
    jobs: Jobs = 1,
) -> None:
    """Compare systems on the cells they share: differences with 95 % intervals and corrected p-values.

    If two systems are equally good, either could have given either's answers on
    an article, a premise, an example: p is the share of all such exchanges that
    move the scores at least as far apart. A folder of seeds (seed-0, seed-1, …)
    stands for a method: seeds are then a further source of error.

    \b
    Examples:
      isogloss compare mbert xlmr --data data
      isogloss compare mbert xlmr mt5 --tasks xquad --languages en,zh \\
          --json comparison.json
      isogloss compare runs/*/zero-shot --data data --jobs 8
    """
    from isogloss.report.compare_tables import comparison_tables
    from isogloss.report.tables import show
    from isogloss.scoring.compare import compare_request
    from isogloss.scoring.results import write_json
    from isogloss.workers import local_workers

    if len(systems) < 2:
        raise typer.BadParameter("a comparison needs two prediction folders at least", param_hint="SYSTEMS")
    request = make_request(suite, tasks, languages, split, data, gold, partial_gold, resample)
    with progress("comparing") as step, local_workers(jobs) as workers:
        comparisons = compare_request(systems, request, step, workers)
    if json is not None:
        write_json(json, comparisons)
    show([table for comparison in comparisons for table in comparison_tables(comparison)], form)
