"""`isogloss.run`, `train` and `predict`: the verbs as Python functions."""

import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from isogloss.errors import IsoglossError, check_count, unknown
from isogloss.predictions.on_demand import AnswerFunction
from isogloss.predictions.write import destination, write_predictions
from isogloss.runs.fit import FitJob, fit_system
from isogloss.runs.fit import predict as predict_examples
from isogloss.runs.grid import run_plan
from isogloss.runs.place import Place
from isogloss.runs.plan import Plan
from isogloss.runs.summary import RunSummary
from isogloss.scoring.request import Request
from isogloss.systems.base import System, SystemName, replies_of
from isogloss.systems.given import given_system
from isogloss.tasks.loading import data_folder
from isogloss.tasks.pseudo_sets import ORIGINAL_SPLITS
from isogloss.tasks.registry import given_task, given_task_id, no_language
from isogloss.tasks.suites import SUITES
from isogloss.training.recipes import changes
from isogloss.training.regimes import regime as find_regime


def run(  # noqa: PLR0913 - the options of the verb
    system: "str | System | type[System] | AnswerFunction",
    *,
    out: str | os.PathLike[str],
    suite: str = "xtreme-r",
    data: str | os.PathLike[str] | None = None,
    tasks: Sequence[str] | None = None,
    languages: Sequence[str] | None = None,
    split: str = "test",
    seeds: int | None = None,
    jobs: int | None = None,
    regime: str | None = None,
    subset: int = 0,
    settings: Mapping[str, Any] | None = None,
    prompt: str = "",
    force: bool = False,
    on: "str | os.PathLike[str] | Place | None" = None,
    allow_partial: bool = False,
    pseudo: bool = False,
) -> RunSummary:
    """Fit, predict and score a system on every task, language and seed, skipping finished cells.

    Args:
        system: name of a system, such as "ngram", "embedder:muse" or "encoder:MODEL#epochs=3"; a class in a file,
            "my_system.py:MySystem"; a `System` or its class; or a function that takes `Examples` and returns one answer
            each or `Embeddings`.
        out: output folder; writes prediction folders `<system>/<regime>/seed-<n>`.
        suite: suite, which decides the languages and averages.
        data: data folder; default ISOGLOSS_DATA or the user's cache.
        tasks: tasks to run, all by default.
        languages: languages to run, all by default.
        split: "test" or "dev"; "pseudo" or "pseudo-dev" for pseudo test sets only.
        seeds: number of seeds; default 5, or 1 for language models.
        jobs: number of processes, one by default; more need `if __name__ == "__main__":` in a script. On a cluster
            the maximum number of jobs at a time, by default as many as fit.
        regime: source of the training data, or of the examples in prompts; default "zero-shot", or "none" for language
            models.
        subset: number of examples to draw per cell, from which scores are estimated; 0 for all.
        settings: settings of the system, such as `{"endpoint": "http://localhost:8000"}` for "llm:MODEL".
        prompt: wording of a language model's prompts, in a run folder of its own; `isogloss.score` of the folder above
            averages over wordings.
        force: True to fill finished cells again.
        on: "processes" of this machine (the default), "ray", "ray://host:port", "slurm", "slurm:PARTITION", or a TOML
            file with further settings.
        allow_partial: True to predict and score test sets with an unexpected number of examples; no average includes
            them.
        pseudo: True to also predict the pseudo test sets in the data folder (see `isogloss.translate`); their scores
            are in `pseudo-results.json` beside `results.json`.

    Returns:
        The scores over the seeds, the number of done, failed and skipped cells, and the reasons.

    Raises:
        UnknownNameError: unknown system, suite, task, language, split or regime.
        IsoglossError: an object that cannot be used as a system, or the folder has cells of another configuration of
            the system.

    Example:
        isogloss.run("ngram", suite="mini", seeds=2, out="runs")
        isogloss.run(my_function, tasks=["xnli"], languages=["sw"], data="data", out="runs")
    """
    check_count("jobs", 1 if jobs is None else jobs, 1)
    folder = None if data is None else Path(data)
    request = Request.of(
        suite,
        tasks=tasks,
        languages=languages,
        split=split,
        data=folder,
        allow_partial=allow_partial,
        pseudo=pseudo,
    )
    plans = Plan.with_pseudo(
        system, out, request, seeds=seeds, regime=regime, settings=settings, subset=subset, prompt=prompt
    )
    summary, *_ = [run_plan(plan, jobs=jobs or 0, force=force, place=Place.of(on)) for plan in plans]
    return summary


def train(  # noqa: PLR0913 - the options of the verb
    system: str,
    tasks: Sequence[str] | None = None,
    *,
    out: str | os.PathLike[str],
    suite: str | None = None,
    data: str | os.PathLike[str] | None = None,
    recipe: str | None = None,
    config: str | os.PathLike[str] | None = None,
    regime: str = "zero-shot",
    seeds: int = 1,
    languages: Sequence[str] | None = None,
    split: str = "test",
    jobs: int | None = None,
    on: "str | os.PathLike[str] | Place | None" = None,
    allow_partial: bool = False,
) -> RunSummary:
    """Fine-tune a model on tasks, then predict and score every language, skipping finished cells.

    Args:
        system: "xtreme-r:MODEL", "encoder:MODEL", "dual-encoder:MODEL" or "text2text:MODEL".
        tasks: tasks to train on, all of the suite by default.
        out: output folder; writes prediction folders `<system>/<regime>/seed-<n>`.
        suite: suite of the averages; default the first with all tasks, or XTREME-R.
        data: data folder; default ISOGLOSS_DATA or the user's cache.
        recipe: "paper" (the default), "scripts" or "keung".
        config: TOML file with changes to the recipe.
        regime: source of the training data.
        seeds: number of seeds.
        languages: languages to predict, all by default.
        split: "test" or "dev".
        jobs: number of processes, as for `run`.
        on: place to run, as for `run`.
        allow_partial: as for `run`.

    Returns:
        The scores over the seeds, the number of done, failed and skipped cells, and the reasons.

    Raises:
        UnknownNameError: unknown system, recipe, task, language, split or regime.
        IsoglossError: the system does not use recipes, or the folder has cells of another configuration.

    Example:
        isogloss.train("encoder:xlm-roberta-base", tasks=["xnli"], seeds=3, data="data", out="runs")
    """
    check_count("jobs", 1 if jobs is None else jobs, 1)
    tasks = [tasks] if isinstance(tasks, str) else tasks
    settings = recipe_settings(system, recipe, config)
    folder = None if data is None else Path(data)
    request = Request.of(
        suite or suite_with(tasks or ()),
        tasks=tasks,
        languages=languages,
        split=split,
        data=folder,
        allow_partial=allow_partial,
    )
    plan = Plan.of(system, out, request, seeds=seeds, regime=regime, settings=settings)
    return run_plan(plan, jobs=jobs or 0, place=Place.of(on))


def predict(  # noqa: PLR0913 - the options of the verb
    system: "str | System | type[System] | AnswerFunction",
    task: str,
    language: str,
    *,
    out: str | os.PathLike[str] | None = None,
    split: str = "test",
    regime: str = "zero-shot",
    seed: int = 0,
    data: str | os.PathLike[str] | None = None,
    settings: Mapping[str, Any] | None = None,
    force: bool = False,
    progress: Callable[[str], None] | None = None,
) -> dict[str, Any]:
    """Fit a system on a task and predict the examples of one language.

    Args:
        system: as for `run`.
        task: name of the task, or a task file.
        language: language to predict.
        out: prediction folder to write `<task>/<language>.jsonl` in; None to write nothing.
        split: "test", "dev", "pseudo" or "pseudo-dev".
        regime: source of the training data.
        seed: random seed.
        data: data folder; default ISOGLOSS_DATA or the user's cache.
        settings: settings of the system, as for `run`.
        force: True to replace an existing file in `out`.
        progress: called with each step.

    Returns:
        The answers by id, as `score` takes them: `{task: {language: answers}}`.

    Raises:
        UnknownNameError: unknown system, task, language, split or regime.
        PredictionError: `out` has predictions already.
        IsoglossError: the system cannot answer the task, or there is no training set.

    Example:
        answers = isogloss.predict("ngram", "mini-xnli", "sw")
        isogloss.score({"mini-xnli": {"sw": answers}}, suite="mini")
    """
    if split not in (splits := ("test", "dev", *ORIGINAL_SPLITS)):
        raise unknown("split", split, splits)
    check_count("seed", seed, 0)
    entry = given_task(task)
    if language not in entry.every_language and split not in ORIGINAL_SPLITS:
        raise no_language(entry.id, language, entry.every_language)
    if out is not None:
        destination(Path(out), entry, language, split, force=force)
    training = find_regime(regime)
    [fit] = training.fits([language])
    report_step = progress or (lambda step: None)
    with tempfile.TemporaryDirectory() as folder:
        job = FitJob(regime=training, task=entry, fit=fit, seed=seed, data=data_folder(data), folder=Path(folder))
        fitted, _ = fit_system(given_system(system, settings or {}), job)
        report_step(f"done, predicting {entry.id}/{language}")
        examples = job.read(language, split).examples
        values = predict_examples(fitted, entry, examples)
    if out is not None:
        replies = replies_of(values)
        write_predictions(Path(out), entry, language, split, examples.ids, values, replies=replies, force=force)
    return dict(zip(examples.ids, values, strict=True))


def recipe_settings(system: str, recipe: str | None, config: str | os.PathLike[str] | None) -> dict[str, Any]:
    """Return the training settings of a system that uses recipes: a recipe, "paper" by default, and changes to it."""
    name = SystemName.of(system)
    if not name.follows_recipes:
        fix = "Use xtreme-r:MODEL, encoder:MODEL, dual-encoder:MODEL or text2text:MODEL; isogloss run fits any system"
        raise IsoglossError(f"{name.base} does not use recipes", fix=fix)
    settings: dict[str, Any] = {} if config is None else {"overrides": dict(changes(Path(config)))}
    if recipe or "recipe" not in name.settings:
        settings["recipe"] = recipe or "paper"
    return settings


def suite_with(tasks: Sequence[str]) -> str:
    """Return the first suite with all of the tasks, for its averages, or XTREME-R."""
    ids = {given_task_id(name) for name in tasks}
    suites = SUITES.loadable().values() if ids else ()
    return next((suite.id for suite in suites if ids <= {*suite.tasks}), "xtreme-r")
