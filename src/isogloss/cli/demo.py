"""isogloss demo: every part at work, offline, in half a minute."""

import os
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from isogloss.cli.options import say

app = typer.Typer(add_completion=False)

CHECKLIST_TASKS = "checklist-comparisons,checklist-properties,checklist-animal-vs-vehicle"
CHECKED = ("en", "de", "tr", "sw", "ta", "zh")
REPORT = "report of this run"
NEXT = (
    "isogloss list tasks                              what there is",
    "isogloss fetch xquad tatoeba --data data         real data, checked",
    "isogloss export xquad --data data --out inputs   what to answer",
    "isogloss score YOUR-PREDICTIONS --data data      every number, with intervals",
    "isogloss run ngram --data data --out runs        the floor on the real tasks",
    "isogloss board build runs/*/* published -o site  them beside the papers' systems, to host anywhere",
    "isogloss board admin create my-board             the same pages with submissions; then",
    "isogloss board serve my-board                    at http://127.0.0.1:8000",
)


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
    jobs = str(os.cpu_count() or 1)
    some = ",".join(CHECKED)
    first = _scored_run(out, seeds, jobs)
    explained = out / "explain.json"
    words = ("--suite", "mini", "--tasks", "mini-xquad,mini-xnli", "--languages", some)
    _call("explain", str(first), *words, "--json", str(explained))
    _check_simple_things(out, some, jobs)
    pages = _make_pages(out, first, explained)
    _say_what_is_next(first / "results.json", pages)


def _scored_run(out: Path, seeds: int, jobs: str) -> Path:
    """The floor baseline on all of the embedded suite; gives the folder of its first seed."""
    from isogloss.report.score_tables import published_table
    from isogloss.report.tables import show
    from isogloss.scoring.results import Results

    first = out / "ngram" / "zero-shot" / "seed-0"
    record = first / "results.json"
    _call("run", "ngram", "--suite", "mini", "--out", str(out), "--seeds", str(seeds), "--jobs", jobs)
    _call("score", str(first), "--suite", "mini", "--json", str(record))
    show([published_table(Results.from_json(record))], "table")
    return first


def _check_simple_things(out: Path, languages: str, jobs: str) -> None:
    """The checklist: a test of it, and the baseline on some."""
    _call("checklist", "show", "comparisons-0007", "--languages", languages)
    tests = ("--suite", "checklist", "--tasks", CHECKLIST_TASKS, "--languages", languages)
    _call("run", "ngram#train_on=mini-xquad", *tests, "--out", str(out), "--seeds", "1", "--jobs", jobs)
    reader = out / "ngram-on-mini-xquad" / "zero-shot" / "seed-0"
    _call("score", str(reader), *tests, "--json", str(reader / "results.json"))


def _make_pages(out: Path, first: Path, explained: Path) -> dict[str, Path]:
    """The report, where charts can be drawn, and two boards; gives their folders by what they are."""
    report, of_run, published = out / "report", out / "board-mini", out / "board"
    has_charts = find_spec("vl_convert") is not None
    if has_charts:
        _call("report", str(first), "--explain", str(explained), "--out", str(report), "--no-pictures")
    _call("board", "build", "published:all", "--out", str(published))
    _call("board", "build", str(first.parent), "--suite", "mini", "--explain", str(explained), "--out", str(of_run))
    boards = {"board of this run": of_run, "board of the published systems": published}
    return {REPORT: report, **boards} if has_charts else boards


def _say_what_is_next(record: Path, pages: Mapping[str, Path]) -> None:
    typer.secho("\nNext:", bold=True)
    say(f"  {record}   is the record of every number above")
    for line in NEXT:
        say(f"  {line}")
    if REPORT not in pages:
        say("\nFor a report too, pip install 'isogloss[charts]' and issue the same command again.")
    say("\nOpen in any browser; no network is needed:")
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
