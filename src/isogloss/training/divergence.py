"""When training diverges: losses and gradients that are not numbers."""

import math
from pathlib import Path

from torch import Tensor

from isogloss.training.errors import TrainingError
from isogloss.training.optimizer import Optimizer


class DivergenceGuard:
    """Ends a run whose losses, or most of whose gradients, are not finite; the error names the last good state.

    The losses are on the device, nan for updates that were not done yet; the optimizer leaves out the updates whose
    gradient is not finite, and counts the others.
    """

    def __init__(self, losses: Tensor, optimizer: Optimizer, state: Path | None) -> None:
        self._losses, self._optimizer, self._state = losses, optimizer, state

    @property
    def skipped(self) -> int:
        """Updates that were left out, because their gradient was not finite."""
        return int(self._optimizer.step_number) - int(self._optimizer.done)

    def mean_loss(self, begin: int, end: int) -> float:
        """The mean loss of the updates from `begin` up to `end`, where training may go on."""
        losses = self._losses[begin:end]
        if not bool(losses.isfinite().all()):
            where = begin + int((~losses.isfinite()).nonzero()[0]) + 1
            raise self._diverged(f"the loss is not a number at update {where}")
        if 2 * (skipped := self.skipped) > end:
            raise self._diverged(f"{skipped} of {end} updates had a gradient that is not a number")
        return float(losses.mean()) if end > begin else math.nan

    def _diverged(self, what: str) -> TrainingError:
        kept = self._state is not None and self._state.exists()
        said = f"the state before is kept in {self._state}" if kept else "no state was kept"
        return TrainingError(f"{what}; {said}", fix="Lower learning_rate, add warmup, or set precision = 'fp32'")
