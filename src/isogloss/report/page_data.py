"""The compact data that the page draws explanations from.

What systems and metrics share is there once: an attribute's title, a language's name, the buckets of an attribute in a
cell (a "cut") and the ids of a cell's examples. Scores are whole numbers of tenths, as they are printed.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any

import msgspec

from isogloss.explain.examples import ListedExample
from isogloss.explain.model import AttributeScores, BucketScore
from isogloss.explain.pairwise import AttributeContrasts, BucketContrast, PairwiseExplanation
from isogloss.figures import rounded
from isogloss.report.charts import bucket_bars
from isogloss.report.explain_io import ExplainRecords
from isogloss.report.explain_section import explained_colours
from isogloss.report.pairwise_section import pairwise_chart
from isogloss.report.single_tables import bucket_edges
from isogloss.scoring.names import language_name

# Bytes that examples may take. A bucket lists the first so many of its ids, with texts cut at such a length, that all
# of it fits into what the rest leaves: shorter texts first, then fewer examples, and at last ids alone.
MOST_ROOM, LEAST_ROOM = 3_000_000, 300_000
MANY = [(ids, length) for ids in (64, 32, 16, 8, 4, 2, 1) for length in (600, 240)]
LIMITS = [*MANY, (1, 120), (1, 60), (1, 30), (1, 0)]

# The ids of one bucket, or of the examples that only one system has right, with the `task/language` they are of.
Listing = tuple[str, tuple[str, ...]]


def explain_data(explained: ExplainRecords, systems: Iterable[str] = (), size: int = 2 * MOST_ROOM) -> dict[str, Any]:
    """What the page needs to draw any facet of any system, and any pair, with as many examples as fit into its size."""
    colours = explained_colours(explained.explanations, systems)
    bare = len(msgspec.json.encode(_without_examples(explained, _SharedBuckets({}, 0), colours)))
    limit, ids, texts = _examples_that_fit(explained, min(MOST_ROOM, max(LEAST_ROOM, size - bare)))
    ids_by_cell = {cell: list(places) for cell, places in ids.items()}
    return {**_without_examples(explained, _SharedBuckets(ids, limit), colours), "ids": ids_by_cell, "cases": texts}


def _without_examples(
    explained: ExplainRecords, shared: "_SharedBuckets", colours: Mapping[str, str]
) -> dict[str, Any]:
    """All but the examples."""
    every = [facet for explanation in explained.explanations.values() for facet in explanation.facets]
    compared = (facet.metric for pair in explained.pairs for facet in pair.facets)
    metrics = list(dict.fromkeys((*(facet.metric for facet in every), *compared)))
    facets = [
        [
            place,
            shared.place(str(place), facet),
            metrics.index(facet.metric),
            [_tenths(value) for score in facet.buckets for value in (score.value, score.low, score.high)],
            *([facet.insight] if facet.insight else []),
        ]
        for place, explanation in enumerate(explained.explanations.values())
        for facet in explanation.facets
    ]
    return {
        "systems": list(explained.explanations),
        "metrics": metrics,
        "titles": {facet.attribute: facet.title for facet in every},
        "names": {code: language_name(code) for code in dict.fromkeys(facet.language for facet in every)},
        "facets": facets,
        "pairs": [_compact_pair(pair, shared, metrics, colours) for pair in explained.pairs],
        "cuts": shared.cuts,
        "spec": bucket_bars("explain", "Scores by bucket", [], colours).spec,
        "confusion": {name: each.confusion for name, each in explained.explanations.items() if each.confusion},
    }


class _SharedBuckets:
    """The buckets of each attribute of each cell ("cuts" on the page), each kept once.

    `cuts` has lists of task, language, attribute, and buckets: name, edges, n, places of the first ids, how many
    there are.
    """

    def __init__(self, ids: Mapping[str, Mapping[str, int]], limit: int) -> None:
        self.cuts: list[list[Any]] = []
        self._ids, self._limit = ids, limit
        self._places: dict[Any, int] = {}

    def place(self, of: str, facet: AttributeScores | AttributeContrasts) -> int:
        """The place of the buckets in `cuts`; examples come with the main metric and hold for `of`'s other ones."""
        where, scores = (facet.task, facet.language, facet.attribute), facet.buckets
        shape = tuple(score.bucket for score in scores)
        listed = any(score.ids for score in scores)
        if not listed and (of, where, shape) in self._places:
            return self._places[of, where, shape]
        key = where, shape, tuple(tuple(score.ids) for score in scores)
        if key not in self._places:
            self._places[key] = len(self.cuts)
            self.cuts.append([*where, [self._short(f"{facet.task}/{facet.language}", score) for score in scores]])
        self._places.setdefault((of, where, shape), self._places[key])
        return self._places[key]

    def _short(self, cell: str, score: BucketScore | BucketContrast) -> list[Any]:
        bucket, first_ids = score.bucket, self.listed(cell, score.ids)
        return [bucket.name, bucket_edges(bucket), bucket.n, first_ids, len(score.ids)]

    def listed(self, cell: str, ids: Sequence[str]) -> list[int]:
        """The places of the first ids."""
        return [self._ids[cell][one] for one in ids[: self._limit]]


def _compact_pair(
    pair: PairwiseExplanation, shared: _SharedBuckets, metrics: Sequence[str], colours: Mapping[str, str]
) -> dict[str, Any]:
    name = f"{pair.first}|{pair.second}"
    facets = [
        [
            shared.place(name, facet),
            metrics.index(facet.metric),
            [part for row in facet.buckets for part in _compact_contrast(facet, row)],
        ]
        for facet in pair.facets
    ]
    cells = {}
    for cell in pair.cells:
        key = f"{cell.task}/{cell.language}"
        listed = [shared.listed(key, ids) for ids in (cell.first_right_ids, cell.second_right_ids)]
        cells[key] = [cell.n, _tenths(cell.difference), cell.first_right, cell.second_right, *listed]
    spec = pairwise_chart("differences", "Differences by bucket", [], pair, colours).spec
    return {"first": pair.first, "second": pair.second, "facets": facets, "cells": cells, "spec": spec}


def _compact_contrast(facet: AttributeContrasts, row: BucketContrast) -> tuple[int | None, ...]:
    """Both scores, the difference and its interval in tenths; p in thousandths; marks.

    Marks are the sum of 1 if the two can be told apart, 2 if their order turns, and 4 if the first is the better one.
    """
    scores = (row.first, row.second, row.difference, row.low, row.high)
    marks = row.significant + 2 * row.flips + 4 * ((row.difference > 0) != facet.lower_is_better)
    return (*map(_tenths, scores), _thousandths(row.p), marks)


def _tenths(value: float | None) -> int | None:
    """A score as it is printed, in tenths; a bound that is not there stays so."""
    return None if value is None else round(10 * rounded(value))


def _thousandths(p: float) -> int:
    """A p-value as it is printed; 0 stands for less than one."""
    return round(1000 * float(f"{p:.3f}")) if p >= 0.001 else 0


def _examples_that_fit(
    explained: ExplainRecords, room: int
) -> tuple[int, dict[str, dict[str, int]], dict[str, dict[str, Any]]]:
    """How many ids a bucket lists, the ids of each cell with their places, and the examples as the page shows them."""
    # Systems, metrics and pairs list the same buckets.
    systems = list(explained.explanations)
    listings = list(dict.fromkeys((cell, tuple(ids)) for cell, ids in _listings(explained)))

    @cache
    def cost(cell: str, identifier: str, length: int) -> int:
        case = explained.cases.get(cell, {}).get(identifier) if length else None
        return 0 if case is None else len(msgspec.json.encode({identifier: _compact_case(case, length, systems)}))

    for limit, length in LIMITS:
        ids, size = _listed_ids(listings, limit)
        if size + sum(cost(cell, one, length) for cell, places in ids.items() for one in places) <= room:
            break
    texts: dict[str, dict[str, Any]] = {}
    for cell, places in ids.items():
        cases = explained.cases.get(cell, {}) if length else {}
        texts[cell] = {one: _compact_case(cases[one], length, systems) for one in places if one in cases}
    return limit, ids, texts


def _listings(explained: ExplainRecords) -> Iterator[tuple[str, Sequence[str]]]:
    for explanation in explained.explanations.values():
        for facet in explanation.facets:
            yield from ((f"{facet.task}/{facet.language}", score.ids) for score in facet.buckets)
    for pair in explained.pairs:
        for contrast in pair.facets:
            yield from ((f"{contrast.task}/{contrast.language}", row.ids) for row in contrast.buckets)
        for cell in pair.cells:
            yield from ((f"{cell.task}/{cell.language}", ids) for ids in (cell.first_right_ids, cell.second_right_ids))


def _listed_ids(listings: Iterable[Listing], limit: int) -> tuple[dict[str, dict[str, int]], int]:
    """The first ids of all listings, by cell, with their places; and how many characters they come to."""
    ids: dict[str, dict[str, int]] = {}
    pointers = 0
    for cell, listed in listings:
        places = ids.setdefault(cell, {})
        pointers += len(listed[:limit])
        for identifier in listed[:limit]:
            places.setdefault(identifier, len(places))
    # An id costs its letters, two quotes and a comma; a pointer to it four characters or so.
    return ids, 4 * pointers + sum(len(identifier) + 3 for places in ids.values() for identifier in places)


def _compact_case(case: ListedExample, length: int, systems: Sequence[str]) -> list[Any]:
    """Inputs with their names, gold, and for each system its place, its answer and its score."""
    inputs = [[name, _one_line(text, length)] for name, text in case.inputs.items()]
    answers = [
        [place, _one_line(case.predictions[name], length), round(case.scores[name]) if name in case.scores else None]
        for place, name in enumerate(systems)
        if name in case.predictions
    ]
    return [inputs, _one_line(case.gold, length), answers]


def _one_line(value: Any, length: int) -> str:
    """Anything a system may answer, on one line of at most `length` characters."""
    if value is None:
        return "(none)"
    text = " · ".join(_one_line(one, length) for one in value) if isinstance(value, list) else str(value)
    return text if len(text) <= length else text[: max(0, length - 1)] + "…"
