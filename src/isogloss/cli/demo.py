"""isogloss demo: every part at work, offline, in half a minute."""

import os
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from isogloss.cli.options import say

app = typer.Typer(add_completion=False)

CHECKLIST_TASKS = "checklist-comparisons,checklist-properties,checklist-animal-vs-vehicle"
CHECKED = ("en", "de", "tr", "sw", "ta", "zh")


@app.command()
def demo(
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for the runs and records.")] = Path("out/demo"),
    seeds: Annotated[int, typer.Option(min=1, help="How often the floor baseline is trained.")] = 2,
) -> None:
    """Run the floor baseline over the embedded suite: all ten tasks, 51 languages, trained, predicted, scored.

    Nothing is downloaded. The examples of `mini` are made up: this shows what
    Isogloss does and how long it takes; it is no evidence about any model.
    Issued again, it does only what is missing.
    """
    from isogloss.report.score_tables import published_table
    from isogloss.report.tables import show
    from isogloss.scoring.results import Results

    jobs = str(os.cpu_count() or 1)
    first = out / "ngram" / "zero-shot" / "seed-0"
    _call("run", "ngram", "--suite", "mini", "--out", str(out), "--seeds", str(seeds), "--jobs", jobs)
    _call("score", str(first), "--suite", "mini", "--json", str(first / "results.json"))
    show([published_table(Results.from_json(first / "results.json"))], "table")
    some = ",".join(CHECKED)
    explained = str(out / "explain.json")
    words = ("--suite", "mini", "--tasks", "mini-xquad,mini-xnli", "--languages", some)
    _call("explain", str(first), *words, "--json", explained)
    _call("checklist", "show", "comparisons-0007", "--languages", some)
    tests = ("--suite", "checklist", "--tasks", CHECKLIST_TASKS, "--languages", some)
    _call("run", "ngram#train_on=mini-xquad", *tests, "--out", str(out), "--seeds", "1", "--jobs", jobs)
    reader = out / "ngram-on-mini-xquad" / "zero-shot" / "seed-0"
    _call("score", str(reader), *tests, "--json", str(reader / "results.json"))
    has_charts = find_spec("vl_convert") is not None
    page = out / "report"
    if has_charts:
        _call("report", str(first), "--explain", explained, "--out", str(page), "--no-pictures")
    boards = {"published": out / "board", "mini": out / "board-mini"}
    _call("board", "build", "published:all", "--out", str(boards["published"]))
    whole = str(first.parent)
    _call("board", "build", whole, "--suite", "mini", "--explain", explained, "--out", str(boards["mini"]))
    typer.secho("\nNext:", bold=True)
    say(f"  {first / 'results.json'}   is the record of every number above")
    for line in (
        "isogloss list tasks                              what there is",
        "isogloss fetch xquad tatoeba --data data         real data, checked",
        "isogloss export xquad --data data --out inputs   what to answer",
        "isogloss score YOUR-PREDICTIONS --data data      every number, with intervals",
        "isogloss run ngram --data data --out runs        the floor on the real tasks",
        "isogloss board build runs/*/* published -o site  them beside the papers' systems, to host anywhere",
        "isogloss board admin create my-board             the same pages with submissions; then",
        "isogloss board serve my-board                    at http://127.0.0.1:8000",
    ):
        say(f"  {line}")
    if not has_charts:
        say("\nFor a report too, pip install 'isogloss[charts]' and issue the same command again.")
    say("\nOpen in any browser; no network is needed:")
    pages = {"report of this run": page} if has_charts else {}
    pages |= {"board of this run": boards["mini"], "board of the published systems": boards["published"]}
    for what, folder in pages.items():
        say(f"  {what}: {(folder / 'index.html').absolute().as_uri()}")


def _call(*words: str) -> None:
    """Another verb, shown as one would type it."""
    from isogloss.cli.main import main

    typer.secho(f"\n$ isogloss {' '.join(words)}", bold=True)
    try:
        main(list(words))
    except SystemExit as stop:
        if stop.code:
            raise
