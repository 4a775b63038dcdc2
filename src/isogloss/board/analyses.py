"""What `isogloss explain` found out, as the pages of systems have it: bars of buckets, and the examples behind them."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from isogloss.board.entries import BoardEntry
from isogloss.board.model import BarChart, BoardExample, PairBar, SingleBar, SystemAnalyses
from isogloss.explain.examples import ListedExample
from isogloss.explain.model import AttributeScores, BucketScore
from isogloss.explain.pairwise import AttributeContrasts, BucketContrast
from isogloss.report.explain_io import ExplainRecords
from isogloss.report.single_tables import bucket_edges
from isogloss.scoring.names import system_words

# Examples a bar lists, and the characters of their texts.
LISTED, TEXT_LENGTH = 10, 400
# Examples by task/language and id.
Cases = Mapping[str, Mapping[str, ListedExample]]


def system_analyses(
    entries: Sequence[BoardEntry], ids: Sequence[str], explained: ExplainRecords
) -> dict[str, SystemAnalyses]:
    """The analyses of every system of a board that was explained, by its id.

    An explanation belongs to the first system of its name and regime.
    """
    shown: dict[str, str] = {}
    for name, explanation in explained.explanations.items():
        own_name, regime, _ = system_words(explanation.system)
        same = (
            identifier
            for entry, identifier in zip(entries, ids, strict=True)
            if (entry.name, entry.regime) == (own_name, regime) and identifier not in shown.values()
        )
        if (found := next(same, None)) is not None:
            shown[name] = found
    return {identifier: _of_system(name, explained, shown) for name, identifier in shown.items()}


def _of_system(name: str, explained: ExplainRecords, shown: Mapping[str, str]) -> SystemAnalyses:
    cases = explained.cases
    single = [
        _chart(facet, [_bar(row, _quoted(facet, row.ids, cases)) for row in facet.buckets])
        for facet in explained.explanations[name].facets
    ]
    pairwise: dict[str, list[BarChart]] = {}
    for pair in explained.pairs:
        for own, other, sign in ((pair.first, pair.second, 1), (pair.second, pair.first, -1)):
            if own == name and other in shown:
                pairwise[shown[other]] = [_pair_chart(facet, sign, cases) for facet in pair.facets]
    charts = [*single, *(chart for each in pairwise.values() for chart in each)]
    return SystemAnalyses(single, pairwise, _examples(charts, cases, name))


def _chart(facet: AttributeScores | AttributeContrasts, bars: list[SingleBar] | list[PairBar]) -> BarChart:
    insight = facet.insight if isinstance(facet, AttributeScores) else ""
    ends = [row.bucket.high for row in facet.buckets if row.bucket.high is not None]
    edges = None if facet.discrete or not ends else ends[:-1]
    return BarChart(facet.task, facet.language, facet.metric, facet.attribute, facet.title, bars, insight, edges)


def _quoted(facet: AttributeScores | AttributeContrasts, ids: Sequence[str], cases: Cases) -> list[str]:
    """The ids of the first few examples that can be shown. Others are not named: they are those a system failed on."""
    known = cases.get(f"{facet.task}/{facet.language}", {})
    return [each for each in ids if each in known][:LISTED]


def _bar(row: BucketScore, ids: list[str]) -> SingleBar:
    bucket = row.bucket
    return SingleBar(bucket.name, bucket_edges(bucket), bucket.n, row.value, row.low, row.high, ids)


def _pair_chart(facet: AttributeContrasts, sign: int, cases: Cases) -> BarChart:
    return _chart(facet, [_pair_bar(row, sign, _quoted(facet, row.ids, cases)) for row in facet.buckets])


def _pair_bar(row: BucketContrast, sign: int, ids: list[str]) -> PairBar:
    own, other = (row.first, row.second)[::sign]
    low, high = [None if end is None else sign * end for end in (row.low, row.high)][::sign]
    bucket = row.bucket
    place = bucket.name, bucket_edges(bucket), bucket.n
    return PairBar(*place, own, other, sign * row.difference, low, high, row.p, row.flips, ids)


def _examples(charts: Iterable[BarChart], cases: Cases, name: str) -> dict[str, dict[str, BoardExample]]:
    """The examples that any bar lists."""
    found: dict[str, dict[str, BoardExample]] = {}
    for chart in charts:
        cell = f"{chart.task}/{chart.language}"
        for identifier in dict.fromkeys(one for bar in chart.bars for one in bar.ids):
            case = cases.get(cell, {}).get(identifier)
            if case is not None and name in case.predictions:
                inputs = {key: short_text(text) for key, text in case.inputs.items()}
                answer, score = case.predictions[name], case.scores.get(name)
                found.setdefault(cell, {})[identifier] = BoardExample(
                    inputs, short_text(case.gold), short_text(answer), score
                )
    return found


def short_text(value: Any) -> str:
    """Anything a system may answer, on one line."""
    text = " · ".join(map(short_text, value)) if isinstance(value, list) else "" if value is None else str(value)
    return text if len(text) <= TEXT_LENGTH else f"{text[: TEXT_LENGTH - 1]}…"
