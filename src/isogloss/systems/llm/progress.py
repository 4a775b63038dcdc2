"""Progress of sending requests: answers per second, tokens, cost so far and time left."""

import sys
from types import TracebackType
from typing import TYPE_CHECKING, Any

from isogloss.endpoints.send import SendProgress
from isogloss.escaping import printable
from isogloss.figures import cost_text, counted

if TYPE_CHECKING:
    from rich.progress import Progress


class SendingBar:
    """A progress bar on a terminal's stderr; elsewhere nothing is shown."""

    def __init__(self, title: str, *, quiet: bool = False) -> None:
        self._title, self._quiet = printable(title), quiet or not sys.stderr.isatty()
        self._bars: Progress | None = None
        self._row: Any = None

    def __enter__(self) -> "SendingBar":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bars is not None:
            self._bars.stop()

    def show(self, progress: SendProgress) -> None:
        """Show the current state; the bar appears with the first request that is sent."""
        if self._quiet:
            return
        if self._bars is None:
            self._bars, self._row = self._started()
        self._bars.update(self._row, total=progress.total, completed=progress.answers, state=state_text(progress))

    def wait(self) -> None:
        """Say that another process is sending the same requests."""
        if not self._quiet:
            sys.stderr.write(f"{self._title}: waiting for another process that sends its requests\n")

    def _started(self) -> "tuple[Progress, Any]":
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        columns = (
            TextColumn("{task.description}", markup=False),  # a folder may be named "[/b]"
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[state]}", markup=False),
            TimeRemainingColumn(),
        )
        bars = Progress(*columns, console=Console(stderr=True), transient=True)
        bars.start()
        return bars, bars.add_task(self._title, total=None, state="")


def state_text(progress: SendProgress) -> str:
    """Return rate, tokens and cost in words."""
    usage = progress.usage
    parts = [f"{progress.rate:,.1f}/s", f"{usage.input + usage.output:,} tokens"]
    if usage.cost is not None:
        parts.append(cost_text(usage.cost))
    if progress.retries:
        parts.append(counted(progress.retries, "retry", "retries"))
    return ", ".join(parts)
