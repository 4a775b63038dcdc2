"""How a training run is shown: a bar on a terminal, now and then a line elsewhere."""

import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from copy import copy
from statistics import fmean
from typing import Any, Self

from isogloss.escaping import printable

# Seconds between two lines where there is no terminal.
EVERY = 30.0
_WIDE = 105  # columns of a terminal that has room for a bar beside the figures


class ProgressDisplay:
    """Shows how training goes, as log lines that begin with a title."""

    def __init__(self, title: str, *, quiet: bool = False) -> None:
        self.title = title
        self.quiet = quiet
        self._began = self._said = time.monotonic()
        self._first = -1

    def titled(self, title: str) -> Self:
        """The same display for lines that begin with another title."""
        found = copy(self)
        found.title = title
        return found

    def resumed(self, step: int, steps: int) -> None:
        """A run goes on where it was."""
        self.say(f"goes on after update {step:,} of {steps:,}")

    def step(
        self, step: int, steps: int, loss: float, rate: float, tokens_per_second: float, utilisation: float
    ) -> None:
        """An update, about twice a second."""
        if self._first < 0:  # a resumed run begins anywhere
            self._began, self._first = time.monotonic(), step
        speed = f"{_short(tokens_per_second)} tokens/s, {100 * utilisation:.0f} % MFU"
        figures = f"loss {loss:.3f}, lr {rate:.2g}, {speed}"
        self._show(step, steps, figures, self._remaining(step, steps))

    def checkpoint(self, step: int, steps: int, loss: float, dev: Mapping[str, float]) -> None:
        """A checkpoint and its dev scores by language."""
        others = [score for code, score in dev.items() if code != "en"]
        scores = [f"en dev {dev['en']:.1f}"] if "en" in dev else []
        scores += [f"dev of {len(others)} other languages {fmean(others):.1f}"] if others else []
        self.say(f"checkpoint at {step:,} of {steps:,}: {', '.join([f'loss {loss:.4f}', *scores])}")

    def say(self, line: str) -> None:
        """A line that stays."""
        if not self.quiet:
            self._print(f"{self.title}: {line}")

    def _print(self, line: str) -> None:
        sys.stderr.write(f"{printable(line)}\n")

    def _show(self, step: int, steps: int, figures: str, remaining: str) -> None:
        if time.monotonic() - self._said > EVERY:
            self._said = time.monotonic()
            self.say(f"{step:,} of {steps:,}: {figures}, about {remaining} to go")

    def _remaining(self, step: int, steps: int) -> str:
        done = step - self._first
        if not done:
            return "–"
        minutes, seconds = divmod(round((time.monotonic() - self._began) * (steps - step) / done), 60)
        hours, minutes = divmod(minutes, 60)
        return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"


class _ProgressBar(ProgressDisplay):
    """The same on a terminal, as one line that changes."""

    def __init__(self, title: str, bars: Any) -> None:
        super().__init__(title)
        self._bars = bars
        self._row = bars.add_task(title, total=None, figures="", remaining="–")

    def _print(self, line: str) -> None:
        self._bars.console.print(printable(line), markup=False, highlight=False, soft_wrap=True)

    def _show(self, step: int, steps: int, figures: str, remaining: str) -> None:
        self._bars.update(self._row, completed=step, total=steps, figures=figures, remaining=remaining)


@contextmanager
def show_progress(title: str, *, quiet: bool = False) -> Iterator[ProgressDisplay]:
    """A display of a run while it goes on."""
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
        yield _ProgressBar(title, bars)


def _short(number: float) -> str:
    """Three digits or so: 197, 12.3k, 1.25M."""
    for size, unit in ((1e6, "M"), (1e3, "k")):
        if number >= size:
            return f"{number / size:.3g}{unit}"
    return f"{number:.0f}"
