"""Resumable training state: everything an exact continuation needs, written atomically, also on Ctrl-C and SIGTERM."""

import hashlib
import signal
import threading
import time
from dataclasses import asdict
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any

import torch
from torch import Tensor

from isogloss.data.files import atomic_write
from isogloss.errors import DataError
from isogloss.interrupts import announce, listen
from isogloss.training import processes
from isogloss.training.batching import BatchSchedule
from isogloss.training.errors import TrainingError
from isogloss.training.optimizer import Optimizer

_SIGNALS = signal.SIGINT, signal.SIGTERM  # cluster schedulers send SIGTERM before they kill


class Interruption:
    """Context that, if `wanted`, delays the first signal to the end of an update, to save the state; a second acts.

    Ctrl-C is answered at once: an update may take seconds.
    """

    def __init__(self, wanted: bool = True) -> None:
        # Python handles signals in the main thread only.
        self._wanted = wanted and threading.current_thread() is threading.main_thread()
        self._before: dict[int, Any] = {}
        self._noted = 0

    def __enter__(self) -> "Interruption":
        if self._wanted:
            listen()
            self._before = {number: signal.signal(number, self._note) for number in _SIGNALS}
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._leave()
        if error is None and self:  # the signal came during the last update
            self.happen()

    def __bool__(self) -> bool:
        """Return True if a signal was received."""
        return self._noted > 0

    def happen(self) -> None:
        """Let the recorded signal take effect."""
        self._leave()
        number, self._noted = self._noted, 0
        signal.raise_signal(number)

    def _note(self, number: int, frame: FrameType | None) -> None:
        is_second, self._noted = self._noted > 0, number
        if is_second:
            self.happen()
        elif number == signal.SIGINT:
            announce("Finishing this update")

    def _leave(self) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
        self._before = {}


class ResumableState:
    """Losses and optimizer of a run, and the file they are saved to; without a path the run is not resumable."""

    def __init__(self, path: Path | None, schedule: BatchSchedule, losses: Tensor, optimizer: Optimizer) -> None:
        self.path, self._losses, self._optimizer = path, losses, optimizer
        # Everything that determines a run; the data enters by its lengths.
        digest = hashlib.sha256(repr((asdict(schedule.recipe), schedule.seed, schedule.steps)).encode())
        digest.update(schedule.lengths.tobytes())
        self._signature = digest.hexdigest()
        self._written = time.monotonic()
        self.step = 0  # update of the state on disk, 0 if none was saved

    def restore(self) -> int:
        """Restore the state from the file, if it exists, and return the number of updates done."""
        # Wait until every process has read the file: the main one may replace or remove it right after.
        with processes.in_step():
            saved = None
            if self.path is not None and self.path.exists():
                fix = "Remove it to start over, or choose another folder"
                try:
                    saved = torch.load(self.path, map_location="cpu", weights_only=True)
                    signature = saved["signature"]
                except Exception as error:  # torch and pickle raise many types
                    what = f"the training state is damaged ({error})"
                    raise TrainingError(what, where=str(self.path), fix=fix) from error
                if signature != self._signature:
                    what = "the state belongs to a run with other data or settings"
                    raise TrainingError(what, where=str(self.path), fix=fix)
        if saved is not None:
            self._optimizer.restore(saved)
            self._losses.copy_(saved["losses"])
            self.step = int(saved["step"])
        return self.step

    def due(self, every: float) -> bool:
        """Return True if the run is resumable and the last save is at least `every` seconds old."""
        return self.path is not None and time.monotonic() - self._written >= every

    def save(self, step: int) -> None:
        """Save the state after an update; only the main process writes."""
        if self.path is not None and processes.is_main():
            progress = {"signature": self._signature, "step": step, "losses": self._losses}
            _write(self.path, {**progress, **self._optimizer.state()})
        self._written, self.step = time.monotonic(), step


def _write(path: Path, state: dict[str, Any]) -> None:
    """Write a state atomically; a kill leaves the previous one."""
    try:
        for leftover in path.parent.glob(f".{path.name}.*.part"):
            leftover.unlink(missing_ok=True)
        with atomic_write(path) as stream:
            torch.save(state, stream.buffer)
    except (OSError, DataError, RuntimeError) as error:
        # When a write fails, torch raises its own error on top; the original one is its context.
        cause = error.__cause__ or error.__context__ or error
        reason = getattr(cause, "strerror", None) or cause
        fix = "Free disk space, or choose another folder; the previous state is kept"
        raise TrainingError(f"cannot write the training state ({reason})", where=str(path), fix=fix) from error
