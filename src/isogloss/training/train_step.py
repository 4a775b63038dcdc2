"""The forward and backward passes and the update of a training step, eagerly or as CUDA graphs, with the same result.

At a batch of 32 a large accelerator waits for the host: it computes faster than a program can tell it what to do. So
on CUDA the backward pass is captured for every shape of batch that comes again, and the update once; from then on a
step is two launches. Losses stay on the device until somebody asks, because reading one would stop everything.
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


def to_device(arrays: Arrays, device: torch.device) -> dict[str, Tensor]:
    """Arrays as tensors on a device; on CUDA without waiting for the copy."""
    tensors = {name: torch.from_numpy(np.ascontiguousarray(array)) for name, array in arrays.items()}
    if device.type != "cuda":
        return tensors
    return {name: tensor.pin_memory().to(device, non_blocking=True) for name, tensor in tensors.items()}


class TrainStep:
    """The passes and updates of one training run of a model in training mode, on its device and in its precision.

    With `graphs`, CUDA graphs are captured; what cannot be captured runs eagerly, and `eager_because` says why.
    """

    def __init__(self, model: nn.Module, objective: TrainingObjective, optimizer: Optimizer, *, graphs: bool) -> None:
        self.model, self.objective, self.optimizer = model, objective, optimizer
        self.device = optimizer.weights.device
        self.graphs = graphs and self.device.type == "cuda" and processes.world() == 1
        self.eager_because = ""
        self.losses = torch.full((len(optimizer.rates),), float("nan"), device=self.device)
        self._loss = torch.zeros(1, device=self.device)
        self._scale = torch.ones((), device=self.device)
        self._seen: set[Shape] = set()
        self._captured: dict[Shape, tuple[Any, dict[str, Tensor]]] = {}
        self._captured_update: Any = None
        self._pool: Any = None

    def backward(self, batch: Mapping[str, Tensor], scale: float) -> None:
        """Collect the gradients of a batch whose summed loss counts `scale` times."""
        self._scale.fill_(scale)
        shape = tuple((name, tuple(tensor.shape)) for name, tensor in batch.items())
        if self.graphs and shape in self._seen and shape not in self._captured:
            self._capture_backward(shape, batch)
        if self.graphs and shape in self._captured:
            graph, inputs = self._captured[shape]
            torch._foreach_copy_(list(inputs.values()), list(batch.values()), non_blocking=True)
            graph.replay()
        else:
            # The first of a shape runs eagerly: libraries make their plans for it, and a rare one costs no more.
            self._eagerly(batch)
            self._seen.add(shape)

    def update(self) -> None:
        """Update the weights, and note the loss."""
        if not self.graphs:
            self._update()
        elif self._captured_update is not None:
            self._captured_update.replay()
        elif self.optimizer.warm:
            self._captured_update = self._capture(self._update)
            self._captured_update.replay()
        else:
            self._update()  # the first compiles what the graph then holds

    def _eagerly(self, batch: Mapping[str, Tensor]) -> None:
        """A pass without a graph; those that were captured go where there is no room for it beside their memory."""
        try:
            self._backward(batch)
            return
        except torch.OutOfMemoryError:
            if self._pool is None:
                raise
        # Out here the error is forgotten, and what the attempt held is free.
        self._without_graphs("memory is short")
        self._backward(batch)

    def _backward(self, batch: Mapping[str, Tensor]) -> None:
        with self.optimizer.passes():
            self._loss += self.objective.backward(self.model, batch, self._scale)
        self.optimizer.collect()

    def _update(self) -> None:
        processes.add_up(self.optimizer.gradients)
        processes.add_up(self._loss)
        self.losses.index_copy_(0, self.optimizer.step_number, self._loss)
        self._loss.zero_()
        self.optimizer.update()

    def _capture_backward(self, shape: Shape, batch: Mapping[str, Tensor]) -> None:
        inputs = {name: tensor.clone() for name, tensor in batch.items()}
        reason = ""
        try:
            self._captured[shape] = self._capture(lambda: self._backward(inputs)), inputs
        except torch.OutOfMemoryError:
            reason = "memory is short"
        except RuntimeError as error:
            reason = str(error).split("\n")[0]
        if reason:
            self._without_graphs(reason)

    def _without_graphs(self, reason: str) -> None:
        """Go on eagerly from here, and give back what the graphs held."""
        self.graphs, self.eager_because = False, reason
        self._captured.clear()
        self._captured_update = self._pool = None
        for parameter in self.optimizer.parameters:
            parameter.grad = None
        torch.cuda.empty_cache()

    def _capture(self, act: Callable[[], None]) -> Any:
        """A graph of an act, which is not done by that; all graphs share their memory, as they never overlap."""
        self._pool = self._pool or torch.cuda.graph_pool_handle()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, pool=self._pool):
            act()
        return graph
