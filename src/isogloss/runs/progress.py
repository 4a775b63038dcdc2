"""The progress of a grid while it is filled, as a live table or as a log."""

import platform
import re
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from isogloss.escaping import printable
from isogloss.runs.engine import OnProgress
from isogloss.runs.locks import owners
from isogloss.runs.plan import CellKey, FitGroup, Plan
from isogloss.runs.records import read_record

if TYPE_CHECKING:
    from rich.progress import Progress as RichProgress
    from rich.table import Table as RichTable

STATUSES = ("done", "running", "failed", "skipped", "missing")

# Seconds between two looks at the folder.
REFRESH = 0.25
# Seconds after which a log says which cell is answered, where it has said nothing else.
SILENCE = 10.0


class GridProgress:
    """The status of every cell, read from the folder: the cells of all processes, of this command and of others."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.groups = plan.groups
        self.total = len(plan.cells)
        self.finished: dict[CellKey, str] = {}
        self.reasons: dict[CellKey, str] = {}
        self.running: set[CellKey] = set()
        # The machine of every fit that is under way while none of its cells is running: it learns, or is far away.
        self.fits: dict[str, str] = {}
        # The machine of every cell that is finished or running, where it is known.
        self.nodes: dict[CellKey, str] = {}
        self._said: set[str] = set()
        self._said_last = float("-inf")
        self._began = 0.0
        self._finished_before = -1

    def begin(self) -> None:
        """Note, once, what was finished before anything is done."""
        if self._finished_before < 0:
            self.finished = {}
            self.update()
            self._began, self._finished_before = time.monotonic(), len(self.finished)

    def update(self) -> list[CellKey]:
        """Look again; gives the cells that have finished since the last time."""
        news = []
        self.running, self.fits = set(), {}
        for group in self.groups:
            folder = self.plan.records_folder(group.seed, group.task)
            names = {path.name for path in folder.iterdir()} if folder.is_dir() else set()
            for cell in group.cells:
                if self.plan.record_path(cell).name in names:
                    record = None if cell in self.finished else read_record(self.plan.record_path(cell))
                    if record is not None:
                        self.finished[cell], self.reasons[cell] = record.status, record.reason
                        self.nodes[cell] = record.provenance.node
                        news.append(cell)
                elif self.plan.lock_path(cell).name in names:
                    self.running.add(cell)
                    self.nodes[cell] = _node_of(self.plan.lock_path(cell))
            lock = self.plan.group_lock_path(group)
            if lock.name in names and self.running.isdisjoint(group.cells) and not self._is_finished(group):
                self.fits[str(group)] = _node_of(lock)
        return news

    def _is_finished(self, group: FitGroup) -> bool:
        return all(cell in self.finished for cell in group.cells)

    def fits_under_way(self) -> str:
        """How many fits are under way of which no cell is running, and on which machines; "" where there are none."""
        nodes = {*self.fits.values()} - {"", platform.node()}
        on = f" on {', '.join(sorted(nodes))}" if nodes else ""
        return f"{len(self.fits)} fit{'s' if len(self.fits) > 1 else ''} under way{on}" if self.fits else ""

    def counts(self, cells: list[CellKey]) -> Counter[str]:
        """How many of some cells are done, running, failed, skipped and missing."""
        return Counter(self.finished.get(cell) or ("running" if cell in self.running else "missing") for cell in cells)

    def by_node(self) -> dict[str, Counter[str]]:
        """How many cells of each machine are done, running and so on; nothing where this machine does them all."""
        cells: dict[str, list[CellKey]] = defaultdict(list)
        for cell, node in self.nodes.items():
            if node and (cell in self.finished or cell in self.running):
                cells[node].append(cell)
        return {node: self.counts(cells[node]) for node in sorted(cells)} if {*cells} - {platform.node()} else {}

    def node_counts(self) -> str:
        """The same in words, such as `a: 3 done, 1 running; b: 2 done`."""
        return "; ".join(f"{node}: {_counted(counts)}" for node, counts in self.by_node().items())

    def remaining(self) -> str:
        """How long the rest will take if it takes as long as what was done so far; "" where nothing is left."""
        fresh, left = len(self.finished) - self._finished_before, self.total - len(self.finished)
        if not left:
            return ""
        return f"about {_clock((time.monotonic() - self._began) * left / fresh) if fresh else '–'} to go"

    def table(self, waiting: str = "") -> "RichTable":
        """One row a task, the seeds together, and one a machine; below, the time and what is being waited for."""
        from rich.box import SIMPLE_HEAD
        from rich.markup import escape
        from rich.table import Table as RichTable

        self.begin()
        self.update()
        elapsed = f"{_clock(time.monotonic() - self._began)} elapsed"
        parts = elapsed, self.remaining(), self.fits_under_way(), waiting
        caption = escape(printable(", ".join(part for part in parts if part)))
        table = RichTable("task", box=SIMPLE_HEAD, pad_edge=False, caption=caption, caption_justify="left")
        for status in STATUSES:
            table.add_column(status, justify="right", min_width=7)
        by_task: dict[str, list[CellKey]] = defaultdict(list)
        for group in self.groups:
            by_task[group.task] += group.cells
        rows = {name: self.counts(cells) for name, cells in by_task.items()}
        rows["all"] = sum(rows.values(), Counter())
        rows |= {f"on {printable(node)}": counts for node, counts in self.by_node().items()}
        for name, counts in rows.items():
            numbers = (f"{counts[status]:,}" if counts[status] else "·" for status in STATUSES)
            table.add_row(name, *numbers, style="bold" if name == "all" else None)
        return table

    def log(self, waiting: str = "", answering: CellKey | None = None) -> None:
        """Write what is new: every kind of failure, every group that is complete, and what is being waited for."""
        if waiting:
            self._say_once(waiting, f"waiting: {waiting}")
        if self._finished_before < 0:
            if waiting:
                return  # cells that are outdated have not been removed yet
            self.begin()
            cells = "cell" if self.total == 1 else "cells"
            self._say(f"{self.total:,} {cells}, {self._finished_before:,} of them finished before")
        news = set(self.update())
        for cell in sorted(news):
            if self.finished[cell] == "failed":
                # What fails a whole group is said once, and the summary counts its cells.
                self._say_once(without_cell(self.reasons[cell], str(cell)), f"failed: {cell}: {self.reasons[cell]}")
        for group in self.groups:
            if news.intersection(group.cells) and self._is_finished(group):
                counts = self.counts(group.cells)
                self._say("; ".join(part for part in (f"{group}: {_counted(counts)}", self.remaining()) if part))
        if time.monotonic() - self._said_last > SILENCE and (answering or self.running or self.fits):
            parts = self._at_work(answering), self.fits_under_way(), self.remaining(), self.node_counts()
            self._say("; ".join(part for part in parts if part))

    def _at_work(self, answering: CellKey | None) -> str:
        """What is being done: by this process, or by others."""
        if answering is None:
            return f"{len(self.finished):,} of {self.total:,} cells finished, {len(self.running):,} running"
        finished, total = self.finished_beside(answering)
        return f"answering {answering}, {finished} of {total} cells finished"

    def finished_beside(self, cell: CellKey) -> tuple[int, int]:
        """How many cells of a cell's group are finished, and how many it has."""
        group = next(group for group in self.groups if cell in group.cells)
        return sum(each in self.finished for each in group.cells), len(group.cells)

    def _say_once(self, key: str, line: str) -> None:
        if key not in self._said:
            self._said.add(key)
            self._say(line)

    def _say(self, line: str) -> None:
        self._said_last = time.monotonic()
        sys.stderr.write(f"{printable(line)}\n")


@contextmanager
def shown(progress: GridProgress, *, live: bool) -> Iterator[OnProgress]:
    """Show progress, on a terminal as a live table or with a bar while the system answers, and as log lines elsewhere.

    Args:
        progress: of the grid.
        live: whether a terminal may have the table; not where a system shows how it learns.

    Yields:
        What is to be called with news.
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
    """The log of a grid on a terminal, with a bar while the system answers; while it learns, it may show its own."""

    def __init__(self, progress: GridProgress) -> None:
        self._progress = progress
        self._log = _throttled(lambda waiting, _: progress.log(waiting))
        self._bars: RichProgress | None = None

    def __call__(self, waiting: str, answering: CellKey | None = None) -> None:
        """Write what is new, and show the cell that is answered."""
        self._log(waiting)
        if answering is None:
            self._end()
        else:
            self._show(answering)

    def __exit__(self, *error: object) -> None:
        self._end()

    def _show(self, cell: CellKey) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

        if self._bars is None:
            columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
            self._bars = Progress(*columns, console=Console(stderr=True), transient=True)
            self._bars.add_task("")
            self._bars.start()
        finished, total = self._progress.finished_beside(cell)
        self._bars.update(self._bars.task_ids[0], description=f"answering {cell}", completed=finished, total=total)

    def _end(self) -> None:
        if self._bars is not None:
            self._bars.stop()
        self._bars = None


def _throttled(show: Callable[[str, CellKey | None], None]) -> OnProgress:
    """Show the progress, but not more often than the eye can follow."""
    last = float("-inf")

    def show_if_due(waiting: str, answering: CellKey | None = None) -> None:
        nonlocal last
        if time.monotonic() - last > REFRESH:
            show(waiting, answering)
            last = time.monotonic()

    return show_if_due


def _node_of(lock: Path) -> str:
    """The machine of whoever has a lock."""
    return next((owner.node for owner in owners(lock)[-1:]), "")


def _counted(counts: Counter[str]) -> str:
    return ", ".join(f"{counts[status]} {status}" for status in STATUSES if counts[status])


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{rest:02}"


def without_cell(reason: str, cell: str) -> str:
    """A reason without the name of the cell (`xnli/sw` of `seed-0 xnli/sw`), to see which reasons are the same."""
    return re.sub(rf"(?<![\w/-]){re.escape(cell.rpartition(' ')[2])}(?![\w/-])", "", reason)
