"""The loop: batches in, a trained model out; it can be killed at any moment and goes on where it was."""

import hashlib
import math
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from queue import Queue
from threading import Thread
from typing import Protocol

import numpy as np
import numpy.typing as npt
import torch
from torch import nn

from isogloss.training import processes
from isogloss.training.batching import Batch, BatchSchedule
from isogloss.training.determinism import repeatable
from isogloss.training.errors import TrainingError, memory_explained
from isogloss.training.interruption import Interruption
from isogloss.training.objective import Arrays, TrainingObjective
from isogloss.training.optimizer import Optimizer
from isogloss.training.precision import cast, precision_of
from isogloss.training.recipes import Recipe
from isogloss.training.state import read_state, write_state
from isogloss.training.steps import Steps, to_device
from isogloss.training.throughput import ceiling, flops_per_piece

REPORT_EVERY = 0.5  # seconds between two reports
# Seconds between two writings of the state, which take a while for a large model: at checkpoints, and anywhere else.
STATE_EVERY = 30.0
STATE_AT_LATEST = 600.0
_AHEAD = 8  # batches made before they are needed


@dataclass(frozen=True)
class CheckpointInfo:
    """How training stands at a checkpoint.

    Attributes:
        step: updates so far, of `steps`.
        loss: the mean since the last checkpoint.
        kept: the update whose state is on disk, 0 where none is: after a kill it goes on from there.
    """

    step: int
    steps: int
    epoch: float
    loss: float
    kept: int


Watch = Callable[[CheckpointInfo, nn.Module], bool]
# An update, and its passes in this process.
_Prepared = tuple[list[Batch], list[Arrays]]


class Report(Protocol):
    """Shows how training goes."""

    def resumed(self, step: int, steps: int) -> None:
        """Called at the beginning of a run that goes on from a state."""

    def step(
        self, step: int, steps: int, loss: float, rate: float, pieces_per_second: float, utilisation: float
    ) -> None:
        """Called about twice a second; utilisation is the share of the device's matrix rate, 0..1."""


@dataclass(frozen=True)
class Trained:
    """What came of a training run.

    Attributes:
        steps: updates done; fewer than planned where it converged before.
        losses: the loss of every update, a mean over its labels.
        seconds: spent learning in this process, checkpoints not counted; what a resumed run did before is not in it.
        pieces: pieces learnt from in that time, padding not counted.
        padding: share of the positions that held no piece.
        utilisation: floating-point operations per second, as a share of those of a large matrix product.
        eager_because: why CUDA graphs were not used, or given up, where they should have been.
        skipped: updates that were left out, because their gradient was not a number.
    """

    steps: int
    losses: npt.NDArray[np.float32]
    seconds: float
    pieces: int
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
    watch: Watch | None = None,
    report: Report | None = None,
    exact: bool = False,
) -> Trained:
    """Train a model, in place.

    Args:
        model: its weights in float32; it ends on the device, in the precision it was trained in, unless `exact`.
        objective: what is learnt.
        recipe: how.
        seed: decides the order of the batches and the dropout; on one device the same seed gives the same model,
            on CUDA if the recipe is `deterministic`.
        state: file for the state, written now and then; if it exists, training resumes from it.
        watch: called at every checkpoint, in the processes that have one; True in the main one ends training: it has
            converged. After a kill it is called again for the checkpoints after the last state, and the model may be
            another one then, by rounding.
        report: told how it goes.
        exact: end with the float32 weights that were kept beside the model's, for another run to begin with.

    Raises:
        TrainingError: there is nothing to learn, the loss is not a number, memory is short, or the state is damaged.
    """
    if not len(objective):
        raise TrainingError("there is nothing to learn from", fix="Give a training set that has examples")
    need = f"for {sum(p.numel() for p in model.parameters()):,} weights, their gradients and moments"
    with processes.together(), repeatable(recipe.deterministic):
        with memory_explained(need, processes.device_of(), "Take a smaller model, or a device with more memory"):
            run = _Run(model, objective, recipe, seed, state)
        trained = run.train(watch, report)
    if exact:
        run.optimizer.hand_back(model)
    return trained


@dataclass
class _Tally:
    """What was done since the beginning of this process."""

    began: float
    pieces: int = 0
    positions: int = 0


class _Run:
    def __init__(
        self, model: nn.Module, objective: TrainingObjective, recipe: Recipe, seed: int, state: Path | None
    ) -> None:
        self.model, self.objective, self.recipe, self.seed, self.state = model, objective, recipe, seed, state
        self.timetable = BatchSchedule(objective.lengths, objective.rows, recipe, seed, objective.splittable)
        self.steps = self.timetable.steps
        self.device = processes.device_of()
        # Every update draws from a seed of its own: whoever resumes needs no generator's state, in any process.
        self.seeds = np.random.SeedSequence((seed, processes.rank())).generate_state(self.steps, np.uint64)
        self.model.to(self.device).train()
        _set_dropout(model, recipe.dropout)
        if recipe.checkpointing:
            _recompute(model)
        self.dtype = precision_of(recipe.precision, self.device)
        several = (objective.splittable and recipe.micro + recipe.tokens > 0) or processes.world() > 1
        self.optimizer = Optimizer(model, recipe, self.steps, self.dtype, accumulate=several)
        cast(model, self.dtype)
        self.passes = Steps(model, objective, self.optimizer, graphs=not recipe.checkpointing)
        # Attention is over the row a piece is in, and long rows have more pieces.
        self.flops = flops_per_piece(
            model, float(np.average(objective.lengths, weights=np.maximum(objective.lengths, 1)))
        )
        self.ceiling = ceiling(self.device, self.dtype)
        self.tally = _Tally(time.perf_counter())
        self.saved, self.kept = time.monotonic(), 0

    def train(self, watch: Watch | None, report: Report | None) -> Trained:
        begin = self._resume()
        if begin and report is not None:
            report.resumed(begin, self.steps)
        # Several processes would have to agree on where to stop.
        with Interruption(processes.world() == 1) as interruption:
            end = self._train(begin, watch, report, interruption)
        self._mean_loss(begin, end)
        self.model.eval()
        return self._trained(end)

    def _train(self, begin: int, watch: Watch | None, report: Report | None, interruption: Interruption) -> int:
        """Do the updates from one on; gives the number of the last."""
        checkpoints = self._checkpoints()
        seen = max((at for at in checkpoints if at <= begin), default=0)
        shown, step = time.monotonic(), begin
        for update, parts in _ahead(self._prepared(begin)):
            self._seed(int(self.seeds[step]))
            self._learn(update, parts, step)
            step += 1
            if report is not None and time.monotonic() - shown > REPORT_EVERY:
                shown = time.monotonic()
                self._show(report, step)
            every = STATE_AT_LATEST
            if step in checkpoints:
                loss, seen = self._mean_loss(seen, step), step
                moment = CheckpointInfo(step, self.steps, step / self.timetable.per_epoch, loss, self.kept)
                if self._watched(watch, moment):
                    break
                every = STATE_EVERY
            self._save(step, 0.0 if interruption else every)
            if interruption:
                interruption.happen()
        return step

    def _seed(self, seed: int) -> None:
        # Not torch.manual_seed, which takes a hundred times as long where there is no CUDA.
        torch.default_generator.manual_seed(seed)
        if self.device.type == "cuda":
            torch.cuda.manual_seed(seed)

    def _prepared(self, begin: int) -> Iterator[_Prepared]:
        """The updates, with the passes of this process as arrays."""
        for update in self.timetable.updates(begin):
            yield update, [arrays for batch in update for arrays in self._passes_of(batch)]

    def _passes_of(self, batch: Batch) -> Iterator[Arrays]:
        mine = np.array_split(batch.items, processes.world())[processes.rank()]
        size = -(-batch.size // processes.world())
        micro = min(self.recipe.micro or size, size) if self.objective.splittable else size
        # Every pass is there in every process, though it may be padding, so that all do the same.
        for start in range(0, size, micro):
            yield self.objective.batch(mine[start : start + micro], batch.width, micro)

    def _learn(self, update: list[Batch], parts: list[Arrays], step: int) -> None:
        items = np.concatenate([batch.items for batch in update])
        scale = 1 / max(self.objective.weight(items), 1e-9)
        largest = max(update, key=lambda batch: batch.size * batch.width)
        need = f"at update {step + 1}: {largest.size} items of {largest.width} pieces"
        half = max(1, (self.recipe.micro or largest.size) // 2)
        fix = f"Set micro = {half} (several passes an update), checkpointing = true, or a smaller max_length"
        with memory_explained(need, self.device, fix):
            for arrays in parts:
                self.passes.backward(to_device(arrays, self.device), scale)
            self.passes.update()
        self.tally.pieces += int(self.objective.lengths[items].sum()) * self.objective.rows
        self.tally.positions += sum(batch.width * batch.size for batch in update) * self.objective.rows

    def _checkpoints(self) -> set[int]:
        share = self.recipe.checkpoints / 100
        count = math.ceil(1 / share) if share else 1
        return {min(self.steps, max(1, round(self.steps * share * k))) for k in range(1, count + 1)} | {self.steps}

    def _watched(self, watch: Watch | None, moment: CheckpointInfo) -> bool:
        began = time.perf_counter()
        self.model.eval()
        done = watch is not None and watch(moment, self.model)
        self.model.train()
        over = bool(processes.broadcast(done))
        self.tally.began += time.perf_counter() - began  # as if it had taken no time
        return over

    def _mean_loss(self, begin: int, end: int) -> float:
        """The mean loss of some updates; one that is not a number ends the run."""
        losses = self.passes.losses[begin:end]
        if not bool(losses.isfinite().all()):
            where = begin + int((~losses.isfinite()).nonzero()[0]) + 1
            raise self._not_a_number(f"the loss is not a number at update {where}")
        if 2 * (skipped := self._skipped()) > end:
            raise self._not_a_number(f"{skipped} of {end} updates had a gradient that is not a number")
        return float(losses.mean()) if end > begin else math.nan

    def _not_a_number(self, what: str) -> TrainingError:
        kept = self.state is not None and self.state.exists()
        said = f"the state before is kept in {self.state}" if kept else "no state was kept"
        return TrainingError(f"{what}; {said}", fix="Lower learning_rate, add warmup, or set precision = 'fp32'")

    def _skipped(self) -> int:
        """Updates that were left out, because their gradient was not a number."""
        return int(self.optimizer.step_number) - int(self.optimizer.done)

    def _show(self, report: Report, step: int) -> None:
        loss = self._mean_loss(max(0, step - 20), step)
        seconds = time.perf_counter() - self.tally.began
        rate = float(self.optimizer.rates[step - 1])
        report.step(step, self.steps, loss, rate, self.tally.pieces / seconds, self._utilisation(seconds))

    def _utilisation(self, seconds: float) -> float:
        rate = self.flops * self.tally.pieces / processes.world() / max(seconds, 1e-9)
        # On a processor that others used when its ceiling was measured, the run itself may show a higher one.
        self.ceiling = max(self.ceiling, rate)
        return rate / self.ceiling

    @property
    def _signature(self) -> str:
        digest = hashlib.sha256(repr((asdict(self.recipe), self.seed, self.steps)).encode())
        digest.update(self.objective.lengths.tobytes())
        return digest.hexdigest()

    def _save(self, step: int, every: float) -> None:
        """Write the state, unless that was done less than `every` seconds ago."""
        if self.state is None or (time.monotonic() - self.saved < every and step < self.steps):
            return
        self._mean_loss(0, step)  # what is not a number is not kept
        if processes.is_main():
            whole = {"signature": self._signature, "step": step, "losses": self.passes.losses}
            write_state(self.state, {**whole, **self.optimizer.state()})
        self.saved, self.kept = time.monotonic(), step

    def _resume(self) -> int:
        """Go on from the state, where there is one; gives the updates done."""
        found = read_state(self.state, self._signature) if self.state is not None else None
        if found is None:
            return 0
        self.optimizer.restore(found)
        self.passes.losses.copy_(found["losses"])
        self.kept = int(found["step"])
        return self.kept

    def _trained(self, step: int) -> Trained:
        seconds = time.perf_counter() - self.tally.began
        losses = self.passes.losses[:step].cpu().numpy()
        empty = 1 - self.tally.pieces / self.tally.positions if self.tally.positions else 0.0
        busy = self._utilisation(seconds) if self.tally.pieces else 0.0
        return Trained(
            step, losses, seconds, self.tally.pieces, empty, busy, self.passes.eager_because, self._skipped()
        )


def _ahead(made: Iterator[_Prepared]) -> Iterator[_Prepared]:
    """The same, made by a thread before it is asked for."""
    queue: Queue[_Prepared | BaseException | None] = Queue(maxsize=_AHEAD)
    stopped = False

    def make() -> None:
        try:
            for item in made:
                if stopped:
                    return
                queue.put(item)
            queue.put(None)
        except BaseException as error:  # it belongs to whoever asks for the next batch
            queue.put(error)

    thread = Thread(target=make, daemon=True, name="batches")
    thread.start()
    try:
        while (item := queue.get()) is not None:
            if isinstance(item, BaseException):
                raise item
            yield item
    finally:
        stopped = True
        while thread.is_alive():
            while not queue.empty():
                queue.get()
            thread.join(timeout=0.05)


def _recompute(model: nn.Module) -> None:
    """Keep only the activations between layers, and compute the others again in the backward pass."""
    try:
        model.gradient_checkpointing_enable()
    except ValueError as error:
        fix = "Set it to false, and micro for less memory"
        raise TrainingError(f"checkpointing = true: {str(error).rstrip('.')}", fix=fix) from error


def _set_dropout(model: nn.Module, share: float | None) -> None:
    """Drop this share everywhere, whatever the model's configuration says."""
    if share is None:
        return
    for module in model.modules():
        if isinstance(module, nn.Dropout):
            module.p = share
            continue
        for name, value in vars(module).items():
            if name.endswith("dropout") and isinstance(value, float):
                setattr(module, name, share)
