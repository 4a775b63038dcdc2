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
        name: `task/language`, the task, or the rule of the overall score.
        test: name of the significance test.
        n: number of examples.
        lower_is_better: True if lower scores are better.
        partial: True for an average with missing parts.
        seed_share: share of the difference's variance due to seeds, if there are several.
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
        """The significantly better system, or ""."""
        return self.favours(self.lower_is_better)


class Comparison(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """Comparison of two systems on the cells they share; differences are first minus second.

    Attributes:
        first: name of the first system.
        second: name of the second system.
        cells: one contrast per cell.
        tasks: one contrast per task average.
        overall: contrast of the overall score; None for a single task or without an overall score.
        rule: rule of the overall score.
        skipped: cells that only one of the systems has.
        note: reason for a missing overall score.
        seeds: number of runs of each system.
        resample: population of intervals and p-values: new sources, or new examples from the same sources.
        left_out: answers of either system that no score includes, with reasons.
        clustered: tasks with examples that share sources; results generalise to new sources.
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
        """True if both systems have several seeds, so that the result applies to methods, not only to checkpoints."""
        return min(self.seeds) > 1

    def verdict(self) -> str:
        """Return the comparison in one sentence."""
        top = self.overall or (self.tasks[0] if len(self.tasks) == 1 else None)
        wins = Counter(contrast.winner for contrast in self.cells)
        counted = (
            f"{wins['first']} of {len(self.cells)} cells favour {self.first}, {wins['second']} favour {self.second}"
        )
        if top is None:
            return f"{counted}; {self.note}" if self.note else counted
        equals = "" if top.p <= SMALLEST_P else "= "
        interval = NO_INTERVAL
        if top.low is not None and top.high is not None:
            low, high = (top.low, top.high) if top.difference >= 0 else (-top.high, -top.low)
            interval = f"95 % {score_text(low)} to {score_text(high)}"
        span = f"{score_text(abs(top.difference))} points ({interval}, p {equals}{p_text(top.p)})"
        kind = "methods" if self.of_methods else "checkpoints"
        if not top.winner:
            return f"the {kind} {self.first} and {self.second} are statistically tied: {span}; {counted}"
        names = (self.first, self.second) if top.winner == "first" else (self.second, self.first)
        better = f"{names[0]} is the better {'method' if self.of_methods else 'checkpoint'}"
        return f"{better}: {span} ahead of {names[1]}; {counted}"

    def __repr__(self) -> str:
        return f"<Comparison: {self.verdict()}>"

    def _repr_html_(self) -> str:
        """Return a small table for notebooks."""
        heading = ("", self.first, self.second, "difference", "95 %", "p")
        averages = [*self.tasks, *([] if self.overall is None else [self.overall])]
        rows = [
            (
                contrast.name if contrast.level != "overall" else "overall",
                *(score_text(score) for score in (contrast.first, contrast.second)),
                difference_text(contrast.difference),
                difference_interval_text(contrast.low, contrast.high),
                p_text(contrast.p),
            )
            for contrast in averages or self.cells
        ]
        return html_table(self.verdict(), heading, rows)

    def to_pandas(self) -> Any:
        """Return a pandas data frame with one row per contrast."""
        top = [] if self.overall is None else [self.overall]
        systems = {"first_system": self.first, "second_system": self.second}
        return data_frame([systems | msgspec.structs.asdict(contrast) for contrast in [*self.cells, *self.tasks, *top]])
