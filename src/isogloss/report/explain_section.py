"""The report's section on where systems fail: scores by bucket, for systems by themselves and in pairs."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from isogloss.explain.model import AttributeScores, Explanation
from isogloss.figures import rounded
from isogloss.report.calibration_tables import ON_PAGE, calibration_tables
from isogloss.report.charts import Chart, bucket_bars, interval_fields, system_colours
from isogloss.report.explain_io import ExplainRecords
from isogloss.report.explain_tables import BINNING
from isogloss.report.pairwise_section import pairwise_charts
from isogloss.report.pairwise_tables import pairwise_bucket_table
from isogloss.report.section import Section, file_name
from isogloss.report.single_tables import bucket_edges, bucket_table
from isogloss.scoring.names import language_name


def explain_section(explained: ExplainRecords, systems: Iterable[str]) -> Section:
    """The panel to choose from; every bucket and every chart are files. Calibration is on the page."""
    pictures = list(explain_charts(explained.explanations, systems))
    tables = {"explain": bucket_table(explained.explanations)}
    if explained.pairs:
        pictures += pairwise_charts(explained.pairs, explained_colours(explained.explanations, systems))
        tables["differences-by-bucket"] = pairwise_bucket_table(explained.pairs)
    about = explain_intro(explained.edges)
    tables |= calibration_tables(explained.explanations)
    in_files = tuple(name for name in tables if name != ON_PAGE)
    return Section("explain", "Explain", about, tables, pictures, panel="explain", only_files=in_files)


def explain_intro(edges: str) -> str:
    """What the panel shows, and how buckets were cut."""
    return (
        "Scores by what the examples are like, with 95 % intervals. Choose a bucket to see which examples it holds. "
        f"Here: {BINNING[edges]}."
    )


def explained_colours(explanations: Mapping[str, Explanation], systems: Iterable[str]) -> dict[str, str]:
    """Every explained system in the colour it has in the rest of the report."""
    everywhere = system_colours(list(dict.fromkeys([*systems, *explanations])))
    return {name: everywhere[name] for name in explanations}


def explain_charts(explanations: Mapping[str, Explanation], systems: Iterable[str]) -> Iterator[Chart]:
    """One chart for each task, metric and attribute: a panel a language, a bar a system."""
    of_systems = explained_colours(explanations, systems)
    groups: dict[tuple[str, str, str], list[dict[str, Any]]] = {}
    titles: dict[str, str] = {}
    for name, explanation in explanations.items():
        for facet in explanation.facets:
            key = (facet.task, facet.metric, facet.attribute)
            titles[facet.attribute] = facet.title
            groups.setdefault(key, []).extend(_records(name, facet))
    taken: set[str] = set()
    for (task, metric, attribute), records in groups.items():
        name = file_name(f"explain-{task}-{metric}-{attribute}", taken)
        title = f"{task}, {metric} by {attribute}: {titles[attribute]}"
        yield bucket_bars(name, title, records, of_systems)


def _records(system: str, facet: AttributeScores) -> Iterator[dict[str, Any]]:
    for score in facet.buckets:
        yield {
            "system": system,
            "language": facet.language,
            "name": language_name(facet.language),
            "bucket": score.bucket.name,
            "edges": bucket_edges(score.bucket),
            "n": score.bucket.n,
            "score": rounded(score.value),
            **interval_fields(score.low, score.high),
        }
