"""isogloss run: run a system on every task, language and seed; resumable."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from isogloss.cli import options as o
from isogloss.escaping import printable

if TYPE_CHECKING:
    from pathlib import Path

    from isogloss.runs.place import Place
    from isogloss.runs.plan import Plan
    from isogloss.runs.summary import RunSummary
    from isogloss.tables.table import Table

app = typer.Typer(add_completion=False)


@app.command()
def run(
    system: Annotated[
        str, typer.Argument(help="System, e.g. ngram, embedder:muse, encoder:MODEL#epochs=3, llm:MODEL.")
    ],
    *,
    data: o.Data = None,
    allow_partial: o.AllowPartial = False,
    suite: o.Suite = "xtreme-r",
    tasks: o.Tasks = None,
    languages: o.Languages = None,
    split: o.TestOrDev = "test",
    pseudo: Annotated[
        bool, o.Selection("--pseudo", help="Also predict the pseudo test sets that isogloss translate --pseudo wrote.")
    ] = False,
    subset: o.SubsetSize = 0,
    regime: o.RunRegime = None,
    seeds: o.RunSeeds = None,
    config: o.Config = None,
    endpoint: o.EndpointUrl = "",
    prompts: o.Prompts = "",
    max_cost: o.MaxCost = 0.0,
    dry_run: Annotated[
        bool, o.LanguageModel("--dry-run", help="Show requests, tokens and price, and send nothing.")
    ] = False,
    out: o.RunsFolder,
    on: o.On = None,
    jobs: o.ClusterJobs = None,
    force: Annotated[bool, o.Execution("--force", help="Run finished cells again.")] = False,
) -> None:
    """Run a system on a grid of tasks, languages and seeds: fit, predict and score.

    Fits once per task and seed, or per language if the regime requires it. Run
    the same command to resume: it runs missing cells and retries failed ones.
    Several commands, also on several machines, can fill one folder. Each seed's
    folder is an ordinary prediction folder.

    A language model behind an endpoint (llm:MODEL, see docs/llm.md) is prompted
    for every example. Every response is stored when it arrives and is never paid
    for twice; a cell with open requests fails, and the same command sends them.

    With --pseudo, also predicts test sets that were machine-translated from
    English (isogloss translate --pseudo), in pseudo-<language>.jsonl. Their
    scores are in pseudo-results.json, and in no average over human test sets.

    Exit codes: 0 no cell failed; 1 some cells failed, or none could be run; 130
    interrupted.

    \b
    Examples:
      isogloss run ngram --suite mini --out runs --jobs 2
      isogloss run embedder:muse --tasks tatoeba,lareqa --data data \\
          --out runs --seeds 1
      isogloss run ngram --tasks tydiqa --regime in-language --data data \\
          --out runs
      isogloss run ngram --data data --out /shared/runs --on ray://head:10001
      isogloss run llm:qwen3-32b --endpoint http://localhost:8000 --prompts 3 \\
          --tasks xcopa,xnli --subset 200 --data data --out runs
      isogloss score runs/ngram/zero-shot/seed-0 --suite mini
    """
    from isogloss.runs.place import Place
    from isogloss.runs.plan import Plan
    from isogloss.runs.summary import summarize
    from isogloss.scoring.request import Request
    from isogloss.tables.run_tables import seeds_table

    place = Place.of(on)
    request = Request.of(
        suite,
        tasks=o.words(tasks),
        languages=o.words(languages),
        split=split,
        data=data,
        allow_partial=allow_partial,
        pseudo=pseudo,
    )
    settings = system_settings(config, endpoint=endpoint, max_cost=max_cost)
    wordings = _wordings(system, prompts, settings)
    made = partial(Plan.with_pseudo, system, out, request, seeds=seeds, regime=regime, settings=settings, subset=subset)
    plans = [plan for wording in wordings or [""] for plan in made(prompt=wording)]
    if dry_run:
        from isogloss.cli.llm import show_estimate

        show_estimate(plans)
        return
    if len(plans) == 1:
        run_and_exit(plans[0], place, seeds_table, jobs=jobs or 0, force=force)
    codes = [run_plan_and_report(plan, place, seeds_table, jobs=jobs or 0, force=force) for plan in plans]
    if wordings and all(summarize(plan).cells["done"] for plan in plans):
        show_scores_over_prompts([plan for plan in plans if plan.request.split == split])
    raise typer.Exit(max(codes))


def show_scores_over_prompts(plans: "list[Plan]") -> None:
    """Print the scores over all wordings and seeds, with the variance due to each, and write their record."""
    from isogloss.results.readers import system_of_record
    from isogloss.scoring.score import score_systems
    from isogloss.tables.score_tables import score_tables
    from isogloss.tables.table import show

    folder = plans[0].root.parent
    results = score_systems([folder], plans[0].request)
    for result in results.values():
        result.to_json(folder / "results.json")
    show(score_tables({name: system_of_record(result, name) for name, result in results.items()}), "table")


def system_settings(config: "Path | None", **options: Any) -> dict[str, Any]:
    """Return the settings of a system from its TOML file and the options given."""
    from isogloss.data.files import read_toml

    return {**(read_toml(config) if config else {}), **{name: value for name, value in options.items() if value}}


def _wordings(system: str, prompts: str, settings: dict[str, Any]) -> list[str]:
    """Return the wordings that an option names: a number, names, or all; none for the recipe's first."""
    if not prompts:
        return []
    from isogloss.prompts.recipes import chosen_wordings
    from isogloss.systems.base import SystemName

    recipe = str({**SystemName.of(system).settings, **settings}.get("recipe", "isogloss"))
    return chosen_wordings(recipe, o.words(prompts) or [prompts])


def run_and_exit(
    plan: "Plan",
    place: "Place",
    table_of: "Callable[[Plan, RunSummary], Table]",
    *,
    jobs: int = 0,
    force: bool = False,
    live: bool = True,
) -> NoReturn:
    """Run a grid and exit with the code documented in the verb's help; see `run_plan_and_report`."""
    raise typer.Exit(run_plan_and_report(plan, place, table_of, jobs=jobs, force=force, live=live))


def run_plan_and_report(
    plan: "Plan",
    place: "Place",
    table_of: "Callable[[Plan, RunSummary], Table]",
    *,
    jobs: int = 0,
    force: bool = False,
    live: bool = True,
) -> int:
    """Run a grid, showing live progress or a log; print the scores and the reasons for missing ones.

    Returns:
        The exit code.

    Raises:
        Exit: in a process that only helps to fit, or after Ctrl-C.
    """
    from rich.console import Console

    from isogloss.interrupts import answering_interrupts
    from isogloss.runs.grid import run_plan
    from isogloss.runs.progress import GridProgress, shown
    from isogloss.runs.summary import summarize
    from isogloss.tables.run_tables import languages_table, reason_lines, translation_lines
    from isogloss.training.processes import is_main

    if not is_main():  # in a distributed fit, the main process alone reports
        run_plan(plan, jobs=jobs)
        raise typer.Exit
    console = Console()
    try:
        with answering_interrupts(), shown(GridProgress(plan), live=live) as on_progress:
            summary = run_plan(plan, jobs=jobs, force=force, on_progress=on_progress, place=place)
    except KeyboardInterrupt:
        console.print(f"interrupted: {summarize(plan).cell_counts}", highlight=False, soft_wrap=True)
        keeps_running = "The cluster keeps running; run the same command to reattach."
        console.print(keeps_running if place.on_interrupt == "detach" else "Run the same command to resume.")
        raise typer.Exit(130) from None
    if summary.tasks:
        table_of(plan, summary).print(console)
    elif (cells := languages_table(plan, summary)).rows:
        cells.print(console)
    for line in (*translation_lines(plan), *reason_lines(plan)):
        console.print(printable(line), markup=False, highlight=False, soft_wrap=True)
    ending = printable(f"{summary.cell_counts}; saved in {plan.root}")
    console.print(ending, markup=False, highlight=False, soft_wrap=True, style="bold")
    return 1 if summary.cells["failed"] or not summary.cells["done"] else 0
