"""Accuracy: the share of correct labels."""

from collections.abc import Sequence

import numpy as np

from isogloss.metrics.statistics import MEAN, Statistics


def statistics(gold: Sequence[object], predicted: Sequence[object]) -> Statistics:
    """Return one row per example: 1 if the labels are equal, else 0; both sides have the same order."""
    if len(gold) != len(predicted):
        raise ValueError(f"{len(gold)} gold labels but {len(predicted)} predictions")
    right = np.fromiter((g == p for g, p in zip(gold, predicted, strict=True)), dtype=np.float64, count=len(gold))
    return Statistics(right[:, None], MEAN)
