"""The kinds of tasks: what is asked, what an answer looks like, what it is worth."""

from warnings import warn

from isogloss.errors import IsoglossError
from isogloss.metrics.registry import added_metrics
from isogloss.plugins import Registry
from isogloss.tasks.examples import Examples
from isogloss.tasks.kinds.base import Judgement, Kind, LanguagePairs, RowProblem, Values, Vectors
from isogloss.tasks.task import Task

__all__ = ["KINDS", "Judgement", "Kind", "LanguagePairs", "RowProblem", "Values", "Vectors", "judge", "kind_of"]

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
    """What answers are worth: the metrics of the task's kind, and those that installed packages add to it.

    Raises:
        IsoglossError: there is no such metric as the task says it is scored by.
    """
    judgement = kind_of(task).judge(task, examples, values)
    for metric in added_metrics(task.kind):
        if metric.statistics is None or metric.name in judgement.metrics:
            continue
        try:
            judgement.metrics[metric.name] = metric.statistics(task, examples, values)
        except Exception as error:
            # A package that fails hinders nobody: the figures of the kind itself are there.
            where = f"{task.id}/{examples.language}"
            warn(f"metric left out: {metric.name} of {where}: {type(error).__name__}: {error}", stacklevel=2)
    for name in task.main:
        if name not in judgement.metrics:
            what = f"{task.id} is scored by {name}, but its kind {task.kind} has {', '.join(judgement.metrics)}"
            raise IsoglossError(what, fix="Name one of these in the task's `main`")
    return judgement
