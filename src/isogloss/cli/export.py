"""isogloss export: the inputs of a task, with the ids to answer."""

from pathlib import Path
from typing import Annotated

import typer

from isogloss.cli.options import Data, Languages, say, words

app = typer.Typer(add_completion=False)


@app.command()
def export(
    task: Annotated[str, typer.Argument(help="A task, e.g. xquad.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="A folder, or one .jsonl or .parquet file.")],
    split: Annotated[str, typer.Option(help="test, dev or train.")] = "test",
    languages: Languages = None,
    data: Data = None,
) -> None:
    """Write the inputs of a task as JSON lines (or Parquet), without gold, so that any system can answer.

    Answer each line's id with {"id": …, "prediction": …} in
    <predictions>/<task>/<language>.jsonl (dev-<language>.jsonl for dev), then:
    isogloss validate <predictions>, isogloss score <predictions>.

    \b
    Examples:
      isogloss export xquad --languages en,sw --data data --out inputs
      isogloss export udpos --split dev --out udpos-dev.parquet
    """
    from isogloss.predictions.export import export as write
    from isogloss.tasks.kinds import kind_of
    from isogloss.tasks.registry import task as find_task

    found = find_task(task)
    for path, count in write(found, out, split, words(languages), data):
        say(f"{path}  {count:,} rows")
    say(f"An answer is {kind_of(found).answer_help}.")
