"""Options that several verbs share, declared once, and how they speak."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from isogloss.escaping import printable

if TYPE_CHECKING:
    from isogloss.scoring.cells import Request

Predictions = Annotated[
    Path, typer.Argument(help="Prediction folder: <task>/<language>.jsonl, XTREME's layout, or embeddings.")
]
Data = Annotated[
    Path | None,
    typer.Option("--data", "-d", help="Data folder.", envvar="ISOGLOSS_DATA", show_default="the user's cache"),
]
Suite = Annotated[
    str, typer.Option("--suite", "-s", help="A name of isogloss list suites, or a .toml file of your own.")
]
Tasks = Annotated[str | None, typer.Option("--tasks", "-t", help="Only these, e.g. xquad,xnli.")]
Languages = Annotated[str | None, typer.Option("--languages", "-l", help="Only these, e.g. en,sw,ta.")]
Split = Annotated[
    str,
    typer.Option(help="test, dev, or best: of each cell test if it is answered and has gold, else dev; no overall."),
]
TestOrDev = Annotated[str, typer.Option("--split", help="test or dev.")]
Gold = Annotated[Path | None, typer.Option(help="Label folder in XTREME's layout, instead of --data.")]
Regime = Annotated[
    str,
    typer.Option(
        help="What it learns from: zero-shot (English), translate-train[-all], translate-test, "
        "in-language[-1000, any number, or -all], or multi-source:en,de."
    ),
]
RunsFolder = Annotated[Path, typer.Option("--out", "-o", help="Folder of runs, <system>/<regime>/seed-<n> below it.")]
Seeds = Annotated[int, typer.Option("--seeds", min=1, help="How many seeds.")]
On = Annotated[
    str | None,
    typer.Option(
        "--on",
        help="Where: processes of this machine, ray (RAY_ADDRESS, or a cluster of this machine), ray://host:port, "
        "slurm, slurm:PARTITION, or a .toml file that says more: docs/clusters.md.",
        show_default="processes",
    ),
]
Jobs = Annotated[int, typer.Option("--jobs", "-j", min=1, help="Processes that share the work.")]
ClusterJobs = Annotated[
    int | None,
    typer.Option(
        "--jobs",
        "-j",
        min=1,
        help="Processes to start; on a cluster the most jobs at a time.",
        show_default="1; on a cluster as many as there is room for",
    ),
]
Format = Annotated[str, typer.Option("--format", "-f", help="table, md or latex.")]
PartialGold = Annotated[
    bool | None,
    typer.Option(
        "--allow-partial/--strict",
        help="What becomes of answers whose gold is missing or incomplete (else left out and listed): score incomplete "
        "gold too, outside of all averages; or fail.",
        show_default=False,
    ),
]
Resample = Annotated[
    str,
    typer.Option(help="What intervals are for: source (new articles, premises, …) or example (of the same ones)."),
]


def make_request(
    suite: str,
    tasks: str | None,
    languages: str | None,
    split: str,
    data: Path | None,
    gold: Path | None,
    partial_gold: bool | None,
    resample: str,
    dialect: str = "",
) -> "Request":
    """What `score`, `compare` and `explain` are to do, with every name checked."""
    from isogloss.scoring.cells import Request

    return Request.of(
        suite,
        tasks=words(tasks),
        languages=words(languages),
        split=split,
        data=data,
        gold=gold,
        allow_partial=partial_gold is True,
        resample=resample,  # type: ignore[arg-type]  # checked there, with every other name
        strict=partial_gold is False,
        dialect=dialect,
    )


def words(text: str | None) -> list[str] | None:
    """A comma-separated option as a list."""
    return None if text is None else [word.strip() for word in text.split(",") if word.strip()]


def say(text: str, *, err: bool = False) -> None:
    """Print a line, or several; names and paths in it may be anything."""
    typer.echo(printable(text, lines=True), err=err)


@contextmanager
def progress(title: str) -> Iterator[Callable[[str], None]]:
    """A spinner with what is being done, on a terminal's error stream; silent elsewhere."""
    if not sys.stderr.isatty():
        yield lambda step: None
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        running = bar.add_task(title, total=None)
        yield lambda step: bar.update(running, description=printable(f"{title} {step}"))


@contextmanager
def progress_bar(title: str) -> Iterator[Callable[[int, int], None]]:
    """A bar with the time that is left, on a terminal's error stream; elsewhere a line there whenever more is done."""
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    console = Console(stderr=True)
    if not console.is_terminal:
        yield _ProgressLog(title)
        return
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, TimeRemainingColumn(), TextColumn("to go"), console=console, transient=True) as bar:
        running = bar.add_task(title, total=None)
        yield lambda done, total: bar.update(running, completed=done, total=total)


class _ProgressLog:
    """The lines of a bar where there is no terminal, ten seconds apart at least."""

    def __init__(self, title: str) -> None:
        self._title = title
        self._began = self._said = time.monotonic()
        self._before = -1

    def __call__(self, done: int, total: int) -> None:
        now = time.monotonic()
        if self._before < 0:
            self._before = done
        elif now - self._said < 10 and done < total:
            return
        self._said = now
        fresh = done - self._before
        seconds = round((now - self._began) * (total - done) / fresh) if fresh else 0
        left = f", about {seconds // 3600}:{seconds // 60 % 60:02}:{seconds % 60:02} to go" if 0 < fresh < total else ""
        say(f"{self._title}: {done:,} of {total:,}{left if done < total else ''}", err=True)
