"""Forward pass, backward pass and update of a training step, eagerly or as CUDA graphs, with the same result.

At a batch of 32 a large accelerator is faster than the host can launch kernels. On CUDA, the backward pass is therefore
captured for every batch shape that recurs, and the update once; a step is then two launches. Losses stay on the device
until requested, because reading one would stall the pipeline.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from isogloss.training import processes
from isogloss.training.objective import Arrays, TrainingObjective
from isogloss.training.optimizer import Optimizer

Shape = tuple[tuple[str, tuple[int, ...]], ...]


def on_host(arrays: Arrays, device: torch.device) -> dict[str, Tensor]:
    """Return arrays as tensors, in pinned memory if they are bound for CUDA; any thread may call this ahead."""
    tensors = {name: torch.from_numpy(np.ascontiguousarray(array)) for name, array in arrays.items()}
    return {name: tensor.pin_memory() for name, tensor in tensors.items()} if device.type == "cuda" else tensors


def to_device(arrays: Arrays, device: torch.device) -> dict[str, Tensor]:
    """Return arrays as tensors on a device; copies to CUDA are asynchronous."""
    return {name: tensor.to(device, non_blocking=True) for name, tensor in on_host(arrays, device).items()}


class TrainStep:
    """Passes and updates of a training run, for a model in training mode, on its device and in its precision."""

    def __init__(self, model: nn.Module, objective: TrainingObjective, optimizer: Optimizer, *, graphs: bool) -> None:
        self.model, self.objective, self.optimizer = model, objective, optimizer
        self.device = optimizer.weights.device
        self.graphs = graphs and self.device.type == "cuda" and processes.world() == 1
        self.eager_because = ""  # why CUDA graphs could not be captured
        self.losses = torch.full((len(optimizer.rates),), float("nan"), device=self.device)
        self._loss = torch.zeros(1, device=self.device)
        self._scale = torch.ones((), device=self.device)
        self._seen: set[Shape] = set()
        self._captured: dict[Shape, tuple[Any, dict[str, Tensor]]] = {}
        self._captured_update: Any = None
        self._pool: Any = None

    def backward(self, batch: Mapping[str, Tensor], scale: float) -> None:
        """Collect the gradients of a batch, its summed loss multiplied by `scale`."""
        self._scale.fill_(scale)
        shape = tuple((name, tuple(tensor.shape)) for name, tensor in batch.items())
        if self.graphs and shape in self._seen and shape not in self._captured:
            inputs, reason = {name: tensor.clone() for name, tensor in batch.items()}, ""
            try:
                self._captured[shape] = self._capture(lambda: self._backward(inputs)), inputs
            except torch.OutOfMemoryError:
                reason = "out of memory"
            except RuntimeError as error:
                reason = str(error).split("\n")[0]
            if reason:
                self._without_graphs(reason)
        if self.graphs and shape in self._captured:
            graph, inputs = self._captured[shape]
            torch._foreach_copy_(list(inputs.values()), list(batch.values()), non_blocking=True)
            graph.replay()
        else:
            # The first batch of a shape runs eagerly: libraries make their plans, and a rare shape costs no capture.
            self._eagerly(batch)
            self._seen.add(shape)

    def update(self) -> None:
        """Update the weights, and record the loss."""
        if not self.graphs or not self.optimizer.warm:
            self._update()  # the first update compiles the kernels that the graph captures
            return
        if self._captured_update is None:
            self._captured_update = self._capture(self._update)
        self._captured_update.replay()

    def _eagerly(self, batch: Mapping[str, Tensor]) -> None:
        """Run a pass without a graph; give up the captured graphs if it does not fit in memory next to them."""
        try:
            self._backward(batch)
            return
        except torch.OutOfMemoryError:
            if self._pool is None:
                raise
        # Outside the handler the traceback, and the memory it keeps alive, is released.
        self._without_graphs("out of memory")
        self._backward(batch)

    def _backward(self, batch: Mapping[str, Tensor]) -> None:
        scale = self._scale * self.optimizer.loss_scale if self.optimizer.scaled else self._scale
        with self.optimizer.passes():
            self._loss += self.objective.backward(self.model, batch, scale)
        self.optimizer.collect()

    def _update(self) -> None:
        processes.add_up(self.optimizer.gradients)
        processes.add_up(self._loss)
        loss = self._loss / self.optimizer.loss_scale if self.optimizer.scaled else self._loss
        self.losses.index_copy_(0, self.optimizer.step_number, loss)
        self._loss.zero_()
        self.optimizer.update()

    def _without_graphs(self, reason: str) -> None:
        """Continue eagerly, and free the graphs' memory."""
        self.graphs, self.eager_because = False, reason
        self._captured.clear()
        self._captured_update = self._pool = None
        for parameter in self.optimizer.parameters:
            parameter.grad = None
        torch.cuda.empty_cache()

    def _capture(self, act: Callable[[], None]) -> Any:
        """Capture a function as a graph without running it; all graphs share memory, as they never overlap."""
        self._pool = self._pool or torch.cuda.graph_pool_handle()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, pool=self._pool):
            act()
        return graph
