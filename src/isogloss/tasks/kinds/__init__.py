"""The kinds of tasks: what is asked, what an answer looks like, what it is worth."""

from functools import cache
from importlib import import_module

from isogloss.tasks.kinds.base import Complaint, Judgement, Kind, Pairs, Values

__all__ = ["Complaint", "Judgement", "Kind", "Pairs", "Values", "kind"]

_KINDS = {
    "classification": "classification.Classification",
    "choice": "choice.Choice",
    "tagging": "tagging.Tagging",
    "qa": "qa.QuestionAnswering",
    "bitext": "retrieval.Bitext",
    "pool": "retrieval.PoolRetrieval",
    "mining": "mining.Mining",
}


@cache
def kind(name: str) -> Kind:
    """The kind of that name."""
    module, _, cls = _KINDS[name].partition(".")
    made = getattr(import_module(f"isogloss.tasks.kinds.{module}"), cls)()
    if not isinstance(made, Kind):
        raise TypeError(f"{_KINDS[name]} is not a Kind")
    return made
