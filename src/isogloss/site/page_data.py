"""Compact data from which the page draws explanations.

Shared values are stored once: an attribute's title, a language's name, the buckets of an attribute in a cell (a "cut")
and the ids of a cell's examples. Scores are whole tenths.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any

import msgspec

from isogloss.explain.buckets import bucket_edges
from isogloss.explain.examples import ListedExample
from isogloss.explain.model import AttributeScores, Explanation
from isogloss.explain.pairwise import AttributeContrasts, BucketContrast, PairwiseExplanation
from isogloss.figures import rounded
from isogloss.scoring.names import language_name
from isogloss.site.explain_section import explained_colours
from isogloss.tables.explain_io import ExplainRecords

# Bytes for examples. To meet the limit, texts are cut first, then buckets list fewer examples, then only ids remain.
MOST_ROOM, LEAST_ROOM = 3_000_000, 300_000
MANY = [(ids, length) for ids in (64, 32, 16, 8, 4, 2, 1) for length in (600, 240)]
LIMITS = [*MANY, (1, 120), (1, 60), (1, 30), (1, 0)]

# `task/language`, with the ids of one bucket or of the examples that only one system gets right.
Listing = tuple[str, tuple[str, ...]]


def explain_data(explained: ExplainRecords, systems: Iterable[str] = (), size: int = 2 * MOST_ROOM) -> dict[str, Any]:
    """Return the page's data of every facet and pair, with as many examples as fit into `size` bytes."""
    colours = explained_colours(explained.explanations, systems)
    bare = len(msgspec.json.encode(_without_examples(explained, _SharedBuckets({}, 0), colours)))
    limit, ids, texts = _examples_that_fit(explained, min(MOST_ROOM, max(LEAST_ROOM, size - bare)))
    ids_by_cell = {cell: list(positions) for cell, positions in ids.items()}
    return {**_without_examples(explained, _SharedBuckets(ids, limit), colours), "ids": ids_by_cell, "cases": texts}


def _without_examples(
    explained: ExplainRecords, shared: "_SharedBuckets", colours: Mapping[str, str]
) -> dict[str, Any]:
    every = [facet for explanation in explained.explanations.values() for facet in explanation.facets]
    compared = (facet.metric for pair in explained.pairs for facet in pair.facets)
    metrics = list(dict.fromkeys((*(facet.metric for facet in every), *compared)))
    facets = [
        [
            system,
            shared.index(str(system), facet),
            metrics.index(facet.metric),
            [_tenths(value) for score in facet.buckets for value in (score.value, score.low, score.high)],
            *([facet.insight] if facet.insight else []),
        ]
        for system, explanation in enumerate(explained.explanations.values())
        for facet in explanation.facets
    ]
    return {
        "systems": list(explained.explanations),
        "metrics": metrics,
        "titles": {facet.attribute: facet.title for facet in every},
        "names": {code: language_name(code) for code in dict.fromkeys(facet.language for facet in every)},
        "facets": facets,
        "pairs": [_compact_pair(pair, shared, metrics) for pair in explained.pairs],
        "cuts": shared.cuts,
        "colours": list(colours.values()),
        "confusion": {name: each.confusion for name, each in explained.explanations.items() if each.confusion},
    }


class _SharedBuckets:
    # Each cut has task, language, attribute, and buckets: name, edges, n, positions of the first ids, number of ids.

    def __init__(self, ids: Mapping[str, Mapping[str, int]], limit: int) -> None:
        self.cuts: list[list[Any]] = []
        self._ids, self._limit = ids, limit
        self._indices: dict[Any, int] = {}

    def index(self, owner: str, facet: AttributeScores | AttributeContrasts) -> int:
        """Return the index of the buckets in `cuts`; the main metric's examples serve the owner's other metrics."""
        where, scores = (facet.task, facet.language, facet.attribute), facet.buckets
        shape = tuple(score.bucket for score in scores)
        listed = any(score.ids for score in scores)
        if not listed and (owner, where, shape) in self._indices:
            return self._indices[owner, where, shape]
        key = where, shape, tuple(tuple(score.ids) for score in scores)
        if key not in self._indices:
            self._indices[key] = len(self.cuts)
            cell, buckets = f"{facet.task}/{facet.language}", [(score.bucket, score.ids) for score in scores]
            short = [[b.name, bucket_edges(b), b.n, self.listed(cell, ids), len(ids)] for b, ids in buckets]
            self.cuts.append([*where, short])
        self._indices.setdefault((owner, where, shape), self._indices[key])
        return self._indices[key]

    def listed(self, cell: str, ids: Sequence[str]) -> list[int]:
        """Return the positions of the first ids."""
        return [self._ids[cell][one] for one in ids[: self._limit]]


def _compact_pair(pair: PairwiseExplanation, shared: _SharedBuckets, metrics: Sequence[str]) -> dict[str, Any]:
    name = f"{pair.first}|{pair.second}"
    facets = [
        [
            shared.index(name, facet),
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
    return {"first": pair.first, "second": pair.second, "facets": facets, "cells": cells}


def _compact_contrast(facet: AttributeContrasts, row: BucketContrast) -> tuple[int | None, ...]:
    """Return both scores, the difference and its interval in tenths; p in thousandths (0 for less than one); flags.

    Flags are the sum of 1 if the difference is significant, 2 if the ranking flips, and 4 if the first is better.
    """
    scores = (row.first, row.second, row.difference, row.low, row.high)
    marks = row.significant + 2 * row.flips + 4 * ((row.difference > 0) != facet.lower_is_better)
    p = round(1000 * float(f"{row.p:.3f}")) if row.p >= 0.001 else 0
    return (*map(_tenths, scores), p, marks)


def _tenths(value: float | None) -> int | None:
    return None if value is None else round(10 * rounded(value))


def _examples_that_fit(
    explained: ExplainRecords, room: int
) -> tuple[int, dict[str, dict[str, int]], dict[str, dict[str, Any]]]:
    """Return the number of ids per bucket, the positions of each cell's ids, and the examples."""
    # Systems, metrics and pairs list the same buckets.
    systems = list(explained.explanations)
    listings = list(dict.fromkeys((cell, tuple(ids)) for cell, ids in _listings(explained)))

    @cache
    def cost(cell: str, identifier: str, length: int) -> int:
        case = explained.cases.get(cell, {}).get(identifier) if length else None
        return 0 if case is None else len(msgspec.json.encode({identifier: _compact_case(case, length, systems)}))

    for limit, length in LIMITS:
        ids, size = _listed_ids(listings, limit)
        if size + sum(cost(cell, one, length) for cell, positions in ids.items() for one in positions) <= room:
            break
    texts: dict[str, dict[str, Any]] = {}
    for cell, positions in ids.items():
        cases = explained.cases.get(cell, {}) if length else {}
        texts[cell] = {one: _compact_case(cases[one], length, systems) for one in positions if one in cases}
    return limit, ids, texts


def _listings(explained: ExplainRecords) -> Iterator[tuple[str, Sequence[str]]]:
    every: list[Explanation | PairwiseExplanation] = [*explained.explanations.values(), *explained.pairs]
    for explanation in every:
        for facet in explanation.facets:
            yield from ((f"{facet.task}/{facet.language}", row.ids) for row in facet.buckets)
    for pair in explained.pairs:
        for cell in pair.cells:
            yield from ((f"{cell.task}/{cell.language}", ids) for ids in (cell.first_right_ids, cell.second_right_ids))


def _listed_ids(listings: Iterable[Listing], limit: int) -> tuple[dict[str, dict[str, int]], int]:
    """Return the positions of the first ids of all listings by cell, and their size in characters."""
    ids: dict[str, dict[str, int]] = {}
    pointers = 0
    for cell, listed in listings:
        positions = ids.setdefault(cell, {})
        pointers += len(listed[:limit])
        for identifier in listed[:limit]:
            positions.setdefault(identifier, len(positions))
    # An id costs its letters, two quotes and a comma; a pointer to it about four characters.
    return ids, 4 * pointers + sum(len(identifier) + 3 for positions in ids.values() for identifier in positions)


def _compact_case(case: ListedExample, length: int, systems: Sequence[str]) -> list[Any]:
    """Return inputs with their names, gold, and the position, answer and score of each system."""
    inputs = [[name, _one_line(text, length)] for name, text in case.inputs.items()]
    answers = [
        [index, _one_line(case.predictions[name], length), round(case.scores[name]) if name in case.scores else None]
        for index, name in enumerate(systems)
        if name in case.predictions
    ]
    return [inputs, _one_line(case.gold, length), answers]


def _one_line(value: Any, length: int) -> str:
    if value is None:
        return "(none)"
    text = " · ".join(_one_line(one, length) for one in value) if isinstance(value, list) else str(value)
    return text if len(text) <= length else text[: max(0, length - 1)] + "…"
