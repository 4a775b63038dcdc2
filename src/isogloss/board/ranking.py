"""Ranks of systems in several views, with the rank sets and letters of one test per ranking, and the paired tests."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from math import nan
from pathlib import Path
from typing import Any

import numpy as np

from isogloss.analysis.ranking_views import RankingPanel, View, panel_of_cells, ranks, views
from isogloss.board.model import BoardRanks, PairedTest
from isogloss.errors import IsoglossError
from isogloss.explain.pairwise import BucketContrast
from isogloss.metrics import aggregate
from isogloss.metrics.language_tests import LEAST_LANGUAGES, language_tests
from isogloss.metrics.ordering import ordering
from isogloss.metrics.statistics import FloatArray
from isogloss.predictions.problems import LeftOut
from isogloss.predictions.run_folders import run_names
from isogloss.results.published_scores import speakers
from isogloss.results.system import OVERALL, SystemResult
from isogloss.scoring.cells import judged_cells
from isogloss.scoring.compare import SystemRuns, compare_runs
from isogloss.scoring.comparison import Comparison, ScoreContrast
from isogloss.scoring.main_score import lower_is_better
from isogloss.scoring.names import distinct_names
from isogloss.scoring.request import Request
from isogloss.scoring.results import Number
from isogloss.tasks.suites import Suite

Columns = Mapping[str, Number]
# Maximum number of systems to test in pairs.
MOST_TESTED = 16

# System, task and language -> score.
ScoreOf = Callable[[SystemResult, str, str], Number | None]
# Indices of two systems -> tests of all columns and cells that both have.
TestsOfPairs = Mapping[tuple[int, int], Sequence[PairedTest]]
# Indices of two systems, the smaller first -> p-value.
PairValues = Mapping[tuple[int, int], float]

# Tests of a ranking, by name, in words. One ranking has one test.
EXAMPLES, LANGUAGES, UNTESTED = "examples", "languages", ""
_RANK_SETS = (
    "The range next to a rank holds the ranks that the test leaves open. Systems that share a letter are not "
    "significantly different; that does not make them equal."
)
TESTS = {
    EXAMPLES: "All pairs of systems are tested on the same examples (paired tests, Holm's correction): would the order "
    f"hold for new examples in these languages? {_RANK_SETS}",
    LANGUAGES: "All pairs of systems are tested over languages, with languages of a family as related (Holm's "
    f"correction): would the order hold in similar languages? {_RANK_SETS} Rankings by the overall score or by a task "
    "are tested on examples instead if all systems in them have predictions. Tasks reported per language in one metric "
    "are tested in that metric.",
    UNTESTED: f"The order is not tested: this needs at least {LEAST_LANGUAGES} languages, and scores of two systems in "
    "all of them.",
}


def board_ranks(
    entries: Sequence[SystemResult], columns: Sequence[Columns], suite: Suite, tests: TestsOfPairs
) -> dict[str, BoardRanks]:
    """Return the ranks of complete systems in every view, with the rank sets and letters of one test per view.

    The suite's own rule is tested on examples if all its systems have paired tests, and every other view over
    languages. Views that only need task averages also rank systems without cells, which cannot be tested.
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
    on_examples = example_tests(tests, suite).get(OVERALL, {})
    ranks_by_view = {}
    for name, view in views(panel, speakers(), suite.weights).items():
        is_rule = name in aggregate.RULES
        members = complete if is_rule else by_language
        if not members:
            continue
        figures = view.figures(panel.scores)
        if is_rule:
            figures = np.array([_rule_figure(columns[index], name, suite) for index in complete])
        pairs = list(combinations(members, 2))
        if name == suite.rule and pairs and all(pair in on_examples for pair in pairs):
            test, p = EXAMPLES, _matrix(members, on_examples)
        else:
            rows = [by_language.index(index) if index in by_language else None for index in members]
            test, p = LANGUAGES, _p_over_languages(panel, view, figures, rows)
        ranks_by_view[name] = _with_gaps(view, figures, p, members, test, len(entries))
    return ranks_by_view


def example_tests(tests: TestsOfPairs, suite: Suite) -> dict[str, PairValues]:
    """Return the p-value of each pair of systems, by column: overall, and each task."""
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


def _p_over_languages(panel: RankingPanel, view: View, figures: FloatArray, rows: Sequence[int | None]) -> FloatArray:
    """Test systems by the panel's rows; None is the row of a system without cells."""
    moves = np.full((len(rows), len(panel.languages)), np.nan)
    own = view.moves(panel.scores)
    for system, row in enumerate(rows):
        if row is not None:
            moves[system] = own[row]
    return language_tests(figures, moves, view.languages, panel.families)


def _with_gaps(
    view: View, figures: FloatArray, p: FloatArray, members: Sequence[int], test: str, count: int
) -> BoardRanks:
    """Return ranks by index; None for unranked systems, and rank sets only for tested ones."""
    unranked: list[int | None] = [None] * count
    rank, low, high = unranked.copy(), unranked.copy(), unranked.copy()
    for index, number in zip(members, ranks(figures, lower=view.lower).tolist(), strict=True):
        rank[index] = number
    tested = np.flatnonzero((~np.isnan(p)).sum(axis=1) > 1)
    order = ordering(figures[tested], p[np.ix_(tested, tested)], lower_is_better=view.lower)
    untested = len(members) - len(tested)  # any of them may be better
    for row, best, worst in zip(tested.tolist(), order.low.tolist(), order.high.tolist(), strict=True):
        low[members[row]], high[members[row]] = best, worst + untested
    groups = [[members[tested[row]] for row in group] for group in order.groups]
    names = {"title": view.title, "test": test if len(tested) else UNTESTED}
    return BoardRanks(**names, rank=rank, low=low, high=high, groups=groups)


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


def _rule_figure(columns: Columns, rule: str, suite: Suite) -> float:
    values = {name: columns[name].value for name in suite.tasks}
    figures = {name: 100 - value if lower_is_better(name) else value for name, value in values.items()}
    return aggregate.combined(
        figures, rule, lambda name: suite.members[name].category, aggregate.weighted_mean, suite.weights
    )


@dataclass(frozen=True)
class PairedTests:
    """Tests of pairs of systems, or the reason for their absence."""

    tests: TestsOfPairs = field(default_factory=dict)
    why_none: str = ""


def paired_tests(
    entries: Sequence[SystemResult], suite: Suite, data: Path | None, progress: Callable[[str], None]
) -> PairedTests:
    """Test every pair of systems with predictions on one split, in both directions."""
    indices = [index for index, entry in enumerate(entries) if entry.predictions]
    if len(indices) < 2:
        return PairedTests()
    request = Request(suite=suite, tasks=suite.tasks, split=entries[indices[0]].scorer.split or "test", data=data)
    try:
        judged = {}
        tested = indices[:MOST_TESTED]
        # Seeds of two systems must not be taken for the same, whatever the systems are called.
        for index, name in zip(tested, distinct_names([entries[index].name for index in tested]), strict=True):
            left_out: list[LeftOut] = []
            folders = entries[index].predictions
            runs = [list(judged_cells(run, request, progress, left_out)) for run in folders]
            judged[index] = SystemRuns.of(name, runs, left_out, names=run_names(folders))
        tests = {}
        for one, other in combinations(judged, 2):
            if judged[one].cells.keys() & judged[other].cells.keys():
                columns = list(_columns(compare_runs(judged[one], judged[other], request)))
                for pair, sign in (((one, other), 1), ((other, one), -1)):
                    tests[pair] = [
                        PairedTest(column=column, p=contrast.p, **signed_difference(contrast, sign))
                        for column, contrast in columns
                    ]
        return PairedTests(tests)
    except IsoglossError as error:
        return PairedTests(why_none=str(error))


def _columns(comparison: Comparison) -> Iterator[tuple[str, ScoreContrast]]:
    if comparison.overall is not None and not comparison.overall.partial:
        yield OVERALL, comparison.overall
    yield from ((contrast.name, contrast) for contrast in comparison.tasks if not contrast.partial)
    yield from ((contrast.name, contrast) for contrast in comparison.cells)


def signed_difference(contrast: ScoreContrast | BucketContrast, sign: int) -> dict[str, Any]:
    """Return a difference and its interval, as seen from the second system if the sign is -1."""
    low, high = [None if end is None else sign * end for end in (contrast.low, contrast.high)][::sign]
    return {"difference": sign * contrast.difference, "low": low, "high": high}
