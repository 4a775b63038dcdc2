"""The training loop: batches in, a trained model out; it can be killed at any time and goes on where it was."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
import numpy.typing as npt
import torch
from torch import nn

from isogloss.training import processes
from isogloss.training.adafactor import Adafactor
from isogloss.training.batching import BatchSchedule
from isogloss.training.divergence import DivergenceGuard
from isogloss.training.errors import TrainingError, memory_explained
from isogloss.training.interruption import Interruption
from isogloss.training.model_setup import cast, precision_of, quick_attention, repeatable, set_up
from isogloss.training.objective import TrainingObjective
from isogloss.training.optimizer import AdamW, Optimizer
from isogloss.training.prefetch import PreparedUpdate, prepared_updates
from isogloss.training.recipes import Recipe
from isogloss.training.resume import ResumableState
from isogloss.training.throughput import Throughput
from isogloss.training.train_step import TrainStep, to_device

# By their names in a recipe.
OPTIMIZERS: Mapping[str, type[Optimizer]] = {"adamw": AdamW, "adafactor": Adafactor}
REPORT_EVERY = 0.5  # seconds between two reports of progress
# Seconds between two writings of the state, which take a while for a large model: at checkpoints, and anywhere else.
STATE_EVERY = 30.0
STATE_AT_LATEST = 600.0
_RECENT = 20  # updates whose mean loss is reported


@dataclass(frozen=True)
class CheckpointInfo:
    """Where training is at a checkpoint.

    Attributes:
        step: updates so far, of `steps`.
        steps: updates in all.
        epoch: passes over the training set so far.
        loss: the mean since the last checkpoint.
        kept: the update whose state is on disk, 0 where none is: after a kill it goes on from there.
    """

    step: int
    steps: int
    epoch: float
    loss: float
    kept: int


# Called at a checkpoint with the model in evaluation mode; True ends training.
OnCheckpoint = Callable[[CheckpointInfo, nn.Module], bool]


class ProgressReporter(Protocol):
    """Shows how training goes."""

    def resumed(self, step: int, steps: int) -> None:
        """Called at the beginning of a run that goes on from a state."""

    def step(
        self, step: int, steps: int, loss: float, rate: float, tokens_per_second: float, utilisation: float
    ) -> None:
        """Called about twice a second; utilisation is the share of the device's matrix rate, 0..1."""


@dataclass(frozen=True)
class TrainingResult:
    """What came of a training run.

    Attributes:
        steps: updates done; fewer than planned where it converged before.
        losses: the loss of every update: the sum over its labels, by the number that so many items have on average.
        seconds: spent learning in this process, checkpoints not counted; what a resumed run did before is not in it.
        tokens: tokens trained on in that time, padding not counted.
        padding: share of the positions that held no token.
        utilisation: floating-point operations per second, as a share of those of a large matrix product.
        eager_because: why CUDA graphs were not used, or given up, where they should have been.
        skipped: updates that were left out, because their gradient was not a number.
    """

    steps: int
    losses: npt.NDArray[np.float32]
    seconds: float
    tokens: int
    padding: float
    utilisation: float
    eager_because: str = ""
    skipped: int = 0

    @property
    def notes(self) -> list[str]:
        """What should be said beside the figures."""
        eager = [f"no CUDA graphs: {self.eager_because}"] if self.eager_because else []
        left_out = [f"updates left out, their gradient not being a number: {self.skipped}"] if self.skipped else []
        return eager + left_out


def train(
    model: nn.Module,
    objective: TrainingObjective,
    recipe: Recipe,
    *,
    seed: int = 0,
    state: Path | None = None,
    on_checkpoint: OnCheckpoint | None = None,
    progress: ProgressReporter | None = None,
    keep_float32: bool = False,
) -> TrainingResult:
    """Train a model, in place.

    Args:
        model: its weights in float32; it ends on the device, in the precision it was trained in.
        objective: batches and their loss.
        recipe: rate, length and all other settings.
        seed: decides the order of the batches and the dropout; on one device the same seed gives the same model,
            on CUDA if the recipe is `deterministic`.
        state: file for the state, written now and then; if it exists, training resumes from it.
        on_checkpoint: called at every checkpoint, in the processes that have one; True in the main one ends training:
            it has converged. After a kill it is called again for the checkpoints after the last state, and the model
            may be another one then, by rounding.
        progress: called with figures now and then.
        keep_float32: end with the float32 weights that were kept beside the model's, for another run to begin with.

    Returns:
        Losses, speed and what was left out.

    Raises:
        TrainingError: there is nothing to learn, the loss is not a number, memory is short, or the state is damaged.
    """
    if not len(objective):
        raise TrainingError("there is nothing to learn from", fix="Give a training set that has examples")
    need = f"for {sum(p.numel() for p in model.parameters()):,} weights, their gradients and moments"
    with processes.together(), repeatable(recipe.deterministic):
        with memory_explained(need, processes.device_of(), "Take a smaller model, or a device with more memory"):
            run = _TrainingRun(model, objective, recipe, seed, state)
        result = run.train(on_checkpoint, progress)
    if keep_float32:
        run.optimizer.hand_back(model)
    return result


class _TrainingRun:
    """The parts of one run: what it does (schedule, step) and what looks after it (throughput, guard, state)."""

    def __init__(
        self, model: nn.Module, objective: TrainingObjective, recipe: Recipe, seed: int, state: Path | None
    ) -> None:
        self.model, self.objective, self.recipe = model, objective, recipe
        self.schedule = BatchSchedule(objective.lengths, objective.rows, recipe, seed, objective.splittable)
        self.steps = self.schedule.steps
        self.labels_per_item = objective.weight(np.arange(len(objective))) / len(objective)
        self.device = processes.device_of()
        # Every update draws from a seed of its own: a resumed run needs no generator's state, in any process.
        self.seeds = np.random.SeedSequence((seed, processes.rank())).generate_state(self.steps, np.uint64)
        set_up(model, recipe, self.device)
        dtype = precision_of(recipe.precision, self.device)
        several = (objective.splittable and recipe.micro + recipe.tokens > 0) or processes.world() > 1
        self.optimizer = OPTIMIZERS[recipe.optimizer](model, recipe, self.steps, dtype, accumulate=several)
        cast(model, dtype)
        self.train_step = TrainStep(model, objective, self.optimizer, graphs=not recipe.checkpointing)
        self.throughput = Throughput(model, objective, self.device, dtype)
        self.guard = DivergenceGuard(self.train_step.losses, self.optimizer, state)
        self.state = ResumableState(state, self.schedule, self.train_step.losses, self.optimizer)

    def train(self, on_checkpoint: OnCheckpoint | None, progress: ProgressReporter | None) -> TrainingResult:
        """Do all updates that are not done yet."""
        begin = self.state.restore()
        if begin and progress is not None:
            progress.resumed(begin, self.steps)
        # Several processes would have to agree on where to stop.
        with Interruption(processes.world() == 1) as interruption, quick_attention(self.device):
            end = self._updates(begin, on_checkpoint, progress, interruption)
        self.guard.mean_loss(begin, end)
        self.model.eval()
        return self._result(end)

    def _updates(
        self,
        begin: int,
        on_checkpoint: OnCheckpoint | None,
        progress: ProgressReporter | None,
        interruption: Interruption,
    ) -> int:
        """Do the updates from one on; gives the number of the last."""
        last_checkpoint = max((at for at in self.schedule.checkpoints if at <= begin), default=0)
        reported, step = time.monotonic(), begin
        for update in prepared_updates(self.schedule, self.objective, begin):
            self._seed(int(self.seeds[step]))
            self._learn(update, step)
            step += 1
            if progress is not None and time.monotonic() - reported > REPORT_EVERY:
                reported = time.monotonic()
                self._report(progress, step)
            every = STATE_AT_LATEST
            if step in self.schedule.checkpoints:
                loss = self.guard.mean_loss(last_checkpoint, step)
                if self._converged(on_checkpoint, step, loss):
                    break
                last_checkpoint, every = step, STATE_EVERY
            if self.state.due(0.0 if interruption or step == self.steps else every):
                self.guard.mean_loss(0, step)  # what is not a number is not kept
                self.state.save(step)
            if interruption:
                interruption.happen()
        return step

    def _seed(self, seed: int) -> None:
        # Not torch.manual_seed, which takes a hundred times as long where there is no CUDA.
        torch.default_generator.manual_seed(seed)
        if self.device.type == "cuda":
            torch.cuda.manual_seed(seed)

    def _learn(self, update: PreparedUpdate, step: int) -> None:
        # Not by the labels of this very update, as where batches are of random lengths: those of a narrow one are
        # fewer, and each would weigh more than the others.
        scale = 1 / max(self.labels_per_item * len(update.items), 1e-9)
        largest = max(update.batches, key=lambda batch: batch.size * batch.width)
        need = f"at update {step + 1}: {largest.size} items of {largest.width} tokens"
        half = max(1, (self.recipe.micro or largest.size) // 2)
        fix = f"Set micro = {half} (several passes an update), checkpointing = true, or a smaller max_length"
        with memory_explained(need, self.device, fix):
            for arrays in update.passes:
                self.train_step.backward(to_device(arrays, self.device), scale)
            self.train_step.update()
        self.throughput.add(update)

    def _converged(self, on_checkpoint: OnCheckpoint | None, step: int, loss: float) -> bool:
        """Call the callback at a checkpoint; whether that of the main process ends training here."""
        info = CheckpointInfo(step, self.steps, step / self.schedule.per_epoch, loss, self.state.step)
        with self.throughput.paused():
            self.model.eval()
            converged = on_checkpoint is not None and on_checkpoint(info, self.model)
            self.model.train()
            return bool(processes.broadcast(converged))

    def _report(self, progress: ProgressReporter, step: int) -> None:
        loss = self.guard.mean_loss(max(0, step - _RECENT), step)
        rate = float(self.optimizer.rates[step - 1])
        speed = self.throughput.tokens_per_second, self.throughput.utilisation
        progress.step(step, self.steps, loss, rate, *speed)

    def _result(self, step: int) -> TrainingResult:
        return TrainingResult(
            steps=step,
            losses=self.train_step.losses[:step].cpu().numpy(),
            seconds=self.throughput.seconds,
            tokens=self.throughput.tokens,
            padding=self.throughput.padding,
            utilisation=self.throughput.utilisation,
            eager_because=self.train_step.eager_because,
            skipped=self.guard.skipped,
        )
