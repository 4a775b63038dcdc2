"""The training loop; it can be killed at any time and resumes from its last state."""

import math
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
from isogloss.training.batching import BatchSchedule, PreparedUpdate, prepared_updates
from isogloss.training.errors import TrainingError, memory_explained
from isogloss.training.model_setup import cast, precision_of, quick_attention, repeatable, set_up
from isogloss.training.objective import TrainingObjective
from isogloss.training.optimizer import Adafactor, AdamW, Optimizer
from isogloss.training.recipes import Recipe
from isogloss.training.resume import Interruption, ResumableState
from isogloss.training.throughput import Throughput
from isogloss.training.train_step import TrainStep, to_device

# By name in a recipe.
OPTIMIZERS: Mapping[str, type[Optimizer]] = {"adamw": AdamW, "adafactor": Adafactor}
REPORT_EVERY = 0.5  # seconds between progress reports
# Minimum seconds between saved states (slow for large models): at checkpoints, and at other updates.
STATE_EVERY = 30.0
STATE_AT_LATEST = 600.0
_RECENT = 20  # updates in the reported mean loss
_SCALING_SKIPS = 20  # updates that loss scaling (in fp16) may skip while it looks for its factor


@dataclass(frozen=True, kw_only=True)
class CheckpointInfo:
    """Progress of training at a checkpoint."""

    step: int  # updates done
    steps: int  # updates in total
    epoch: float
    loss: float  # mean since the last checkpoint
    kept: int  # update of the state on disk, from which a killed run resumes; 0 if no state was saved


# Called at a checkpoint with the model in evaluation mode; returns True to end training.
OnCheckpoint = Callable[[CheckpointInfo, nn.Module], bool]


class ProgressReporter(Protocol):
    """Display of training progress."""

    def resumed(self, step: int, steps: int) -> None:
        """Report that a run resumes from a saved state."""

    def step(
        self, step: int, steps: int, loss: float, rate: float, tokens_per_second: float, utilisation: float
    ) -> None:
        """Report progress, about twice a second; `utilisation` is the share of the device's matrix rate, 0..1."""


@dataclass(frozen=True, kw_only=True)
class TrainingResult:
    """Result of a training run."""

    steps: int  # updates done; fewer than planned if training converged early
    losses: npt.NDArray[np.float32]  # of every update: the sum over its labels divided by their expected number
    seconds: float  # training time in this process, without checkpoints and without time before a resume
    tokens: int  # tokens trained on in that time, without padding
    padding: float  # share of the positions that are padding
    utilisation: float  # floating-point operations per second, as a share of those of a large matrix product
    eager_because: str = ""  # reason for not using CUDA graphs, or for giving them up
    skipped: int = 0  # updates skipped because of a non-finite gradient

    @property
    def notes(self) -> list[str]:
        """Remarks to show with the figures."""
        eager = [f"no CUDA graphs: {self.eager_because}"] if self.eager_because else []
        skipped = [f"updates skipped because of a non-finite gradient: {self.skipped}"] if self.skipped else []
        return eager + skipped


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
    """Train a model in place.

    Args:
        model: model with float32 weights; it ends on the device, in its training precision.
        objective: batches and their loss.
        recipe: learning rate, length and all other settings.
        seed: seed of the batch order and the dropout; on one device the same seed gives the same model (on CUDA if the
            recipe is `deterministic`).
        state: file for the resumable state, written regularly; training resumes from it if it exists.
        on_checkpoint: callback at every checkpoint, in each process that has one; training ends when it returns True in
            the main process. After a kill it is called again for the checkpoints after the last state, where the
            model may differ by rounding.
        progress: progress display.
        keep_float32: True to end with the float32 weights, as the start of another run.

    Returns:
        Losses, speed and skipped updates.

    Raises:
        TrainingError: empty training set, non-finite loss, out of memory, or damaged state.
    """
    if not len(objective):
        raise TrainingError("the training set is empty", fix="Pass a training set with examples")
    need = f"for {sum(p.numel() for p in model.parameters()):,} weights, their gradients and moments"
    with processes.together(), repeatable(recipe.deterministic):
        with memory_explained(need, processes.device_of(), "Use a smaller model, or a device with more memory"):
            run = _TrainingRun(model, objective, recipe, seed, state)
        run.on_checkpoint, run.progress = on_checkpoint, progress
        result = run.train()
    if keep_float32:
        run.optimizer.hand_back(model)
    return result


class _TrainingRun:
    """The parts of one run: schedule and step, with throughput and resumable state."""

    on_checkpoint: OnCheckpoint | None = None
    progress: ProgressReporter | None = None

    def __init__(
        self, model: nn.Module, objective: TrainingObjective, recipe: Recipe, seed: int, state: Path | None
    ) -> None:
        self.model, self.objective, self.recipe = model, objective, recipe
        self.schedule = BatchSchedule(
            lengths=objective.lengths, rows=objective.rows, recipe=recipe, seed=seed, splittable=objective.splittable
        )
        self.steps = self.schedule.steps
        self.labels_per_item = objective.weight(np.arange(len(objective))) / len(objective)
        self.device = processes.device_of()
        # Each update has its own seed, so that resuming needs no generator state in any process.
        self.seeds = np.random.SeedSequence((seed, processes.rank())).generate_state(self.steps, np.uint64)
        set_up(model, recipe, self.device)
        decoder = bool(getattr(getattr(model, "config", None), "is_encoder_decoder", False))
        dtype = precision_of(recipe.precision, self.device, decoder=decoder)
        several = (objective.splittable and recipe.micro + recipe.tokens > 0) or processes.world() > 1
        self.optimizer = OPTIMIZERS[recipe.optimizer](model, recipe, self.steps, dtype, accumulate=several)
        cast(model, dtype)
        self.train_step = TrainStep(model, objective, self.optimizer, graphs=not recipe.checkpointing)
        self.throughput = Throughput(model, objective, self.device, dtype)
        self.state = ResumableState(state, self.schedule, self.train_step.losses, self.optimizer)

    def train(self) -> TrainingResult:
        """Run the remaining updates."""
        begin = self.state.restore()
        if begin and self.progress is not None:
            self.progress.resumed(begin, self.steps)
        # Several processes would have to agree on the update to stop at.
        with Interruption(processes.world() == 1) as interruption, quick_attention(self.device):
            end = self._updates(begin, interruption)
        self._mean_loss(begin, end)
        self.model.eval()
        return TrainingResult(
            steps=end,
            losses=self.train_step.losses[:end].cpu().numpy(),
            seconds=self.throughput.seconds,
            tokens=self.throughput.tokens,
            padding=self.throughput.padding,
            utilisation=self.throughput.utilisation,
            eager_because=self.train_step.eager_because,
            skipped=self.skipped,
        )

    def _updates(self, begin: int, interruption: Interruption) -> int:
        """Run the updates from `begin` on, and return the number of the last."""
        last_checkpoint = max((at for at in self.schedule.checkpoints if at <= begin), default=0)
        reported, step = time.monotonic(), begin
        for update in prepared_updates(self.schedule, self.objective, begin):
            # torch.manual_seed is a hundred times slower without CUDA.
            torch.default_generator.manual_seed(int(self.seeds[step]))
            if self.device.type == "cuda":
                torch.cuda.manual_seed(int(self.seeds[step]))
            self._learn(update, step)
            step += 1
            if self.progress is not None and time.monotonic() - reported > REPORT_EVERY:
                reported = time.monotonic()
                loss = self._mean_loss(max(0, step - _RECENT), step)
                speed = self.throughput.tokens_per_second, self.throughput.utilisation
                self.progress.step(step, self.steps, loss, float(self.optimizer.rates[step - 1]), *speed)
            every = STATE_AT_LATEST
            if step in self.schedule.checkpoints:
                if self._converged(step, self._mean_loss(last_checkpoint, step)):
                    break
                last_checkpoint, every = step, STATE_EVERY
            if self.state.due(0.0 if interruption or step == self.steps else every):
                self._mean_loss(0, step)  # raises, so that a diverged state is never saved
                self.state.save(step)
            if interruption:
                interruption.happen()
        return step

    def _learn(self, update: PreparedUpdate, step: int) -> None:
        # Scale by the expected number of labels: batches of short items have fewer labels than average, and scaling by
        # the actual number would give each of them more weight.
        scale = 1 / max(self.labels_per_item * len(update.items), 1e-9)
        largest = max(update.batches, key=lambda batch: batch.size * batch.width)
        need = f"at update {step + 1}: {largest.size} items of {largest.width} tokens"
        half = max(1, (self.recipe.micro or largest.size) // 2)
        fix = f"Set micro = {half} (several passes per update), checkpointing = true, or a smaller max_length"
        with memory_explained(need, self.device, fix):
            for arrays in update.passes:
                self.train_step.backward(to_device(arrays, self.device), scale)
            self.train_step.update()
        self.throughput.add(update)

    def _converged(self, step: int, loss: float) -> bool:
        """Call the checkpoint callback; return True if the main process ends training."""
        epoch, kept = step / self.schedule.per_epoch, self.state.step
        info = CheckpointInfo(step=step, steps=self.steps, epoch=epoch, loss=loss, kept=kept)
        with self.throughput.paused():
            self.model.eval()
            converged = self.on_checkpoint is not None and self.on_checkpoint(info, self.model)
            self.model.train()
            return bool(processes.broadcast(converged))

    @property
    def skipped(self) -> int:
        """Number of updates skipped because of a non-finite gradient; the optimizer counts the others in `done`."""
        return int(self.optimizer.step_number) - int(self.optimizer.done)

    def _mean_loss(self, begin: int, end: int) -> float:
        """Return the mean loss of some updates; raise `TrainingError` if it, or most gradients, are not finite."""
        losses, what = self.train_step.losses[begin:end], ""
        if not bool(losses.isfinite().all()):
            what = f"the loss is not finite at update {begin + int((~losses.isfinite()).nonzero()[0]) + 1}"
        elif 2 * ((skipped := self.skipped) - _SCALING_SKIPS * self.optimizer.scaled) > end:
            what = f"{skipped} of {end} updates had a non-finite gradient"
        if what:
            saved = self.state.path is not None and self.state.path.exists()
            state = f"the last state is in {self.state.path}" if saved else "no state was saved"
            fix = "Lower learning_rate, add warmup, or set precision = 'fp32'"
            raise TrainingError(f"{what}; {state}", fix=fix)
        return float(losses.mean()) if end > begin else math.nan
