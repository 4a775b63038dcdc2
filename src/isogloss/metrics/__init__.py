"""Metrics: pure functions from strings and arrays to statistics."""

from typing import TYPE_CHECKING

from isogloss.lazy import submodules

if TYPE_CHECKING:
    from isogloss.metrics import (
        accuracy,
        aggregate,
        chunks,
        discovery,
        estimate,
        intervals,
        mining,
        qa,
        ranking,
        significance,
        spans,
    )

__all__ = [
    "accuracy",
    "aggregate",
    "chunks",
    "discovery",
    "estimate",
    "intervals",
    "mining",
    "qa",
    "ranking",
    "significance",
    "spans",
]

if not TYPE_CHECKING:
    __getattr__ = submodules(__name__, __all__)
