"""isogloss score: score prediction folders."""

from pathlib import Path
from typing import Annotated

import typer

from isogloss.cli import options as o

app = typer.Typer(add_completion=False)


@app.command()
@o.expand_bundles
def score(
    systems: Annotated[
        list[Path],
        typer.Argument(
            help="One or more prediction folders: <task>/<language>.jsonl, XTREME's layout, embeddings, or runs of a "
            "system (seed-0/, prompt-NAME/seed-0/, …).",
            metavar="PREDICTIONS…",
        ),
    ],
    *,
    cells: o.AnswerOptions,
    pseudo: Annotated[
        bool,
        o.Selection(
            "--pseudo", help="Add pseudo test sets in languages that a task does not have, marked, unaveraged."
        ),
    ] = False,
    json: Annotated[
        Path | None,
        o.Output(help="Write the result record (a list for several folders); a .csv path gets rows instead."),
    ] = None,
    csv: Annotated[Path | None, o.Output(help="Write one row per number.")] = None,
    layout: Annotated[
        str, o.Output(help="Print tables as in papers: systems-by-language, languages-by-system or systems-by-task.")
    ] = "",
    metrics: Annotated[
        str, o.Output(help="Metrics in each cell of a layout, e.g. f1/em.", show_default="the task's main metrics")
    ] = "",
    form: o.Format = "table",
    jobs: o.Jobs = 1,
) -> None:
    """Score predictions by task, category, language and family, and overall, with 95 % intervals.

    Scores every cell in the folder, lists the missing ones and marks partial
    averages. Skips misnamed files, and cells with missing, partial, damaged or
    placeholder gold, and gives the reason; --strict turns these into errors.
    Invalid predictions (ids, labels, types) are always errors.

    A folder with the runs of one system gives means over its seeds, prompts and
    translators, with the spread over each: seed-0/, seed-1/, …; prompt-NAME/,
    translator-NAME/; or nested in any order, such as prompt-NAME/seed-0/, with
    every combination present. Each run is a prediction folder.

    Pseudo test sets are English test sets, machine-translated by isogloss
    translate --pseudo. --pseudo adds such cells in languages without a human
    test set, marked ° and outside of every average; --split pseudo scores only
    pseudo sets.

    Use --layout for tables as in papers: the best number of each column in
    bold, and those not significantly worse underlined (paired tests, as in
    isogloss compare). --format latex needs booktabs; siunitx aligns decimals.

    \b
    Examples:
      isogloss score my-predictions --data data
      isogloss score my-predictions --tasks xquad --languages en,sw \\
          --split best --json results.json
      isogloss score mine theirs --tasks xquad --format latex \\
          --layout systems-by-language --metrics f1/em
      isogloss score runs/*/zero-shot --data data --jobs 8
      isogloss score llm --data data     # llm/prompt-short/seed-0/xquad/en.jsonl
    """
    from isogloss.plugins import load_object
    from isogloss.results.readers import system_of_record
    from isogloss.scoring.results import write_csv, write_json
    from isogloss.scoring.score import judge_systems, score_systems
    from isogloss.tables.paper_tables import checked_layout, paired_test, paper_tables
    from isogloss.tables.score_tables import score_tables
    from isogloss.tables.table import show
    from isogloss.workers import local_workers

    request = cells.request(pseudo=pseudo)
    if layout:
        checked_layout(layout)
    with o.progress("scoring") as step, local_workers(jobs) as workers:
        # A layout tests pairs of systems, so their statistics are kept.
        judged = judge_systems(systems, request, step, workers) if layout else {}
        results = {name: each.score(request) for name, each in judged.items()}
        results = results or score_systems(systems, request, step, workers)
    for path in (json, csv):
        if path is not None and (path is csv or path.suffix == ".csv"):
            write_csv(path, results)
        elif path is not None:
            write_json(path, list(results.values()) if len(results) > 1 else next(iter(results.values())))
    if layout:
        show(paper_tables(results, layout, metrics, paired_test(judged, request)), form)
        return
    suite_tables = load_object(request.suite.tables) if request.suite.tables else lambda results: []
    shown = {name: system_of_record(result, name) for name, result in results.items()}
    show([*score_tables(shown), *(table for result in results.values() for table in suite_tables(result))], form)
