"""isogloss demo: run every part of the package offline, in half a minute."""

import os
from pathlib import Path
from typing import Annotated

import typer

from isogloss.cli.options import Output, Training, say

app = typer.Typer(add_completion=False)

CHECKLIST_TASKS = "checklist-comparisons,checklist-properties,checklist-animal-vs-vehicle"
LANGUAGES = ("en", "de", "tr", "sw", "ta", "zh")
NEXT = (
    "isogloss list tasks                              available tasks",
    "isogloss fetch xquad tatoeba --data data         download and verify data",
    "isogloss export xquad --data data --out inputs   inputs to answer",
    "isogloss score YOUR-PREDICTIONS --data data      scores with intervals",
    "isogloss run ngram --data data --out runs        baseline on the real tasks",
    "isogloss board build runs/*/* published -o site  leaderboard with the papers' systems, to host anywhere",
    "isogloss board admin create my-board             the same with submissions; then",
    "isogloss board serve my-board                    at http://127.0.0.1:8000",
)


@app.command()
def demo(
    seeds: Annotated[int, Training(min=1, help="Number of seeds.")] = 2,
    out: Annotated[Path, Output("--out", "-o", help="Output folder.")] = Path("out/demo"),
) -> None:
    """Train, run and score the baseline on the built-in suite: all ten tasks, 51 languages.

    Downloads nothing. The examples of `mini` are synthetic: the demo shows what
    Isogloss does and how long it takes, not how good any model is. Run the same
    command to resume.
    """
    from isogloss.scoring.results import Results
    from isogloss.tables.score_tables import published_table
    from isogloss.tables.table import show

    jobs = os.cpu_count() or 1
    languages = ",".join(LANGUAGES)
    first = out / "ngram" / "zero-shot" / "seed-0"
    record, explained = first / "results.json", out / "explain.json"
    _call("run ngram", suite="mini", out=out, seeds=seeds, jobs=jobs)
    _call("score", first, suite="mini", json=record)
    show([published_table(Results.from_json(record))], "table")
    _call("explain", first, suite="mini", tasks="mini-xquad,mini-xnli", languages=languages, json=explained)
    _call("checklist show comparisons-0007", languages=languages)
    tests = {"suite": "checklist", "tasks": CHECKLIST_TASKS, "languages": languages}
    _call("run ngram#train_on=mini-xquad", **tests, out=out, seeds=1, jobs=jobs)
    reader = out / "ngram-on-mini-xquad" / "zero-shot" / "seed-0"
    _call("score", reader, **tests, json=reader / "results.json")
    report, of_run, published = out / "report", out / "board-mini", out / "board"
    _call("report --no-pictures", first, explain=explained, out=report)
    _call("board build published:all", out=published)
    _call("board build", first.parent, suite="mini", explain=explained, out=of_run)
    typer.secho("\nNext:", bold=True)
    say(f"  {record}   records every number above")
    for line in NEXT:
        say(f"  {line}")
    say("\nOpen in any browser, offline:")
    boards = {"board of this run": of_run, "board of the published systems": published}
    for title, folder in {"report of this run": report, **boards}.items():
        say(f"  {title}: {(folder / 'index.html').absolute().as_uri()}")


def _call(verb: str, *paths: Path, **options: object) -> None:
    """Print and run another command."""
    from isogloss.cli.main import main

    named = [word for name, value in options.items() for word in (f"--{name}", str(value))]
    words = [*verb.split(), *map(str, paths), *named]
    typer.secho(f"\n$ isogloss {' '.join(words)}", bold=True)
    try:
        main(words)
    except SystemExit as stop:
        if stop.code:
            raise
