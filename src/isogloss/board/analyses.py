"""Output of `isogloss explain` for system pages: bars of buckets, and their examples."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from isogloss.board.model import BarChart, BoardExample, PairBar, SingleBar, SystemAnalyses
from isogloss.explain.examples import ListedExample
from isogloss.explain.model import AttributeScores, BucketScore
from isogloss.explain.pairwise import AttributeContrasts, BucketContrast
from isogloss.results.system import SystemResult
from isogloss.scoring.names import system_words
from isogloss.tables.explain_io import ExplainRecords
from isogloss.tables.single_tables import bucket_edges

# Maximum number of examples per bar, and length of their texts.
LISTED, TEXT_LENGTH = 10, 400
# Examples by task/language and id.
Cases = Mapping[str, Mapping[str, ListedExample]]


def system_analyses(
    entries: Sequence[SystemResult], ids: Sequence[str], explained: ExplainRecords
) -> dict[str, SystemAnalyses]:
    """Return the analyses of every explained system, by id.

    An explanation belongs to the first system with its name and regime.
    """
    shown: dict[str, str] = {}
    for name, explanation in explained.explanations.items():
        own_name, regime, _ = system_words(explanation.system)
        same = (
            identifier
            for entry, identifier in zip(entries, ids, strict=True)
            if (entry.name, entry.regime) == (own_name, regime) and identifier not in shown.values()
        )
        if (match := next(same, None)) is not None:
            shown[name] = match
    return {identifier: _analyses(name, explained, shown) for name, identifier in shown.items()}


def _analyses(name: str, explained: ExplainRecords, shown: Mapping[str, str]) -> SystemAnalyses:
    cases = explained.cases
    single = [
        _chart(facet, [_single_bar(row, _quoted(facet, row.ids, cases)) for row in facet.buckets], facet.insight)
        for facet in explained.explanations[name].facets
    ]
    pairwise: dict[str, list[BarChart]] = {}
    for pair in explained.pairs:
        for own, other, sign in ((pair.first, pair.second, 1), (pair.second, pair.first, -1)):
            if own == name and other in shown:
                pairwise[shown[other]] = [
                    _chart(facet, [_pair_bar(row, sign, _quoted(facet, row.ids, cases)) for row in facet.buckets])
                    for facet in pair.facets
                ]
    charts = [*single, *(chart for compared in pairwise.values() for chart in compared)]
    return SystemAnalyses(single, pairwise, _examples(charts, cases, name))


def _chart(
    facet: AttributeScores | AttributeContrasts, bars: list[SingleBar] | list[PairBar], insight: str = ""
) -> BarChart:
    ends = [row.bucket.high for row in facet.buckets if row.bucket.high is not None]
    shared = {key: getattr(facet, key) for key in ("task", "language", "metric", "attribute", "title")}
    return BarChart(**shared, bars=bars, insight=insight, edges=None if facet.discrete or not ends else ends[:-1])


def _quoted(facet: AttributeScores | AttributeContrasts, ids: Sequence[str], cases: Cases) -> list[str]:
    """Return the ids of the first few examples that may be shown. Other ids would reveal failures."""
    listed = cases.get(f"{facet.task}/{facet.language}", {})
    return [identifier for identifier in ids if identifier in listed][:LISTED]


def _single_bar(row: BucketScore, ids: list[str]) -> SingleBar:
    name, edges, n = row.bucket.name, bucket_edges(row.bucket), row.bucket.n
    return SingleBar(name=name, edges=edges, n=n, value=row.value, low=row.low, high=row.high, ids=ids)


def _pair_bar(row: BucketContrast, sign: int, ids: list[str]) -> PairBar:
    own, other = (row.first, row.second)[::sign]
    low, high = [None if end is None else sign * end for end in (row.low, row.high)][::sign]
    return PairBar(
        name=row.bucket.name,
        edges=bucket_edges(row.bucket),
        n=row.bucket.n,
        own=own,
        other=other,
        difference=sign * row.difference,
        low=low,
        high=high,
        p=row.p,
        flips=row.flips,
        ids=ids,
    )


def _examples(charts: Iterable[BarChart], cases: Cases, name: str) -> dict[str, dict[str, BoardExample]]:
    """Return the examples listed by any bar."""
    examples: dict[str, dict[str, BoardExample]] = {}
    for chart in charts:
        cell = f"{chart.task}/{chart.language}"
        for identifier in dict.fromkeys(one for bar in chart.bars for one in bar.ids):
            case = cases.get(cell, {}).get(identifier)
            if case is not None and name in case.predictions:
                inputs = {key: short_text(text) for key, text in case.inputs.items()}
                answer, score = case.predictions[name], case.scores.get(name)
                examples.setdefault(cell, {})[identifier] = BoardExample(
                    inputs, short_text(case.gold), short_text(answer), score
                )
    return examples


def short_text(value: Any) -> str:
    """Return a prediction as one line of text."""
    text = " · ".join(map(short_text, value)) if isinstance(value, list) else "" if value is None else str(value)
    return text if len(text) <= TEXT_LENGTH else f"{text[: TEXT_LENGTH - 1]}…"
