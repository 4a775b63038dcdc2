"""The progress of a grid while it is filled, as a live table or as a log."""

import re
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from isogloss.escaping import printable
from isogloss.runs.engine import OnProgress
from isogloss.runs.plan import CellKey, Plan
from isogloss.runs.records import read_record

if TYPE_CHECKING:
    from rich.table import Table as RichTable

STATUSES = ("done", "running", "failed", "skipped", "missing")

# Seconds between two looks at the folder.
REFRESH = 0.25


class GridProgress:
    """The status of every cell, read from the folder: the cells of all processes, of this command and of others."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.groups = plan.groups
        self.total = len(plan.cells)
        self.finished: dict[CellKey, str] = {}
        self.reasons: dict[CellKey, str] = {}
        self.running: set[CellKey] = set()
        self._said: set[str] = set()
        self._began = 0.0
        self._finished_before = -1

    def begin(self) -> None:
        """Note, once, what was finished before anything is done."""
        if self._finished_before < 0:
            self.update()
            self._began, self._finished_before = time.monotonic(), len(self.finished)

    def update(self) -> list[CellKey]:
        """Look again; gives the cells that have finished since the last time."""
        news = []
        self.running = set()
        for group in self.groups:
            folder = self.plan.records_folder(group.seed, group.task)
            names = {path.name for path in folder.iterdir()} if folder.is_dir() else set()
            for cell in group.cells:
                if self.plan.record_path(cell).name in names:
                    record = None if cell in self.finished else read_record(self.plan.record_path(cell))
                    if record is not None:
                        self.finished[cell], self.reasons[cell] = record.status, record.reason
                        news.append(cell)
                elif self.plan.lock_path(cell).name in names:
                    self.running.add(cell)
        return news

    def counts(self, cells: list[CellKey]) -> Counter[str]:
        """How many of some cells are done, running, failed, skipped and missing."""
        return Counter(self.finished.get(cell) or ("running" if cell in self.running else "missing") for cell in cells)

    def remaining(self) -> str:
        """How long the rest will take if it takes as long as what was done so far; "" where nothing is left."""
        fresh, left = len(self.finished) - self._finished_before, self.total - len(self.finished)
        if not left:
            return ""
        return f"about {_clock((time.monotonic() - self._began) * left / fresh) if fresh else '–'} to go"

    def table(self, waiting: str = "") -> "RichTable":
        """One row a task, the seeds together; below, the time and what is being waited for."""
        from rich.box import SIMPLE_HEAD
        from rich.markup import escape
        from rich.table import Table as RichTable

        self.begin()
        self.update()
        elapsed = f"{_clock(time.monotonic() - self._began)} elapsed"
        caption = escape(printable(", ".join(part for part in (elapsed, self.remaining(), waiting) if part)))
        table = RichTable("task", box=SIMPLE_HEAD, pad_edge=False, caption=caption, caption_justify="left")
        for status in STATUSES:
            table.add_column(status, justify="right", min_width=7)
        by_task: dict[str, list[CellKey]] = defaultdict(list)
        for group in self.groups:
            by_task[group.task] += group.cells
        rows = {name: self.counts(cells) for name, cells in by_task.items()}
        rows["all"] = sum(rows.values(), Counter())
        for name, counts in rows.items():
            numbers = (f"{counts[status]:,}" if counts[status] else "·" for status in STATUSES)
            table.add_row(name, *numbers, style="bold" if name == "all" else None)
        return table

    def log(self, waiting: str = "") -> None:
        """Write what is new: every kind of failure, every group that is complete, and what is being waited for."""
        if self._finished_before < 0:
            self.begin()
            cells = "cell" if self.total == 1 else "cells"
            _say(f"{self.total:,} {cells}, {self._finished_before:,} of them finished before")
        news = set(self.update())
        for cell in sorted(news):
            if self.finished[cell] == "failed":
                # What fails a whole group is said once, and the summary counts its cells.
                self._say_once(without_cell(self.reasons[cell], str(cell)), f"failed: {cell}: {self.reasons[cell]}")
        for group in self.groups:
            if news.intersection(group.cells) and all(cell in self.finished for cell in group.cells):
                counts = self.counts(group.cells)
                ends = ", ".join(f"{counts[status]} {status}" for status in STATUSES if counts[status])
                _say("; ".join(part for part in (f"{group}: {ends}", self.remaining()) if part))
        if waiting:
            self._say_once(waiting, f"{waiting}: waiting for it")

    def _say_once(self, key: str, line: str) -> None:
        if key not in self._said:
            self._said.add(key)
            _say(line)


@contextmanager
def shown(progress: GridProgress, *, live: bool) -> Iterator[OnProgress]:
    """Show progress, as a live table on a terminal and as log lines elsewhere; gives what is to be called with news."""
    from rich.console import Console
    from rich.live import Live

    console = Console(stderr=True)
    if console.is_terminal and live:
        with Live(console=console, auto_refresh=False, transient=True) as table:
            yield _throttled(lambda waiting: table.update(progress.table(waiting), refresh=True))
    else:
        yield _throttled(progress.log)
        progress.log()


def _throttled(show: Callable[[str], None]) -> OnProgress:
    """Show the progress, but not more often than the eye can follow."""
    last = float("-inf")

    def show_if_due(waiting: str) -> None:
        nonlocal last
        if time.monotonic() - last > REFRESH:
            show(waiting)
            last = time.monotonic()

    return show_if_due


def _say(line: str) -> None:
    sys.stderr.write(f"{printable(line)}\n")


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{rest:02}"


def without_cell(reason: str, cell: str) -> str:
    """A reason without the name of the cell (`xnli/sw` of `seed-0 xnli/sw`), to see which reasons are the same."""
    return re.sub(rf"(?<![\w/-]){re.escape(cell.rpartition(' ')[2])}(?![\w/-])", "", reason)
