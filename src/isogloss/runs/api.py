"""Runs from Python, as the verbs have them."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from isogloss.runs.grid import run_plan
from isogloss.runs.plan import Plan
from isogloss.runs.summary import RunSummary
from isogloss.scoring.cells import Request


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
    jobs: int = 1,
    regime: str = "zero-shot",
    force: bool = False,
) -> RunSummary:
    """Have a system fitted, asked and scored on every task, language and seed; only what is missing is done.

    Args:
        system: a system by name, e.g. "ngram", "embedder:muse" or "encoder:MODEL#epochs=3".
        out: the folder of runs; `<system>/<regime>/seed-<n>` below it are prediction folders.
        suite: decides the languages and averages.
        data: the data folder; default ISOGLOSS_DATA or the user's cache.
        tasks: only these tasks.
        languages: only these languages.
        split: "test" or "dev".
        seeds: how many seeds.
        jobs: processes to start; more than one need `if __name__ == "__main__":` in a script.
        regime: what the system learns from.
        force: do all these cells again.

    Returns:
        The scores over the seeds, how many cells are done, failed and skipped, and the reasons.

    Raises:
        UnknownNameError: no such system, suite, task, language, split or regime.
        IsoglossError: the folder has cells of another configuration of the system.
    """
    plan = plan_run(
        system,
        out=out,
        suite=suite,
        data=data,
        tasks=tasks,
        languages=languages,
        split=split,
        seeds=seeds,
        regime=regime,
    )
    return run_plan(plan, jobs=jobs, force=force)


def plan_run(  # noqa: PLR0913 - the options of the verb
    system: str,
    *,
    out: str | os.PathLike[str],
    suite: str = "xtreme-r",
    data: str | os.PathLike[str] | None = None,
    tasks: Sequence[str] | None = None,
    languages: Sequence[str] | None = None,
    split: str = "test",
    seeds: int = 5,
    regime: str = "zero-shot",
    settings: Mapping[str, Any] | None = None,
) -> Plan:
    """The grid that `run` fills, with every name checked; `settings` are what the system is made with beside its name.

    Raises:
        UnknownNameError: no such system, suite, task, language, split or regime.
        IsoglossError: there is no cell to fill.
    """
    folder = None if data is None else Path(data)
    request = Request.of(suite, tasks=tasks, languages=languages, split=split, data=folder)
    return Plan.of(system, Path(out), request, seeds=seeds, regime=regime, settings=settings)
