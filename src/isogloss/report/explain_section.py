"""Explanations for the report: the table and the charts, as files."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from isogloss.explain.buckets import NAMES, interval_text
from isogloss.explain.model import AttributeScores, Bucket, Explanation
from isogloss.report.charts import Chart, bucket_bars, colours
from isogloss.report.flat_rows import label
from isogloss.report.tables import Table

FIRST = NAMES[0]


def slug(text: str, taken: set[str] | None = None) -> str:
    """A file name for any text, and not one of those taken, to which it is added."""
    name = re.sub(r"[^\w.]+", "-", text).strip("-.") or "x"
    if taken is not None:
        while name.casefold() in taken:
            name += "-2"
        taken.add(name.casefold())
    return name


def edges(bucket: Bucket) -> str:
    """The range of a bucket as the paper prints it, "" for a discrete one and where it is the bucket's name."""
    text = interval_text(bucket.low, bucket.high, first=bucket.name == FIRST)
    return "" if text == bucket.name or bucket.name.startswith(("[", "(")) else text


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


def shades(explanations: Mapping[str, Explanation], systems: Iterable[str]) -> dict[str, str]:
    """Every explained system in the colour it has in the rest of the report."""
    everywhere = colours(list(dict.fromkeys([*systems, *explanations])))
    return {name: everywhere[name] for name in explanations}


def explain_charts(explanations: Mapping[str, Explanation], systems: Iterable[str] = ()) -> Iterator[Chart]:
    """One chart for each task, metric and attribute: a panel a language, a bar a system."""
    of_systems = shades(explanations, systems)
    groups: dict[tuple[str, str, str], list[dict[str, Any]]] = {}
    titles: dict[str, str] = {}
    for name, explanation in explanations.items():
        for facet in explanation.facets:
            key = (facet.task, facet.metric, facet.attribute)
            titles[facet.attribute] = facet.title
            groups.setdefault(key, []).extend(_records(name, facet))
    taken: set[str] = set()
    for (task, metric, attribute), records in groups.items():
        name = slug(f"explain-{task}-{metric}-{attribute}", taken)
        title = f"{task}, {metric} by {attribute}: {titles[attribute]}"
        yield bucket_bars(name, title, records, of_systems)


def _records(system: str, facet: AttributeScores) -> Iterator[dict[str, Any]]:
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
