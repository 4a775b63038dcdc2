"""isogloss train: fine-tune a model on tasks, and see how it does in every language."""

from pathlib import Path
from typing import Annotated

import typer

from isogloss.cli.options import Data, Languages, On, Regime, RunsFolder, Seeds, TestOrDev, words

app = typer.Typer(add_completion=False)


@app.command()
def train(
    system: Annotated[str, typer.Argument(help="encoder:MODEL, dual-encoder:MODEL or text2text:MODEL.")],
    tasks: Annotated[str, typer.Option("--tasks", "--task", "-t", help="Tasks to learn, e.g. udpos or xnli,mldoc.")],
    out: RunsFolder,
    data: Data = None,
    recipe: Annotated[
        str | None, typer.Option("--recipe", "-r", help="paper, scripts or keung.", show_default="paper")
    ] = None,
    config: Annotated[Path | None, typer.Option("--config", "-c", help="TOML file with changes to the recipe.")] = None,
    regime: Regime = "zero-shot",
    seeds: Seeds = 1,
    languages: Languages = None,
    split: TestOrDev = "test",
    on: On = None,
) -> None:
    """Fine-tune a model and have it answer and be scored in every language.

    MODEL is a folder as save_pretrained writes it or a name on the Hugging Face
    hub. Settings may follow it, behind a #: encoder:MODEL#random (architecture
    and vocabulary only), encoder:MODEL#raw (entities from raw text),
    dual-encoder:MODEL#pooling=mean,both, or any key of a recipe, as in
    encoder:MODEL#epochs=3,select=last.

    A recipe is a set of hyper-parameters. paper follows the XTREME-R paper (two
    epochs at 2e-5 for a base model), scripts the repository's scripts, keung the
    study of checkpoint selection. --config changes any key, for all tasks or for
    one, in the section of its name.

    While it learns, every language is asked at checkpoints, and the recipe's rule
    (select = "training-dev", "english-dev", "target-dev", "single-target:sw",
    "dev-loss" or "last") chooses the one that answers in the end.

    It is isogloss run with a recipe: issue the command again and it goes on
    where it was; torchrun and accelerate launch start it on many devices.
    With --on, a cluster does the fits.

    Exit codes: 0 no cell failed; 1 some did, or none could be done; 130
    interrupted.

    \b
    Examples:
      isogloss train encoder:xlm-roberta-base --task udpos --data data \\
          --out runs --seeds 3
      isogloss train text2text:google/mt5-small --tasks xnli,xquad \\
          --regime translate-train --data data --out runs
      torchrun --nproc-per-node 8 -m isogloss train encoder:xlm-roberta-large \\
          -t xnli -r scripts -d data -o runs
    """
    from isogloss.cli.run import run_and_exit
    from isogloss.report.run_tables import languages_table
    from isogloss.runs.api import recipe_settings, suite_with
    from isogloss.runs.place import Place
    from isogloss.runs.plan import Plan
    from isogloss.scoring.cells import Request

    place = Place.of(on)
    names = words(tasks) or []
    settings = recipe_settings(system, recipe, config)
    request = Request.of(suite_with(names), tasks=names, languages=words(languages), split=split, data=data)
    plan = Plan.of(system, out, request, seeds=seeds, regime=regime, settings=settings)
    run_and_exit(plan, place, languages_table, live=not place.is_here)
