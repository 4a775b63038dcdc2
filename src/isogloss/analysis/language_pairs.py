"""Language pairs: how well queries in one language find answers in another, and which languages rankings favour.

XTREME-R (appendix I, Table 14, Figures 3 and 4) breaks LAReQA and Mewsli-X down by the languages of query and target.
LAReQA has a target in every language, so each is looked for with the others taken out of the pool ("limit to one
target", Roy et al. 2020); Mewsli-X has one target anyway.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
import numpy.typing as npt

from isogloss.analysis.answers import answers_of, mark_partial
from isogloss.analysis.finding import AnalysisError, Column, Figure, Finding, TidyTable, Value, first_few
from isogloss.analysis.interval_values import difference_values, known_difference, score_values
from isogloss.analysis.ranking_bias import TopLanguages, found_in_top, top_languages
from isogloss.analysis.table_columns import interval_columns, text_columns
from isogloss.languages import published
from isogloss.metrics.estimate import Estimate, estimate
from isogloss.metrics.statistics import MEAN, Statistics, merge
from isogloss.predictions.memory import Predictions
from isogloss.scoring.cells import Answered, Cell, Request
from isogloss.scoring.sources import Sources
from isogloss.tasks.kinds import LanguagePairs, kind_of
from isogloss.tasks.kinds.retrieval import CUTOFF

NEEDS = "retrieval from a pool of several languages: lareqa, mewslix"
# XTREME-R's Figure 3 shows pairs of languages with at least so many queries.
FEWEST = 10
# Reasons that a refusal names.
NAMED_REASONS = 2
SUBSETS = {"all": "all", "same": "same language", "different": "different languages"}
ALL = "all"


@dataclass(frozen=True, eq=False)
class RetrievalCell:
    """What is kept of a cell: its figures by target language, and the languages of the first places.

    `found` says of every (query, target) pair whether the target is among the first `CUTOFF` of the whole pool.
    """

    system: str
    cell: Cell
    pairs: LanguagePairs
    found: Statistics
    tops: TopLanguages

    @property
    def language(self) -> str:
        """The language of the queries."""
        return self.cell.language

    def subset(self, name: str) -> npt.NDArray[np.bool_]:
        """Which (query, target) pairs are of all, the same or different languages."""
        same: npt.NDArray[np.bool_] = self.pairs.target_languages == self.language
        return {"all": np.ones_like(same), "same": same, "different": ~same}[name]


def language_pairs(folders: Sequence[Predictions], request: Request, *, k: int = CUTOFF) -> Finding:
    """How well each language finds each other, and how the first k places of rankings are spread over languages.

    Args:
        folders: prediction folders, one a system.
        request: tasks, languages, split and data.
        k: how many first places the language bias is counted over.

    Returns:
        The matrix of query and target languages, same against different languages beside XTREME-R's Table 14, and
        the share of first places that each language has against its share of the pool.

    Raises:
        AnalysisError: no ranking over a pool of several languages, or rankings that are too short.
    """
    if k < 1:
        raise AnalysisError(f"the first {k} places are none", fix="Give a k of 1 or more")
    notes = list(_NOTES)
    cells: list[RetrievalCell] = []
    wanted = answers_of(folders, request, lambda task: kind_of(task).shared_pool, notes, NEEDS)
    for system, answered in wanted:
        found = _retrieval_cell(system, answered, k, notes)
        if found is not None:
            cells.append(found)
    if not cells:
        reasons = notes[len(_NOTES) :]
        more = [f"{len(reasons) - NAMED_REASONS} more like these"] if len(reasons) > NAMED_REASONS else []
        where = "; ".join([*reasons[:NAMED_REASONS], *more])
        raise AnalysisError("no cell can be split by language", where=where, fix=f"It takes {NEEDS}")
    sources = Sources((each.cell for each in cells), request.resample)
    tasks = dict.fromkeys(each.cell.task for each in cells)
    shares = [_subsets(cells, sources), *_bias(cells, sources, k)]
    matrices = [_matrix([each for each in cells if each.cell.task == task], sources) for task in tasks]
    figures = [*map(_heatmap, matrices), _OWN_LANGUAGE]
    reading = _reading(shares[0], shares[1], k)
    partial = {(each.system, each.cell.task, each.language) for each in cells if each.cell.partial}
    tables = mark_partial([*shares, *matrices], partial)
    return Finding("language-pairs", "Language pairs in retrieval", reading, tables, figures, notes)


_NOTES = [
    "Scores are AP@20 of each (query, target) pair, micro-averaged, as in XTREME-R's Table 14; where a query has more"
    " targets the others are taken out of the pool for each. Beside it: how often the target is among the first 20 of"
    " the whole pool, with all its translations competing.",
    f"Pairs of languages with fewer than {FEWEST} queries are left out, as in XTREME-R's Figure 3.",
    "A ratio of 1 is what a ranking that is blind to language would have: its first places are spread as the pool is."
    " Where every language has a right answer the best ranking is spread over all languages, and its ratio is 1 only if"
    " the pool's shares are equal.",
    "Intervals are of new sources: queries that share an article, and all translations of one, are left out together.",
]


def _retrieval_cell(system: str, answered: Answered, k: int, notes: list[str]) -> RetrievalCell | None:
    examples, cell = answered.examples, answered.cell
    where = f"{system} on {cell.task}/{cell.language}"
    pairs = cell.judgement.pairs
    if pairs is None or examples.pool is None:
        notes.append(f"{where}: {'; '.join(cell.judgement.notes) or 'no pool that knows the languages'}, left out")
        return None
    tops = top_languages(answered.values, examples.pool.language_of, k)
    if len(tops.languages) < 2:
        notes.append(f"{where}: the pool is in {tops.languages[0]} alone, left out")
        return None
    found = found_in_top(answered.values, examples["targets"], CUTOFF)
    rows = np.fromiter(chain.from_iterable(found), np.float64)[:, None]
    queries = np.repeat(np.arange(len(found)), [len(own) for own in found])
    return RetrievalCell(system, cell, pairs, Statistics(rows, MEAN, queries), tops)


def _groups(cells: Iterable[RetrievalCell]) -> dict[tuple[str, str], list[RetrievalCell]]:
    """The cells of each system and task."""
    groups: dict[tuple[str, str], list[RetrievalCell]] = {}
    for each in cells:
        groups.setdefault((each.system, each.cell.task), []).append(each)
    return groups


def _matrix(cells: Sequence[RetrievalCell], sources: Sources) -> TidyTable:
    """The matrix of one task, for each system."""
    rows: list[list[Value]] = []
    for each in cells:
        for target in np.unique(each.pairs.target_languages).tolist():
            chosen = each.pairs.target_languages == target
            if target and int(chosen.sum()) >= FEWEST:
                score = sources.estimate(each.cell, each.pairs.statistics.select(chosen))
                found = sources.estimate(each.cell, each.found.select(chosen))
                key = each.system, each.cell.task, each.language, target
                rows.append([*key, int(chosen.sum()), *score_values(score), *score_values(found)])
    columns = [
        *text_columns("system", "task"),
        Column("query", label="query language"),
        Column("target", label="target language"),
        Column("n", "count"),
        *interval_columns("score", "score", "AP@20, one target"),
        *interval_columns("found", "score", "in the first 20"),
    ]
    task = cells[0].cell.task
    return TidyTable(f"matrix-{task}", f"{task}: query language by target language", columns, rows)


def _pooled(cells: Sequence[RetrievalCell], sources: Sources, parts: Sequence[Statistics]) -> Estimate | None:
    """One estimate over several cells, by the sources that they share."""
    by_source = [sources.by_source(each.cell, part) for each, part in zip(cells, parts, strict=True) if len(part)]
    if not by_source:
        return None
    # Counted over all queries: subsets with the same sources can be subtracted source by source.
    whole = [sources.by_source(each.cell, each.found).units for each in cells]
    size = 1 + max(int(units.max(initial=0)) for units in whole if units is not None)
    return estimate(merge(by_source), np.arange(size), size, cells[0].cell.task)


def _subsets(cells: Sequence[RetrievalCell], sources: Sources) -> TidyTable:
    rows: list[list[Value]] = []
    tasks = list(dict.fromkeys(each.cell.task for each in cells))
    for (system, task), members in _groups(each for each in cells if not each.cell.partial).items():
        scores: dict[str, Estimate | None] = {}
        for subset, name in SUBSETS.items():
            limited = [each.pairs.statistics.select(each.subset(subset)) for each in members]
            whole = [each.found.select(each.subset(subset)) for each in members]
            scores[subset] = _pooled(members, sources, limited)
            values = [*score_values(scores[subset]), *score_values(_pooled(members, sources, whole))]
            rows.append([system, task, name, "measured", sum(map(len, limited)), *values])
        gap = known_difference(scores["same"], scores["different"])
        rows.append([system, task, "same - different", "measured", None, *difference_values(gap), None, None, None])
    for task in tasks:
        rows += printed_subsets(task)
    columns = [
        *text_columns("system", "task", "subset", "source"),
        Column("n", "count", "pairs"),
        *interval_columns("score", "score", "AP@20, one target"),
        *interval_columns("found", "score", "in the first 20"),
    ]
    return TidyTable("same-different", "Same against different languages (XTREME-R, Table 14)", columns, rows)


def printed_subsets(task: str) -> list[list[Value]]:
    """The rows of XTREME-R's Table 14 that a task has, as the table of subsets has them."""
    return [
        [row["system"], task, row["subset"], "XTREME-R, Table 14", None, float(row["value"]), *[None] * 5]
        for row in published.table("retrieval_subsets")
        if row["task"] == task
    ]


def _bias(cells: Sequence[RetrievalCell], sources: Sources, k: int) -> list[TidyTable]:
    by_pair: list[list[Value]] = []
    own: list[list[Value]] = []
    for (system, task), members in _groups(cells).items():
        for each in members:
            for language in each.tops.languages:
                share = sources.estimate(each.cell, each.tops.share(language)) if each.tops.counts.any() else None
                values = _share_values(share, each.tops.pool_share(language))
                by_pair.append([system, task, each.language, language, *values])
                if language == each.language:
                    own.append([system, task, each.language, *values])
        whole = [each for each in members if not each.cell.partial]
        for language in whole[0].tops.languages if whole else ():
            share = _pooled(whole, sources, [each.tops.share(language) for each in whole])
            by_pair.append([system, task, ALL, language, *_share_values(share, whole[0].tops.pool_share(language))])
    shares = [
        *interval_columns("share", "score", f"% of the first {k}"),
        Column("pool", "score", "% of the pool"),
        *interval_columns("ratio", "share", "ratio"),
    ]
    first = [*text_columns("system", "task"), Column("query", label="query language")]
    return [
        TidyTable("own-language", f"The first {k} places that a query's own language has", [*first, *shares], own),
        TidyTable(
            "bias",
            f"The first {k} places by language, against the pool",
            [*first, Column("candidate", label="candidate language"), *shares],
            by_pair,
        ),
    ]


def _share_values(share: Estimate | None, pool: float) -> list[Value]:
    """The share of the first places with its interval, the pool's share, and the first over the second."""
    if share is None:
        return [None, None, None, 100 * pool, None, None, None]
    low, high = share.score_interval() or (None, None)
    ratios = [None if value is None else value / pool for value in (share.value, low, high)]
    return [*score_values(share), 100 * pool, *ratios]


def _heatmap(matrix: TidyTable) -> Figure:
    return Figure(
        matrix.name,
        "heatmap",
        f"{matrix.title}, AP@20 limited to one target",
        "A square for each pair of query and target language, coloured by its score.",
        "target",
        "query",
        colour="score",
        panel="system",
    )


_OWN_LANGUAGE = Figure(
    "own-language",
    "bars",
    "How many times its share of the pool a query's own language has of the first places",
    "A bar for each query language with its interval; 1 is no preference.",
    "ratio",
    "query",
    colour="system",
    panel="task",
    marks=[("no preference", 1.0)],
)


def _reading(by_subset: TidyTable, own_language: TidyTable, k: int) -> str:
    subsets, own = by_subset.records(), own_language.records()
    sentences = []
    measured = {
        (row["system"], row["task"], row["subset"]): row["score"] for row in subsets if row["source"] == "measured"
    }
    for system, task in dict.fromkeys((name, task) for name, task, _ in measured):
        same, different = (measured[system, task, SUBSETS[name]] for name in ("same", "different"))
        sentences.append(
            f"On {task}, {system} has {_text(same)} in the same language and {_text(different)} in different ones."
        )
        ratios = {str(row["query"]): row["ratio"] for row in own if (row["system"], row["task"]) == (system, task)}
        known = {code: ratio for code, ratio in ratios.items() if isinstance(ratio, float)}
        if known:
            most, least = max(known, key=known.__getitem__), min(known, key=known.__getitem__)
            sentences.append(
                f"Its first {k} places go to the query's own language {np.mean([*known.values()]):.1f} times as often"
                f" as the pool would have it (from {known[least]:.1f} in {least} to {known[most]:.1f} in {most})."
            )
    return (
        f"{first_few(sentences)} A one-target score says nothing of the order among the translations of one answer,"
        " since only one of them is in the pool; the shares of the first places do, but not whether what stands there"
        " is right."
    )


def _text(value: Value) -> str:
    return f"{value:.1f}" if isinstance(value, float) else "no score"
