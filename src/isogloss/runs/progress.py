"""Progress of a grid, as a live table or a log."""

import platform
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from isogloss.escaping import printable
from isogloss.grouping import group_by
from isogloss.runs.jobs import OnProgress
from isogloss.runs.locks import owners
from isogloss.runs.plan import CellKey, Plan
from isogloss.runs.records import CellRecord, read_record

if TYPE_CHECKING:
    from rich.progress import Progress as RichProgress
    from rich.table import Table as RichTable

STATUSES = ("done", "running", "failed", "skipped", "missing")

# Seconds between scans of the folder.
REFRESH = 0.25
# Seconds without output after which a log names the cell being predicted.
SILENCE = 10.0


class GridProgress:
    """Status of every cell, read from the folder and so covering all processes."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.total = len(plan.cells)
        self.finished: dict[CellKey, CellRecord] = {}
        self.running: set[CellKey] = set()
        # Machine of every running fit without a running cell: it trains, or runs on a node without our folder.
        self.fits: dict[str, str] = {}
        # Machine of every finished or running cell, if known.
        self.nodes: dict[CellKey, str] = {}
        self._shown: set[str] = set()
        self._last_output = float("-inf")
        self._began = 0.0
        self._finished_before = -1

    def begin(self) -> None:
        """Count, once, the cells finished before this run."""
        if self._finished_before < 0:
            self.finished = {}
            self.update()
            self._began, self._finished_before = time.monotonic(), len(self.finished)

    def update(self) -> list[CellKey]:
        """Read the folder again and return the newly finished cells."""
        fresh = []
        self.running, self.fits = set(), {}
        for group in self.plan.groups:
            names = self.plan.file_names(group.seed, group.task)
            for cell in group.cells if names else ():
                if self.plan.record_name(cell.language) in names:
                    record = None if cell in self.finished else read_record(self.plan.record_path(cell))
                    if record is not None:
                        self.finished[cell] = record
                        self.nodes[cell] = record.provenance.node
                        fresh.append(cell)
                elif self.plan.lock_name(cell.language) in names:
                    self.running.add(cell)
                    self.nodes[cell] = _node_of(self.plan.lock_path(cell))
            lock = self.plan.group_lock_path(group)
            is_finished = self.finished.keys() >= set(group.cells)
            if lock.name in names and not is_finished and self.running.isdisjoint(group.cells):
                self.fits[str(group)] = _node_of(lock)
        return fresh

    def running_fits(self) -> str:
        """Describe the running fits without a running cell, and their machines; "" if there are none."""
        nodes = {*self.fits.values()} - {"", platform.node()}
        on = f" on {', '.join(sorted(nodes))}" if nodes else ""
        return f"{len(self.fits)} fit{'s' if len(self.fits) > 1 else ''} running{on}" if self.fits else ""

    def counts(self, cells: list[CellKey]) -> Counter[str]:
        """Count cells by status: done, running, failed, skipped or missing."""
        finished = [self.finished[cell].status for cell in cells if cell in self.finished]
        rest = ("running" if cell in self.running else "missing" for cell in cells if cell not in self.finished)
        return Counter([*finished, *rest])

    def by_node(self) -> dict[str, Counter[str]]:
        """Count cells by machine and status; empty if this machine fills them all."""
        active = (cell for cell, node in self.nodes.items() if node and (cell in self.finished or cell in self.running))
        cells = group_by(active, self.nodes.__getitem__)
        return {node: self.counts(cells[node]) for node in sorted(cells)} if {*cells} - {platform.node()} else {}

    def remaining(self) -> str:
        """Estimate the remaining time from the time per cell so far; "" if nothing is left."""
        fresh, left = len(self.finished) - self._finished_before, self.total - len(self.finished)
        if not left:
            return ""
        return f"about {_clock((time.monotonic() - self._began) * left / fresh) if fresh else '–'} to go"

    def table(self, waiting: str = "") -> "RichTable":
        """Return a table with one row per task over all seeds, and one per machine; time and waiting in the caption."""
        from rich.box import SIMPLE_HEAD
        from rich.markup import escape
        from rich.table import Table as RichTable

        self.begin()
        self.update()
        elapsed = f"{_clock(time.monotonic() - self._began)} elapsed"
        parts = elapsed, self.remaining(), self.running_fits(), waiting
        caption = escape(printable(", ".join(part for part in parts if part)))
        table = RichTable("task", box=SIMPLE_HEAD, pad_edge=False, caption=caption, caption_justify="left")
        for status in STATUSES:
            table.add_column(status, justify="right", min_width=7)
        by_task = group_by(self.plan.cells, lambda cell: cell.task)
        rows = {name: self.counts(cells) for name, cells in by_task.items()}
        rows["all"] = sum(rows.values(), Counter())
        rows |= {f"on {printable(node)}": counts for node, counts in self.by_node().items()}
        for name, counts in rows.items():
            numbers = (f"{counts[status]:,}" if counts[status] else "·" for status in STATUSES)
            table.add_row(name, *numbers, style="bold" if name == "all" else None)
        return table

    def log(self, waiting: str = "", answering: CellKey | None = None) -> None:
        """Print news: each kind of failure, each complete group, and what the run waits for."""
        if waiting:
            self._print_once(waiting, f"waiting: {waiting}")
        if self._finished_before < 0:
            if waiting:
                return  # outdated cells have not been removed yet
            self.begin()
            left = self.total - self._finished_before
            self._print(f"{left:,} {'cell' if left == 1 else 'cells'} to run, {self._finished_before:,} already done")
        fresh = set(self.update())
        for cell in sorted(fresh):
            record = self.finished[cell]
            if record.status == "failed":
                # The reason of a whole group is printed once; the summary counts its cells.
                self._print_once(record.general_reason, f"failed: {cell}: {record.reason}")
        for group in self.plan.groups:
            if fresh.intersection(group.cells) and self.finished.keys() >= set(group.cells):
                counts = self.counts(group.cells)
                self._print("; ".join(part for part in (f"{group}: {_counted(counts)}", self.remaining()) if part))
        if time.monotonic() - self._last_output > SILENCE and (answering or self.running or self.fits):
            work = f"{len(self.finished):,} of {self.total:,} cells finished, {len(self.running):,} running"
            if answering is not None:
                finished, total = self.group_progress(answering)
                work = f"predicting {answering}, {finished} of {total} cells finished"
            by_node = "; ".join(f"{node}: {_counted(counts)}" for node, counts in self.by_node().items())
            parts = work, self.running_fits(), self.remaining(), by_node
            self._print("; ".join(part for part in parts if part))

    def group_progress(self, cell: CellKey) -> tuple[int, int]:
        """Return the number of finished cells of a cell's group, and its size."""
        group = next(group for group in self.plan.groups if cell in group.cells)
        return sum(member in self.finished for member in group.cells), len(group.cells)

    def _print_once(self, key: str, line: str) -> None:
        if key not in self._shown:
            self._shown.add(key)
            self._print(line)

    def _print(self, line: str) -> None:
        self._last_output = time.monotonic()
        sys.stderr.write(f"{printable(line)}\n")


@contextmanager
def shown(progress: GridProgress, *, live: bool) -> Iterator[OnProgress]:
    """Show progress: on a terminal as a live table or a bar, elsewhere as log lines.

    `live` is False if the system shows its own training progress. Yields the progress callback.
    """
    from rich.console import Console
    from rich.live import Live

    console = Console(stderr=True)
    if console.is_terminal and live:
        with Live(console=console, auto_refresh=False, transient=True) as table:
            yield _throttled(lambda waiting, _: table.update(progress.table(waiting), refresh=True))
        return
    with AnsweringBar(progress) if console.is_terminal else nullcontext(_throttled(progress.log)) as on_progress:
        yield on_progress
    progress.log()


class AnsweringBar(AbstractContextManager["AnsweringBar"]):
    """Log on a terminal, with a bar while the system predicts."""

    def __init__(self, progress: GridProgress) -> None:
        self._progress = progress
        self._log = _throttled(lambda waiting, _: progress.log(waiting))
        self._bars: RichProgress | None = None

    def __exit__(self, *error: object) -> None:
        if self._bars is not None:
            self._bars.stop()
        self._bars = None

    def __call__(self, waiting: str, answering: CellKey | None = None) -> None:
        """Print news, and show the cell being predicted."""
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

        self._log(waiting)
        if answering is None:
            self.__exit__()
            return
        if self._bars is None:
            columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
            self._bars = Progress(*columns, console=Console(stderr=True), transient=True)
            self._bars.add_task("")
            self._bars.start()
        finished, total = self._progress.group_progress(answering)
        description = f"predicting {answering}"
        self._bars.update(self._bars.task_ids[0], description=description, completed=finished, total=total)


def _throttled(show: Callable[[str, CellKey | None], None]) -> OnProgress:
    """Limit how often progress is shown."""
    last = float("-inf")

    def show_if_due(waiting: str, answering: CellKey | None = None) -> None:
        nonlocal last
        if time.monotonic() - last > REFRESH:
            show(waiting, answering)
            last = time.monotonic()

    return show_if_due


def _node_of(lock: Path) -> str:
    return next((owner.node for owner in owners(lock)[-1:]), "")


def _counted(counts: Counter[str]) -> str:
    return ", ".join(f"{counts[status]} {status}" for status in STATUSES if counts[status])


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{rest:02}"
