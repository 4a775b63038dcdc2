"""The order of systems: ranks in several views with their intervals, and which systems cannot be told apart."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from isogloss.analysis.published_scores import speakers
from isogloss.analysis.ranking_panels import RankingPanel
from isogloss.analysis.ranking_views import RankedView, ranked_views, ranks, views
from isogloss.board.entries import BoardEntry
from isogloss.board.model import OVERALL, BoardRanks
from isogloss.metrics import aggregate
from isogloss.scoring.main_score import lower_is_better
from isogloss.scoring.results import Number
from isogloss.tasks.registry import task
from isogloss.tasks.suites import Suite

# With more systems fewer resamples are enough to see how far a rank may move.
RESAMPLES, FEWER, MANY = 1000, 200, 200

Columns = Mapping[str, Number]
# Whether two systems, by their places, cannot be told apart; None where nobody knows.
Tied = Callable[[int, int], bool | None]


def board_ranks(entries: Sequence[BoardEntry], columns: Sequence[Columns], suite: Suite) -> dict[str, BoardRanks]:
    """The ranks of complete systems in every view, with the ranks that they may have if languages are drawn again.

    Views that only need task averages rank systems of which nothing else is known too, without an interval; they stand
    still while the others move.
    """
    complete = [place for place, of in enumerate(columns) if OVERALL in of]
    by_language = [place for place in complete if _has_all_cells(entries[place], suite)]
    panel = _panel([entries[place] for place in by_language], suite)
    resamples = RESAMPLES if len(by_language) <= MANY else FEWER
    ranked = ranked_views(panel, speakers(), resamples, seed=0) if by_language else {}
    found = {}
    for name, view in views(panel, speakers()).items():
        members, seen = by_language, ranked.get(name)
        if name in aggregate.RULES and complete:
            members = complete
            figures = np.array([_rule_figure(columns[place], name, suite) for place in complete])
            drawn = np.tile(figures, (resamples, 1))
            if seen is not None:
                drawn[:, [complete.index(place) for place in by_language]] = seen.drawn
            seen = RankedView(view, figures, ranks(figures), drawn)
        if seen is not None:
            found[name] = _with_gaps(seen, view.title, members, set(by_language), len(entries))
    return found


def _with_gaps(seen: RankedView, title: str, members: Sequence[int], moving: set[int], count: int) -> BoardRanks:
    """Ranks by place; None for systems that are not ranked, or of which only the average is known."""
    low, high = seen.rank_interval()
    found = BoardRanks(title, [None] * count, [None] * count, [None] * count)
    for row, place in enumerate(members):
        found.rank[place] = int(seen.ranks[row])
        if place in moving:
            found.low[place], found.high[place] = int(low[row]), int(high[row])
    return found


def _has_all_cells(entry: BoardEntry, suite: Suite) -> bool:
    return all((name, code) in entry.scores for name in suite.tasks for code in suite.languages_of(name))


def _panel(entries: Sequence[BoardEntry], suite: Suite) -> RankingPanel:
    codes = list(dict.fromkeys(code for name in suite.tasks for code in suite.languages_of(name)))
    shape = len(entries), len(suite.tasks), len(codes)
    scores, present = np.zeros(shape), np.zeros(shape[1:], dtype=bool)
    for column, name in enumerate(suite.tasks):
        lower = lower_is_better(name)
        for code in suite.languages_of(name):
            place = column, codes.index(code)
            present[place] = True
            values = np.array([entry.scores[name, code].value for entry in entries])
            scores[:, *place] = 100 - values if lower else values
    names = [str(row) for row in range(len(entries))]
    return RankingPanel(suite.id, names, list(suite.tasks), codes, scores, present, np.zeros(shape), [])


def _rule_figure(columns: Columns, rule: str, suite: Suite) -> float:
    values = {name: columns[name].value for name in suite.tasks}
    figures = {name: 100 - value if lower_is_better(name) else value for name, value in values.items()}
    return aggregate.combined(figures, rule, lambda name: task(name).category, aggregate.weighted_mean, suite.weights)


def tie_groups(columns: Sequence[Columns], column: str, tied: Tied, *, lower: bool = False) -> list[list[int]]:
    """Systems by place, best first, each group those that cannot be told apart from its first; no groups of one."""
    order = [place for place, of in enumerate(columns) if column in of and tied(place, place) is not None]
    order.sort(key=lambda place: columns[place][column].value, reverse=not lower)
    groups: list[list[int]] = []
    for place in order:
        if groups and tied(groups[-1][0], place):
            groups[-1].append(place)
        else:
            groups.append([place])
    return [group for group in groups if len(group) > 1]


def intervals_overlap(one: Number, other: Number) -> bool | None:
    """Whether two intervals have a point in common; None where one of them is not known."""
    if one.low is None or one.high is None or other.low is None or other.high is None:
        return None
    return max(one.low, other.low) <= min(one.high, other.high)
