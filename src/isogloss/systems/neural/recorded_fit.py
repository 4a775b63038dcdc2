"""Fits that are being trained, each with its log, record and weights: one training may serve several."""

import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from isogloss.systems.neural.checkpoint_callback import CheckpointCallback
from isogloss.systems.neural.fit_log import FitLog, finish_log, write_fit_log
from isogloss.systems.neural.weights import LAST, save
from isogloss.training.checkpoint_record import SHARDS
from isogloss.training.selection import ChosenCheckpoint

if TYPE_CHECKING:
    from torch import nn

    from isogloss.training.loop import CheckpointInfo, TrainingResult

STATE, WEIGHTS = "state", "weights"


def has_state(folder: Path) -> bool:
    """Whether training was interrupted there, and goes on."""
    return any((folder / STATE).glob("*.pt"))


def remove(folder: Path, *names: str) -> None:
    """Remove folders of a fit, those that are there."""
    for name in names:
        shutil.rmtree(folder / name, ignore_errors=True)


@dataclass
class RecordedFit:
    """A fit in its folder: its log, and what records its checkpoints."""

    folder: Path
    log: FitLog
    callback: CheckpointCallback

    def checkpoints(self, before: int | None = None) -> list[int]:
        """The checkpoints that are recorded, or those before an update."""
        return [step for step in self.callback.record.steps if before is None or step < before]

    def note_shared(self, tasks: list[str]) -> None:
        """Write down which tasks one training serves."""
        if self.log.shared_training != tasks:
            self.log = replace(self.log, shared_training=tasks)
            write_fit_log(self.folder, self.log)

    def finish(
        self, model: "nn.Module", trained: "TrainingResult", notes: list[str], tasks: list[str]
    ) -> dict[str, ChosenCheckpoint]:
        """Keep the last weights, complete record and log; gives the checkpoint that answers in each language."""
        if self.callback.failure is not None:
            raise self.callback.failure
        save(model, self.folder / WEIGHTS / LAST, self.callback.adapter.source.tokenizer)
        chosen = self.callback.finish(trained.steps)
        log = finish_log(self.log, trained, self.checkpoints(), chosen, [*self.callback.notes, *notes])
        seconds = log.seconds if not tasks or tasks[0] == log.task else 0.0
        write_fit_log(self.folder, replace(log, shared_training=tasks, seconds=seconds))
        remove(self.folder, STATE, SHARDS)
        return chosen


@dataclass
class SharedTraining:
    """A training with the fits that it serves: at a checkpoint, one after the other is asked and recorded.

    The state is in the folder of the first. Where another one fails, or has missed a checkpoint, it is left to a
    training of its own, and the first goes on.

    Attributes:
        finished: tasks that it has served already, before a kill.
    """

    first: RecordedFit
    others: list[RecordedFit] = field(default_factory=list)
    finished: list[str] = field(default_factory=list)

    @property
    def tasks(self) -> list[str]:
        """The tasks that it serves, where they are several."""
        others = [*self.finished, *(fit.log.task for fit in self.others)]
        return [self.first.log.task, *others] if others else []

    def served(self, log: FitLog) -> bool:
        """Whether the fit of a log was served until the state that training goes on from."""
        return has_state(self.first.folder) and log.shared_training == self.first.log.shared_training != []

    def begin(self) -> None:
        """Write down who is served, unless training goes on: those that it could serve have it in their logs."""
        if self.others:
            others = ", ".join(self.tasks[1:])
            self.first.callback.display.say(f"this training is also that of {others}")
        if not has_state(self.first.folder):
            for fit in (*self.others, self.first):
                fit.note_shared(self.tasks)

    def __call__(self, checkpoint: "CheckpointInfo", model: "nn.Module") -> bool:
        """Record a checkpoint of every fit; True where the first has failed."""
        self._leave_behind(checkpoint.step)
        if self.first.callback(checkpoint, model):
            return True
        for other in list(self.others):
            if other.callback(checkpoint, model):
                self._leave(other, str(other.callback.failure))
        return False

    def _leave_behind(self, step: int | None = None) -> None:
        """Leave those that have not recorded the checkpoints that the first has."""
        for other in list(self.others):
            if other.checkpoints(step) != self.first.checkpoints(step):
                self._leave(other, "it has missed checkpoints")

    def _leave(self, other: RecordedFit, why: str) -> None:
        other.callback.display.say(f"is no longer learnt with {self.first.log.task}: {why}")
        self.others.remove(other)

    def finish(self, model: "nn.Module", trained: "TrainingResult", notes: list[str]) -> dict[str, ChosenCheckpoint]:
        """Finish every fit; gives what `RecordedFit.finish` gives for the first.

        That is the last: a kill before leaves its state, from which the others can be finished.
        """
        if self.first.callback.failure is None:
            self._leave_behind()
            tasks = self.tasks
            for other in list(self.others):
                try:
                    other.finish(model, trained, notes, tasks)
                except Exception as error:  # a full disk, say
                    self._leave(other, str(error))
        return self.first.finish(model, trained, notes, self.tasks)
