"""isogloss predict: one system, one task, one language."""

import tempfile
from pathlib import Path
from typing import Annotated

import typer

from isogloss.cli.options import Data, Regime, TestOrDev, progress, say

app = typer.Typer(add_completion=False)


@app.command()
def predict(
    system: Annotated[str, typer.Argument(help="A system, e.g. ngram or embedder:muse.")],
    task: Annotated[str, typer.Option("--task", "-t", help="A task, e.g. xquad.")],
    language: Annotated[str, typer.Option("--language", "-l", help="A language of the task, e.g. sw.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="Prediction folder to write to.")],
    data: Data = None,
    split: TestOrDev = "test",
    seed: Annotated[int, typer.Option(min=0, help="Seed of the fit.")] = 0,
    regime: Regime = "zero-shot",
    force: Annotated[bool, typer.Option("--force", help="Replace existing predictions.")] = False,
) -> None:
    """Fit a system on a task's English training set, or as the regime says, and write its answers in one language.

    The answers go to <out>/<task>/<language>.jsonl, ready for isogloss score.
    Whole grids are filled by isogloss run.

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
    from isogloss.runs.fit import predict as ask
    from isogloss.systems import system as find_system
    from isogloss.tasks.registry import no_language
    from isogloss.tasks.registry import task as find_task
    from isogloss.training.regimes import regime as find_regime

    if split not in ("test", "dev"):
        raise unknown("split", split, ("test", "dev"))
    of = find_task(task)
    if language not in of.every_language:
        raise no_language(of.id, language, of.every_language)
    destination(out, of, language, split, force=force)
    learning = find_regime(regime)
    [fit] = learning.fits([language])
    with progress("fitting") as step, tempfile.TemporaryDirectory() as folder:
        job = FitJob(learning, of, fit, seed, data, Path(folder))
        fitted, _ = fit_system(find_system(system), job)
        step(f"done, predicting {of.id}/{language}")
        examples = job.read(language, split).examples
        values = ask(fitted, of, examples)
    path = write_predictions(out, of, language, split, examples.ids, values, force=force)
    say(f"{path}  {len(examples):,} answers")
