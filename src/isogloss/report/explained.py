"""Explanations for the report: the table, the charts, and the compact data that the page draws from."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec

from isogloss.explain.examples import Case
from isogloss.explain.model import Bucket, BucketScore, Explanation, Facet
from isogloss.report.charts import Chart, bucket_bars, colours
from isogloss.report.frames import label
from isogloss.report.tables import Table

__all__ = ["explain_charts", "explain_data", "explain_table", "slug"]

# Characters that the page may carry for examples. A bucket lists the first so many of its ids, with texts cut at such
# a length, that all of it fits: shorter texts first, then fewer examples.
ROOM = 3_000_000
MOST_IDS = 64
TEXT_LENGTHS = (600, 240)

Cases = Mapping[str, Mapping[str, Case]]


def slug(text: str) -> str:
    """A file name for any text."""
    return re.sub(r"[^\w.]+", "-", text).strip("-.") or "x"


def edges(bucket: Bucket) -> str:
    """The range of a bucket, "" for a discrete one."""
    if bucket.low is None or bucket.high is None:
        return ""
    return f"{bucket.low:g}" if bucket.low == bucket.high else f"{bucket.low:g}–{bucket.high:g}"


def explain_table(explanations: Mapping[str, Explanation]) -> Table:
    """Every bucket of every facet."""
    header = ("system", "task", "code", "language", "attribute", "metric", "bucket", "edges", "n", "score", "95 %")
    table = Table("Scores by bucket", header, words=8)
    for name, explanation in explanations.items():
        for facet in explanation.facets:
            place = (name, facet.task, facet.language, label(facet.language), facet.attribute, facet.metric)
            for found in facet.buckets:
                bucket = found.bucket
                interval = f"{found.low:.1f}–{found.high:.1f}"
                table.add(*place, bucket.name, edges(bucket), str(bucket.n), f"{found.value:.1f}", interval)
    return table


def _colours(explanations: Mapping[str, Explanation], systems: Iterable[str]) -> dict[str, str]:
    """Every explained system in the colour it has in the rest of the report."""
    everywhere = colours(list(dict.fromkeys([*systems, *explanations])))
    return {name: everywhere[name] for name in explanations}


def explain_charts(explanations: Mapping[str, Explanation], systems: Iterable[str] = ()) -> Iterator[Chart]:
    """One chart for each task, metric and attribute: a panel a language, a bar a system."""
    shades = _colours(explanations, systems)
    groups: dict[tuple[str, str, str], list[dict[str, Any]]] = {}
    titles: dict[str, str] = {}
    for name, explanation in explanations.items():
        for facet in explanation.facets:
            key = (facet.task, facet.metric, facet.attribute)
            titles[facet.attribute] = facet.title
            groups.setdefault(key, []).extend(_records(name, facet))
    taken: set[str] = set()
    for (task, metric, attribute), records in groups.items():
        name = slug(f"explain-{task}-{metric}-{attribute}")
        while name.casefold() in taken:
            name += "-2"
        taken.add(name.casefold())
        title = f"{task}, {metric} by {attribute}: {titles[attribute]}"
        yield bucket_bars(name, title, records, shades)


def _records(system: str, facet: Facet) -> Iterator[dict[str, Any]]:
    for found in facet.buckets:
        yield {
            "system": system,
            "language": facet.language,
            "name": label(facet.language),
            "bucket": found.bucket.name,
            "edges": edges(found.bucket),
            "n": found.bucket.n,
            "score": round(found.value, 2),
            "low": round(found.low, 2),
            "high": round(found.high, 2),
        }


def explain_data(
    explanations: Mapping[str, Explanation], systems: Iterable[str] = (), cases: Cases | None = None
) -> dict[str, Any]:
    """What the page needs to draw any facet: buckets as short lists, ids as far as there is room.

    An example is in one bucket of every attribute: ids stand once a cell, and buckets point at them.
    """
    limit, ids, texts = _fitting(explanations, cases or {})
    facets = [
        {
            "system": name,
            "task": facet.task,
            "language": facet.language,
            "name": label(facet.language),
            "metric": facet.metric,
            "attribute": facet.attribute,
            "title": facet.title,
            "insight": facet.insight,
            "buckets": [_short(found, ids[_cell(facet)], limit) for found in facet.buckets],
        }
        for name, explanation in explanations.items()
        for facet in explanation.facets
    ]
    confusion = {name: found.confusion for name, found in explanations.items() if found.confusion}
    empty = bucket_bars("explain", "Scores by bucket", [], _colours(explanations, systems))
    listed = {cell: list(places) for cell, places in ids.items()}
    return {"facets": facets, "ids": listed, "cases": texts, "spec": empty.spec, "confusion": confusion}


def _fitting(
    explanations: Mapping[str, Explanation], cases: Cases
) -> tuple[int, dict[str, dict[str, int]], dict[str, dict[str, Any]]]:
    """How many ids a bucket lists, the ids of each cell with their places, and the examples as the page shows them."""
    facets = [facet for found in explanations.values() for facet in found.facets]
    limit = MOST_IDS
    while True:
        ids, size = _ids(facets, limit)
        for length in TEXT_LENGTHS:
            texts = {cell: _texts(cases.get(cell, {}), places, length) for cell, places in ids.items()}
            if size + len(msgspec.json.encode(texts)) <= ROOM or (limit == 1 and length == TEXT_LENGTHS[-1]):
                return limit, ids, texts
        limit //= 2


def _texts(cases: Mapping[str, Case], ids: Iterable[str], length: int) -> dict[str, Any]:
    return {one: _text(cases[one], length) for one in ids if one in cases}


def _text(case: Case, length: int) -> dict[str, Any]:
    return {
        "inputs": [[name, _words(text, length)] for name, text in case.inputs.items()],
        "gold": _words(case.gold, length),
        "said": [[name, _words(said, length), case.scores.get(name)] for name, said in case.predictions.items()],
    }


def _words(value: Any, length: int) -> str:
    """Anything a system may answer, on one line of at most `length` characters."""
    text = " · ".join(_words(one, length) for one in value) if isinstance(value, list) else str(value)
    return text if len(text) <= length else text[: max(0, length - 1)] + "…"


def _cell(facet: Facet) -> str:
    return f"{facet.task}/{facet.language}"


def _short(found: BucketScore, places: Mapping[str, int], limit: int) -> list[Any]:
    """A bucket as the page reads it: name, edges, n, score, low, high, places of the first ids, how many there are."""
    numbers = [round(value, 2) for value in (found.value, found.low, found.high)]
    shown = [places[identifier] for identifier in found.ids[:limit]]
    return [found.bucket.name, edges(found.bucket), found.bucket.n, *numbers, shown, len(found.ids)]


def _ids(facets: Iterable[Facet], limit: int) -> tuple[dict[str, dict[str, int]], int]:
    """The first ids of all buckets, by cell, with their places; and how many characters they come to."""
    ids: dict[str, dict[str, int]] = {}
    pointers = 0
    for facet in facets:
        places = ids.setdefault(_cell(facet), {})
        for found in facet.buckets:
            pointers += len(found.ids[:limit])
            for identifier in found.ids[:limit]:
                places.setdefault(identifier, len(places))
    # An id costs its letters, two quotes and a comma; a pointer to it four characters or so.
    return ids, 4 * pointers + sum(len(identifier) + 3 for places in ids.values() for identifier in places)
