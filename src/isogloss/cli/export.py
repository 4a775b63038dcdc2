"""isogloss export: write a task's inputs with the ids to answer."""

from pathlib import Path
from typing import Annotated

import typer

from isogloss.cli.options import Data, Languages, Output, Selection, say, words

app = typer.Typer(add_completion=False)


@app.command()
def export(
    task: Annotated[str, typer.Argument(help="Task, e.g. xquad.")],
    *,
    data: Data = None,
    split: Annotated[str, Selection(help="test, dev or train.")] = "test",
    languages: Languages = None,
    out: Annotated[Path, Output("--out", "-o", help="Output folder, or one .jsonl or .parquet file.")],
) -> None:
    """Write a task's inputs, without gold labels, as JSON lines or Parquet for any system to answer.

    Write {"id": …, "prediction": …} for each id to
    <predictions>/<task>/<language>.jsonl (dev-<language>.jsonl for dev), then
    run isogloss validate <predictions> and isogloss score <predictions>.

    \b
    Examples:
      isogloss export xquad --languages en,sw --data data --out inputs
      isogloss export udpos --split dev --out udpos-dev.parquet
    """
    from isogloss.predictions.export import export as write
    from isogloss.tasks.kinds import kind_of
    from isogloss.tasks.registry import task as find_task

    entry = find_task(task)
    for path, count in write(entry, out, split, words(languages), data):
        say(f"{path}  {count:,} rows")
    say(f"Each prediction is {kind_of(entry).answer_help}.")
