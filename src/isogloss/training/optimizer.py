"""Optimizers over one flat array, with the schedule on the device: an update needs nothing from the host.

Weights and moments are flat float32 arrays. However the model computes, its gradients are copied into one more, their
norm is one reduction, and the new weights are copied back. A gradient that is not finite leaves everything as it was.
On CUDA AdamW is compiled into a single kernel, which reads and writes every number once; elsewhere it is torch's.
"""

import importlib.util
from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import cache
from types import FunctionType
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from isogloss.training.recipes import Recipe

BETAS = 0.9, 0.999
_EPSILON = 1e-6  # keeps the clipping factor finite, as torch's own clipping does


def rates(recipe: Recipe, steps: int) -> Tensor:
    """The learning rate of every update: warm-up from zero, then linear to zero, or constant."""
    step = torch.arange(steps, dtype=torch.float64)
    factor = torch.ones_like(step)
    if recipe.schedule == "linear":
        factor = (steps - step) / max(1, steps - recipe.warmup)
    if recipe.warmup:
        factor = torch.minimum(factor, step / recipe.warmup)
    return (recipe.learning_rate * factor.clamp(0, 1)).float()


class Optimizer(ABC):
    """Updates a model's parameters by its recipe, one schedule long.

    It keeps what every optimizer needs: weights, gradients, the schedule, the count of updates. A subclass adds its
    moments, names them in `kept`, and says in `_apply` how the weights change.

    Args:
        model: on its device, in float32: these are the weights that are kept exactly.
        recipe: rate, clipping and the optimizer's own settings.
        steps: how many updates there will be.
        dtype: what the model will compute in.
        accumulate: whether gradients are added up over several passes or processes before an update.
    """

    # The arrays that an exact continuation needs.
    kept: ClassVar[tuple[str, ...]] = ("weights", "step_number", "done")

    def __init__(
        self, model: nn.Module, recipe: Recipe, steps: int, dtype: torch.dtype, *, accumulate: bool = False
    ) -> None:
        self.parameters = [parameter for parameter in model.parameters() if parameter.requires_grad]
        # Biases and norms, which do not decay, last; one shape side by side, so that all of it is a single array.
        self.parameters.sort(key=lambda parameter: (parameter.ndim < 2, parameter.shape))
        device = self.parameters[0].device
        self.recipe, self.accumulate = recipe, accumulate
        self.weights = torch.cat([parameter.detach().float().reshape(-1) for parameter in self.parameters])
        self.compiled = device.type == "cuda" and importlib.util.find_spec("triton") is not None
        exact = accumulate or not self.compiled
        self.gradients = torch.zeros_like(self.weights, dtype=torch.float32 if exact else dtype)
        self._weight_views, self._gradient_views = self._views(self.weights), self._views(self.gradients)
        self.rates = rates(recipe, steps).to(device)
        # All updates, and those that were done: not the ones whose gradient was not finite.
        self.step_number = torch.zeros(1, dtype=torch.int64, device=device)
        self.done = torch.zeros((), device=device)
        self.warm = False

    def _views(self, flat: Tensor) -> list[Tensor]:
        parts = flat.split([parameter.numel() for parameter in self.parameters])
        return [part.view_as(parameter) for part, parameter in zip(parts, self.parameters, strict=True)]

    def collect(self) -> None:
        """Take the gradients that a backward pass left at the parameters, and leave none there."""
        found = [(view, p.grad) for view, p in zip(self._gradient_views, self.parameters, strict=True)]
        views = [view for view, gradient in found if gradient is not None]
        gradients = [gradient for _, gradient in found if gradient is not None]
        if self.accumulate:
            torch._foreach_add_(views, gradients)
        else:
            torch._foreach_copy_(views, gradients)
            # What this pass did not use has no gradient, though the pass before may have left one.
            if unused := [view for view, gradient in found if gradient is None]:
                torch._foreach_zero_(unused)
        for parameter in self.parameters:
            parameter.grad = None

    def update(self) -> None:
        """One update with the collected gradients."""
        norm = torch.linalg.vector_norm(self.gradients, dtype=torch.float32)
        rate = self.rates.index_select(0, self.step_number.clamp(max=len(self.rates) - 1)).squeeze(0)
        clip = self.recipe.clip
        scale = ((norm + _EPSILON) / clip).clamp(min=1.0) if clip else torch.ones_like(norm)
        self._apply(rate, scale, norm.isfinite())
        with torch.no_grad():
            torch._foreach_copy_(self.parameters, self._weight_views)
        self.step_number += 1
        if self.accumulate:
            self.gradients.zero_()
        self.warm = True

    @abstractmethod
    def _apply(self, rate: Tensor, scale: Tensor, finite: Tensor) -> None:
        """Change weights and moments by the gradients over `scale`, counting in `done`; if not `finite`, do nothing."""

    def state(self) -> dict[str, Any]:
        """Everything an exact continuation needs."""
        return {name: getattr(self, name) for name in self.kept}

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from a state."""
        with torch.no_grad():
            for name, array in self.state().items():
                array.copy_(state[name])
            torch._foreach_copy_(self.parameters, self._weight_views)

    def hand_back(self, model: nn.Module) -> None:
        """Give a model the exact weights, in float32."""
        model.float()
        with torch.no_grad():
            torch._foreach_copy_(self.parameters, self._weight_views)


class AdamW(Optimizer):
    """AdamW with weight decay on matrices only."""

    kept = (*Optimizer.kept, "mean", "square")

    def __init__(
        self, model: nn.Module, recipe: Recipe, steps: int, dtype: torch.dtype, *, accumulate: bool = False
    ) -> None:
        super().__init__(model, recipe, steps, dtype, accumulate=accumulate)
        self.decaying = sum(parameter.numel() for parameter in self.parameters if parameter.ndim >= 2)
        self.mean, self.square = torch.zeros_like(self.weights), torch.zeros_like(self.weights)

    def _apply(self, rate: Tensor, scale: Tensor, finite: Tensor) -> None:
        (self._compiled if self.compiled else self._fused)(rate, scale, finite)

    def _compiled(self, rate: Tensor, scale: Tensor, finite: Tensor) -> None:
        self.done += finite
        flat = self.weights, self.mean, self.square, self.gradients
        settings = self.decaying, self.recipe.weight_decay, self.recipe.epsilon
        adamw = compiled_for(_adamw, len(self.weights), self.gradients.dtype, *settings)
        adamw(flat, (rate, scale, finite, self.done), settings)

    def _fused(self, rate: Tensor, scale: Tensor, finite: Tensor) -> None:
        done = self.done.clone()
        for part, decay in ((slice(0, self.decaying), self.recipe.weight_decay), (slice(self.decaying, None), 0.0)):
            if not self.weights[part].numel():
                continue
            self.done.copy_(done)
            flat = [[array[part]] for array in (self.weights, self.gradients, self.mean, self.square)]
            torch._fused_adamw_(
                *flat,
                [],
                [self.done.add_(1)],
                lr=rate if rate.is_cuda else float(rate),
                beta1=BETAS[0],
                beta2=BETAS[1],
                weight_decay=decay,
                eps=self.recipe.epsilon,
                amsgrad=False,
                maximize=False,
                grad_scale=scale,
                found_inf=(~finite).float(),
            )
        self.done.copy_(done + finite)


def _adamw(
    flat: tuple[Tensor, Tensor, Tensor, Tensor],
    step: tuple[Tensor, Tensor, Tensor, Tensor],
    settings: tuple[int, float, float],
) -> None:
    """AdamW, element by element: everything is in registers between one read and one write."""
    weights, mean, square, gradients = flat
    rate, scale, finite, done = step
    decaying, decay, epsilon = settings
    gradient = gradients.float() / scale
    new_mean = torch.lerp(mean, gradient, 1 - BETAS[0])
    new_square = torch.lerp(square, gradient * gradient, 1 - BETAS[1])
    stride = rate / (1 - BETAS[0] ** done)
    root = (new_square / (1 - BETAS[1] ** done)).sqrt() + epsilon
    decays = torch.arange(len(weights), device=weights.device) < decaying
    kept = weights * torch.where(decays, 1 - rate * decay, 1.0)
    weights.copy_(torch.where(finite, kept - stride * new_mean / root, weights))
    mean.copy_(torch.where(finite, new_mean, mean))
    square.copy_(torch.where(finite, new_square, square))


@cache
def compiled_for(function: FunctionType, *sizes: object) -> Callable[..., None]:
    """A function compiled for arrays of these sizes and settings."""
    # A piece of code is compiled for eight sizes and no more; so each has a code of its own.
    name = f"{function.__name__}_{abs(hash(sizes)):x}"
    own = FunctionType(function.__code__.replace(co_name=name), function.__globals__)
    compiled: Callable[..., None] = torch.compile(own, fullgraph=True, dynamic=False)
    return compiled
