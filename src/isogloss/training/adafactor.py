"""Adafactor (Shazeer & Stern, 2018) as used to fine-tune T5 and mT5: rates relative to the size of each parameter.

A matrix's second moments are stored as the means of its rows and columns. An update is scaled down if its root mean
square exceeds 1, and multiplied by that of the parameter; there is no first moment. It equals transformers'
`Adafactor(scale_parameter=True, relative_step=False, warmup_init=False)`: moments start at zero, because checkpoints
do not include them, and every matrix is factored (Mesh TensorFlow and T5X do not factor the smallest).
"""

from itertools import groupby
from math import prod
from typing import NamedTuple

import torch
from torch import Tensor

from isogloss.training.optimizer import Optimizer, compiled_for

_DECAY = -0.8  # weight of the newest square: the number of updates to this power
_LEAST_SQUARE, _LEAST_SCALE = 1e-30, 1e-3  # added to squared gradients; minimum scale, so that zeros can change
_AT_ONCE = 1 << 26  # weights processed at a time, unless a single parameter has more


class ParameterStack(NamedTuple):
    """Stacked parameters of one shape: their weights, gradients and second moments.

    The moments are two arrays (means of rows, means of columns), or one for a vector.
    """

    weights: Tensor
    gradients: Tensor
    squares: tuple[Tensor, ...]


class Adafactor(Optimizer):
    """Adafactor with factored second moments and relative rates; parameters are updated shape by shape."""

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
        self.stacks = [ParameterStack(*arrays) for arrays in zip(weights, gradients, squares, strict=True)]

    def _apply(self, rate: Tensor, scale: Tensor, finite: Tensor) -> None:
        self.done += finite
        sizes = tuple(stack.weights.shape for stack in self.stacks)
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
