"""Sensitivity of rankings to the way scores are aggregated."""

from collections import Counter
from itertools import combinations
from pathlib import Path

import numpy as np

from isogloss.analysis import ranking_views
from isogloss.analysis.finding import Figure, Finding, TidyTable, columns, figure, require
from isogloss.analysis.language_columns import later_sizes_notes, read_weights
from isogloss.analysis.ranking_views import WORST, RankedView, RankingPanel
from isogloss.figures import counted
from isogloss.metrics.language_tests import LEAST_LANGUAGES
from isogloss.metrics.student import ALPHA
from isogloss.results.published_scores import speakers as published_speakers
from isogloss.results.published_scores import speakers_in_millions
from isogloss.results.views import ScoreView
from isogloss.scoring.tested_on import EXAMPLES, LANGUAGES, tested_on

# Maximum number of systems in a chart.
MOST_IN_CHART = 40
# Maximum number of systems to compare in pairs; only the best are compared if there are more.
MOST_IN_PAIRS = 20
_LIMITS = (
    f"Verdicts hold {tested_on(LANGUAGES)}. An order that is significant in all views does not depend on the weighting "
    "or on the sample of languages. Variation due to seeds, tuning and training data is not considered."
)

Ranked = dict[str, RankedView]
_TEST = (
    f"test: does the order hold {tested_on(LANGUAGES)}? Differences vary over languages, languages of a family are "
    "correlated, and the correlation is estimated from all systems of a ranking. For systems with predictions, "
    f"isogloss compare answers another question: does the order hold {tested_on(EXAMPLES)}?"
)
_RANK_SETS = (
    "rank low and high: the ranks that the test leaves open, one below all significantly better systems and one above "
    "all significantly worse; in 95 % of samples, all systems' true ranks are within theirs. Systems that share a "
    "letter are not significantly different"
)

_OTHER_SPEAKERS = (
    "speakers of languages beyond the papers: CLDR 48; languages without an estimate or without a known Wikipedia size "
    "do not count in that view"
)


def rankings(scores: ScoreView, *, speakers: str = "") -> Finding:
    """Rank systems by seven ways to aggregate, with tests, and report which orders hold in all of them.

    Args:
        scores: scores to rank; systems are ranked within their regime, on shared cells.
        speakers: CSV with the columns language and speakers; by default the shipped estimates.
    """
    require(scores, systems=2, what="a ranking")
    codes = dict.fromkeys(score.language for score in scores.all_scores())
    weights = read_weights(Path(speakers), "speakers") if speakers else speakers_in_millions(codes)
    added = not speakers and not codes.keys() <= published_speakers().keys()
    panels, notes = ranking_views.ranking_panels(scores)
    ranked = [(panel, ranking_views.ranked_views(panel, weights)) for panel in panels]
    pareto = _pareto_table(scores, ranked)
    tables = [_rank_table(ranked), _pair_table(ranked), *([pareto] if pareto.rows else [])]
    small = [
        f"{panel.name} ({', '.join(untested)})"
        for panel, by_view in ranked
        if (untested := [name for name, view in by_view.items() if not view.tested])
    ]
    notes = [
        "systems are ranked within their regime, on shared tasks and languages",
        _TEST,
        _RANK_SETS,
        f"worst and gini use the mean of each language over its tasks; worst averages the {WORST} lowest languages of "
        "each system, or all if there are fewer. A language that occurs only in hard tasks is low in all systems",
        "speakers: estimates for 2012, first and second language (Ronen et al. 2014), unless a file is passed; "
        "resources: Wikipedia articles (XTREME-R, Table 7)",
        *([_OTHER_SPEAKERS] if added else []),
        *later_sizes_notes(codes),
        "error rates are converted to 100 minus the rate",
        *([f"not tested, fewer than {LEAST_LANGUAGES} languages: {'; '.join(small)}"] if small else []),
        *notes,
        *scores.notes,
    ]
    return Finding(
        analysis="rankings",
        title="How rankings depend on weighting",
        reading=" ".join([*(_of_panel(panel, by_view, tables[1]) for panel, by_view in ranked[:4]), _LIMITS]),
        tables=tables,
        figures=_figures(ranked, pareto),
        notes=notes,
    )


def _rank_table(ranked: list[tuple[RankingPanel, Ranked]]) -> TidyTable:
    about = {name: view.view.title for _, by_view in ranked for name, view in by_view.items()}
    notes = [f"{name}: {title}" for name, title in about.items()]
    heads = columns("panel view system; figure:number; rank±:count; letters; systems cells:count")
    table = TidyTable("ranks", "Ranks by view", heads, notes=notes)
    for panel, by_view in ranked:
        for name, view in by_view.items():
            order, letters = view.order, view.order.letters
            for index in np.lexsort((np.arange(len(panel.systems)), view.ranks)).tolist():
                rank_set = (int(numbers[index]) for numbers in (view.ranks, order.low, order.high))
                own = letters[index] if view.tested else ""
                row = panel.systems[index], float(view.figures[index]), *rank_set, own
                table.add(panel.name, name, *row, len(panel.systems), panel.cells)
    return table


def _pair_table(ranked: list[tuple[RankingPanel, Ranked]]) -> TidyTable:
    """Return, per pair, the views in which the better system by flat mean is ahead, and its least certain view."""
    heads = columns(
        "panel first second; difference:difference = flat difference; views:count = views ahead; of:count; "
        "p:p = largest p; least_view = in view; survives; against = views that disagree"
    )
    notes = [
        f"survives: the first is ahead in every view, significantly in each (p < {ALPHA})",
        "views that disagree: the second is ahead; equal figures do not count",
    ]
    table = TidyTable("conclusions", "Conclusions that hold in all views", heads, notes=notes)
    for panel, by_view in ranked:
        if len(panel.systems) > MOST_IN_PAIRS:
            notes.append(f"{panel.name}: pairs among the {MOST_IN_PAIRS} best of {len(panel.systems)}")
        flat = by_view["flat"]
        order = [int(index) for index in np.argsort(-flat.figures, kind="stable")][:MOST_IN_PAIRS]
        for a, b in combinations(order, 2):
            p = {name: float(view.order.p[a, b]) if view.tested else 1.0 for name, view in by_view.items()}
            ahead = [name for name, view in by_view.items() if view.ranks[a] < view.ranks[b]]
            against = [name for name, view in by_view.items() if view.ranks[a] > view.ranks[b]]
            least = max(p, key=lambda name: p[name])
            names = panel.name, panel.systems[a], panel.systems[b]
            views = len(ahead), len(by_view), p[least], least
            survives = all(view.order.better[a, b] for view in by_view.values())
            table.add(*names, float(flat.figures[a] - flat.figures[b]), *views, survives, ", ".join(against))
    return table


def _pareto_table(scores: ScoreView, ranked: list[tuple[RankingPanel, Ranked]]) -> TidyTable:
    heads = "panel system; front = standing; parameters:number = parameters, millions; score:score = flat mean"
    notes = ["Pareto front: no other system is as small and better, or smaller and as good; sizes as published"]
    table = TidyTable("pareto", "Score by size", columns(heads), notes=notes)
    for panel, by_view in ranked:
        sized = [index for index, system in enumerate(panel.systems) if scores.results[system].parameters]
        if len(sized) > 1:
            sizes = np.array([scores.results[panel.systems[index]].parameters for index in sized])
            figures = by_view["flat"].figures[sized]
            front = ranking_views.pareto_front(sizes, figures)
            for index in np.lexsort((-figures, sizes)):
                on = "on the Pareto front" if front[index] else "beaten"
                table.add(panel.name, panel.systems[sized[index]], on, float(sizes[index]), float(figures[index]))
    return table


def _figures(ranked: list[tuple[RankingPanel, Ranked]], pareto: TidyTable) -> list[Figure]:
    figures = []
    if all(len(panel.systems) <= MOST_IN_CHART for panel, _ in ranked):
        panel = ", panel" * (len(ranked) > 1)
        about = "Rank of each system in each view; 1 is best."
        figures.append(figure("heatmap", f"ranks: view, system, rank{panel}", "Ranks by view", about))
    if pareto.rows:
        panel = ", panel" * (len({row[0] for row in pareto.rows}) > 1)
        label = "system" if len(pareto.rows) <= MOST_IN_CHART else ""
        about = "Mean score by millions of parameters; systems on the Pareto front are highlighted."
        axes = f"pareto: parameters, score, front{panel}"
        figures.append(figure("scatter", axes, "Score by size", about, label=label, log_x=True))
    return figures


def _of_panel(panel: RankingPanel, by_view: Ranked, pairs: TidyTable) -> str:
    rows = [row for row in pairs.records() if row["panel"] == panel.name]
    stable = sum(bool(row["survives"]) for row in rows)
    flipped = sum(bool(row["against"] and row["views"]) for row in rows)
    # Systems with equal figures share the first rank.
    firsts = Counter(
        name for view in by_view.values() for name, rank in zip(panel.systems, view.ranks, strict=True) if rank == 1
    )
    sole = sum(int((view.order.low == 1).sum()) == 1 for view in by_view.values())
    everywhere = [name for name, count in firsts.items() if count == len(by_view)]
    who = f"the best figure depends on the view ({', '.join(f'{name} in {count}' for name, count in firsts.items())})"
    if everywhere:
        verb = "has" if len(everywhere) == 1 else "have"
        who = f"{' and '.join(everywhere)} {verb} the best figure in all {len(by_view)} views"
    sure = f"significantly best in {'all' if sole == len(by_view) else sole or 'none'} of them"
    if not any(view.tested for view in by_view.values()):
        sure = "the order is not tested"
    size = f"{len(panel.systems)} systems, {counted(panel.cells, 'cell')} each"
    return f"{panel.name} ({size}): {who}, {sure}; {_pairs(stable, flipped, len(rows))}."


def _pairs(stable: int, flipped: int, total: int) -> str:
    """Describe how many pairs of systems keep their order in all views, and how many change it in some."""
    if total == 1:
        if flipped:
            return "the pair changes its order in some views"
        views = "significant in every view" if stable else "not significant in some views"
        return f"the order of the pair is {views}"
    kept = f"{stable} of {total} pairs {'is' if stable == 1 else 'are'}" if stable else "no pair is"
    changed = f"{flipped} change{'s' if flipped == 1 else ''} order in some views" if flipped else "none changes order"
    return f"{kept} significantly ordered in every view, and {changed}"
