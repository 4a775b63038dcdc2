"""How an answer is judged: pure functions from strings and arrays to statistics."""

from typing import TYPE_CHECKING

from isogloss.lazy import submodules

__all__ = [
    "accuracy",
    "aggregate",
    "chunks",
    "estimate",
    "intervals",
    "mining",
    "qa",
    "ranking",
    "significance",
    "spans",
]

if TYPE_CHECKING:
    from isogloss.metrics import (
        accuracy,
        aggregate,
        chunks,
        estimate,
        intervals,
        mining,
        qa,
        ranking,
        significance,
        spans,
    )
else:
    __getattr__ = submodules(__name__, __all__)
