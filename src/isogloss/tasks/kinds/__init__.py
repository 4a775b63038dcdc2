"""The kinds of tasks: what is asked, what an answer looks like, what it is worth."""

from isogloss.metrics.registry import added_metrics
from isogloss.plugins import Registry
from isogloss.tasks.examples import Examples
from isogloss.tasks.kinds.base import Complaint, Judgement, Kind, LanguagePairs, Values, Vectors
from isogloss.tasks.task import Task

__all__ = ["KINDS", "Complaint", "Judgement", "Kind", "LanguagePairs", "Values", "Vectors", "judge", "kind_of"]

KINDS: Registry[Kind] = Registry(
    "kind",
    Kind,  # type: ignore[type-abstract]
    {
        "classification": "isogloss.tasks.kinds.classification:Classification",
        "choice": "isogloss.tasks.kinds.choice:Choice",
        "tagging": "isogloss.tasks.kinds.tagging:Tagging",
        "qa": "isogloss.tasks.kinds.qa:QuestionAnswering",
        "bitext": "isogloss.tasks.kinds.retrieval:Bitext",
        "pool": "isogloss.tasks.kinds.retrieval:PoolRetrieval",
        "mining": "isogloss.tasks.kinds.mining:Mining",
        "match": "isogloss.checklist.kind:Match",
        "invariance": "isogloss.checklist.kind:Invariance",
    },
    "isogloss.kinds",
)


def kind_of(task: Task) -> Kind:
    """The kind a task is of."""
    return KINDS[task.kind]


def judge(task: Task, examples: Examples, values: Values) -> Judgement:
    """What answers are worth: the metrics of the task's kind, and those that installed packages add to it."""
    judgement = kind_of(task).judge(task, examples, values)
    for metric in added_metrics(task.kind):
        if metric.statistics is not None and metric.name not in judgement.metrics:
            judgement.metrics[metric.name] = metric.statistics(task, examples, values)
    return judgement
