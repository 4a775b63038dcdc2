"""isogloss score: from a folder of predictions to every number."""

from pathlib import Path
from typing import Annotated

import typer

from isogloss.cli.options import (
    Data,
    Format,
    Gold,
    Languages,
    PartialGold,
    Predictions,
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
    predictions: Predictions,
    data: Data = None,
    suite: Suite = "xtreme-r",
    tasks: Tasks = None,
    languages: Languages = None,
    split: Split = "test",
    gold: Gold = None,
    partial_gold: PartialGold = None,
    resample: Resample = "source",
    json: Annotated[
        Path | None, typer.Option(help="Write the result record; under a name in .csv, one row a number.")
    ] = None,
    csv: Annotated[Path | None, typer.Option(help="Write one row a number.", hidden=True)] = None,
    form: Format = "table",
) -> None:
    """Score a prediction folder: task averages, categories, overall, by family and language, with 95 % intervals.

    Whatever the folder has is scored; what is missing is listed, and averages
    over a part are marked. A cell whose gold is missing, partial, damaged or a
    placeholder here is left out with the reason, as are misnamed files; that is
    an error with --strict. Wrong answers (ids, labels, types) are always one.

    \b
    Examples:
      isogloss score my-predictions --data data
      isogloss score my-predictions --tasks xquad --languages en,sw \\
          --split best --json results.json
    """
    from isogloss.plugins import load_object
    from isogloss.report.score_tables import score_tables
    from isogloss.report.tables import show
    from isogloss.scoring.score import score_request

    request = make_request(suite, tasks, languages, split, data, gold, partial_gold, resample)
    with progress("scoring") as step:
        results = score_request(predictions, request, step)
    if json is not None:
        results.to_csv(json) if json.suffix == ".csv" else results.to_json(json)
    if csv is not None:
        results.to_csv(csv)
    tables = score_tables({str(results.system.get("name", "")): results})
    further = load_object(request.suite.tables)(results) if request.suite.tables else []
    show([*tables, *further], form)
