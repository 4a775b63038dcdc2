"""The state that a killed run goes on from: all that an exact continuation needs, written whole or not at all."""

import hashlib
import os
import time
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from secrets import token_hex
from typing import Any

import torch
from torch import Tensor

from isogloss.training import processes
from isogloss.training.batching import BatchSchedule
from isogloss.training.errors import TrainingError
from isogloss.training.optimizer import Optimizer


class ResumableState:
    """The losses and the optimizer of a run, and their file; no path, where the run is not to be resumed.

    The file of another schedule is refused.

    Attributes:
        step: the update whose state is on disk, 0 where none is.
    """

    def __init__(self, path: Path | None, schedule: BatchSchedule, losses: Tensor, optimizer: Optimizer) -> None:
        self._path, self._losses, self._optimizer = path, losses, optimizer
        self._signature = _signature(schedule)
        self._written = time.monotonic()
        self.step = 0

    def restore(self) -> int:
        """Go on from the file, where there is one; gives the updates done."""
        # Nobody goes on before all have read it: the main process may replace or remove it at once.
        with processes.in_step():
            found = _read(self._path, self._signature) if self._path is not None else None
        if found is not None:
            self._optimizer.restore(found)
            self._losses.copy_(found["losses"])
            self.step = int(found["step"])
        return self.step

    def due(self, every: float) -> bool:
        """Whether there is a file to be written, and that was last done at least `every` seconds ago."""
        return self._path is not None and time.monotonic() - self._written >= every

    def save(self, step: int) -> None:
        """Write the state after an update; of several processes the main one does."""
        if self._path is not None and processes.is_main():
            progress = {"signature": self._signature, "step": step, "losses": self._losses}
            _write(self._path, {**progress, **self._optimizer.state()})
        self._written, self.step = time.monotonic(), step


def _signature(schedule: BatchSchedule) -> str:
    """A hash over what decides a run, its data by their lengths."""
    digest = hashlib.sha256(repr((asdict(schedule.recipe), schedule.seed, schedule.steps)).encode())
    digest.update(schedule.lengths.tobytes())
    return digest.hexdigest()


def _write(path: Path, state: dict[str, Any]) -> None:
    """Write a state; a kill leaves the one before."""
    part = path.with_name(f".{path.name}.{token_hex(4)}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        for leftover in path.parent.glob(f".{path.name}.*.part"):
            leftover.unlink(missing_ok=True)
        with part.open("wb") as stream:
            torch.save(state, stream)
            stream.flush()
            os.fsync(stream.fileno())
        part.replace(path)
    except (OSError, RuntimeError) as error:
        # When a write fails, torch raises an error of its own on top; what really happened is the error before it.
        cause = error if isinstance(error, OSError) else error.__context__ or error
        said = getattr(cause, "strerror", None) or cause
        fix = "Make room there, or choose another folder; what was written before is kept"
        raise TrainingError(f"the state of training cannot be written ({said})", where=str(path), fix=fix) from error
    finally:
        with suppress(OSError):
            part.unlink(missing_ok=True)


def _read(path: Path, signature: str) -> dict[str, Any] | None:
    """The state of a run, in main memory; None where there is none."""
    if not path.exists():
        return None
    fix = "Remove it to begin anew, or choose another folder"
    try:
        state: dict[str, Any] = torch.load(path, map_location="cpu", weights_only=True)
        found = state["signature"]
    except Exception as error:  # torch and pickle raise what they like
        raise TrainingError(f"the state of training is damaged ({error})", where=str(path), fix=fix) from error
    if found != signature:
        raise TrainingError("the state is of a run with other data or settings", where=str(path), fix=fix)
    return state
