"""`isogloss fetch`: bring datasets into the data folder, or see which are there."""

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from isogloss.cli.options import Data, say
from isogloss.errors import UnknownNameError
from isogloss.escaping import printable

if TYPE_CHECKING:
    from isogloss.data.fetch import FetchOutcome
    from isogloss.data.fetch.catalog import Dataset, RemoteFile
    from isogloss.data.fetch.session import FileProgress

WIDTH = 80
FEW = 8

app = typer.Typer(add_completion=False)


@app.command()
def fetch(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="TASK", help="Datasets (`all` for all of them), the model `muse`, or `uriel`."),
    ] = None,
    data: Data = None,
    mirror: Annotated[
        str, typer.Option(metavar="URL_OR_DIR", help="Take <task>/<file name> from here, not from the web.")
    ] = "",
    show: Annotated[bool, typer.Option("--list", help="Only show what is there.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Download again what is there and intact.")] = False,
    stall: Annotated[
        float, typer.Option(min=0.1, help="Seconds of silence after which a connection is tried anew.")
    ] = 30.0,
    tries: Annotated[int, typer.Option(min=1, help="Tries in a row without a new byte before giving up.")] = 5,
) -> None:
    """Download datasets, verify them, and put them where the other commands look.

    Without a TASK, show what is there. What is there and intact is not
    downloaded again, and a download that was broken off goes on where it
    stopped: after any trouble, run the same command again.

    \b
    Examples:
      isogloss fetch xquad tatoeba
      isogloss fetch udpos --data ~/corpora --mirror /media/disk/mirror
      isogloss fetch muse
      isogloss fetch uriel      (what is known of languages, for analyze)

    Exit status: 0 all is there, 1 something failed (the rest was done),
    2 wrong usage.
    """
    from isogloss.data.fetch import RetryPolicy
    from isogloss.data.fetch import fetch as fetch_datasets
    from isogloss.data.fetch.catalog import datasets
    from isogloss.data.fetch.session import is_mirror
    from isogloss.data.location import default_data_dir

    folder = data or default_data_dir()
    try:
        chosen = _chosen(names or [])
    except UnknownNameError as error:
        raise typer.BadParameter(str(error), param_hint="TASK") from None
    if mirror and not is_mirror(mirror):
        raise typer.BadParameter("neither a folder nor a web address", param_hint="--mirror")
    if show or not names:
        _print_table(chosen or list(datasets().values()), folder)
        return
    retry = RetryPolicy(attempts=tries, stall=stall)
    with _progress_bars(chosen) as progress:
        outcomes = fetch_datasets(chosen, folder, mirror=mirror, force=force, retry=retry, progress=progress)
    if not _print_outcomes(chosen, outcomes, folder):
        raise typer.Exit(1)


def _chosen(names: Sequence[str]) -> list["Dataset"]:
    from isogloss.data.fetch.catalog import dataset, datasets

    if "all" in names:
        return [entry for entry in datasets().values() if entry.sources and not entry.model]
    return list(dict.fromkeys(dataset(name) for name in names))


def _print_table(chosen: Sequence["Dataset"], folder: Path) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table

    from isogloss.data.fetch import status

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for header, justify in (("dataset", "left"), ("state", "left"), ("files", "right"), ("download", "right")):
        table.add_column(header, justify=justify, no_wrap=True)  # type: ignore[arg-type]
    table.add_column("licence", overflow="fold")
    for section in ((False, False), (True, False), (False, True)):
        for entry in (entry for entry in chosen if (entry.training, entry.model) == section):
            found = status(entry, folder)
            table.add_row(
                entry.name,
                found.state,
                f"{found.present}/{found.expected}",
                _megabytes(found.size, exact=found.exact) if entry.sources else "-",
                entry.licence,
            )
        table.add_section()
    console = Console(width=WIDTH, highlight=False)
    console.print(printable(f"Data folder: {folder}"), markup=False, soft_wrap=True)
    console.print(table)
    console.print("States are told by file names; `isogloss fetch TASK` verifies contents.")


def _megabytes(size: int, *, exact: bool) -> str:
    if not size:
        return "?"
    return f"{'' if exact else '> '}{size / 1e6:,.1f} MB"


@contextmanager
def _progress_bars(chosen: Sequence["Dataset"]) -> Iterator["FileProgress"]:
    """One bar per dataset on a terminal; silence elsewhere."""
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(stderr=True)
    columns = (TextColumn("{task.description:<24.24}"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bars:
        totals = {entry.name: sum(source.size for source in entry.sources) for entry in chosen}
        rows = {name: bars.add_task(name, total=total or None) for name, total in totals.items()}
        arrived: dict[str, dict[str, int]] = {name: {} for name in rows}

        def progress(source: "RemoteFile", done: int) -> None:
            here = arrived[source.dataset]
            here[source.name] = done
            bars.update(rows[source.dataset], completed=sum(here.values()), description=source.key)

        yield progress


def _print_outcomes(chosen: Sequence["Dataset"], outcomes: Sequence["FetchOutcome"], folder: Path) -> bool:
    """Say what was done and what was not; true where nothing failed."""
    from isogloss.data.fetch import status

    fine = not any(outcome.problem for outcome in outcomes)
    for entry in chosen:
        states = [outcome.state for outcome in outcomes if outcome.source.dataset == entry.name]
        counts = [f"{states.count(state)} {state}" for state in ("fetched", "kept", "failed") if state in states]
        if counts:
            say(f"{entry.name}: {', '.join(counts)}")
        if entry.note and status(entry, folder).state != "present":
            say(f"{entry.name}: {entry.note}")
            fine = fine and bool(entry.sources)
    problems: dict[str, list[RemoteFile]] = {}
    for outcome in outcomes:
        if outcome.problem:
            problems.setdefault(str(outcome.problem), []).append(outcome.source)
    for problem, sources in problems.items():
        say(f"failed: {_enumerated(sources)}\n  {problem}", err=True)
    return fine


def _enumerated(sources: Sequence["RemoteFile"]) -> str:
    """The sources by name or, where they are many, counted by dataset."""
    if len(sources) <= FEW:
        return ", ".join(source.key for source in sources)
    counts = Counter(source.dataset for source in sources)
    return ", ".join(f"{count} files of {name}" for name, count in counts.items())
