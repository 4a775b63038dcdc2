"""Ranks of systems in several views, with the rank sets and letters of one test per ranking, and the paired tests."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from math import comb, nan
from pathlib import Path
from typing import Any

import numpy as np

from isogloss.analysis.example_order import MOST_TESTED
from isogloss.analysis.ranking_views import RankingPanel, View, panel_of_cells, ranks, views
from isogloss.board.model import BoardRanks
from isogloss.board.system_model import PairedTest
from isogloss.errors import IsoglossError
from isogloss.metrics import aggregate
from isogloss.metrics.language_tests import LEAST_LANGUAGES, language_tests
from isogloss.metrics.ordering import Ordering, ordering
from isogloss.metrics.statistics import FloatArray, IntArray
from isogloss.predictions.problems import LeftOut
from isogloss.predictions.run_folders import run_names
from isogloss.results.published_scores import speakers_in_millions
from isogloss.results.system import OVERALL, SystemResult
from isogloss.scoring.cells import judged_cells
from isogloss.scoring.compare import SystemRuns, compare_each_pair
from isogloss.scoring.comparison import Comparison, ScoreContrast
from isogloss.scoring.contrast import SystemContrast
from isogloss.scoring.main_score import lower_is_better
from isogloss.scoring.names import distinct_names
from isogloss.scoring.request import Request
from isogloss.scoring.results import Number
from isogloss.scoring.tested_on import EXAMPLES, LANGUAGES, tested_on
from isogloss.tasks.suites import Suite

Columns = Mapping[str, Number]
# System, task and language -> score.
ScoreOf = Callable[[SystemResult, str, str], Number | None]
# Indices of two systems -> tests of all columns and cells that both have; p-values are corrected over all pairs.
TestsOfPairs = Mapping[tuple[int, int], Sequence[PairedTest]]
# Indices of two systems, the smaller first -> corrected p-value.
PairValues = Mapping[tuple[int, int], float]

UNTESTED = ""
# Letters of more systems than this cannot be read, and their groups would be most of a page's data. The page has the
# same limit (ordering.js).
MOST_LETTERED = 100
# Tests of cells on a board, about as many as of 16 systems on all of XTREME-R, which take minutes.
_MOST_CELL_TESTS = 25_000
# Figures of two views that differ by less, in points, are the same.
_ROUNDING = 1e-6
# Readers' own weights of tasks, on the page; equal if not set.
EQUAL_WEIGHTS = "weights"
_RANK_SETS = (
    "A range of ranks holds those that the test leaves open. Systems joined by a bracket (in files: that share a "
    "letter) are not significantly different; that does not make them equal."
)
# Tests of a ranking, by name, in words. One ranking has one test.
TESTS = {
    EXAMPLES: f"Ranks hold {tested_on(EXAMPLES)}. The correction covers all pairs of systems with predictions, shown "
    f"or not. {_RANK_SETS}",
    LANGUAGES: f"Ranks hold {tested_on(LANGUAGES)}; languages of a family count as related. {_RANK_SETS} Rankings by "
    "the overall score or by a task are tested on examples instead if all systems in them have predictions. Tasks "
    "reported per language in one metric are tested in that metric.",
    UNTESTED: f"The order is not tested: this needs at least {LEAST_LANGUAGES} languages, and scores of two systems in "
    "all of them.",
}


@dataclass(frozen=True, eq=False)
class _RankedFigures:
    """A view, the indices of the systems in it, and the figure of each."""

    view: View
    members: list[int]
    figures: FloatArray


@dataclass(frozen=True)
class RankedBoard:
    """Ranks of a board by view, and the names of the views with the figures of the suite's own rule."""

    ranks: dict[str, BoardRanks]
    own_rule: list[str]


def board_ranks(
    entries: Sequence[SystemResult], columns: Sequence[Columns], suite: Suite, tests: TestsOfPairs
) -> RankedBoard:
    """Return the ranks of complete systems in every view, with the rank sets and letters of one test per view.

    Views with the figures of the suite's own rule are tested on examples if all their systems have paired tests, and
    every other view over languages. Views that only need task averages also rank systems without cells, which cannot
    be tested.
    """
    complete = [index for index, averages in enumerate(columns) if OVERALL in averages]
    score_of = _language_scores(entries, suite)
    cells = [(name, code) for name in suite.tasks for code in suite.languages_of(name)]
    by_language = [index for index in complete if all(score_of(entries[index], *cell) is not None for cell in cells)]
    panel = panel_of_cells(
        suite.id,
        [str(index) for index in by_language],
        cells,
        lambda index, *cell: number.value if (number := score_of(entries[int(index)], *cell)) else nan,
    )
    by_view = {}
    for name, view in views(panel, speakers_in_millions(panel.languages), suite.weights).items():
        figures, members = view.figures(panel.scores), by_language
        if name in aggregate.RULES:
            members = complete
            figures = np.array([_rule_figure(columns[index], name, suite, suite.weights) for index in complete])
        if members:
            by_view[name] = _RankedFigures(view, members, figures)
    own_rule = _own_rule(by_view, columns, suite)
    on_examples = example_tests(tests, suite).get(OVERALL, {})
    ranked = {
        name: _ranks(each, panel, by_language, on_examples if name in own_rule else {}, len(entries))
        for name, each in by_view.items()
    }
    return RankedBoard(ranked, own_rule)


def _own_rule(by_view: Mapping[str, _RankedFigures], columns: Sequence[Columns], suite: Suite) -> list[str]:
    """Return the names of the views in which the figures of all systems are those of the suite's own rule."""
    if suite.rule not in by_view:
        return []
    own = dict(zip(by_view[suite.rule].members, by_view[suite.rule].figures.tolist(), strict=True))
    figures = {name: dict(zip(each.members, each.figures.tolist(), strict=True)) for name, each in by_view.items()}
    figures[EQUAL_WEIGHTS] = {index: _rule_figure(columns[index], "flat", suite, {}) for index in own}
    return [
        name
        for name, by_system in figures.items()
        if all(abs(figure - own[index]) < _ROUNDING for index, figure in by_system.items())
    ]


def _ranks(
    ranked: _RankedFigures, panel: RankingPanel, by_language: Sequence[int], on_examples: PairValues, count: int
) -> BoardRanks:
    """Return the ranks in a view, tested on examples if every pair has such a test."""
    view, members, figures = ranked.view, ranked.members, ranked.figures
    pairs = list(combinations(members, 2))
    if pairs and all(pair in on_examples for pair in pairs):
        test, tested = EXAMPLES, members
        order = Ordering.of(figures, _matrix(members, on_examples), lower_is_better=view.lower)
    else:
        rows = [by_language.index(index) if index in by_language else None for index in members]
        order, with_cells = _over_languages(panel, view, figures, rows)
        tested = [members[row] for row in with_cells]
        test = LANGUAGES if tested else UNTESTED
    numbers = dict(zip(members, ranks(figures, lower=view.lower).tolist(), strict=True))
    return BoardRanks(title=view.title, test=test, **_with_gaps(numbers, order, tested, count))


def example_tests(tests: TestsOfPairs, suite: Suite) -> dict[str, PairValues]:
    """Return the corrected p-value of each pair of systems, by column: overall, and each task."""
    by_column: dict[str, dict[tuple[int, int], float]] = {}
    for (one, other), pair_tests in tests.items():
        for test in pair_tests if one < other else ():
            if test.column in (OVERALL, *suite.tasks):
                by_column.setdefault(test.column, {})[one, other] = test.p
    if len(suite.tasks) == 1 and suite.tasks[0] in by_column:
        by_column[OVERALL] = by_column[suite.tasks[0]]
    return dict(by_column)


def _matrix(members: Sequence[int], p_values: PairValues) -> FloatArray:
    p = np.ones((len(members), len(members)))
    for (one, first), (other, second) in combinations(enumerate(members), 2):
        p[one, other] = p[other, one] = p_values[first, second]
    return p


def _over_languages(
    panel: RankingPanel, view: View, figures: FloatArray, rows: Sequence[int | None]
) -> tuple[Ordering, IntArray]:
    """Return the order of the systems with cells, and their indices; None is the row of a system without cells."""
    moves = np.full((len(rows), len(panel.languages)), np.nan)
    own = view.moves(panel.scores)
    for system, row in enumerate(rows):
        if row is not None:
            moves[system] = own[row]
    p = language_tests(figures, moves, view.languages, panel.families)
    tested = np.flatnonzero((~np.isnan(p)).sum(axis=1) > 1)
    return ordering(figures[tested], p[np.ix_(tested, tested)], lower_is_better=view.lower), tested


def _with_gaps(ranked: Mapping[int, int], order: Ordering, tested: Sequence[int], count: int) -> dict[str, Any]:
    """Return ranks, rank sets and groups by index; None for unranked systems, and rank sets only for tested ones."""
    unranked: list[int | None] = [None] * count
    rank, low, high = unranked.copy(), unranked.copy(), unranked.copy()
    for index, number in ranked.items():
        rank[index] = number
    untested = len(ranked) - len(tested)  # any of them may be better
    for index, best, worst in zip(tested, order.low.tolist(), order.high.tolist(), strict=True):
        low[index], high[index] = best, worst + untested
    groups = [[tested[row] for row in group] for group in order.groups] if len(tested) <= MOST_LETTERED else []
    return {"rank": rank, "low": low, "high": high, "groups": groups}


def _language_scores(entries: Sequence[SystemResult], suite: Suite) -> ScoreOf:
    """Return a function that reads the score of a cell.

    Papers report some tasks per language in one metric only, but the average in all. That metric is used for all
    systems, as on pages (decode.js).
    """
    metrics: dict[str, str] = {}
    for name in suite.tasks:
        codes, most = suite.languages_of(name), 0
        for metric in ("", *suite.members[name].main[:-1]):
            numbers = (_number(entry, name, code, metric) for entry in entries for code in codes)
            if (count := sum(number is not None for number in numbers)) > most or not metric:
                metrics[name], most = metric, count
    return lambda entry, name, code: _number(entry, name, code, metrics[name])


def _number(entry: SystemResult, name: str, code: str, metric: str) -> Number | None:
    return entry.metric(name, code, metric) if metric else entry.score(name, code)


def _rule_figure(columns: Columns, rule: str, suite: Suite, weights: Mapping[str, float]) -> float:
    values = {name: columns[name].value for name in suite.tasks}
    figures = {name: 100 - value if lower_is_better(name) else value for name, value in values.items()}
    return aggregate.combined(
        figures, rule, lambda name: suite.members[name].category, aggregate.weighted_mean, weights
    )


@dataclass(frozen=True)
class PairedTests:
    """Tests of pairs of systems, or the reason for their absence."""

    tests: TestsOfPairs = field(default_factory=dict)
    why_none: str = ""


def paired_tests(
    entries: Sequence[SystemResult], suite: Suite, data: Path | None, progress: Callable[[str], None]
) -> PairedTests:
    """Test every pair of systems with predictions on one split, in both directions, corrected over all pairs."""
    indices = [index for index, entry in enumerate(entries) if entry.predictions]
    if len(indices) < 2:
        return PairedTests()
    request = Request(suite=suite, tasks=suite.tasks, split=entries[indices[0]].scorer.split or "test", data=data)
    try:
        judged = {}
        tested = indices[: most_tested(max(len(entries[index].cells) for index in indices))]
        # Seeds of two systems must not be taken for the same, whatever the systems are called.
        for index, name in zip(tested, distinct_names([entries[index].name for index in tested]), strict=True):
            left_out: list[LeftOut] = []
            folders = entries[index].predictions
            runs = [list(judged_cells(run, request, progress, left_out)) for run in folders]
            judged[index] = SystemRuns.of(name, runs, left_out, names=run_names(folders))
        tests = {}
        for (first, second), comparison in compare_each_pair(list(judged.values()), request).items():
            columns = _columns(comparison)
            one, other = tested[first], tested[second]
            for pair, sign in (((one, other), 1), ((other, one), -1)):
                tests[pair] = [
                    PairedTest(
                        column=column, p=contrast.p, **signed_difference(contrast, contrast.interval_for_all, sign)
                    )
                    for column, contrast in columns.items()
                ]
        return PairedTests(tests)
    except IsoglossError as error:
        return PairedTests(why_none=str(error))


def most_tested(cells: int) -> int:
    """Return the largest number of systems with tests of all pairs on this many cells each."""
    fitting = (count for count in range(MOST_LETTERED, MOST_TESTED, -1) if comb(count, 2) * cells <= _MOST_CELL_TESTS)
    return next(fitting, MOST_TESTED)


def _columns(comparison: Comparison) -> dict[str, ScoreContrast]:
    """Return the contrasts by column; averages of a part of the cells have the star of `isogloss compare`."""
    averages = [*comparison.tasks, *([comparison.overall] if comparison.overall else [])]
    return {contrast.label: contrast for contrast in (*averages, *comparison.cells)}


def signed_difference(contrast: SystemContrast, ends: Sequence[float | None], sign: int) -> dict[str, Any]:
    """Return a difference and the ends of its interval, as seen from the second system if the sign is -1."""
    low, high = [None if end is None else sign * end for end in ends][::sign]
    return {"difference": sign * contrast.difference, "low": low, "high": high}
