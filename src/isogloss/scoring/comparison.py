"""The record of a comparison of two systems."""

from collections import Counter
from typing import Any, Literal

import msgspec

from isogloss.figures import SMALLEST_P, p_text, score_text
from isogloss.notebooks import data_frame, html_table
from isogloss.predictions.problems import LeftOut
from isogloss.scoring.contrast import SystemContrast
from isogloss.scoring.results import NO_INTERVAL


class ScoreContrast(SystemContrast, frozen=True, omit_defaults=True):
    """Two systems on one cell, task average, or overall."""

    level: str  # "cell", "task" or "overall"
    name: str  # `task/language`, the task, or the rule of the overall score
    test: str  # name of the significance test
    n: int  # number of examples
    lower_is_better: bool = False
    partial: bool = False  # True for an average with missing parts
    seed_share: float | None = None  # share of the difference's variance due to seeds, if there are several

    @property
    def label(self) -> str:
        """Name of its row, with a star if it is partial."""
        return ("overall" if self.level == "overall" else self.name) + "*" * self.partial

    @property
    def winner(self) -> Literal["first", "second", ""]:
        """The significantly better system, or ""."""
        return self.favours(self.lower_is_better)


class Comparison(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """Comparison of two systems on the cells they share, and of their averages; differences are first minus second."""

    first: str  # names of the systems
    second: str
    cells: list[ScoreContrast]
    tasks: list[ScoreContrast]
    overall: ScoreContrast | None  # None for a single task or without an overall score
    rule: str  # of the overall score
    skipped: list[str]  # cells that only one of the systems has
    note: str = ""  # reason for a missing overall score
    seeds: tuple[int, int] = (1, 1)  # number of runs of each system
    resample: str = "example"  # intervals and p-values are for new sources, or new examples from the same sources
    left_out: list[LeftOut] = []  # answers of either system that no score includes, with reasons
    clustered: list[str] = []  # tasks with examples that share sources; results generalise to new sources

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
        heading = ("", self.first, self.second, "difference", "95 %", "p")
        rows = [(contrast.label, *contrast.texts()) for contrast in self.averages() or self.cells]
        return html_table(self.verdict(), heading, rows)

    def to_pandas(self) -> Any:
        """Return a pandas data frame with one row per contrast."""
        systems = {"first_system": self.first, "second_system": self.second}
        return data_frame([systems | msgspec.structs.asdict(row) for row in [*self.cells, *self.averages()]])

    def averages(self) -> list[ScoreContrast]:
        """Return the contrasts of tasks, and of the overall score if there is one."""
        return [*self.tasks, *([] if self.overall is None else [self.overall])]
