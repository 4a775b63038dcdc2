"""Kinds of tasks: inputs, answer format and scoring."""

from warnings import warn

from isogloss.errors import IsoglossError
from isogloss.metrics.registry import added_metrics
from isogloss.plugins import Registry
from isogloss.tasks.examples import Examples
from isogloss.tasks.kinds.base import Judgement, Kind, LanguagePairs, RowProblem, Values, Vectors
from isogloss.tasks.kinds.replies import Reading, Reply
from isogloss.tasks.task import Task

__all__ = [
    "KINDS",
    "Judgement",
    "Kind",
    "LanguagePairs",
    "Reading",
    "Reply",
    "RowProblem",
    "Values",
    "Vectors",
    "judge",
    "kind_of",
]

_ORIGINS = {
    "classification": "isogloss.tasks.kinds.classification:Classification",
    "choice": "isogloss.tasks.kinds.classification:Choice",
    "tagging": "isogloss.tasks.kinds.tagging:Tagging",
    "qa": "isogloss.tasks.kinds.qa:QuestionAnswering",
    "generation": "isogloss.tasks.kinds.generation:Generation",
    "multilabel": "isogloss.tasks.kinds.multilabel:MultiLabel",
    "regression": "isogloss.tasks.kinds.regression:NumberPrediction",
    "bitext": "isogloss.tasks.kinds.retrieval:Bitext",
    "pool": "isogloss.tasks.kinds.retrieval:PoolRetrieval",
    "mining": "isogloss.tasks.kinds.retrieval:Mining",
    "match": "isogloss.checklist.kind:Match",
    "released-match": "isogloss.checklist.released_kind:ReleasedMatch",
    "invariance": "isogloss.checklist.kind:Invariance",
}
KINDS: Registry[Kind] = Registry("kind", Kind, _ORIGINS, "isogloss.kinds")  # type: ignore[type-abstract]


def kind_of(task: Task) -> Kind:
    """Return the task's kind."""
    return KINDS[task.kind]


def judge(task: Task, examples: Examples, values: Values) -> Judgement:
    """Score answers with the metrics of the task's kind and those added by plugins."""
    judgement = kind_of(task).judge(task, examples, values)
    for metric in added_metrics(task.kind):
        if metric.statistics is None or metric.name in judgement.metrics:
            continue
        try:
            judgement.metrics[metric.name] = metric.statistics(task, examples, values)
        except Exception as error:
            # A failing plugin does not affect the built-in metrics.
            where = f"{task.id}/{examples.language}"
            warn(f"metric skipped: {metric.name} of {where}: {type(error).__name__}: {error}", stacklevel=2)
    for name in task.main:
        if name not in judgement.metrics:
            what = f"{task.id} is scored by {name}, but its kind {task.kind} has {', '.join(judgement.metrics)}"
            raise IsoglossError(what, fix="Use one of these in the task's `main`")
    return judgement
