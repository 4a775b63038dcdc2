"""A kind of task: the similarity of two sentences. Answers are numbers, and only their order counts."""

from collections.abc import Iterator, Sequence
from math import isfinite

import numpy as np
import numpy.typing as npt

from isogloss.metrics.statistics import Statistics, Value
from isogloss.tasks import Examples, Task
from isogloss.tasks.kinds import Judgement, Kind, RowProblem, Values


class Similarity(Kind):
    """Sentence pairs with a degree of similarity."""

    form = "number"
    answer_type = float
    answer_help = "a number, the higher the more alike the two sentences are"
    inputs = ("text_a", "text_b")
    gold = "similarity"

    def errors(self, task: Task, examples: Examples, values: Values) -> Iterator[RowProblem]:
        """Yield a problem for each number that is not finite."""
        for row, value in enumerate(values):
            if value is not None and not isfinite(value):
                yield row, f"{value} is not a finite number", "Give a number for every pair"

    def judge(self, task: Task, examples: Examples, values: Values) -> Judgement:
        """Compute Spearman's correlation; missing answers count as the lowest similarity."""
        least = min((value for value in values if value is not None), default=0.0)
        answers = [least if value is None else value for value in values]
        return Judgement({"spearman": spearman(examples["similarity"], answers)})


def spearman(gold: Sequence[float], answers: Sequence[float]) -> Statistics:
    """Return the statistics of Spearman's correlation: Pearson's of the ranks, computed from five sums."""
    x, y = ranks(gold), ranks(answers)
    return Statistics(np.stack([x, y, x * x, y * y, x * y], axis=1), PEARSON)


def ranks(values: Sequence[float]) -> npt.NDArray[np.float64]:
    """Return ranks from 0 to 1; equal values share their mean rank."""
    ordered = np.sort(np.asarray(values, dtype=np.float64))
    positions = np.searchsorted(ordered, values, side="left") + np.searchsorted(ordered, values, side="right") - 1
    return positions / (2 * max(len(ordered) - 1, 1))


def _pearson(sums: npt.NDArray[np.float64], count: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return the correlation for each set of sums; 0 if one side is constant."""
    x, y, xx, yy, xy = np.moveaxis(sums, -1, 0)
    spread = np.sqrt(np.maximum((count * xx - x * x) * (count * yy - y * y), 0))
    return np.divide(count * xy - x * y, spread, out=np.zeros_like(spread), where=spread > 1e-9)


PEARSON = Value("pearson", ("x", "y", "xx", "yy", "xy"), _pearson, is_share=False)
