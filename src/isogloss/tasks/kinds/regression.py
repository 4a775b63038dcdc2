"""Regression: the answer is a number, such as the similarity of two sentences or the quality of a translation."""

from collections.abc import Iterator, Mapping, Sequence
from math import isfinite
from typing import Any

from isogloss.errors import DataError
from isogloss.metrics import correlation
from isogloss.tasks.examples import Column, Examples
from isogloss.tasks.kinds.base import Judgement, Kind, RowProblem, Values
from isogloss.tasks.kinds.cells import number_cell, text_cell
from isogloss.tasks.kinds.open_replies import number_in
from isogloss.tasks.kinds.replies import Reading, Reply
from isogloss.tasks.task import Task

_FIX = "Write one finite number per example"


class NumberPrediction(Kind):
    """Semantic similarity, ratings, quality estimation.

    Options of a task: `range`, the ends of the scale of gold numbers. Errors are relative to it; without it, there are
    only correlations.
    """

    form = "number"
    answer_type = float
    answer_help = "a number"
    inputs = ("text", "text_a", "text_b")
    gold = "score"
    label_format = "by-id"
    translatable = ("text", "text_a", "text_b")
    needed = (("text",), ("text_a", "text_b"))
    category = "regression"
    main = ("pearson",)

    def parse_column(self, name: str, cell: Any) -> Any:
        """Return the text, or the number."""
        return number_cell(cell) if name == self.gold else text_cell(cell)

    def read_replies(
        self, task: Task, language: str, replies: Sequence[Reply], spellings: Mapping[str, Any]
    ) -> list[Reading]:
        """Return the only number that each reply gives, on the scale of the task if it has one."""
        return [number_in(reply, language, scale_of(task)) for reply in replies]

    def errors(self, task: Task, examples: Examples, values: Values) -> Iterator[RowProblem]:
        """Yield numbers that are not finite."""
        for row, value in enumerate(values):
            if value is not None and not isfinite(value):
                yield row, f"{value} is not a finite number", _FIX

    def warnings(self, task: Task, examples: Examples, values: Values) -> Iterator[RowProblem]:
        """Yield numbers outside the scale."""
        low, high = scale_of(task) or (float("-inf"), float("inf"))
        fix = "Errors count as at most the length of the scale"
        for row, value in enumerate(values):
            if value is not None and not low <= value <= high:
                yield row, f"answers are outside the scale of {low:g} to {high:g}", fix

    def gold_columns(self, task: Task, ids: list[str], values: list[Any]) -> tuple[list[str], dict[str, Column]]:
        """Return the numbers of a label folder."""
        return ids, {self.gold: list(map(float, values))}

    def judge(self, task: Task, examples: Examples, values: Values) -> Judgement:
        """Return both correlations, and errors if the task has a scale.

        A missing answer counts as the mean of the others, which tells nothing, and as the largest possible error.
        """
        gold = [self._checked_gold(examples, row) for row in range(len(examples))]
        given = [value for value in values if value is not None]
        # Divided first, because the sum of large numbers may be infinite.
        middle = sum(value / len(given) for value in given) if given else 0.0
        answers = [middle if value is None else float(value) for value in values]
        metrics = {"pearson": correlation.pearson(gold, answers), "spearman": correlation.spearman(gold, answers)}
        scale = scale_of(task)
        if scale is not None:
            metrics |= correlation.errors(gold, values, scale)
        elif wanted := [name for name in task.main if name in ("mae", "mse")]:
            fix = "Add the option range = [LOWEST, HIGHEST] to the task"
            raise DataError(f"{wanted[0]} is relative to the scale of the numbers", where=task.id, fix=fix)
        notes = [
            f"all {what} are equal, so that correlations are 0"
            for what, numbers in (("answers", answers), ("gold numbers", gold))
            if len(set(numbers)) == 1
        ]
        return Judgement(metrics, notes=notes)

    def _checked_gold(self, examples: Examples, row: int) -> float:
        value = examples[examples.gold][row]
        if isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value):
            return float(value)
        where = f"{examples.task}/{examples.language} {examples.ids[row]}"
        raise DataError(f"expected a finite gold number, got {value!r:.40}", where=where, fix=_FIX)


def scale_of(task: Task) -> tuple[float, float] | None:
    """Return the ends of a task's scale, or None if it declares none.

    Raises:
        DataError: its option `range` is not two numbers, the smaller one first.
    """
    ends = task.options.get("range")
    if ends is None:
        return None
    if isinstance(ends, list | tuple) and len(ends) == 2 and all(isinstance(end, int | float) for end in ends):
        low, high = map(float, ends)
        if isfinite(low) and isfinite(high) and low < high:
            return low, high
    fix = "Write the ends of the scale, such as range = [0, 5]"
    raise DataError(f"invalid range {ends!r:.40}", where=task.id, fix=fix)
