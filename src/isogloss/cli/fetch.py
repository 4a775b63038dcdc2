"""isogloss fetch: download datasets into the data folder, or show which are present."""

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from isogloss.cli.options import Data, Execution, Input, Output, say
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
        typer.Argument(
            metavar="TASK", help="Datasets (`all` for all except translations), the model `muse`, or `uriel`."
        ),
    ] = None,
    data: Data = None,
    mirror: Annotated[
        str, Input(metavar="URL_OR_DIR", help="Read <task>/<file name> from here instead of the web.")
    ] = "",
    show: Annotated[bool, Output("--list", help="Only show which datasets are present.")] = False,
    force: Annotated[bool, Execution("--force", help="Download again even if intact.")] = False,
    stall: Annotated[float, Execution(min=0.1, help="Reconnect after this many seconds without data.")] = 30.0,
    tries: Annotated[int, Execution(min=1, help="Consecutive failed attempts before giving up.")] = 5,
) -> None:
    """Download datasets into the data folder and verify them.

    Without a TASK, shows which datasets are present. Skips intact files and
    resumes interrupted downloads: after any failure, run the same command again.

    \b
    Examples:
      isogloss fetch xquad tatoeba
      isogloss fetch udpos --data ~/corpora --mirror /media/disk/mirror
      isogloss fetch muse
      isogloss fetch uriel      (language features, for analyze)

    Exit codes: 0 everything is present; 1 some downloads failed; 2 wrong usage.
    """
    from isogloss.data.fetch import RetryPolicy
    from isogloss.data.fetch import fetch as fetch_datasets
    from isogloss.data.fetch.api import chosen_datasets
    from isogloss.data.fetch.catalog import datasets
    from isogloss.data.fetch.session import is_mirror
    from isogloss.data.location import default_data_dir

    folder = data or default_data_dir()
    try:
        chosen = chosen_datasets(names or ())
    except UnknownNameError as error:
        raise typer.BadParameter(str(error), param_hint="TASK") from None
    if mirror and not is_mirror(mirror):
        raise typer.BadParameter("expected a folder or a web address", param_hint="--mirror")
    if show or not names:
        _print_table(chosen or list(datasets().values()), folder)
        return
    retry = RetryPolicy(attempts=tries, stall=stall)
    with _progress_bars(chosen) as progress:
        outcomes = fetch_datasets(chosen, folder, mirror=mirror, force=force, retry=retry, progress=progress)
    if not _print_outcomes(chosen, outcomes, folder):
        raise typer.Exit(1)


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
            state = status(entry, folder)
            size = f"{'' if state.exact else '> '}{state.size / 1e6:,.1f} MB" if state.size else "?"
            count = f"{state.present}/{state.expected}"
            table.add_row(entry.name, state.state, count, size if entry.sources else "-", entry.licence)
        table.add_section()
    console = Console(width=WIDTH, highlight=False)
    console.print(printable(f"Data folder: {folder}"), markup=False, soft_wrap=True)
    console.print(table)
    console.print("States are based on file names; `isogloss fetch TASK` verifies the contents.")


@contextmanager
def _progress_bars(chosen: Sequence["Dataset"]) -> Iterator["FileProgress"]:
    """Show one progress bar per dataset if stderr is a terminal."""
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(stderr=True)
    columns = (TextColumn("{task.description:<24.24}"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bars:
        totals = {entry.name: sum(source.size for source in entry.sources) for entry in chosen}
        rows = {name: bars.add_task(name, total=total or None) for name, total in totals.items()}
        arrived: dict[str, dict[str, int]] = {name: {} for name in rows}

        def progress(source: "RemoteFile", done: int) -> None:
            sizes = arrived[source.dataset]
            sizes[source.name] = done
            bars.update(rows[source.dataset], completed=sum(sizes.values()), description=source.key)

        yield progress


def _print_outcomes(chosen: Sequence["Dataset"], outcomes: Sequence["FetchOutcome"], folder: Path) -> bool:
    """Print the outcome per dataset and every failure; return True if nothing failed."""
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
        names = [source.key for source in sources]
        if len(names) > FEW:
            names = [f"{count} {name} files" for name, count in Counter(each.dataset for each in sources).items()]
        say(f"failed: {', '.join(names)}\n  {problem}", err=True)
    return fine
