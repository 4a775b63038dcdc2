"""isogloss train: fine-tune a model on tasks, and see how it does in every language."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from isogloss.cli.options import Data, Languages, Regime, words
from isogloss.errors import IsoglossError

if TYPE_CHECKING:
    from isogloss.report.tables import Table
    from isogloss.runs.plan import Plan
    from isogloss.runs.summary import Summary

app = typer.Typer(add_completion=False)


@app.command()
def train(
    system: Annotated[str, typer.Argument(help="encoder:MODEL, dual-encoder:MODEL or text2text:MODEL.")],
    tasks: Annotated[str, typer.Option("--tasks", "--task", "-t", help="What to learn, e.g. udpos or xnli,mldoc.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder of runs, <system>/<regime>/seed-<n> below it.")],
    data: Data = None,
    recipe: Annotated[
        str | None, typer.Option("--recipe", "-r", help="paper, scripts or keung.", show_default="paper")
    ] = None,
    config: Annotated[Path | None, typer.Option("--config", "-c", help="TOML file with changes to the recipe.")] = None,
    regime: Regime = "zero-shot",
    seeds: Annotated[int, typer.Option("--seeds", min=1, help="How many seeds.")] = 1,
    languages: Languages = None,
    split: Annotated[str, typer.Option(help="test or dev.")] = "test",
) -> None:
    """Fine-tune a model and have it answer and be scored in every language.

    MODEL is a folder as save_pretrained writes it or a name on the Hugging Face
    hub. Settings may follow it, behind a #: encoder:MODEL#random (architecture
    and vocabulary only), encoder:MODEL#raw (entities from raw text),
    dual-encoder:MODEL#pooling=mean,both, or any key of a recipe, as in
    encoder:MODEL#epochs=3,select=last.

    While it learns, every language is asked at checkpoints, and the recipe's rule
    (select = "english-dev", "target-dev", "single-target:sw" or "last") chooses
    the one that answers in the end.

    It is isogloss run with a recipe: issue the command again and it goes on
    where it was; torchrun and accelerate launch start it on many devices.

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
    from rich.console import Console

    from isogloss.cli.run import concluded, filled
    from isogloss.runs.plan import Plan
    from isogloss.scoring.cells import Request
    from isogloss.systems.base import Named
    from isogloss.training.recipes import changes

    named = Named.of(system)
    if not named.follows_recipes:
        fix = "Give encoder:MODEL, dual-encoder:MODEL or text2text:MODEL; isogloss run fits any system"
        raise IsoglossError(f"{named.base} follows no recipe", fix=fix)
    names = words(tasks) or []
    request = Request.of(_suite(names), tasks=names, languages=words(languages), split=split, data=data)
    settings: dict[str, Any] = {} if config is None else {"overrides": dict(changes(config))}
    if recipe or "recipe" not in named.settings:
        settings["recipe"] = recipe or "paper"
    plan = Plan.of(system, out, request, seeds=seeds, regime=regime, settings=settings)
    console = Console()
    summary = filled(plan, console, live=False)
    if summary.tasks:
        _table(plan, summary).print(console)
    raise typer.Exit(concluded(plan, console, summary))


def _suite(names: list[str]) -> str:
    """The first suite that has all of the tasks, for its averages; XTREME-R where none has."""
    from isogloss.tasks.registry import canonical
    from isogloss.tasks.suites import SUITES

    asked = {canonical(name) for name in names}
    return next((suite.id for suite in SUITES.loadable().values() if asked <= {*suite.tasks}), "xtreme-r")


def _table(plan: "Plan", summary: "Summary") -> "Table":
    """One row a language, one column a task: the mean over the seeds, and how far they are apart."""
    from isogloss.report.tables import Table

    of_task = {name: _by_language(plan, name) for name in plan.request.tasks}
    languages = dict.fromkeys(language for scores in of_task.values() for language in scores)
    title = f"{summary.system}, {summary.regime}, {summary.split}: {plan.seeds} seed{'s' if plan.seeds > 1 else ''}"
    table = Table(title, ("language", *of_task))
    for language in languages:
        table.add(language, *(_spread(scores.get(language, [])) for scores in of_task.values()))
    means = ([*summary.tasks[name].seeds.values()] if name in summary.tasks else [] for name in of_task)
    table.add("mean", *map(_spread, means), strong=True)
    if plan.seeds > 1:
        table.notes.append("mean over the seeds (smallest–largest)")
    return table


def _by_language(plan: "Plan", name: str) -> dict[str, list[float]]:
    """The scores of a task by language, one a seed that has it."""
    from statistics import fmean

    from isogloss.runs.records import read_record
    from isogloss.tasks.registry import task

    found: dict[str, list[float]] = {}
    for place in plan.places:
        record = read_record(plan.record(place)) if place.task == name else None
        if record is not None and record.score is not None:
            numbers = record.score.metrics
            found.setdefault(place.language, []).append(fmean(numbers[main].value for main in task(name).main))
    return found


def _spread(values: list[float]) -> str:
    """The mean of the seeds' scores, with the smallest and the largest where there are several."""
    from statistics import fmean

    if len(values) < 2:
        return f"{values[0]:.1f}" if values else "–"
    return f"{fmean(values):.1f} ({min(values):.1f}–{max(values):.1f})"
