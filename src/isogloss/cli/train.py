"""isogloss train: fine-tune a model and evaluate it in every language."""

from pathlib import Path
from typing import Annotated

import typer

from isogloss.cli import options as o

app = typer.Typer(add_completion=False)


@app.command()
def train(
    system: Annotated[
        str, typer.Argument(help="xtreme-r:MODEL, encoder:MODEL, dual-encoder:MODEL or text2text:MODEL.")
    ],
    *,
    data: o.Data = None,
    allow_partial: o.AllowPartial = False,
    suite: Annotated[
        str | None,
        o.Selection(
            "--suite", "-s", help="Suite of the averages.", show_default="the first with all tasks, or xtreme-r"
        ),
    ] = None,
    tasks: Annotated[
        str | None,
        o.Selection(
            "--tasks",
            "--task",
            "-t",
            help="Tasks to train on, e.g. udpos or xnli,mldoc.",
            show_default="all of the suite",
        ),
    ] = None,
    languages: o.Languages = None,
    split: o.TestOrDev = "test",
    recipe: Annotated[
        str | None, o.Training("--recipe", "-r", help="paper, scripts or keung.", show_default="paper")
    ] = None,
    config: Annotated[Path | None, o.Training("--config", "-c", help="TOML file with changes to the recipe.")] = None,
    regime: o.Regime = "zero-shot",
    seeds: o.Seeds = 1,
    out: o.RunsFolder,
    on: o.On = None,
    jobs: o.ClusterJobs = None,
) -> None:
    """Fine-tune a model, predict in every language, and score.

    MODEL is a folder written by save_pretrained or a name on the Hugging Face
    hub. xtreme-r:MODEL sends each task to the right one of the other three, so
    that one folder holds a whole row of XTREME-R's Table 4. Settings may follow
    after a #: encoder:MODEL#random (architecture and vocabulary only),
    encoder:MODEL#raw (entities from raw text),
    dual-encoder:MODEL#pooling=mean,both, or any recipe key, as in
    encoder:MODEL#epochs=3,select=last.

    A recipe is a set of hyperparameters. paper follows the XTREME-R paper (two
    epochs at 2e-5 for a base model), scripts the repository's scripts, keung the
    study of checkpoint selection. --config changes any key, for all tasks or, in
    a section named after it, for one task.

    During training, every checkpoint is evaluated in every language, and the
    recipe's rule (select = "training-dev", "english-dev", "target-dev",
    "single-target:sw", "dev-loss" or "last") chooses the final one.

    Works like isogloss run with a recipe: run the same command to resume. With
    several GPUs, --jobs trains as many models at a time, each on its own, and
    torchrun or accelerate launch train one model on all of them; the fits run
    on a cluster with --on.

    Exit codes: 0 no cell failed; 1 some cells failed, or none could be run; 130
    interrupted.

    \b
    Examples:
      isogloss train encoder:xlm-roberta-base --task udpos --data data \\
          --out runs --seeds 3
      isogloss train xtreme-r:bert-base-multilingual-cased -r scripts \\
          --seeds 3 --jobs 4 --data data --out runs
      isogloss train text2text:google/mt5-small --tasks xnli,xquad \\
          --regime translate-train --data data --out runs
      torchrun --nproc-per-node 8 -m isogloss train encoder:xlm-roberta-large \\
          -t xnli -r scripts -d data -o runs
    """
    from isogloss.cli.run import run_and_exit
    from isogloss.runs.api import recipe_settings, suite_with
    from isogloss.runs.place import Place
    from isogloss.runs.plan import Plan
    from isogloss.scoring.request import Request
    from isogloss.tables.run_tables import languages_table

    place = Place.of(on)
    names, codes = o.words(tasks), o.words(languages)
    settings = recipe_settings(system, recipe, config)
    request = Request.of(
        suite or suite_with(names or ()),
        tasks=names,
        languages=codes,
        split=split,
        data=data,
        allow_partial=allow_partial,
    )
    plan = Plan.of(system, out, request, seeds=seeds, regime=regime, settings=settings)
    run_and_exit(plan, place, languages_table, jobs=jobs or 0, live=not place.is_here or (jobs or 0) > 1)
