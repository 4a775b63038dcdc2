"""isogloss predict: run a system on one task and language."""

import tempfile
from pathlib import Path
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
    from isogloss.errors import unknown
    from isogloss.predictions.write import destination, write_predictions
    from isogloss.runs.fit import FitJob, fit_system
    from isogloss.runs.fit import predict as predict_examples
    from isogloss.systems import system as find_system
    from isogloss.systems.base import replies_of
    from isogloss.tasks.pseudo_sets import ORIGINAL_SPLITS
    from isogloss.tasks.registry import given_task as find_task
    from isogloss.tasks.registry import no_language
    from isogloss.training.regimes import regime as find_regime

    if split not in (splits := ("test", "dev", *ORIGINAL_SPLITS)):
        raise unknown("split", split, splits)
    entry = find_task(task)
    if language not in entry.every_language and split not in ORIGINAL_SPLITS:
        raise no_language(entry.id, language, entry.every_language)
    destination(out, entry, language, split, force=force)
    training = find_regime(regime)
    [fit] = training.fits([language])
    with o.progress("fitting") as step, tempfile.TemporaryDirectory() as folder:
        job = FitJob(regime=training, task=entry, fit=fit, seed=seed, data=data, folder=Path(folder))
        fitted, _ = fit_system(find_system(system), job)
        step(f"done, predicting {entry.id}/{language}")
        examples = job.read(language, split).examples
        values = predict_examples(fitted, entry, examples)
    replies = replies_of(values)
    path = write_predictions(out, entry, language, split, examples.ids, values, replies=replies, force=force)
    o.say(f"{path}  {len(examples):,} predictions")
