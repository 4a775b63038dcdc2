"""isogloss predict: run a system on one task and language."""

from functools import partial
from typing import Annotated

import typer

from isogloss.cli import options as o

app = typer.Typer(add_completion=False)


@app.command()
def predict(
    system: Annotated[str, typer.Argument(help="System, e.g. ngram or embedder:muse.")],
    *,
    data: o.Data = None,
    task: Annotated[str, o.Selection("--task", "-t", help="Task, e.g. xquad.")],
    language: Annotated[str, o.Selection("--language", "-l", help="Language of the task, e.g. sw.")],
    split: o.TestOrDev = "test",
    regime: o.Regime = "zero-shot",
    seed: Annotated[int, o.Training(min=0, help="Random seed.")] = 0,
    out: o.PredictionsOut,
    force: o.Force = False,
) -> None:
    """Fit a system on English training data, or as the regime specifies, and predict in one language.

    Writes <out>/<task>/<language>.jsonl, ready for isogloss score. Use isogloss
    run for whole grids.

    \b
    Examples:
      isogloss predict ngram --task mini-xquad --language sw --out answers
      isogloss predict ngram --task xnli --language de --split dev \\
          --data data --out answers
      isogloss predict ngram --task tydiqa --language ko --regime in-language \\
          --data data --out answers
    """
    from isogloss.predictions.write import prediction_path
    from isogloss.runs.api import predict as answer
    from isogloss.tasks.registry import given_task

    with o.progress("fitting") as step:
        call = partial(answer, system, task, language, split=split, regime=regime, seed=seed, data=data)
        answers = call(out=out, force=force, progress=step)
    o.say(f"{prediction_path(out, given_task(task), language, split)}  {len(answers):,} predictions")
