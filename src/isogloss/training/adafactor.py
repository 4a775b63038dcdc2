"""Adafactor (Shazeer & Stern, 2018) as T5 and mT5 are fine-tuned with: a rate relative to the size of each parameter.

A matrix's second moments are kept as the means of its rows and of its columns. An update is scaled down where its root
mean square is above 1, and multiplied by that of the parameter itself; there is no first moment. It is transformers'
`Adafactor(scale_parameter=True, relative_step=False, warmup_init=False)`: the moments begin at zero, as checkpoints
have none, and every matrix is factored (Mesh TensorFlow and T5X leave the smallest whole).
"""

from collections.abc import Iterator
from itertools import groupby
from math import prod
from typing import NamedTuple

import torch
from torch import Tensor, nn

from isogloss.training.optimizer import Optimizer, compiled_for
from isogloss.training.recipes import Recipe

_DECAY = -0.8  # the newest square counts for this power of the number of updates
_LEAST_SQUARE, _LEAST_SCALE = 1e-30, 1e-3  # added to squared gradients; of a parameter, so that zeros can change
_AT_ONCE = 1 << 26  # weights for which intermediate results exist at a time, unless one parameter has more


class ParameterStack(NamedTuple):
    """Parameters of one shape one below the other: their weights, gradients, and second moments.

    The moments are two arrays (the means of rows, the means of columns), or one for what is no matrix.
    """

    weights: Tensor
    gradients: Tensor
    squares: tuple[Tensor, ...]


class Adafactor(Optimizer):
    """Adafactor with factored second moments and rates relative to the parameters, which are updated shape by shape."""

    kept = (*Optimizer.kept, "squares")

    def __init__(
        self, model: nn.Module, recipe: Recipe, steps: int, dtype: torch.dtype, *, accumulate: bool = False
    ) -> None:
        super().__init__(model, recipe, steps, dtype, accumulate=accumulate)
        shapes = list(self._stack_shapes())
        kept = [_moment_shapes(shape) for shape in shapes]
        self.squares = self.weights.new_zeros(sum(prod(each) for several in kept for each in several))
        weights, gradients = (_split(array, shapes) for array in (self.weights, self.gradients))
        moments = iter(_split(self.squares, [each for several in kept for each in several]))
        squares = [tuple(next(moments) for _ in several) for several in kept]
        self.stacks = [ParameterStack(*each) for each in zip(weights, gradients, squares, strict=True)]

    def _stack_shapes(self) -> Iterator[tuple[int, ...]]:
        """How many parameters, of which shape, make up each stack, in the order of the flat arrays."""
        for shape, alike in groupby(self.parameters, key=lambda parameter: parameter.shape):
            count, most = len(list(alike)), max(1, _AT_ONCE // max(1, shape.numel()))
            for begin in range(0, count, most):
                # A single number is a vector too.
                yield min(most, count - begin), *(shape or (1,))

    def _apply(self, rate: Tensor, scale: Tensor, finite: Tensor) -> None:
        self.done += finite
        sizes = tuple(stack.weights.shape for stack in self.stacks)
        update = compiled_for(_adafactor, sizes, self.gradients.dtype) if self.compiled else _adafactor
        update(self.stacks, rate, scale, finite, self.done)
        self._round()


def _moment_shapes(shape: tuple[int, ...]) -> list[tuple[int, ...]]:
    """The shapes of the second moments of a stack: all rows and all columns, or every number of a vector."""
    return [shape] if len(shape) < 3 else [shape[:-1], (*shape[:-2], shape[-1])]


def _split(flat: Tensor, shapes: list[tuple[int, ...]]) -> list[Tensor]:
    parts = flat.split([prod(shape) for shape in shapes])
    return [part.view(shape) for part, shape in zip(parts, shapes, strict=True)]


def _adafactor(stacks: list[ParameterStack], rate: Tensor, scale: Tensor, finite: Tensor, done: Tensor) -> None:
    """One update; on CUDA all stacks are compiled together, and nothing in between is written to memory."""
    for weights, gradients, squares in stacks:
        gradient = gradients.float() / scale
        square = gradient.square() + _LEAST_SQUARE
        newest = (square,) if len(squares) == 1 else (square.mean(-1), square.mean(-2))
        moments = [torch.lerp(old, new, done**_DECAY) for old, new in zip(squares, newest, strict=True)]
        update = gradient * _inverse_root(moments)
        stride = rate * _root_mean_square(weights).clamp(min=_LEAST_SCALE) / _root_mean_square(update).clamp(min=1.0)
        weights.copy_(torch.where(finite, weights - stride * update, weights))
        for old, new in zip(squares, moments, strict=True):
            old.copy_(torch.where(finite, new, old))


def _inverse_root(moments: list[Tensor]) -> Tensor:
    """One over the root of the second moment of every number, from those of its row and column where it has them."""
    if len(moments) == 1:
        return moments[0].rsqrt()
    rows, columns = moments
    # Two roots, not that of a quotient, which would be nothing for a row without gradients beside very large ones.
    return (rows.rsqrt() * rows.mean(-1, keepdim=True).sqrt()).unsqueeze(-1) * columns.rsqrt().unsqueeze(-2)


def _root_mean_square(stack: Tensor) -> Tensor:
    """Of each parameter of a stack, in a shape that multiplies it."""
    return stack.square().mean(tuple(range(1, stack.ndim)), keepdim=True).sqrt()
