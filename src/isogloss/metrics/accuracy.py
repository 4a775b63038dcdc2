"""Accuracy: the share of examples whose label is right."""

from collections.abc import Sequence

import numpy as np

from isogloss.metrics.statistics import MEAN, Statistics


def statistics(gold: Sequence[object], predicted: Sequence[object]) -> Statistics:
    """One row per example: 1 where the labels are equal, else 0.

    Args:
        gold: the right labels.
        predicted: a system's labels, in the same order.

    Raises:
        ValueError: there are more of one than of the other.
    """
    if len(gold) != len(predicted):
        raise ValueError(f"{len(gold)} gold labels but {len(predicted)} predictions")
    right = np.fromiter((g == p for g, p in zip(gold, predicted, strict=True)), dtype=np.float64, count=len(gold))
    return Statistics(right[:, None], MEAN)
