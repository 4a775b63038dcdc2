"""Training progress: a bar on a terminal, log lines elsewhere."""

import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from multiprocessing import parent_process
from statistics import fmean
from typing import Any

from isogloss.escaping import printable

EVERY = 30.0  # seconds between log lines without a terminal
_WIDE = 105  # terminal columns needed for a bar next to the figures


class ProgressDisplay:
    """Progress with a title: log lines, or one changing line of `bars` on a terminal."""

    def __init__(self, title: str, *, quiet: bool = False, bars: Any = None) -> None:
        self.title, self.quiet, self._bars = title, quiet, bars
        self._row = bars and bars.add_task(title, total=None, figures="", remaining="–")
        self._began = self._printed = time.monotonic()
        self._first = -1

    def resumed(self, step: int, steps: int) -> None:
        """Report that a run resumes."""
        self.say(f"resuming after update {step:,} of {steps:,}")

    def step(
        self, step: int, steps: int, loss: float, rate: float, tokens_per_second: float, utilisation: float
    ) -> None:
        """Report an update, about twice a second."""
        if self._first < 0:  # a resumed run starts at any update
            self._began, self._first = time.monotonic(), step
        remaining = "–"
        if done := step - self._first:
            minutes, seconds = divmod(round((time.monotonic() - self._began) * (steps - step) / done), 60)
            hours, minutes = divmod(minutes, 60)
            remaining = f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"
        speed = f"{_short(tokens_per_second)} tokens/s, {100 * utilisation:.0f} % MFU"
        figures = f"loss {loss:.3f}, lr {rate:.2g}, {speed}"
        if self._bars:
            self._bars.update(self._row, completed=step, total=steps, figures=figures, remaining=remaining)
        elif time.monotonic() - self._printed > EVERY:
            self._printed = time.monotonic()
            self.say(f"{step:,} of {steps:,}: {figures}, about {remaining} left")

    def checkpoint(self, step: int, steps: int, loss: float, dev: Mapping[str, float]) -> None:
        """Report a checkpoint and its dev scores by language."""
        others = [score for code, score in dev.items() if code != "en"]
        scores = [f"en dev {dev['en']:.1f}"] if "en" in dev else []
        more = f"{len(others)} other language{'' if len(others) == 1 else 's'}"
        scores += [f"mean dev of {more} {fmean(others):.1f}"] if others else []
        self.say(f"checkpoint at {step:,} of {steps:,}: {', '.join([f'loss {loss:.4f}', *scores])}")

    def say(self, line: str) -> None:
        """Print a permanent line."""
        text = printable(f"{self.title}: {line}")
        if self._bars:
            self._bars.console.print(text, markup=False, highlight=False, soft_wrap=True)
        elif not self.quiet:
            sys.stderr.write(f"{text}\n")


@contextmanager
def show_progress(title: str, *, quiet: bool = False) -> Iterator[ProgressDisplay]:
    """Display the progress of a run; on a terminal, a process of `--jobs` leaves that to the command's own display."""
    quiet = quiet or (sys.stderr.isatty() and parent_process() is not None)
    if quiet or not sys.stderr.isatty():
        yield ProgressDisplay(title, quiet=quiet)
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description}"),
        *([BarColumn(bar_width=20)] if console.width >= _WIDE else []),
        MofNCompleteColumn(),
        TextColumn("{task.fields[figures]}"),
        TextColumn("ETA {task.fields[remaining]}"),
    )
    with Progress(*columns, console=console, transient=True) as bars:
        yield ProgressDisplay(title, bars=bars)


def _short(number: float) -> str:
    """Format a number with about three digits: 197, 12.3k, 1.25M."""
    size, unit = (1e6, "M") if number >= 1e6 else (1e3, "k")
    return f"{number / size:.3g}{unit}" if number >= size else f"{number:.0f}"
