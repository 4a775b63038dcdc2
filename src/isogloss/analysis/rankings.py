"""Rankings under many eyes: who is ahead by different ways to average, and which conclusions survive all of them."""

from collections.abc import Mapping
from itertools import combinations
from pathlib import Path

import numpy as np

from isogloss.analysis.finding import AnalysisError, Column, Figure, Finding, TidyTable, Value
from isogloss.analysis.published_scores import speakers as published_speakers
from isogloss.analysis.ranking_panels import RankingPanel, ranking_panels
from isogloss.analysis.ranking_views import WORST, Draw, RankedView, pareto_front, ranked_views
from isogloss.analysis.score_table import ScoreTable
from isogloss.analysis.table_columns import interval_columns, text_columns
from isogloss.analysis.weights_file import read_weights
from isogloss.errors import unknown

# A conclusion survives a view if so many resamples agree with it.
SURE = 0.975
# What a heat map can still show.
MOST_IN_CHART = 40
# With more systems pairs are told only between the best.
MOST_IN_PAIRS = 20
# More would fill the memory without making an interval better.
MOST_RESAMPLES = 100_000

Ranked = dict[str, RankedView]
_DRAWS: dict[Draw, str] = {
    "languages": "languages drawn with replacement, {} times, the same for all systems and views; the noise of the "
    "tests is in that, since every language brings its own",
    "examples": "the same languages, {} times with new test examples, each score moved by its own error alone: rough, "
    "as examples that systems share make this too wide, and those that languages share too narrow; isogloss compare "
    "has both",
}


def rankings(
    scores: ScoreTable, *, draw: str = "languages", speakers: str = "", resamples: int = 1000, seed: int = 0
) -> Finding:
    """Rank systems by seven ways to average, with intervals, and tell which orders hold in all of them.

    Args:
        scores: what was scored; systems are ranked with others of their regime, on the cells that all have.
        draw: what intervals are for: other "languages" like these, or new test "examples" in the same languages, which
            needs scores with intervals.
        speakers: CSV with the columns language and speakers, instead of the estimates that are shipped.
        resamples: how often they are drawn again.
        seed: the same seed gives the same intervals.
    """
    scores.need(systems=2, what="a ranking")
    if not 100 <= resamples <= MOST_RESAMPLES:
        what = f"{resamples} resamples are too few to tell of an interval, or too many to be drawn"
        raise AnalysisError(what, fix=f"Give 100 to {MOST_RESAMPLES:,}")
    if seed < 0:
        raise AnalysisError(f"the seed is {seed}", fix="Give 0 or more")
    weights = read_weights(Path(speakers), "speakers") if speakers else published_speakers()
    panels, notes = ranking_panels(scores)
    chosen = _checked_draw(draw, panels)
    ranked = [(panel, ranked_views(panel, weights, resamples, seed, chosen)) for panel in panels]
    pareto = _pareto_table(scores, ranked)
    tables = [_rank_table(ranked), _pair_table(ranked), *([pareto] if pareto.rows else [])]
    alone = [panel.name for panel in panels if len(panel.languages) < 5]
    notes = [
        "systems are ranked with others of their regime alone, on the tasks and languages that all of them have",
        f"intervals: {_DRAWS[chosen].format(f'{resamples:,}')}",
        f"a language's figure, for worst and gini, is its mean over the tasks that have it; worst are the {WORST} "
        "lowest of each system, of all if there are fewer. A language that only hard tasks have is low for that, in "
        "all systems alike",
        "intervals of gini are somewhat low, as languages drawn twice are equal: 90 % held the truth of 50 simulated "
        "languages",
        "speakers: estimates of 2012, first and second language (Ronen et al. 2014), unless a file is given; "
        "resources: Wikipedia articles (XTREME-R, Table 7)",
        "error rates are turned round: 100 minus the rate",
        *([f"too few languages to say how languages differ: {'; '.join(alone)}"] if alone else []),
        *notes,
        *scores.notes,
    ]
    title = "Rankings under many eyes"
    return Finding("rankings", title, _reading(ranked, tables[1]), tables, _figures(ranked, pareto), notes)


def _checked_draw(draw: str, panels: list[RankingPanel]) -> Draw:
    chosen = next((name for name in _DRAWS if name == draw), None)
    if chosen is None:
        raise unknown("draw", draw, _DRAWS)
    if chosen == "examples" and not all(panel.errors[:, panel.present].all() for panel in panels):
        raise AnalysisError(
            "not all scores have an interval to draw examples by", fix="Draw languages, or score the rest"
        )
    return chosen


def _rank_table(ranked: list[tuple[RankingPanel, Ranked]]) -> TidyTable:
    columns = [
        *text_columns("panel", "view", "system"),
        *interval_columns("figure", "number", low="low", high="high"),
        *interval_columns("rank", "count"),
        Column("systems", "count"),
        Column("cells", "count"),
    ]
    rows: list[list[Value]] = []
    for panel, by_view in ranked:
        for name, found in by_view.items():
            (low, high), (first, last) = found.interval(), found.rank_interval()
            for place in np.lexsort((np.arange(len(panel.systems)), found.ranks)):
                rows.append(
                    [
                        panel.name,
                        name,
                        panel.systems[place],
                        float(found.figures[place]),
                        float(low[place]),
                        float(high[place]),
                        int(found.ranks[place]),
                        int(first[place]),
                        int(last[place]),
                        len(panel.systems),
                        panel.cells,
                    ]
                )
    about = {name: found.view.title for _, by_view in ranked for name, found in by_view.items()}
    notes = [f"{name}: {title}" for name, title in about.items()]
    return TidyTable("ranks", "Ranks by view", columns, rows, notes=notes)


def _pair_table(ranked: list[tuple[RankingPanel, Ranked]]) -> TidyTable:
    """Two systems at a time: in how many views the one that is ahead in the flat mean is ahead, and how surely."""
    columns = [
        *text_columns("panel", "first", "second"),
        Column("difference", "difference", "flat difference"),
        Column("views", "count", "views ahead"),
        Column("of", "count"),
        Column("least", "share", "least share of resamples"),
        Column("least_view", label="in view"),
        Column("survives"),
        Column("against", label="views that say otherwise"),
    ]
    rows: list[list[Value]] = []
    for panel, by_view in ranked:
        flat = by_view["flat"]
        order = [int(place) for place in np.argsort(-flat.figures, kind="stable")][:MOST_IN_PAIRS]
        for a, b in combinations(order, 2):
            shares = {name: found.ahead(a, b) for name, found in by_view.items()}
            against = [name for name, found in by_view.items() if found.ranks[a] >= found.ranks[b]]
            least = min(shares, key=lambda name: shares[name])
            names: list[Value] = [panel.name, panel.systems[a], panel.systems[b]]
            views: list[Value] = [len(by_view) - len(against), len(by_view), shares[least], least]
            survives = not against and shares[least] >= SURE
            apart = float(flat.figures[a] - flat.figures[b])
            rows.append([*names, apart, *views, survives, ", ".join(against)])
    notes = [
        f"survives: the first is ahead in every view, in each with at least {SURE:.1%} of the resamples",
        *(
            f"{panel.name}: pairs among the {MOST_IN_PAIRS} best of {len(panel.systems)}"
            for panel, _ in ranked
            if len(panel.systems) > MOST_IN_PAIRS
        ),
    ]
    return TidyTable("conclusions", "Which conclusions survive", columns, rows, notes=notes)


def _pareto_table(scores: ScoreTable, ranked: list[tuple[RankingPanel, Ranked]]) -> TidyTable:
    columns = [
        *text_columns("panel", "system"),
        Column("front", label="standing"),
        Column("parameters", "number", "parameters, millions"),
        Column("score", "score", "flat mean"),
    ]
    rows: list[list[Value]] = []
    for panel, by_view in ranked:
        known = [place for place, system in enumerate(panel.systems) if system in scores.parameters]
        if len(known) > 1:
            sizes = np.array([scores.parameters[panel.systems[place]] for place in known])
            figures = by_view["flat"].figures[known]
            front = pareto_front(sizes, figures)
            for at in np.lexsort((-figures, sizes)):
                on = "on the Pareto front" if front[at] else "beaten"
                rows.append([panel.name, panel.systems[known[at]], on, float(sizes[at]), float(figures[at])])
    notes = ["on the front: no other system is as small and better, or smaller and as good; sizes as published"]
    return TidyTable("pareto", "Score against size", columns, rows, notes=notes)


def _figures(ranked: list[tuple[RankingPanel, Ranked]], pareto: TidyTable) -> list[Figure]:
    figures = []
    several = "panel" if len(ranked) > 1 else ""
    if all(len(panel.systems) <= MOST_IN_CHART for panel, _ in ranked):
        about = "The rank of each system by each way to average: 1 is best."
        figures.append(
            Figure("ranks", "heatmap", "Ranks by view", about, x="view", y="system", colour="rank", panel=several)
        )
    if pareto.rows:
        panels = "panel" if len({row[0] for row in pareto.rows}) > 1 else ""
        about = "Mean score against millions of parameters; systems that no other beats are told apart."
        figures.append(
            Figure(
                "pareto",
                "scatter",
                "Score against size",
                about,
                x="parameters",
                y="score",
                colour="front",
                label="system" if len(pareto.rows) <= MOST_IN_CHART else "",
                panel=panels,
                log_x=True,
            )
        )
    return figures


def _reading(ranked: list[tuple[RankingPanel, Ranked]], pairs: TidyTable) -> str:
    sentences = [_of_panel(panel, by_view, pairs) for panel, by_view in ranked[:4]]
    sentences.append(
        "That an order survives says that it does not hang on the average chosen, nor on which of these languages were "
        "taken; seeds, tuning and what the training data held are not in it."
    )
    return " ".join(sentences)


def _of_panel(panel: RankingPanel, by_view: Mapping[str, RankedView], pairs: TidyTable) -> str:
    of_panel = [row for row in pairs.records() if row["panel"] == panel.name]
    sure = sum(bool(row["survives"]) for row in of_panel)
    turned = sum(bool(row["against"]) for row in of_panel)
    first = {name: panel.systems[int(np.argmin(found.ranks))] for name, found in by_view.items()}
    leaders = list(dict.fromkeys(first.values()))
    if len(leaders) == 1:
        who = f"{leaders[0]} is first in all {len(by_view)} views"
    else:
        parts = [f"{leader} in {sum(each == leader for each in first.values())}" for leader in leaders]
        who = f"the first place depends on the view ({', '.join(parts)})"
    what = "pair" if len(of_panel) == 1 else "pairs"
    return (
        f"{panel.name} ({len(panel.systems)} systems, {panel.cells} cells each): {who}; of {len(of_panel)} {what} "
        f"{sure} keep their order surely in every view, and {turned} change it in some."
    )
