"""Ctrl-C and SIGTERM wait for the end of an update, so that the state can be written before."""

import signal
import threading
from types import FrameType, TracebackType
from typing import Any

_SIGNALS = signal.SIGINT, signal.SIGTERM  # schedulers of clusters send the second before they kill


class Interruption:
    """A context in which the first such signal is only noted; a second one does at once what it always does.

    If it is not wanted, all signals do what they always do.
    """

    def __init__(self, wanted: bool = True) -> None:
        # Python handles signals in the main thread only.
        self._wanted = wanted and threading.current_thread() is threading.main_thread()
        self._before: dict[int, Any] = {}
        self._noted = 0

    def __enter__(self) -> "Interruption":
        if self._wanted:
            self._before = {number: signal.signal(number, self._note) for number in _SIGNALS}
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._leave()
        if error is None and self:  # it came with the very last update
            self.happen()

    def __bool__(self) -> bool:
        """Whether there was a signal."""
        return self._noted > 0

    def happen(self) -> None:
        """Let the noted signal do what it always does."""
        self._leave()
        number, self._noted = self._noted, 0
        signal.raise_signal(number)

    def _note(self, number: int, frame: FrameType | None) -> None:
        again, self._noted = self._noted > 0, number
        if again:
            self.happen()

    def _leave(self) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
        self._before = {}
