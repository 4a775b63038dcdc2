"""Sets of labels: micro, macro and per-example F1, and equality of whole sets."""

from collections.abc import Collection, Sequence

import numpy as np

from isogloss.metrics.statistics import F1, MEAN, FloatArray, Statistics, Value


def _macro_f1(sums: FloatArray, count: FloatArray) -> FloatArray:
    """Return the mean F1 of the labels with gold or predictions, 0 if there is none."""
    correct, predicted, gold = np.moveaxis(sums.reshape(*sums.shape[:-1], -1, 3), -1, 0)
    sizes = predicted + gold
    scores = np.divide(2 * correct, sizes, out=np.zeros_like(sizes), where=sizes > 0)
    labels = (sizes > 0).sum(axis=-1)
    mean: FloatArray = np.divide(scores.sum(axis=-1), labels, out=np.zeros(labels.shape), where=labels > 0)
    return mean


# Three columns per label: correct, predicted, gold. Their number depends on the task.
MACRO_F1 = Value("macro-f1", (), _macro_f1)


def statistics(
    gold: Sequence[Collection[str]], predicted: Sequence[Collection[str] | None], labels: Sequence[str]
) -> dict[str, Statistics]:
    """Return the statistics of "micro-f1", "macro-f1", "samples-f1" and "em"; a missing answer has no label.

    Micro F1 adds up all decisions; macro F1 is the mean over the labels that occur in gold or predictions; samples F1
    is the mean over examples, 1 for an empty set that is predicted as empty; "em" is equality of the sets. A missing
    answer is never equal.

    Args:
        gold: the labels of every example.
        predicted: as many answers, in the same order.
        labels: all labels of the task.
    """
    if len(gold) != len(predicted):
        raise ValueError(f"{len(gold)} gold sets but {len(predicted)} predictions")
    place = {label: number for number, label in enumerate(labels)}
    by_label = np.zeros((len(gold), len(labels), 3))
    for row, (right, given) in enumerate(zip(gold, predicted, strict=True)):
        ours, theirs = set(given or ()), set(right)
        for column, members in enumerate((ours & theirs, ours, theirs)):
            by_label[row, [place[label] for label in members], column] = 1
    counts = by_label.sum(axis=1)
    correct, ours_size, gold_size = counts.T
    answered = np.array([given is not None for given in predicted], dtype=bool)
    both = ours_size + gold_size
    share = np.divide(2 * correct, both, out=answered.astype(np.float64), where=both > 0)
    equal = answered & (2 * correct == both)
    return {
        "micro-f1": Statistics(counts, F1),
        "macro-f1": Statistics(by_label.reshape(len(gold), -1), MACRO_F1),
        "samples-f1": Statistics(share[:, None], MEAN),
        "em": Statistics(equal.astype(np.float64)[:, None], MEAN),
    }
