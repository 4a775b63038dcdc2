"""The record of a comparison of two systems."""

from collections import Counter
from typing import Any, Literal

import msgspec

from isogloss.figures import SMALLEST_P, difference_interval_text, difference_text, p_text, score_text
from isogloss.notebooks import data_frame, html_table
from isogloss.predictions.problems import LeftOut
from isogloss.scoring.contrast import SystemContrast
from isogloss.scoring.results import NO_INTERVAL


class ScoreContrast(SystemContrast, frozen=True, omit_defaults=True):
    """Two systems on one cell, task average, or overall.

    Attributes:
        level: "cell", "task" or "overall".
        name: `task/language`, the task, or the rule of the overall figure.
        test: the test that gave p.
        n: the number of examples.
        lower_is_better: whether the smaller score is the better one.
        partial: whether it is an average over a part of what it should be over.
        seed_share: the part of the variance of the difference that is due to seeds, where there are several.
    """

    level: str
    name: str
    test: str
    n: int
    lower_is_better: bool = False
    partial: bool = False
    seed_share: float | None = None

    @property
    def winner(self) -> Literal["first", "second", ""]:
        """Which of the two is better, "" where they cannot be told apart."""
        return self.favours(self.lower_is_better)


class Comparison(msgspec.Struct, frozen=True, omit_defaults=True):
    """Two systems compared on all the cells that both have; differences are the first minus the second.

    Attributes:
        first: the name of one system.
        second: that of the other.
        cells: one contrast a cell.
        tasks: one a task average.
        overall: that of the overall figure; None where there is but one task, or no such figure.
        rule: how the overall figure is made.
        skipped: cells that only one of the systems has.
        note: why there is no overall figure, where it would be expected.
        seeds: how many runs of each system were compared.
        resample: of what intervals and p-values speak: of new sources, or of new examples from the same sources.
        left_out: answers of either system that are in no score, and why.
        clustered: the tasks whose examples share sources: of these it speaks beyond those of the test set.
    """

    first: str
    second: str
    cells: list[ScoreContrast]
    tasks: list[ScoreContrast]
    overall: ScoreContrast | None
    rule: str
    skipped: list[str]
    note: str = ""
    seeds: tuple[int, int] = (1, 1)
    resample: str = "example"
    left_out: list[LeftOut] = []
    clustered: list[str] = []

    @property
    def of_methods(self) -> bool:
        """Whether it speaks of the methods, since both have several seeds, and not only of these checkpoints."""
        return min(self.seeds) > 1

    def verdict(self) -> str:
        """The comparison in one sentence."""
        top = self.overall or (self.tasks[0] if len(self.tasks) == 1 else None)
        wins = Counter(contrast.winner for contrast in self.cells)
        counted = (
            f"{wins['first']} of {len(self.cells)} cells favour {self.first}, {wins['second']} favour {self.second}"
        )
        if top is None:
            return f"{counted}; {self.note}" if self.note else counted
        equals = "" if top.p <= SMALLEST_P else "= "
        span = f"{score_text(abs(top.difference))} points ({_interval_words(top)}, p {equals}{p_text(top.p)})"
        kind = "methods" if self.of_methods else "checkpoints"
        if not top.winner:
            return f"the {kind} {self.first} and {self.second} cannot be told apart: {span}; {counted}"
        names = (self.first, self.second) if top.winner == "first" else (self.second, self.first)
        better = f"{names[0]} is the better {'method' if self.of_methods else 'checkpoint'}"
        return f"{better}: {span} ahead of {names[1]}; {counted}"

    def __repr__(self) -> str:
        return f"<Comparison: {self.verdict()}>"

    def _repr_html_(self) -> str:
        """A small table for notebooks."""
        heading = ("", self.first, self.second, "difference", "95 %", "p")
        averages = [*self.tasks, *([] if self.overall is None else [self.overall])]
        rows = [
            (
                each.name if each.level != "overall" else "overall",
                *(score_text(score) for score in (each.first, each.second)),
                difference_text(each.difference),
                difference_interval_text(each.low, each.high),
                p_text(each.p),
            )
            for each in averages or self.cells
        ]
        return html_table(self.verdict(), heading, rows)

    def to_pandas(self) -> Any:
        """Every contrast as a row of a pandas data frame."""
        top = [] if self.overall is None else [self.overall]
        systems = {"first_system": self.first, "second_system": self.second}
        return data_frame([systems | msgspec.structs.asdict(each) for each in [*self.cells, *self.tasks, *top]])


def _interval_words(contrast: ScoreContrast) -> str:
    if contrast.low is None or contrast.high is None:
        return NO_INTERVAL
    low, high = (contrast.low, contrast.high) if contrast.difference >= 0 else (-contrast.high, -contrast.low)
    return f"95 % {score_text(low)} to {score_text(high)}"
