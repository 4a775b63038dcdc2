"""isogloss score: from a folder of predictions to every number."""

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
def score(
    systems: Annotated[
        list[Path],
        typer.Argument(
            help="Prediction folder, or several: <task>/<language>.jsonl, XTREME's layout, or embeddings.",
            metavar="PREDICTIONS…",
        ),
    ],
    data: Data = None,
    suite: Suite = "xtreme-r",
    tasks: Tasks = None,
    languages: Languages = None,
    split: Split = "test",
    gold: Gold = None,
    partial_gold: PartialGold = None,
    resample: Resample = "source",
    json: Annotated[
        Path | None,
        typer.Option(help="Write the result record (a list, of several folders); under a name in .csv, rows."),
    ] = None,
    csv: Annotated[Path | None, typer.Option(help="Write one row a number.", hidden=True)] = None,
    form: Format = "table",
    jobs: Jobs = 1,
) -> None:
    """Score prediction folders: task averages, categories, overall, by family and language, with 95 % intervals.

    Whatever the folder has is scored; what is missing is listed, and averages
    over a part are marked. A cell whose gold is missing, partial, damaged or a
    placeholder here is left out with the reason, as are misnamed files; that is
    an error with --strict. Wrong answers (ids, labels, types) are always one.

    \b
    Examples:
      isogloss score my-predictions --data data
      isogloss score my-predictions --tasks xquad --languages en,sw \\
          --split best --json results.json
      isogloss score runs/*/zero-shot --data data --jobs 8
    """
    from isogloss.plugins import load_object
    from isogloss.report.score_tables import score_tables
    from isogloss.report.tables import show
    from isogloss.scoring.results import write_csv, write_json
    from isogloss.scoring.score import score_systems
    from isogloss.workers import local_workers

    request = make_request(suite, tasks, languages, split, data, gold, partial_gold, resample)
    with progress("scoring") as step, local_workers(jobs) as workers:
        results = score_systems(systems, request, step, workers)
    for path in (json, csv):
        if path is not None and (path is csv or path.suffix == ".csv"):
            write_csv(path, results)
        elif path is not None:
            write_json(path, list(results.values()) if len(results) > 1 else next(iter(results.values())))
    further = load_object(request.suite.tables) if request.suite.tables else lambda results: []
    show([*score_tables(results), *(table for each in results.values() for table in further(each))], form)
