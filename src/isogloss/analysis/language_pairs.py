"""Retrieval scores by query and target language, and the language bias of rankings.

XTREME-R (appendix I, Table 14, Figures 3 and 4) breaks LAReQA and Mewsli-X down by the languages of query and target.
LAReQA has a target in every language, so each is evaluated with the others removed from the pool ("limit to one
target", Roy et al. 2020); Mewsli-X always has one target.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from operator import attrgetter, itemgetter

import numpy as np
import numpy.typing as npt

from isogloss.analysis.answers import answers_of, difference_values, known_difference, mark_partial, score_values
from isogloss.analysis.finding import (
    AnalysisError,
    Figure,
    Finding,
    TidyTable,
    Value,
    columns,
    difference_words,
    figure,
    first_few,
)
from isogloss.grouping import group_by
from isogloss.languages import published
from isogloss.metrics.estimate import Estimate, estimate
from isogloss.metrics.statistics import MEAN, RATIO, FloatArray, Statistics, merge
from isogloss.predictions.memory import Predictions
from isogloss.scoring.cells import Answered, Cell
from isogloss.scoring.request import Request
from isogloss.scoring.sources import Sources
from isogloss.tasks.kinds import LanguagePairs, Values, kind_of
from isogloss.tasks.kinds.retrieval import CUTOFF

NEEDS = "retrieval from a pool of several languages: lareqa, mewslix"
# Minimum number of queries of a language pair, as in XTREME-R's Figure 3.
FEWEST = 10
# Maximum number of reasons in an error message.
NAMED_REASONS = 2
SUBSETS = {"all": "all", "same": "same language", "different": "different languages"}
ALL = "all"
SAME_MINUS_DIFFERENT = "same - different"


@dataclass(frozen=True, eq=False)
class TopLanguages:
    """Number of top candidates (queries, languages), and the share of the pool of each language.

    The share of the pool is the expected share of a language-blind ranking.
    """

    counts: FloatArray
    pool: Mapping[str, float]

    def share(self, language: str) -> Statistics:
        """Return the statistics of a language's share of all top candidates."""
        own = self.counts[:, list(self.pool).index(language)]
        return Statistics(np.column_stack([own, self.counts.sum(axis=1)]), RATIO)


def top_languages(rankings: Values, language_of: Mapping[str, str], k: int) -> TopLanguages:
    """Count the languages of the first k distinct candidates of every ranking; queries without a ranking get zeros."""
    sizes = Counter(language_of.values())
    column = {language: index for index, language in enumerate(sorted(sizes))}
    counts = np.zeros((len(rankings), len(column)))
    for row, ranked in enumerate(rankings):
        for candidate in islice(dict.fromkeys(ranked or ()), k):
            counts[row, column[language_of[candidate]]] += 1
    return TopLanguages(counts, {code: sizes[code] / sizes.total() for code in column})


def found_in_top(rankings: Values, targets: Sequence[Sequence[str]], k: int) -> list[list[bool]]:
    """Return True for each target of each query that is among the first k candidates, including duplicates."""
    tops = (set((ranked or ())[:k]) for ranked in rankings)
    return [[target in top for target in own] for top, own in zip(tops, targets, strict=True)]


@dataclass(frozen=True, eq=False, kw_only=True)
class RetrievalCell:
    """Scores of a cell by target language, and the languages of its top candidates.

    `in_top` is 1 for each (query, target) pair with the target among the first `CUTOFF` of the whole pool, else 0.
    """

    system: str
    cell: Cell
    pairs: LanguagePairs
    in_top: Statistics
    tops: TopLanguages

    @property
    def language(self) -> str:
        """Language of the queries."""
        return self.cell.language

    def subset(self, name: str) -> npt.NDArray[np.bool_]:
        """Return a mask of the (query, target) pairs of all, the same or different languages."""
        same: npt.NDArray[np.bool_] = self.pairs.target_languages == self.language
        return {"all": np.ones_like(same), "same": same, "different": ~same}[name]


def language_pairs(folders: Sequence[Predictions], request: Request, *, k: int = CUTOFF) -> Finding:
    """Score retrieval by language pair, and count the languages of the first k candidates.

    Args:
        folders: prediction folders, one per system.
        request: tasks, languages, split and data.
        k: number of top candidates to measure language bias over.

    Returns:
        The matrix of query and target languages, same and different languages compared with XTREME-R's Table 14, and
        each language's share of the top candidates and of the pool.

    Raises:
        AnalysisError: no rankings over a pool of several languages, or rankings that are too short.
    """
    if k < 1:
        raise AnalysisError(f"k must be at least 1, got {k}", fix="Pass a larger k")
    notes = list(_NOTES)
    cells: list[RetrievalCell] = []
    for system, answered in answers_of(folders, request, lambda task: kind_of(task).shared_pool, notes, NEEDS):
        retrieval = _retrieval_cell(system, answered, k, notes)
        cells += [retrieval] if retrieval is not None else []
    if not cells:
        reasons = notes[len(_NOTES) :]
        more = [f"{len(reasons) - NAMED_REASONS} more"] if len(reasons) > NAMED_REASONS else []
        where = "; ".join([*reasons[:NAMED_REASONS], *more])
        raise AnalysisError("no cell can be split by language", where=where, fix=f"Use {NEEDS}")
    sources = Sources((cell.cell for cell in cells), request.resample)
    tasks = dict.fromkeys(cell.cell.task for cell in cells)
    shares = [_subsets(cells, sources), *_bias(cells, sources, k)]
    matrices = [_matrix([cell for cell in cells if cell.cell.task == task], sources) for task in tasks]
    # If every query has a target in every language, there is nothing to count.
    several = {cell.cell.task for cell in cells if len(cell.pairs.target_languages) > cell.cell.n}
    compositions = [
        _composition([cell for cell in cells if cell.cell.task == task]) for task in tasks if task not in several
    ]
    partial = {(cell.system, cell.cell.task, cell.language) for cell in cells if cell.cell.partial}
    return Finding(
        analysis="language-pairs",
        title="Language pairs in retrieval",
        reading=_reading(shares[0], shares[1], k),
        tables=mark_partial([*shares, *matrices, *compositions], partial),
        figures=[*map(_heatmap, matrices), _OWN_LANGUAGE, *map(_composition_map, compositions)],
        notes=notes,
    )


_NOTES = [
    "Scores are AP@20 of each (query, target) pair, micro-averaged, as in XTREME-R's Table 14; if a query has several"
    " targets, the others are removed from the pool. In the first 20: share of targets among the first 20 of the whole"
    " pool, where all translations compete.",
    f"Pairs of languages with fewer than {FEWEST} queries are left out, as in XTREME-R's Figure 3.",
    "A language-blind ranking has a ratio of 1: its top candidates have the languages of the pool. If every language "
    "has a right answer, the best ranking covers all languages; its ratio is 1 only if the pool's shares are equal.",
    "Intervals are clustered: queries that share an article, and all translations of a query, form one cluster.",
]


def _retrieval_cell(system: str, answered: Answered, k: int, notes: list[str]) -> RetrievalCell | None:
    examples, cell = answered.examples, answered.cell
    where = f"{system} on {cell.task}/{cell.language}"
    pairs = cell.judgement.pairs
    if pairs is None or examples.pool is None:
        notes.append(f"{where}: {'; '.join(cell.judgement.notes) or 'pool without languages'}, left out")
        return None
    tops = top_languages(answered.values, examples.pool.language_of, k)
    if len(tops.pool) < 2:
        notes.append(f"{where}: the pool is in {next(iter(tops.pool))} only, left out")
        return None
    in_top = found_in_top(answered.values, examples["targets"], CUTOFF)
    rows = np.fromiter(chain.from_iterable(in_top), np.float64)[:, None]
    queries = np.repeat(np.arange(len(in_top)), [len(own) for own in in_top])
    statistics = Statistics(rows, MEAN, queries)
    return RetrievalCell(system=system, cell=cell, pairs=pairs, in_top=statistics, tops=tops)


_SCORES = "score±:score = AP@20, one target; found±:score = in the first 20"


def _matrix(cells: Sequence[RetrievalCell], sources: Sources) -> TidyTable:
    """Return the matrix of one task, by system."""
    task = cells[0].cell.task
    heads = columns(f"system task; query = query language; target = target language; n:count; {_SCORES}")
    table = TidyTable(f"matrix-{task}", f"{task}: query language by target language", heads)
    for cell in cells:
        for target in np.unique(cell.pairs.target_languages).tolist():
            chosen = cell.pairs.target_languages == target
            if target and int(chosen.sum()) >= FEWEST:
                score = sources.estimate(cell.cell, cell.pairs.statistics.select(chosen))
                in_top = sources.estimate(cell.cell, cell.in_top.select(chosen))
                key = cell.system, task, cell.language, target
                table.add(*key, int(chosen.sum()), *score_values(score), *score_values(in_top))
    return table


def _composition(cells: Sequence[RetrievalCell]) -> TidyTable:
    """Return the number of targets of one task by language of query and target, of any system since gold is the same.

    The other languages of XTREME-R's Table 9 are included with the number 0.
    """
    task = cells[0].cell.task
    printed = _printed_composition(task)
    numbers = "n:count = pairs" + ("; printed:count = XTREME-R, Table 9" if printed else "")
    heads = columns(f"task; query = query language; target = target language; {numbers}")
    table = TidyTable(f"composition-{task}", f"{task}: targets by query language and target language", heads)
    if printed:
        table.notes.append("the released test set has other mentions than the paper's")
    for query, cell in {cell.language: cell for cell in cells}.items():
        counts = Counter(cell.pairs.target_languages.tolist())
        targets = dict.fromkeys([*(target for language, target in printed if language == query), *sorted(counts)])
        for target in filter(None, targets):
            table.add(task, query, target, counts[target], *([printed.get((query, target))] if printed else []))
    return table


def _printed_composition(task: str) -> dict[tuple[str, str], int]:
    """Return the printed number of queries by languages of query and target; empty if the task has none."""
    if f"{task}_composition" not in published.tables():
        return {}
    rows = published.table(f"{task}_composition")
    return {(query, row["description"]): int(row[query]) for row in rows for query in row if query != "description"}


def _pooled(cells: Sequence[RetrievalCell], sources: Sources, parts: Sequence[Statistics]) -> Estimate | None:
    """Return one estimate over several cells, clustered by their shared sources."""
    by_source = [sources.by_source(cell.cell, part) for cell, part in zip(cells, parts, strict=True) if len(part)]
    if not by_source:
        return None
    # Count sources over all queries, so that subsets can be subtracted source by source.
    whole = [sources.by_source(cell.cell, cell.in_top).units for cell in cells]
    size = 1 + max(int(units.max(initial=0)) for units in whole if units is not None)
    return estimate(merge(by_source), np.arange(size), size, cells[0].cell.task)


def _subsets(cells: Sequence[RetrievalCell], sources: Sources) -> TidyTable:
    heads = columns(f"system task subset source; n:count = pairs; {_SCORES}")
    table = TidyTable("same-different", "Same and different languages (XTREME-R, Table 14)", heads)
    whole_cells = [cell for cell in cells if not cell.cell.partial]
    for key, members in group_by(whole_cells, attrgetter("system", "cell.task")).items():
        scores: dict[str, Estimate | None] = {}
        for subset, name in SUBSETS.items():
            limited = [cell.pairs.statistics.select(cell.subset(subset)) for cell in members]
            whole = [cell.in_top.select(cell.subset(subset)) for cell in members]
            scores[subset] = _pooled(members, sources, limited)
            values = [*score_values(scores[subset]), *score_values(_pooled(members, sources, whole))]
            table.add(*key, name, "measured", sum(map(len, limited)), *values)
        gap = known_difference(scores["same"], scores["different"])
        table.add(*key, SAME_MINUS_DIFFERENT, "measured", None, *difference_values(gap), *[None] * 3)
    for task in dict.fromkeys(cell.cell.task for cell in cells):
        table.rows.extend(printed_subsets(task))
    return table


def printed_subsets(task: str) -> list[list[Value]]:
    """Return a task's rows of XTREME-R's Table 14, in the columns of the subset table."""
    return [
        [row["system"], task, row["subset"], "XTREME-R, Table 14", None, float(row["value"]), *[None] * 5]
        for row in published.table("retrieval_subsets")
        if row["task"] == task
    ]


def _bias(cells: Sequence[RetrievalCell], sources: Sources, k: int) -> list[TidyTable]:
    shares = f"share±:score = % of the first {k}; pool:score = % of the pool; ratio±:share = ratio"
    heads = columns(f"system task; query = query language; {shares}")
    own = TidyTable("own-language", f"Share of the query's language in the first {k}", heads)
    heads = columns(f"system task; query = query language; candidate = candidate language; {shares}")
    by_pair = TidyTable("bias", f"Languages of the first {k} candidates and of the pool", heads)
    for key, members in group_by(cells, attrgetter("system", "cell.task")).items():
        for cell in members:
            for language, pool in cell.tops.pool.items():
                share = sources.estimate(cell.cell, cell.tops.share(language)) if cell.tops.counts.any() else None
                values = _share_values(share, pool)
                by_pair.add(*key, cell.language, language, *values)
                if language == cell.language:
                    own.add(*key, cell.language, *values)
        whole = [cell for cell in members if not cell.cell.partial]
        for language, pool in whole[0].tops.pool.items() if whole else ():
            share = _pooled(whole, sources, [cell.tops.share(language) for cell in whole])
            by_pair.add(*key, ALL, language, *_share_values(share, pool))
    return [own, by_pair]


def _share_values(share: Estimate | None, pool: float) -> list[Value]:
    """Return the share of the top candidates with its interval, the pool's share, and their ratio."""
    if share is None:
        return [None, None, None, 100 * pool, None, None, None]
    low, high = share.score_interval() or (None, None)
    ratios = [None if value is None else value / pool for value in (share.value, low, high)]
    return [*score_values(share), 100 * pool, *ratios]


def _heatmap(matrix: TidyTable) -> Figure:
    about = "One square per pair of query and target language, coloured by score."
    title = f"{matrix.title}, AP@20 limited to one target"
    return figure("heatmap", f"{matrix.name}: target, query, score, system", title, about)


def _composition_map(composition: TidyTable) -> Figure:
    about = "One square per pair of query and target language, coloured by the number of pairs."
    return figure("heatmap", f"{composition.name}: query, target, n", composition.title, about)


_OWN_LANGUAGE = figure(
    "bars",
    "own-language: ratio, query, system, task",
    "Share of the query's language in the top candidates, relative to the pool",
    "One bar per query language with its interval; 1 means no preference.",
    marks=[("no preference", 1.0)],
)


def _bias_sentences(rows: Sequence[Mapping[str, Value]], k: int) -> list[str]:
    """Describe the mean and the range of the ratios of one system and task, if it has any."""
    known = [(float(ratio), row) for row in rows if isinstance(ratio := row["ratio"], float)]
    if not known:
        return []
    (low, least), (high, most) = min(known, key=itemgetter(0)), max(known, key=itemgetter(0))
    spread = f"from {low:.1f} in {least['query']} to {high:.1f} in {most['query']}"
    ends = least["ratio_high"], most["ratio_low"]
    if f"{low:.1f}" == f"{high:.1f}":
        spread = "the same in every language"
    elif not all(isinstance(end, float) for end in ends) or float(ends[0] or 0) >= float(ends[1] or 0):
        spread += ", not significantly different"
    times = f"{np.mean([ratio for ratio, _ in known]):.1f} times as often as the pool's share implies"
    return [f"Its first {k} candidates are in the query's language {times} ({spread})."]


def _reading(by_subset: TidyTable, own_language: TidyTable, k: int) -> str:
    rows, own = by_subset.records(), own_language.records()
    sentences = []
    scores = {(row["system"], row["task"], row["subset"]): row["score"] for row in rows if row["source"] == "measured"}
    gaps = {
        (row["system"], row["task"]): difference_words(row["score"], row["score_low"], row["score_high"])
        for row in rows
        if row["subset"] == SAME_MINUS_DIFFERENT
    }
    for system, task in dict.fromkeys((name, task) for name, task, _ in scores):
        values = [scores[system, task, SUBSETS[name]] for name in ("same", "different")]
        texts = [f"{value:.1f}" if isinstance(value, float) else "no score" for value in values]
        gap = gaps[system, task]
        apart = f", a difference of {gap}" if all(isinstance(value, float) for value in values) else ""
        sentences.append(
            f"On {task}, {system} scores {texts[0]} for the same language and {texts[1]} for different languages"
            f"{apart}."
        )
        sentences += _bias_sentences([row for row in own if (row["system"], row["task"]) == (system, task)], k)
    return (
        f"{first_few(sentences)} A one-target score does not reflect the order among translations of an answer, since "
        "only one of them is in the pool. The shares of the top candidates do, regardless of whether they are right."
    )
