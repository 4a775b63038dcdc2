"""Optimizers over one flat array, with the schedule on the device: an update needs nothing from the host.

Weights and moments are flat float32 arrays. The model's parameters are views of another array in its own precision, and
gradients are collected in a further one, so that their norm is a single reduction. A non-finite gradient changes
nothing. On CUDA, AdamW is compiled into a single kernel that reads and writes each number once, including the model's
copy, and linear layers write gradients directly into the flat array; elsewhere torch's kernels are used.
"""

import importlib.util
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from itertools import groupby
from math import prod
from types import FunctionType
from typing import Any, ClassVar

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from isogloss.training.recipes import Recipe

BETAS = 0.9, 0.999
_EPSILON = 1e-6  # keeps the clipping factor finite, as in torch
# Loss scaling in fp16, as in torch's GradScaler: the first factor; growth, back-off, and updates until the next growth.
_FIRST_SCALE, _SCALING = 2.0**16, (2.0, 0.5, 2000)


def rates(recipe: Recipe, steps: int) -> Tensor:
    """Return the learning rate of every update: warm-up from zero, then linear to zero, or constant."""
    step = torch.arange(steps, dtype=torch.float64)
    factor = torch.ones_like(step)
    if recipe.schedule == "linear":
        factor = (steps - step) / max(1, steps - recipe.warmup)
    if recipe.warmup:
        factor = torch.minimum(factor, step / recipe.warmup)
    return (recipe.learning_rate * factor.clamp(0, 1)).float()


class DirectGradients(TorchFunctionMode):  # type: ignore[misc] # torch is untyped
    """Context in which a model's linear layers write their gradients directly into the optimizer's arrays.

    A backward pass stores each gradient in its own array, and copying them together takes a twelfth of an update. Most
    weights belong to linear layers, and their gradients are matrix products, which can be written to a given array. A
    bias gradient is a product with a row of ones, which is several times as fast as a sum over the rows. `written` has
    the ids of the parameters with a gradient since it was last cleared; later products add to it.
    """

    def __init__(self, parameters: Iterable[nn.Parameter], gradients: Iterable[Tensor]) -> None:
        super().__init__()
        self._gradients = {id(parameter): array for parameter, array in zip(parameters, gradients, strict=True)}
        # By row count; never freed, because captured graphs keep reading them.
        self._ones: dict[int, Tensor] = {}
        self.written: set[int] = set()

    def __torch_function__(
        self, function: Any, types: Any, args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        """Run the model's linear layers through `_Linear`, and every other function unchanged."""
        if function is nn.functional.linear and not kwargs and id(args[1]) in self._gradients:
            states, weight, *bias = args
            if not bias or bias[0] is None or id(bias[0]) in self._gradients:
                return _Linear.apply(states, weight, bias[0] if bias else None, self)
        return function(*args, **(kwargs or {}))

    def add(self, parameter: Tensor, left: Tensor, right: Tensor) -> None:
        """Add a matrix product to the gradient of a parameter."""
        array = self._gradients[id(parameter)].view(len(left), -1)
        if id(parameter) in self.written:
            array.addmm_(left, right)
        else:
            torch.mm(left, right, out=array)
            self.written.add(id(parameter))

    def ones(self, like: Tensor) -> Tensor:
        """Return a row of ones with one entry per row of a matrix."""
        if len(like) not in self._ones:
            self._ones[len(like)] = like.new_ones(1, len(like))
        return self._ones[len(like)]


class _Linear(torch.autograd.Function):  # type: ignore[misc]
    """Linear layer with weight gradients written by `DirectGradients`."""

    @staticmethod
    def forward(context: Any, states: Tensor, weight: Tensor, bias: Tensor | None, direct: DirectGradients) -> Tensor:
        context.save_for_backward(states)
        # Not saved with save_for_backward, which would forbid updating the weight before the next pass.
        context.weight, context.bias, context.direct = weight, bias, direct
        return nn.functional.linear(states, weight, bias)

    @staticmethod
    def backward(context: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        [states], direct = context.saved_tensors, context.direct
        gradient = gradients[0].flatten(0, -2)
        direct.add(context.weight, gradient.T, states.flatten(0, -2))
        if context.bias is not None:
            direct.add(context.bias, direct.ones(gradient), gradient)
        before = (gradient @ context.weight).view_as(states) if context.needs_input_grad[0] else None
        return before, None, None, None


class Optimizer(ABC):
    """Base class of optimizers for one schedule: weights, gradients, rates and the update count.

    A subclass adds its moments, lists them in `kept`, and implements the weight change in `_apply`. The model is on its
    device in float32, and these weights are kept exactly; `dtype` is the precision of its parameters from now on.
    `accumulate` adds up gradients over several passes or processes before an update. In fp16 (`scaled`), the loss of
    every pass is multiplied by `loss_scale`, so that small gradients do not vanish; an update divides by it.
    """

    # Arrays needed for an exact continuation.
    kept: ClassVar[tuple[str, ...]] = ("weights", "step_number", "done")

    def __init__(
        self, model: nn.Module, recipe: Recipe, steps: int, dtype: torch.dtype, *, accumulate: bool = False
    ) -> None:
        self.parameters = [parameter for parameter in model.parameters() if parameter.requires_grad]
        # Biases and norms, which do not decay, come last; equal shapes are adjacent so that they form one array.
        # Sizes that are not a multiple of 16 bytes follow the others, or misalignment would slow down many kernels.
        self.parameters.sort(key=lambda parameter: (parameter.ndim < 2, parameter.numel() % 8 > 0, parameter.shape))
        device = self.parameters[0].device
        self.recipe, self.accumulate = recipe, accumulate
        self.weights = torch.cat([parameter.detach().float().reshape(-1) for parameter in self.parameters])
        self.compiled = device.type == "cuda" and importlib.util.find_spec("triton") is not None
        exact = accumulate or not self.compiled
        self.gradients = torch.zeros_like(self.weights, dtype=torch.float32 if exact else dtype)
        shapes = [tuple(parameter.shape) for parameter in self.parameters]
        self._weight_views, self._gradient_views = _split(self.weights, shapes), _split(self.gradients, shapes)
        self.rounded = self.weights if dtype == torch.float32 else self.weights.to(dtype)
        for parameter, view in zip(self.parameters, _split(self.rounded, shapes), strict=True):
            parameter.data = view
        direct = self.compiled and self.gradients.dtype == dtype and not accumulate
        self._direct = DirectGradients(self.parameters, self._gradient_views) if direct else None
        self.rates = rates(recipe, steps).to(device)
        # All updates, and those applied (with a finite gradient).
        self.step_number = torch.zeros(1, dtype=torch.int64, device=device)
        self.done = torch.zeros((), device=device)
        self.scaled = dtype == torch.float16
        self.loss_scale = torch.full((), _FIRST_SCALE if self.scaled else 1.0, device=device)
        self.finite_updates = torch.zeros((), dtype=torch.int32, device=device)  # since the factor last changed
        self.warm = False
        self._start()

    @abstractmethod
    def _start(self) -> None:
        """Create the moments."""

    def passes(self) -> AbstractContextManager[object]:
        """Return the context for forward and backward passes before `collect`."""
        return self._direct or nullcontext()

    def collect(self) -> None:
        """Move the gradients of a backward pass from the parameters into the flat array."""
        written = set() if self._direct is None else self._direct.written
        added: list[tuple[Tensor, Tensor]] = []
        copied: list[tuple[Tensor, Tensor]] = []
        unused: list[Tensor] = []
        for view, parameter in zip(self._gradient_views, self.parameters, strict=True):
            is_written = self.accumulate or id(parameter) in written
            if parameter.grad is not None:
                (added if is_written else copied).append((view, parameter.grad))
            elif not is_written:
                # Clear the gradient of an earlier pass.
                unused.append(view)
            parameter.grad = None
        written.clear()
        if added:
            torch._foreach_add_(*map(list, zip(*added, strict=True)))
        if copied:
            torch._foreach_copy_(*map(list, zip(*copied, strict=True)))
        if unused:
            torch._foreach_zero_(unused)

    def update(self) -> None:
        """Apply one update with the collected gradients."""
        norm = torch.linalg.vector_norm(self.gradients, dtype=torch.float32)
        norm = norm / self.loss_scale if self.scaled else norm
        rate = self.rates.index_select(0, self.step_number.clamp(max=len(self.rates) - 1)).squeeze(0)
        clip = self.recipe.clip
        scale = ((norm + _EPSILON) / clip).clamp(min=1.0) if clip else torch.ones_like(norm)
        self._apply(rate, scale * self.loss_scale if self.scaled else scale, norm.isfinite())
        if self.scaled:
            torch._amp_update_scale_(self.loss_scale, self.finite_updates, (~norm.isfinite()).float(), *_SCALING)
        self.step_number += 1
        if self.accumulate:
            self.gradients.zero_()
        self.warm = True

    @abstractmethod
    def _apply(self, rate: Tensor, scale: Tensor, finite: Tensor) -> None:
        """Update weights, moments and the count `done` by the gradients over `scale`, if they are `finite`."""

    def _round(self) -> None:
        if self.rounded is not self.weights:
            self.rounded.copy_(self.weights)

    def state(self) -> dict[str, Any]:
        """Return everything an exact continuation needs."""
        scaling = ("loss_scale", "finite_updates") if self.scaled else ()
        return {name: getattr(self, name) for name in (*self.kept, *scaling)}

    def restore(self, state: dict[str, Any]) -> None:
        """Continue from a saved state."""
        for name, array in self.state().items():
            array.copy_(state[name])
        self._round()

    def hand_back(self, model: nn.Module) -> None:
        """Give a model the exact float32 weights."""
        model.float()
        with torch.no_grad():
            torch._foreach_copy_(self.parameters, self._weight_views)


class AdamW(Optimizer):
    """AdamW with weight decay on matrices only."""

    kept = (*Optimizer.kept, "mean", "square")

    def _start(self) -> None:
        self.decaying = sum(parameter.numel() for parameter in self.parameters if parameter.ndim >= 2)
        self.mean, self.square = torch.zeros_like(self.weights), torch.zeros_like(self.weights)

    def _apply(self, rate: Tensor, scale: Tensor, finite: Tensor) -> None:
        if not self.compiled:
            self._fused(rate, scale, finite)
            return
        self.done += finite
        flat = self.weights, self.mean, self.square, self.gradients, self.rounded
        settings = self.decaying, self.recipe.weight_decay, self.recipe.epsilon
        adamw = compiled_for(_adamw, len(self.weights), self.gradients.dtype, self.rounded.dtype, *settings)
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
        self._round()


def _adamw(flat: tuple[Tensor, ...], step: tuple[Tensor, ...], settings: tuple[int, float, float]) -> None:
    """Apply AdamW element by element: one read and one write, with everything between in registers."""
    weights, mean, square, gradients, rounded = flat
    rate, scale, finite, done = step
    decaying, decay, epsilon = settings
    gradient = gradients.float() / scale
    new_mean = torch.lerp(mean, gradient, 1 - BETAS[0])
    new_square = torch.lerp(square, gradient * gradient, 1 - BETAS[1])
    stride = rate / (1 - BETAS[0] ** done)
    root = (new_square / (1 - BETAS[1] ** done)).sqrt() + epsilon
    decays = torch.arange(len(weights), device=weights.device) < decaying
    decayed = weights * torch.where(decays, 1 - rate * decay, 1.0)
    new = torch.where(finite, decayed - stride * new_mean / root, weights)
    weights.copy_(new)
    if rounded is not weights:
        rounded.copy_(new)
    mean.copy_(torch.where(finite, new_mean, mean))
    square.copy_(torch.where(finite, new_square, square))


@cache
def compiled_for(function: FunctionType, *sizes: object) -> Callable[..., None]:
    """Return a function compiled for arrays of these sizes and settings."""
    # torch compiles one code object for at most eight sizes, so each size gets its own copy.
    name = f"{function.__name__}_{abs(hash(sizes)):x}"
    own = FunctionType(function.__code__.replace(co_name=name), function.__globals__)
    compiled: Callable[..., None] = torch.compile(own, fullgraph=True, dynamic=False)
    return compiled


_DECAY = -0.8  # weight of the newest square: the number of updates to this power
_LEAST_SQUARE, _LEAST_SCALE = 1e-30, 1e-3  # added to squared gradients; minimum scale, so that zeros can change
_AT_ONCE = 1 << 26  # weights processed at a time, unless a single parameter has more


# Parameters of one shape: weights, gradients, and as second moments the means of rows and of columns, or one array.
ParameterStack = tuple[Tensor, Tensor, tuple[Tensor, ...]]


class Adafactor(Optimizer):
    """Adafactor (Shazeer & Stern, 2018) as used to fine-tune T5 and mT5: rates relative to the size of each parameter.

    A matrix's second moments are stored as the means of its rows and columns. An update is scaled down if its root mean
    square exceeds 1, and multiplied by that of the parameter; there is no first moment. It equals transformers'
    `Adafactor(scale_parameter=True, relative_step=False, warmup_init=False)`: moments start at zero, because
    checkpoints do not include them, and every matrix is factored (Mesh TensorFlow and T5X do not factor the smallest).
    """

    kept = (*Optimizer.kept, "squares")

    def _start(self) -> None:
        # The shape of each stack, count first, in the order of the flat arrays; a scalar is treated as a vector.
        shapes: list[tuple[int, ...]] = []
        for shape, alike in groupby(self.parameters, key=lambda parameter: parameter.shape):
            count, most = len(list(alike)), max(1, _AT_ONCE // max(1, shape.numel()))
            shapes += [(min(most, count - begin), *(shape or (1,))) for begin in range(0, count, most)]
        # Rows and columns of matrices, or every number of vectors.
        moment_shapes = [[shape] if len(shape) < 3 else [shape[:-1], (*shape[:-2], shape[-1])] for shape in shapes]
        flat_shapes = [shape for several in moment_shapes for shape in several]
        self.squares = self.weights.new_zeros(sum(map(prod, flat_shapes)))
        weights, gradients = (_split(array, shapes) for array in (self.weights, self.gradients))
        moments = iter(_split(self.squares, flat_shapes))
        squares = [tuple(next(moments) for _ in several) for several in moment_shapes]
        self.stacks = list(zip(weights, gradients, squares, strict=True))

    def _apply(self, rate: Tensor, scale: Tensor, finite: Tensor) -> None:
        self.done += finite
        sizes = tuple(weights.shape for weights, *_ in self.stacks)
        update = compiled_for(_adafactor, sizes, self.gradients.dtype) if self.compiled else _adafactor
        update(self.stacks, rate, scale, finite, self.done)
        self._round()


def _split(flat: Tensor, shapes: list[tuple[int, ...]]) -> list[Tensor]:
    parts = flat.split([prod(shape) for shape in shapes])
    return [part.view(shape) for part, shape in zip(parts, shapes, strict=True)]


def _adafactor(stacks: list[ParameterStack], rate: Tensor, scale: Tensor, finite: Tensor, done: Tensor) -> None:
    """Apply one update; on CUDA all stacks are compiled together, without writing intermediate results to memory."""
    for weights, gradients, squares in stacks:
        gradient = gradients.float() / scale
        square = gradient.square() + _LEAST_SQUARE
        newest = (square,) if len(squares) == 1 else (square.mean(-1), square.mean(-2))
        moments = [torch.lerp(old, new, done**_DECAY) for old, new in zip(squares, newest, strict=True)]
        # The inverse root of every number's second moment, from those of its row and column if factored. Two roots,
        # because the root of a quotient would underflow for a row without gradients next to very large ones.
        if len(moments) == 1:
            inverse_root = moments[0].rsqrt()
        else:
            rows, columns = moments
            inverse_root = (rows.rsqrt() * rows.mean(-1, keepdim=True).sqrt()).unsqueeze(-1)
            inverse_root = inverse_root * columns.rsqrt().unsqueeze(-2)
        update = gradient * inverse_root
        stride = rate * _root_mean_square(weights).clamp(min=_LEAST_SCALE) / _root_mean_square(update).clamp(min=1.0)
        weights.copy_(torch.where(finite, weights - stride * update, weights))
        for old, new in zip(squares, moments, strict=True):
            old.copy_(torch.where(finite, new, old))


def _root_mean_square(stack: Tensor) -> Tensor:
    """Return the root mean square of each parameter of a stack, in a shape that broadcasts."""
    return stack.square().mean(tuple(range(1, stack.ndim)), keepdim=True).sqrt()
