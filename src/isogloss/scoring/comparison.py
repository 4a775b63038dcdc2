"""The record of a comparison of systems: every pair, and the order of all."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import msgspec
import numpy as np

from isogloss.figures import p_equation, rank_text, score_text
from isogloss.metrics.ordering import Ordering
from isogloss.notebooks import arrow_table, data_frame, plot, rich_html, to_latex
from isogloss.predictions.problems import LeftOut
from isogloss.reply_outcomes import ReplyCounts
from isogloss.scoring.contrast import SystemContrast, Verdict
from isogloss.scoring.results import NO_INTERVAL, json_of
from isogloss.scoring.tested_on import EXAMPLES, tested_on


def _row_label(level: str, name: str, partial: bool) -> str:
    return ("overall" if level == "overall" else name) + "*" * partial


class ScoreContrast(SystemContrast, frozen=True, omit_defaults=True):
    """Two systems on one cell, task average, or overall."""

    level: str  # "cell", "task" or "overall"
    name: str  # `task/language`, the task, or the rule of the overall score
    test: str  # name of the significance test
    n: int  # number of examples
    lower_is_better: bool = False
    partial: bool = False  # True for an average with missing parts
    # Share of the difference's variance due to seeds, prompts or translators.
    shares: dict[str, float] = msgspec.field(default_factory=dict)

    @property
    def label(self) -> str:
        """Name of its row, with a star if it is partial."""
        return _row_label(self.level, self.name, self.partial)

    @property
    def winner(self) -> Literal["first", "second", ""]:
        """The significantly better system, or ""."""
        return self.favours(self.lower_is_better)

    @property
    def verdict(self) -> Verdict:
        """Verdict on the first system: better, worse, equivalent (with a margin), or cannot tell."""
        return self.judged(self.lower_is_better)


class Comparison(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """Comparison of two systems on the cells they share, and of their averages; differences are first minus second."""

    first: str  # names of the systems
    second: str
    cells: list[ScoreContrast]
    tasks: list[ScoreContrast]
    overall: ScoreContrast | None  # None for a single task or without an overall score
    rule: str  # of the overall score
    skipped: list[str]  # cells that only some of the systems have
    note: str = ""  # reason for a missing overall score
    runs: list[dict[str, int]] = []  # number of seeds, prompts, … of each system; empty if both have one run
    resample: str = "example"  # intervals and p-values are for new sources, or new examples from the same sources
    left_out: list[LeftOut] = []  # answers of either system that no score includes, with reasons
    clustered: list[str] = []  # tasks with examples that share sources; results generalise to new sources
    margin: float | None = None  # differences below it count as equivalent, in points
    estimated: list[str] = []  # tasks with scores estimated from a subset of the examples
    replies: list[ReplyCounts | None] = []  # of both systems on the shared cells; empty if neither has any

    @property
    def of_methods(self) -> bool:
        """True if both systems have several seeds, so that the result applies to methods, not only to checkpoints."""
        return bool(self.runs) and all(levels.get("seed", 1) > 1 for levels in self.runs)

    def verdict(self) -> str:
        """Return the comparison in one sentence."""
        top = self.overall or (self.tasks[0] if len(self.tasks) == 1 else None)
        wins = Counter(contrast.winner for contrast in self.cells)
        favoured = (
            f"{wins['first']} of {len(self.cells)} cells favour {self.first}, {wins['second']} favour {self.second}"
        )
        if top is None:
            return f"{favoured}; {self.note}" if self.note else favoured
        interval = NO_INTERVAL
        low, high = top.interval_for_all
        if low is not None and high is not None:
            low, high = (low, high) if top.difference >= 0 else (-high, -low)
            interval = f"95 % {score_text(low)} to {score_text(high)}"
        span = f"{score_text(abs(top.difference))} points ({interval}, {p_equation(top.p)})"
        return f"{self._main_verdict(top, span)}; {favoured}"

    def _main_verdict(self, top: ScoreContrast, span: str) -> str:
        """Return the verdict on the overall score or the only task."""
        kind = "method" if self.of_methods else "checkpoint"
        names = (self.second, self.first) if top.winner == "second" else (self.first, self.second)
        margin = f"±{score_text(self.margin or 0.0)} points"
        if top.verdict == "equivalent":
            within = f"within {margin} ({p_equation(top.p_equivalent or 0.0)})"
            if top.winner:
                return f"{names[0]} is the better {kind}, but equivalent to {names[1]} {within}: {span} ahead"
            return f"the {kind}s {names[0]} and {names[1]} are equivalent {within}: {span}"
        if top.winner:
            return f"{names[0]} is the better {kind}: {span} ahead of {names[1]}"
        if self.margin is not None:
            return f"cannot tell which {kind} is better, or whether they are equivalent within {margin}: {span}"
        return f"the {kind}s {names[0]} and {names[1]} are not significantly different: {span}"

    def __repr__(self) -> str:
        return f"<Comparison: {self.verdict()}>"

    def to_pandas(self) -> Any:
        """Return a pandas data frame with one row per contrast."""
        return data_frame(self.rows())

    def to_arrow(self) -> Any:
        """Return the rows of `to_pandas` as an Arrow table."""
        return arrow_table(self.rows())

    def to_json(self, path: Path | str | None = None) -> str:
        """Return the record as JSON; with a path, also write it."""
        return json_of(self, path)

    plot = plot
    _repr_html_ = rich_html
    to_latex = to_latex

    def rows(self) -> list[dict[str, Any]]:
        """Return all contrasts as flat rows."""
        systems = {"first_system": self.first, "second_system": self.second}
        rows = [systems | msgspec.structs.asdict(row) for row in [*self.cells, *self.averages()]]
        for row in rows:
            row["shares"] = ", ".join(f"{factor} {share:.3f}" for factor, share in row["shares"].items())
        return rows

    @property
    def top_rows(self) -> list[ScoreContrast]:
        """The contrast overall, or without one those of all tasks."""
        return self.tasks if self.overall is None else [self.overall]

    def averages(self) -> list[ScoreContrast]:
        """Return the contrasts of tasks, and of the overall score if there is one."""
        return [*self.tasks, *([] if self.overall is None else [self.overall])]


class SystemOrder(msgspec.Struct, frozen=True, kw_only=True):
    """Order of several systems on a cell, a task or overall, by simultaneous tests of all pairs.

    `low` and `high` are the ranks that the tests leave open. Two systems share a letter if and only if they are not
    significantly different.
    """

    level: str  # "cell", "task" or "overall"
    name: str
    systems: list[str]  # from best to worst score
    scores: list[float]
    low: list[int]
    high: list[int]
    letters: list[str]
    partial: bool = False

    @property
    def label(self) -> str:
        """Name of its row, with a star if it is partial."""
        return _row_label(self.level, self.name, self.partial)

    def ranks(self) -> dict[str, str]:
        """Return the possible ranks of each system, from best to worst score."""
        ranks = map(rank_text, self.low, self.high)
        return dict(zip(self.systems, ranks, strict=True))


class SystemsComparison(msgspec.Struct, frozen=True, kw_only=True):
    """Comparison of several systems on the cells that all of them have; verdicts hold simultaneously for all pairs.

    It is a sequence of the pairs' comparisons.
    """

    systems: list[str]
    pairs: list[Comparison]
    orders: list[SystemOrder]  # on the cells, the tasks, then overall; empty for two systems

    def __len__(self) -> int:
        return len(self.pairs)

    def __iter__(self) -> Iterator[Comparison]:
        return iter(self.pairs)

    def __getitem__(self, index: int) -> Comparison:
        return self.pairs[index]

    def verdict(self) -> str:
        """Return the comparison in one sentence: overall, or on every task without an overall score."""
        tops = self.top_orders
        if not tops:
            return "; ".join(pair.verdict() for pair in self.pairs)
        verdicts = [_best_of(top) for top in tops]
        verdicts += [equivalent] if (equivalent := self._equivalent_pairs()) else []
        return f"{'; '.join(verdicts)}: {tested_on(EXAMPLES)}"

    @property
    def top_orders(self) -> list[SystemOrder]:
        """The overall order, or without one the orders on all tasks; empty for two systems and without averages."""
        overall = [order for order in self.orders if order.level == "overall"]
        return overall or [order for order in self.orders if order.level == "task"]

    def _equivalent_pairs(self) -> str:
        """Return the pairs that are equivalent within the margin, in words; "" without a margin."""
        margin = self.pairs[0].margin
        if margin is None:
            return ""
        tops = [(pair, pair.top_rows) for pair in self.pairs]
        names = [
            f"{pair.first} and {pair.second}" for pair, rows in tops if {row.verdict for row in rows} == {"equivalent"}
        ]
        what = f"equivalent within ±{score_text(margin)} points"
        return f"{what}: {', '.join(names)}" if names else f"no pair is {what}"

    def __repr__(self) -> str:
        return f"<SystemsComparison: {self.verdict()}>"

    def to_pandas(self) -> Any:
        """Return a pandas data frame with one row per contrast of every pair."""
        return data_frame(self.rows())

    def rows(self) -> list[dict[str, Any]]:
        """Return all contrasts of every pair as flat rows."""
        return [row for pair in self.pairs for row in pair.rows()]

    def to_arrow(self) -> Any:
        """Return the rows of `to_pandas` as an Arrow table."""
        return arrow_table(self.rows())

    def to_json(self, path: Path | str | None = None) -> str:
        """Return the record as JSON; with a path, also write it."""
        return json_of(self, path)

    _repr_html_ = rich_html
    to_latex = to_latex
    plot = plot


def averages_first(orders: Sequence[SystemOrder]) -> list[SystemOrder]:
    """Return the orders overall and on the tasks."""
    return sorted((order for order in orders if order.level != "cell"), key=lambda order: order.level != "overall")


def _best_of(order: SystemOrder) -> str:
    """Return the systems that can be the best, in words."""
    best = [name for name, low in zip(order.systems, order.low, strict=True) if low == 1]
    where = "overall" if order.level == "overall" else f"on {order.name}"
    if len(best) == 1:
        return f"{best[0]} is the best of {len(order.systems)} systems {where}"
    return f"{', '.join(best)} could each be the best of {len(order.systems)} systems {where}"


def system_orders(systems: Sequence[str], pairs: Sequence[Comparison]) -> list[SystemOrder]:
    """Return the order of systems on every cell, task and overall, from the jointly corrected tests of all pairs."""
    rows = zip(*([*pair.cells, *pair.averages()] for pair in pairs), strict=True)
    pair_indices = [(systems.index(pair.first), systems.index(pair.second)) for pair in pairs]
    return [_order(systems, dict(zip(pair_indices, contrasts, strict=True))) for contrasts in rows]


def _order(systems: Sequence[str], contrasts: Mapping[tuple[int, int], ScoreContrast]) -> SystemOrder:
    count, any_row = len(systems), next(iter(contrasts.values()))
    scores, p = np.zeros(count), np.ones((count, count))
    for (first, second), row in contrasts.items():
        scores[[first, second]] = row.first, row.second
        p[first, second] = p[second, first] = row.p
    ordering = Ordering.of(scores, p, lower_is_better=any_row.lower_is_better)
    order, letters = ordering.order, ordering.letters
    return SystemOrder(
        level=any_row.level,
        name=any_row.name,
        systems=[systems[index] for index in order],
        scores=scores[order].tolist(),
        low=ordering.low[order].tolist(),
        high=ordering.high[order].tolist(),
        letters=[letters[index] for index in order],
        partial=any_row.partial,
    )
