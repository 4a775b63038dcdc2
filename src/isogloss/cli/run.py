"""isogloss run: a system on every task, language and seed, however often the machine dies."""

import re
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from isogloss.cli.options import Data, Languages, Regime, Suite, Tasks, words

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table as RichTable

    from isogloss.report.tables import Table
    from isogloss.runs.plan import CellKey, Plan
    from isogloss.runs.summary import Summary

app = typer.Typer(add_completion=False)

STATUSES = ("done", "running", "failed", "skipped", "missing")

# Seconds between two looks at the folder, and lines of each kind of trouble in the summary.
REFRESH = 0.25
LISTED = 10


@app.command()
def run(
    system: Annotated[str, typer.Argument(help="A system, e.g. ngram, embedder:muse or encoder:MODEL#epochs=3.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder of runs, <system>/<regime>/seed-<n> below it.")],
    data: Data = None,
    suite: Suite = "xtreme-r",
    tasks: Tasks = None,
    languages: Languages = None,
    split: Annotated[str, typer.Option(help="test or dev.")] = "test",
    seeds: Annotated[int, typer.Option(min=1, help="How many seeds.")] = 5,
    jobs: Annotated[int, typer.Option("--jobs", "-j", min=1, help="Processes to start.")] = 1,
    regime: Regime = "zero-shot",
    force: Annotated[bool, typer.Option("--force", help="Do these cells again.")] = False,
) -> None:
    """Fill a grid of cells: fit once per task and seed (or, as the regime says, per language), predict and score.

    Issue the command again and it does only what is missing: failed cells are
    retried, a killed one is missing. Several commands, on several machines, may
    fill one folder. Each seed's folder is a prediction folder like any other.

    Exit codes: 0 no cell failed; 1 some did, or none could be done; 130
    interrupted.

    \b
    Examples:
      isogloss run ngram --suite mini --out runs --jobs 2
      isogloss run embedder:muse --tasks tatoeba,lareqa --data data \\
          --out runs --seeds 1
      isogloss run ngram --tasks tydiqa --regime in-language --data data \\
          --out runs
      isogloss score runs/ngram/zero-shot/seed-0 --suite mini
    """
    from rich.console import Console

    from isogloss.runs.plan import Plan
    from isogloss.scoring.cells import Request

    request = Request.of(suite, tasks=words(tasks), languages=words(languages), split=split, data=data)
    plan = Plan.of(system, out, request, seeds=seeds, regime=regime)
    console = Console()
    summary = filled(plan, console, jobs=jobs, force=force)
    if summary.tasks:
        _table(summary, seeds).print(console)
    raise typer.Exit(concluded(plan, console, summary))


def filled(plan: "Plan", console: "Console", *, jobs: int = 1, force: bool = False, live: bool = True) -> "Summary":
    """Fill a grid while its standing is shown, live or as a log; only the first of processes that fit together returns.

    Raises:
        Exit: it was interrupted, which has been said; or this process has nothing more to do.
    """
    from isogloss.runs.grid import run as fill_grid
    from isogloss.runs.summary import standing
    from isogloss.training.processes import is_main

    if not is_main():
        fill_grid(plan, jobs=jobs)
        raise typer.Exit
    try:
        with _shown(GridProgress(plan), live=live) as look:
            return fill_grid(plan, jobs=jobs, force=force, look=look)
    except KeyboardInterrupt:
        console.print(f"interrupted: {_counted(standing(plan))}", highlight=False, soft_wrap=True)
        console.print("The same command goes on from here.")
        raise typer.Exit(130) from None


def concluded(plan: "Plan", console: "Console", summary: "Summary") -> int:
    """Say what went wrong or has no score, and where everything is; gives the exit code."""
    for line in _troubles({"failed": summary.failed, "skipped": summary.skipped, "done": _unscored(plan)}):
        console.print(line, markup=False, highlight=False, soft_wrap=True)
    console.print(f"{_counted(summary)} in {plan.root}", markup=False, highlight=False, soft_wrap=True, style="bold")
    return 1 if summary.cells["failed"] or not summary.cells["done"] else 0


class GridProgress:
    """How a grid stands, read from its folder: the cells of all processes, of this command and of others."""

    def __init__(self, plan: "Plan") -> None:
        self.plan = plan
        self.groups = plan.groups
        self.total = len(plan.places)
        self.settled: dict[CellKey, str] = {}
        self.reasons: dict[CellKey, str] = {}
        self.running: set[CellKey] = set()
        self.said: set[str] = set()
        self.began = 0.0
        self.before = -1

    def begin(self) -> None:
        """Note, once, what is settled before anything is done."""
        if self.before < 0:
            self.look()
            self.began, self.before = time.monotonic(), len(self.settled)

    def look(self) -> "list[CellKey]":
        """Look again; the cells that have been settled since the last time."""
        from isogloss.runs.records import read_record

        news = []
        self.running = set()
        for group in self.groups:
            folder = self.plan.group_lock(group).parent
            names = {path.name for path in folder.iterdir()} if folder.is_dir() else set()
            for place in group.places:
                if self.plan.record(place).name in names:
                    record = None if place in self.settled else read_record(self.plan.record(place))
                    if record is not None:
                        self.settled[place], self.reasons[place] = record.status, record.reason
                        news.append(place)
                elif self.plan.lock(place).name in names:
                    self.running.add(place)
        return news

    def counts(self, places: "list[CellKey]") -> "Counter[str]":
        """How many of some cells are done, running, failed, skipped and missing."""
        return Counter(
            self.settled.get(place) or ("running" if place in self.running else "missing") for place in places
        )

    def remaining(self) -> str:
        """How long the rest will take if it takes as long as what was done so far; "" where nothing is left."""
        fresh, left = len(self.settled) - self.before, self.total - len(self.settled)
        if not left:
            return ""
        return f"about {_clock((time.monotonic() - self.began) * left / fresh) if fresh else '–'} to go"

    def table(self, waiting: str = "") -> "RichTable":
        """One row a task, the seeds together; below, the time and what is being waited for."""
        from rich.box import SIMPLE_HEAD
        from rich.table import Table as RichTable

        self.begin()
        self.look()
        elapsed = f"{_clock(time.monotonic() - self.began)} elapsed"
        caption = ", ".join(part for part in (elapsed, self.remaining(), waiting) if part)
        table = RichTable("task", box=SIMPLE_HEAD, pad_edge=False, caption=caption, caption_justify="left")
        for status in STATUSES:
            table.add_column(status, justify="right", min_width=7)
        by_task: dict[str, list[CellKey]] = defaultdict(list)
        for group in self.groups:
            by_task[group.task] += group.places
        rows = {name: self.counts(places) for name, places in by_task.items()}
        rows["all"] = sum(rows.values(), Counter())
        for name, counts in rows.items():
            cells = (f"{counts[status]:,}" if counts[status] else "·" for status in STATUSES)
            table.add_row(name, *cells, style="bold" if name == "all" else None)
        return table

    def log(self, waiting: str = "") -> None:
        """Say what is new: every kind of failure, every group that is complete, and what is being waited for."""
        if self.before < 0:
            self.begin()
            cells = "cell" if self.total == 1 else "cells"
            _say(f"{self.total:,} {cells}, {self.before:,} of them settled before")
        news = set(self.look())
        for place in sorted(news):
            if self.settled[place] == "failed":
                # What fails a whole group is said once, and the summary counts its cells.
                self._say_once(_nameless(self.reasons[place], str(place)), f"failed: {place}: {self.reasons[place]}")
        for group in self.groups:
            if news.intersection(group.places) and all(place in self.settled for place in group.places):
                counts = self.counts(group.places)
                ends = ", ".join(f"{counts[status]} {status}" for status in STATUSES if counts[status])
                _say("; ".join(part for part in (f"{group}: {ends}", self.remaining()) if part))
        if waiting:
            self._say_once(waiting, f"{waiting}: waiting for it")

    def _say_once(self, key: str, line: str) -> None:
        if key not in self.said:
            self.said.add(key)
            _say(line)


@contextmanager
def _shown(standing: GridProgress, *, live: bool) -> Iterator[Callable[[str], None]]:
    """A live table on a terminal, log lines elsewhere; what it gives is to be called now and then."""
    from rich.console import Console
    from rich.live import Live

    console = Console(stderr=True)
    if console.is_terminal and live:
        with Live(console=console, auto_refresh=False, transient=True) as table:
            yield _now_and_then(lambda waiting: table.update(standing.table(waiting), refresh=True))
    else:
        yield _now_and_then(standing.log)
        standing.log()


def _now_and_then(act: Callable[[str], None]) -> Callable[[str], None]:
    """The same act, but not more often than the eye can follow."""
    last = float("-inf")

    def perhaps(waiting: str) -> None:
        nonlocal last
        if time.monotonic() - last > REFRESH:
            act(waiting)
            last = time.monotonic()

    return perhaps


def _say(line: str) -> None:
    sys.stderr.write(f"{line}\n")


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{rest:02}"


def _counted(summary: "Summary") -> str:
    counts = {status: count for status, count in summary.cells.items() if count}
    cells = "cell" if sum(counts.values()) == 1 else "cells"
    return f"{', '.join(f'{count:,} {status}' for status, count in counts.items()) or 'no'} {cells}"


def _table(summary: "Summary", seeds: int) -> "Table":
    from isogloss.report.tables import Table

    plural = "s" if seeds > 1 else ""
    title = f"{summary.system}, {summary.regime}, on {summary.suite}, {summary.split}: {seeds} seed{plural}"
    table = Table(title, ("task", "mean", "min", "max", "seeds"))
    for name, over in (*summary.tasks.items(), *([("overall", summary.overall)] if summary.overall else [])):
        mark = "*" if over.missing else ""
        figures = (f"{over.mean:.1f}{mark}", f"{over.min:.1f}", f"{over.max:.1f}", str(len(over.seeds)))
        table.add(name, *figures, strong=name == "overall")
    if any(over.missing for over in summary.tasks.values()) or (summary.overall and summary.overall.missing):
        table.notes.append("* partial: not all of the suite is there")
    return table


def _unscored(plan: "Plan") -> dict[str, str]:
    """Why cells that are done have no score."""
    from isogloss.runs.records import read_record

    records = {place: read_record(plan.record(place)) for place in plan.places}
    return {
        str(place): record.reason
        for place, record in records.items()
        if record is not None and record.status == "done" and record.score is None
    }


def _troubles(by_status: dict[str, dict[str, str]]) -> Iterator[str]:
    """The reasons of cells; those with one reason, but for the name of the cell in it, in one line."""
    for status, reasons in by_status.items():
        by_reason = _grouped(reasons)
        for places in by_reason[:LISTED]:
            more = f" and {len(places) - 1:,} more" if len(places) > 1 else ""
            yield f"{status}: {places[0]}{more}: {reasons[places[0]]}"
        if len(by_reason) > LISTED:
            yield f"{status}: … and {len(by_reason) - LISTED} more reasons; the records below .cells have all"


def _grouped(reasons: dict[str, str]) -> list[list[str]]:
    """Cells (`seed-0 xnli/sw`) by reason; reasons that name but their own cell are one."""
    exactly: dict[str, list[str]] = defaultdict(list)
    for place, reason in reasons.items():
        exactly[reason].append(place)
    alike: dict[str, list[str]] = defaultdict(list)
    for reason, places in exactly.items():
        # A reason that several cells have may name one of them, but is not about that one.
        own = len({_cell(place) for place in places}) == 1
        alike[_nameless(reason, places[0]) if own else reason] += places
    return [*alike.values()]


def _cell(place: str) -> str:
    """`xnli/sw` of `seed-0 xnli/sw`."""
    return place.rpartition(" ")[2]


def _nameless(reason: str, place: str) -> str:
    """A reason without the name of the cell."""
    return re.sub(rf"(?<![\w/-]){re.escape(_cell(place))}(?![\w/-])", "", reason)
