"""Registry of metrics: titles and directions. `isogloss list` imports this module, so it stays light."""

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any

from isogloss.plugins import Registry

if TYPE_CHECKING:
    from isogloss.metrics.statistics import Statistics


@dataclass(frozen=True)
class Metric:
    """A metric in a result record.

    Attributes:
        name: name in records and tables.
        title: one-line description.
        lower_is_better: True if smaller values are better.
        kinds: kinds of tasks that `statistics` applies to, in addition to their built-in metrics.
        statistics: function from (task, examples, answers) to per-example statistics; None for built-in metrics.
    """

    name: str
    title: str
    _: KW_ONLY
    lower_is_better: bool = False
    kinds: tuple[str, ...] = ()
    statistics: "Callable[[Any, Any, Any], Statistics] | None" = None


# Name (dialects in brackets), tasks that use it, and title.
SHIPPED = (
    ("accuracy", "xnli xcopa pawsx mldoc tatoeba", "share of correct answers (tatoeba: nearest neighbour)"),
    ("f1[squad]", "xquad tydiqa", "token overlap with the best gold answer, SQuAD 1.1 normalisation"),
    ("em[squad]", "xquad tydiqa", "equality with a gold answer, SQuAD 1.1 normalisation"),
    ("f1[mlqa]", "mlqa", "token overlap, MLQA's normalisation for each of its seven languages"),
    ("em[mlqa]", "mlqa", "equality, MLQA's normalisation"),
    ("f1[squad-translated-gold]", "xquad tydiqa", "the same on English translations; not comparable, never averaged"),
    ("em[squad-translated-gold]", "xquad tydiqa", "the same for exact match; mlqa-translated-gold for MLQA"),
    ("f1[conll]", "udpos wikiann", "micro F1 over chunks, full tag as type (seqeval up to 0.0.12)"),
    ("f1[seqeval-1.2.2]", "", "the same with seqeval 1.2.2's types: CCONJ and SCONJ count as one"),
    ("f1[iob2-strict]", "", "micro F1 over chunks that are well-formed IOB2"),
    ("f1[char-spans]", "udpos wikiann", "micro F1 over exact character spans, for systems with their own tokens"),
    ("boundary_f1", "udpos wikiann", "the same without the type"),
    ("accuracy[tokens]", "udpos wikiann", "share of correct tags"),
    ("map@20", "lareqa mewslix", "AP cut at 20, over min(targets, 20); MRR@20 for a single target"),
    ("one-target", "lareqa", "MRR@20 with the other correct answers removed; -same, -different by language"),
    ("f1[pairs]", "bucc", "F1, precision and recall over mined sentence pairs"),
    ("chrf", "", "character n-gram F2 with the best reference, as sacrebleu; kind generation"),
    ("bleu", "", "BLEU with all references, as sacrebleu, tokenizer by language; kind generation"),
    ("rouge-l", "", "F1 of the longest common subsequence of words with the best reference; kind generation"),
    ("rouge-l[rouge-score]", "", "the same with the words of the package rouge-score, without stemming"),
    ("micro-f1", "", "F1 over all labels of all examples; kind multilabel"),
    ("macro-f1", "", "mean F1 of the labels that occur; kind multilabel"),
    ("samples-f1", "", "mean F1 of the examples' label sets; kind multilabel"),
    ("pearson", "", "Pearson's correlation, -100 to 100; kind regression"),
    ("spearman", "", "Spearman's correlation, -100 to 100; kind regression"),
    ("mae", "", "mean absolute error in % of the scale; kind regression; lower is better"),
    ("mse", "", "mean squared error in % of the squared scale; kind regression; lower is better"),
    ("chance", "", "expected accuracy of guessing, if the number of choices varies"),
    ("error", "checklist-*", "share of cases with a wrong (or changed) answer, by the fair rule; lower is better"),
    ("error_paper", "checklist-*", "the same by the published rule; lower is better"),
    ("impossible", "checklist-released-*", "share of cases that no extractive system can pass, whatever it answers"),
    ("flawed", "checklist-released-*", "share of cases with a finding of the audit, whatever the system answers"),
)
_LOWER_IS_BETTER = ("mae", "mse", "error", "error_paper", "impossible", "flawed")
_NAMES = (
    *dict.fromkeys(name.partition("[")[0] for name, *_ in SHIPPED),
    *("precision", "recall", "one-target-same", "one-target-different"),
)


def shipped_metric(name: str) -> Metric:
    """Return a built-in metric."""
    titles = {full_name.partition("[")[0]: title for full_name, _, title in reversed(SHIPPED)}
    return Metric(name, titles.get(name, name), lower_is_better=name in _LOWER_IS_BETTER)


_SHIPPED_METRICS = dict.fromkeys(_NAMES, "isogloss.metrics.registry:shipped_metric")
METRICS: Registry[Metric] = Registry("metric", Metric, _SHIPPED_METRICS, "isogloss.metrics", named_by="name")


def metric(name: str) -> Metric:
    """Return a metric by name; unregistered metrics default to higher is better."""
    return METRICS[name] if name in METRICS else Metric(name, name)


def plugin_metrics() -> list[Metric]:
    """List the metrics of installed packages, warning about those that cannot be loaded."""
    return list(METRICS.loadable(but=METRICS.shipped).values())


def added_metrics(kind: str) -> list[Metric]:
    """List the metrics that installed packages add to a kind."""
    return [metric for metric in plugin_metrics() if kind in metric.kinds and metric.statistics is not None]
