"""The dual encoder as a system: retrieval by vectors that were trained for it."""

from collections.abc import Mapping
from typing import Any

from isogloss.errors import unknown
from isogloss.systems.dual.adapter import POOLINGS, DualEncoderAdapter
from isogloss.systems.neural.system import NeuralSystem, flag
from isogloss.systems.ranking import retrieval_refusal
from isogloss.tasks.registry import task as find_task
from isogloss.tasks.task import Task


class DualEncoderSystem(NeuralSystem):
    """One transformer for queries and candidates, trained so that a query is nearest to its answer.

    LAReQA learns from SQuAD (a question and the sentence that answers it, with its paragraph), Mewsli-X from its own
    pairs of mention and entity, as in XTREME-R. Tatoeba and BUCC, which have baselines of another kind (`encoder`), may
    learn from SQuAD as well. The recipe's `candidates` is the number of answers each query chooses from, or its `batch`
    where that is 0, over all processes; `micro` bounds the memory without changing either.

    Args:
        model: see `NeuralSystem`.
        pooling: `pooled` as in XTREME-R's baseline, `mean` or `cls`; see `DualEncoder`.
        both: answers choose among queries as well; the baseline has one direction.
        settings: those of `NeuralSystem`.

    Raises:
        UnknownNameError: no such pooling.
    """

    family = "dual-encoder"

    def __init__(self, model: str = "", *, pooling: str = "pooled", both: bool = False, **settings: Any) -> None:
        if pooling not in POOLINGS:
            raise unknown("pooling", str(pooling), POOLINGS)
        self.pooling, self.both = pooling, flag("both", both)
        super().__init__(model, **settings)

    def _name_parts(self) -> list[str]:
        changed = [self.pooling] * (self.pooling != "pooled") + ["both"] * self.both
        return [*super()._name_parts(), *changed]

    @property
    def metadata(self) -> Mapping[str, Any]:
        """As of every model that is fine-tuned, with the pooling and the directions."""
        return {**super().metadata, "pooling": self.pooling, "directions": 1 + self.both}

    def refusal(self, task: Task) -> str:
        """Anything but retrieval: the vector of a whole text neither tags, nor reads, nor chooses."""
        return retrieval_refusal(self.family, task)

    def learns_from(self, task: Task) -> Task:
        """The recipe's choice; questions where that has no training set (BUCC, and Mewsli-X in small)."""
        found = super().learns_from(task)
        has_training_set = any(layout.train for layout in found.layouts)
        return found if has_training_set else find_task(found.in_same_edition("xquad"))

    def adapter(self, task: Task) -> DualEncoderAdapter:
        """Retrieval, whatever its form."""
        return DualEncoderAdapter(task, self.recipe_for(task), self.source, self.pooling, self.both)
