"""Ranks of systems in several views with intervals, and statistically tied systems."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from isogloss.analysis.ranking_views import RankedView, RankingPanel, ranked_views, ranks, views
from isogloss.board.model import BoardRanks, PairedTest
from isogloss.errors import IsoglossError
from isogloss.explain.pairwise import BucketContrast
from isogloss.metrics import aggregate
from isogloss.metrics.student import ALPHA
from isogloss.predictions.problems import LeftOut
from isogloss.results.published_scores import speakers
from isogloss.results.system import OVERALL, SystemResult
from isogloss.scoring.cells import judged_cells
from isogloss.scoring.compare import SystemRuns, compare_runs
from isogloss.scoring.comparison import Comparison, ScoreContrast
from isogloss.scoring.main_score import lower_is_better
from isogloss.scoring.request import Request
from isogloss.scoring.results import Number
from isogloss.tasks.suites import Suite

# Use fewer resamples with many systems.
RESAMPLES, FEWER, MANY = 1000, 200, 200

Columns = Mapping[str, Number]
# Maximum number of systems to test in pairs.
MOST_TESTED = 16

# Indices of two systems -> tests of all columns and cells that both have.
TestsOfPairs = Mapping[tuple[int, int], Sequence[PairedTest]]


def board_ranks(entries: Sequence[SystemResult], columns: Sequence[Columns], suite: Suite) -> dict[str, BoardRanks]:
    """Return the ranks of complete systems in every view, with intervals over languages.

    Views that only need task averages also rank systems without cells; these have no interval, and their figures are
    the same in all resamples.
    """
    complete = [index for index, averages in enumerate(columns) if OVERALL in averages]
    cells = [(name, code) for name in suite.tasks for code in suite.languages_of(name)]
    by_language = [index for index in complete if all(entries[index].score(*cell) is not None for cell in cells)]
    panel = _panel([entries[index] for index in by_language], suite)
    resamples = RESAMPLES if len(by_language) <= MANY else FEWER
    ranked = ranked_views(panel, speakers(), resamples, seed=0) if by_language else {}
    ranks_by_view = {}
    for name, view in views(panel, speakers()).items():
        members, seen = by_language, ranked.get(name)
        if name in aggregate.RULES and complete:
            members = complete
            figures = np.array([_rule_figure(columns[index], name, suite) for index in complete])
            drawn = np.tile(figures, (resamples, 1))
            if seen is not None:
                drawn[:, [complete.index(index) for index in by_language]] = seen.drawn
            seen = RankedView(view, figures, ranks(figures), drawn)
        if seen is not None:
            ranks_by_view[name] = _with_gaps(seen, view.title, members, set(by_language), len(entries))
    return ranks_by_view


def _with_gaps(seen: RankedView, title: str, members: Sequence[int], moving: set[int], count: int) -> BoardRanks:
    """Return ranks by index; None for unranked systems, and intervals only for systems with cells."""
    low, high = seen.rank_interval()
    ranking = BoardRanks(title, [None] * count, [None] * count, [None] * count)
    for row, index in enumerate(members):
        ranking.rank[index] = int(seen.ranks[row])
        if index in moving:
            ranking.low[index], ranking.high[index] = int(low[row]), int(high[row])
    return ranking


def _panel(entries: Sequence[SystemResult], suite: Suite) -> RankingPanel:
    codes = list(dict.fromkeys(code for name in suite.tasks for code in suite.languages_of(name)))
    shape = len(entries), len(suite.tasks), len(codes)
    scores, present = np.zeros(shape), np.zeros(shape[1:], dtype=bool)
    for column, name in enumerate(suite.tasks):
        lower = lower_is_better(name)
        for code in suite.languages_of(name):
            position = column, codes.index(code)
            present[position] = True
            values = np.array([score.value for entry in entries if (score := entry.score(name, code)) is not None])
            scores[:, *position] = 100 - values if lower else values
    axes = {"systems": [str(row) for row in range(len(entries))], "tasks": list(suite.tasks), "languages": codes}
    return RankingPanel(name=suite.id, **axes, scores=scores, present=present, errors=np.zeros(shape))


def _rule_figure(columns: Columns, rule: str, suite: Suite) -> float:
    values = {name: columns[name].value for name in suite.tasks}
    figures = {name: 100 - value if lower_is_better(name) else value for name, value in values.items()}
    return aggregate.combined(
        figures, rule, lambda name: suite.members[name].category, aggregate.weighted_mean, suite.weights
    )


def tie_groups(columns: Sequence[Columns], tests: TestsOfPairs, suite: Suite) -> list[tuple[list[int], str]]:
    """Return groups of systems, as indices, that are tied with the best of the group, best group first.

    With each group comes its evidence: "paired" tests, overlapping "intervals", or "both".
    """
    p_values = {pair: test.p for pair, pair_tests in tests.items() for test in pair_tests if test.column == OVERALL}

    def is_tied(one: int, other: int) -> bool:
        if (one, other) in p_values:
            return p_values[one, other] >= ALPHA
        (low, high), (low_2, high_2) = intervals[one], intervals[other]
        return max(low, low_2) <= min(high, high_2)

    tops = {index: averages[OVERALL] for index, averages in enumerate(columns) if OVERALL in averages}
    intervals = {
        index: (top.low, top.high) for index, top in tops.items() if top.low is not None and top.high is not None
    }
    groups: list[list[int]] = []
    for index in sorted(intervals, key=lambda index: tops[index].value, reverse=not lower_is_better(suite.tasks[0])):
        if groups and is_tied(groups[-1][0], index):
            groups[-1].append(index)
        else:
            groups.append([index])
    ties = []
    for first, *others in groups:
        is_paired = {(first, other) in p_values for other in others}
        evidence = "both" if len(is_paired) > 1 else "paired" if True in is_paired else "intervals"
        ties += [([first, *others], evidence)] if others else []
    return ties


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
        for index in indices[:MOST_TESTED]:
            left_out: list[LeftOut] = []
            runs = [list(judged_cells(run, request, progress, left_out)) for run in entries[index].predictions]
            judged[index] = SystemRuns.of(entries[index].name, runs, left_out)
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
