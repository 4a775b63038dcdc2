"""`isogloss.run` and `isogloss.train`: the verbs as Python functions."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from isogloss.errors import IsoglossError
from isogloss.runs.grid import run_plan
from isogloss.runs.place import Place
from isogloss.runs.plan import Plan
from isogloss.runs.summary import RunSummary
from isogloss.scoring.cells import Request
from isogloss.systems.base import SystemName
from isogloss.tasks.registry import canonical
from isogloss.tasks.suites import SUITES
from isogloss.training.recipes import changes


def run(  # noqa: PLR0913 - the options of the verb
    system: str,
    *,
    out: str | os.PathLike[str],
    suite: str = "xtreme-r",
    data: str | os.PathLike[str] | None = None,
    tasks: Sequence[str] | None = None,
    languages: Sequence[str] | None = None,
    split: str = "test",
    seeds: int = 5,
    jobs: int | None = None,
    regime: str = "zero-shot",
    force: bool = False,
    on: "str | os.PathLike[str] | Place | None" = None,
) -> RunSummary:
    """Fit, predict and score a system on every task, language and seed; only what is missing is done.

    Args:
        system: a system by name, e.g. "ngram", "embedder:muse" or "encoder:MODEL#epochs=3".
        out: the folder of runs; `<system>/<regime>/seed-<n>` below it are prediction folders.
        suite: decides the languages and averages.
        data: the data folder; default ISOGLOSS_DATA or the user's cache.
        tasks: only these tasks.
        languages: only these languages.
        split: "test" or "dev".
        seeds: how many seeds.
        jobs: processes to start, one by default; more need `if __name__ == "__main__":` in a script. On a cluster the
            most jobs at a time, by default as many as there is room for.
        regime: what the system learns from.
        force: do all these cells again.
        on: where: "processes" of this machine (the default), "ray", "ray://host:port", "slurm", "slurm:PARTITION", or
            a TOML file that says more.

    Returns:
        The scores over the seeds, how many cells are done, failed and skipped, and the reasons.

    Raises:
        UnknownNameError: no such system, suite, task, language, split or regime.
        IsoglossError: the folder has cells of another configuration of the system.
    """
    folder = None if data is None else Path(data)
    request = Request.of(suite, tasks=tasks, languages=languages, split=split, data=folder)
    plan = Plan.of(system, out, request, seeds=seeds, regime=regime)
    return run_plan(plan, jobs=jobs or 0, force=force, place=Place.of(on))


def train(  # noqa: PLR0913 - the options of the verb
    system: str,
    tasks: Sequence[str],
    *,
    out: str | os.PathLike[str],
    data: str | os.PathLike[str] | None = None,
    recipe: str | None = None,
    config: str | os.PathLike[str] | None = None,
    regime: str = "zero-shot",
    seeds: int = 1,
    languages: Sequence[str] | None = None,
    split: str = "test",
    on: "str | os.PathLike[str] | Place | None" = None,
) -> RunSummary:
    """Fine-tune a model on tasks, then predict and score every language; only what is missing is done.

    Args:
        system: "encoder:MODEL", "dual-encoder:MODEL" or "text2text:MODEL".
        tasks: what to learn.
        out: the folder of runs; `<system>/<regime>/seed-<n>` below it are prediction folders.
        data: the data folder; default ISOGLOSS_DATA or the user's cache.
        recipe: "paper" (the default), "scripts" or "keung".
        config: a TOML file with changes to the recipe.
        regime: what the system learns from.
        seeds: how many seeds.
        languages: only these languages.
        split: "test" or "dev".
        on: where, as for `run`.

    Returns:
        The scores over the seeds, how many cells are done, failed and skipped, and the reasons.

    Raises:
        UnknownNameError: no such system, recipe, task, language, split or regime.
        IsoglossError: the system follows no recipe, or the folder has cells of another configuration of it.
    """
    tasks = [tasks] if isinstance(tasks, str) else tasks
    settings = recipe_settings(system, recipe, config)
    folder = None if data is None else Path(data)
    request = Request.of(suite_with(tasks), tasks=tasks, languages=languages, split=split, data=folder)
    plan = Plan.of(system, out, request, seeds=seeds, regime=regime, settings=settings)
    return run_plan(plan, place=Place.of(on))


def recipe_settings(system: str, recipe: str | None, config: str | os.PathLike[str] | None) -> dict[str, Any]:
    """What a system is trained with beside its name: a recipe, "paper" where none is named, and changes to it.

    Raises:
        UnknownNameError: no such system.
        IsoglossError: the system follows no recipe.
    """
    name = SystemName.of(system)
    if not name.follows_recipes:
        fix = "Give encoder:MODEL, dual-encoder:MODEL or text2text:MODEL; isogloss run fits any system"
        raise IsoglossError(f"{name.base} follows no recipe", fix=fix)
    settings: dict[str, Any] = {} if config is None else {"overrides": dict(changes(Path(config)))}
    if recipe or "recipe" not in name.settings:
        settings["recipe"] = recipe or "paper"
    return settings


def suite_with(tasks: Sequence[str]) -> str:
    """The first suite that has all of the tasks, for its averages; XTREME-R where none has."""
    ids = {canonical(name) for name in tasks}
    return next((suite.id for suite in SUITES.loadable().values() if ids <= {*suite.tasks}), "xtreme-r")
