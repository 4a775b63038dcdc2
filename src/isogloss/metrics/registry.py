"""The metrics by name: what each is, and whether less of it is better. Listing imports this file, so it stays light."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from isogloss.plugins import Registry

if TYPE_CHECKING:
    from isogloss.metrics.statistics import Statistics


@dataclass(frozen=True)
class Metric:
    """What a name in a result record stands for.

    Attributes:
        name: as in records and tables.
        title: what it is, in a line.
        lower_is_better: whether a smaller value is the better one.
        kinds: the kinds of tasks that `statistics` is computed for, beside the metrics that they have by themselves.
        statistics: (task, examples, answers) to per-example statistics; None for those that kinds compute themselves.
    """

    name: str
    title: str
    lower_is_better: bool = False
    kinds: tuple[str, ...] = ()
    statistics: "Callable[[Any, Any, Any], Statistics] | None" = None


# Name (dialects in brackets), tasks that use it, and what it is.
SHIPPED = (
    ("accuracy", "xnli xcopa pawsx mldoc tatoeba", "share of right answers (tatoeba: nearest neighbour)"),
    ("f1[squad]", "xquad tydiqa", "token overlap with the best gold answer, SQuAD 1.1 normalisation"),
    ("em[squad]", "xquad tydiqa", "equality with a gold answer, SQuAD 1.1 normalisation"),
    ("f1[mlqa]", "mlqa", "token overlap, MLQA's normalisation for each of its seven languages"),
    ("em[mlqa]", "mlqa", "equality, MLQA's normalisation"),
    ("f1[conll]", "udpos wikiann", "micro F1 over chunks, full tag as type (seqeval up to 0.0.12)"),
    ("f1[seqeval-1.2.2]", "", "the same with seqeval 1.2.2's types: CCONJ and SCONJ count as one"),
    ("f1[iob2-strict]", "", "micro F1 over chunks that are well-formed IOB2"),
    ("f1[char-spans]", "udpos wikiann", "micro F1 over exact character spans, for answers without our tokens"),
    ("boundary_f1", "udpos wikiann", "the same without the type"),
    ("accuracy[tokens]", "udpos wikiann", "share of right tags"),
    ("map@20", "lareqa mewslix", "AP cut at 20, over min(targets, 20); with one target MRR@20"),
    ("one-target", "lareqa", "MRR@20 with the other right answers removed; -same, -different by language"),
    ("f1[pairs]", "bucc", "F1, precision and recall over mined sentence pairs"),
    ("error", "checklist-*", "share of cases with a wrong (or a changed) answer, by the fair rule; lower is better"),
    ("error_paper", "checklist-*", "the same by the published rule; lower is better"),
)
_LOWER_IS_BETTER = ("error", "error_paper")
_NAMES = (
    *dict.fromkeys(name.partition("[")[0] for name, *_ in SHIPPED),
    *("precision", "recall", "one-target-same", "one-target-different"),
)


def shipped_metric(name: str) -> Metric:
    """A metric that the shipped kinds compute."""
    titles = {known.partition("[")[0]: title for known, _, title in reversed(SHIPPED)}
    return Metric(name, titles.get(name, name), lower_is_better=name in _LOWER_IS_BETTER)


METRICS: Registry[Metric] = Registry(
    "metric",
    Metric,
    dict.fromkeys(_NAMES, "isogloss.metrics.registry:shipped_metric"),
    "isogloss.metrics",
    named_by="name",
)


def metric(name: str) -> Metric:
    """The metric of that name; one that nobody has described is better the higher it is."""
    return METRICS[name] if name in METRICS else Metric(name, name)


def plugin_metrics() -> list[Metric]:
    """The metrics that installed packages bring; of one that cannot be loaded a warning says why not."""
    return list(METRICS.loadable(but=METRICS.shipped).values())


def added_metrics(kind: str) -> list[Metric]:
    """The metrics that installed packages add to a kind of tasks."""
    return [found for found in plugin_metrics() if kind in found.kinds and found.statistics is not None]
