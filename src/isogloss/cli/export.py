"""isogloss export: write a task's inputs with the ids to answer."""

from pathlib import Path
from typing import Annotated

import typer

from isogloss.cli.options import Data, Languages, Output, Selection, say, words

app = typer.Typer(add_completion=False)

# Equal to `metrics.student.ENOUGH`, which is not imported to keep --help fast.
SMALLEST_SUBSET = 20


@app.command()
def export(
    task: Annotated[str, typer.Argument(help="Task, e.g. xquad.")],
    *,
    data: Data = None,
    split: Annotated[str, Selection(help="test, dev, train, or pseudo (machine-translated test sets).")] = "test",
    languages: Languages = None,
    subset: Annotated[
        int | None, Selection(min=SMALLEST_SUBSET, help="Draw this many examples per language.", show_default="all")
    ] = None,
    seed: Annotated[
        int, Selection(help="Seed of the subset. A smaller subset with the same seed is part of a larger one.")
    ] = 0,
    guide: Annotated[
        list[Path] | None,
        Selection(help="Predictions of a cheap system for all examples, to draw informative ones; may be repeated."),
    ] = None,
    out: Annotated[Path, Output("--out", "-o", help="Output folder, or one .jsonl or .parquet file.")],
) -> None:
    """Write a task's inputs, without gold labels, as JSON lines or Parquet for any system to answer.

    Write {"id": …, "prediction": …} for each id to
    <predictions>/<task>/<language>.jsonl (dev-<language>.jsonl for dev), then
    run isogloss validate <predictions> and isogloss score <predictions>.

    If every answer costs money, answer a subset: --subset draws examples and
    writes <task>/subset.json, with which isogloss score estimates the score on
    all examples. That file depends on the gold labels: hide it from the system.

    \b
    Examples:
      isogloss export xquad --languages en,es --data data --out inputs
      isogloss export udpos --split dev --out udpos-dev.parquet
      isogloss export xnli --subset 200 --guide my-encoder --out inputs
      isogloss score llm-answers --subset inputs --guide my-encoder
    """
    from isogloss.predictions.export import export as write
    from isogloss.tasks.kinds import kind_of
    from isogloss.tasks.registry import given_task as find_task

    entry = find_task(task)
    for path, count in write(entry, out, split, words(languages), data, subset=subset, seed=seed, guide=guide or ()):
        say(f"{path}  {count:,} rows")
    say(f"Each prediction is {kind_of(entry).answer_help}.")
