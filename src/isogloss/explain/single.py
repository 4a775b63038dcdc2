"""Single analysis: scores of one system by bucket, with the claims to be tested, and its confusions."""

from collections import Counter
from collections.abc import Sequence

import msgspec

from isogloss.explain import tagging
from isogloss.explain.cell_table import CellTable
from isogloss.explain.claims import attribute_claims
from isogloss.explain.examples import ExampleCollector
from isogloss.explain.measure import BucketedRows, bucket_estimates
from isogloss.explain.model import AttributeScores, BucketScore
from isogloss.scoring.contrast import scaled
from isogloss.tasks.kinds import kind_of


def attribute_scores(
    table: CellTable,
    along: Sequence[BucketedRows],
    system: int = 0,
    collector: ExampleCollector | None = None,
    *,
    claims: bool = True,
) -> list[AttributeScores]:
    """Score every attribute of a cell under every metric of a system, collecting examples for the main metric.

    Claims have no q yet, and there are no sentences: `isogloss.explain.correction` adds them for all cells together.
    """
    facets: list[AttributeScores] = []
    for metric, statistics in table.metrics[system].items():
        main_collector = collector if metric == table.main else None
        for bucketed in along:
            estimates = bucket_estimates(table, statistics, bucketed)
            buckets = []
            for index, (bucket, score) in enumerate(zip(bucketed.buckets, estimates, strict=True)):
                low, high = scaled(score.score_interval())
                ids = main_collector.add(table, bucketed.rows(index)) if main_collector else []
                buckets.append(BucketScore(bucket=bucket, value=100 * score.value, low=low, high=high, ids=ids))
            facet = AttributeScores(**bucketed.heading(table, metric), buckets=buckets)
            if claims:
                facet = msgspec.structs.replace(facet, claims=attribute_claims(facet, estimates))
            facets.append(facet)
    return facets


def confusion(table: CellTable, system: int = 0) -> dict[str, dict[str, int]]:
    """Return gold label -> predicted label -> count, for kinds with labels; "" means no answer."""
    if table.entities is not None:
        return tagging.confusion(table.entities, system)
    if kind_of(table.task).gold != "label":
        return {}
    answers = ["" if value is None else str(value) for value in table.values[system]]
    gold = map(str, table.examples[table.examples.gold])
    counts: dict[str, dict[str, int]] = {}
    for (right, answer), count in sorted(Counter(zip(gold, answers, strict=True)).items()):
        counts.setdefault(right, {})[answer] = count
    return counts
