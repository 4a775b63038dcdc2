"""The dual-encoder system: retrieval by vectors trained for it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from isogloss.errors import unknown
from isogloss.systems.base import SystemFailureError
from isogloss.systems.dual.training_pairs import training_pairs
from isogloss.systems.neural.system import NeuralSystem, flag
from isogloss.systems.neural.task_adapter import RetrievalAdapter
from isogloss.systems.pretrained import Model
from isogloss.systems.retrieval import retrieval_refusal
from isogloss.systems.tokens.inputs import check_length
from isogloss.tasks.examples import Examples
from isogloss.tasks.registry import task as find_task
from isogloss.tasks.task import Task
from isogloss.training.encoded import Encoded
from isogloss.training.objective import TrainingObjective

# Ways to pool the states of a text into its vector, see `PooledEncoder`.
_POOLINGS = ("pooled", "mean", "cls")


@dataclass
class DualEncoderAdapter(RetrievalAdapter):
    """Trained on questions with passages, or mentions with entities; with `both`, answers choose queries too."""

    name: ClassVar[str] = "dual encoder"
    pooling: str = "pooled"
    both: bool = False

    def load_model(self, seed: int) -> Model:
        """Load the pretrained model with a trainable scale."""
        from isogloss.systems.dual.contrastive import DualEncoder

        if self.source.config.is_encoder_decoder:
            what, fix = "expected an encoder, got a text-to-text model", "Use an encoder such as mBERT or XLM-R"
            raise SystemFailureError(what, where=self.source.name, fix=fix)
        self.refuse_language_ids()
        encoder = self.source.load_model("AutoModel", seed)
        if self.pooling == "pooled" and getattr(encoder, "pooler", None) is None:
            what, fix = "the architecture has no pooler over the first token", "Set pooling to mean or cls"
            raise SystemFailureError(what, where=self.source.name, fix=fix)
        return DualEncoder(encoder, self.pooling)

    def _objective(self, train: Examples) -> TrainingObjective:
        """Return query-answer pairs; each query chooses among the answers of its batch or part of it."""
        from isogloss.systems.dual.contrastive import ContrastiveObjective

        pairs, recipe = training_pairs(train), self.recipe
        objective = ContrastiveObjective(
            self._encoded(pairs.queries, recipe.query_length),
            self._encoded(pairs.answers, recipe.max_length),
            pairs.numbers,
            pad=self.inputs.padding,
            chunk=recipe.micro,
            candidates=recipe.candidates,
            both=self.both,
        )
        objective.notes = pairs.notes
        return objective

    def _encoded(self, texts: Sequence[str], longest: int) -> Encoded:
        check_length(self.source, longest)
        return self._tokenised(texts, (longest,), lambda: self.inputs.encode([texts], longest))


class DualEncoderSystem(NeuralSystem):
    """One transformer for queries and candidates, trained to place a query nearest to its answer.

    LAReQA learns from SQuAD (a question with the sentence that answers it, and its paragraph), Mewsli-X from its own
    pairs of mention and entity, as in XTREME-R. Tatoeba and BUCC, which have another baseline (`encoder`), may learn
    from SQuAD too. Each query chooses from the recipe's `candidates` answers, or from its `batch` if that is 0, over
    all processes; `micro` limits memory without changing either.

    Args:
        model: see `NeuralSystem`.
        pooling: `pooled` as in XTREME-R's baseline, `mean` or `cls`; see `DualEncoder`.
        both: True to let answers choose among queries too; the baseline has one direction.
        settings: see `NeuralSystem`.

    Raises:
        UnknownNameError: unknown pooling.
    """

    family = "dual-encoder"

    def __init__(self, model: str = "", *, pooling: str = "pooled", both: bool = False, **settings: Any) -> None:
        if pooling not in _POOLINGS:
            raise unknown("pooling", str(pooling), _POOLINGS)
        self.pooling, self.both = pooling, flag("both", both)
        self._changed = [pooling] * (pooling != "pooled") + ["both"] * self.both
        super().__init__(model, **settings)

    @property
    def metadata(self) -> Mapping[str, Any]:
        """Metadata of every fine-tuned model, with pooling and directions."""
        return {**super().metadata, "pooling": self.pooling, "directions": 1 + self.both}

    def refusal(self, task: Task) -> str:
        """Refuse everything except retrieval: a text vector cannot tag, read or choose."""
        return retrieval_refusal(self.family, task)

    def learns_from(self, task: Task) -> Task:
        """Return the recipe's choice, or XQuAD if that has no training set (BUCC, and Mewsli-X in the mini suite)."""
        source = super().learns_from(task)
        has_training_set = any(layout.train for layout in source.layouts)
        return source if has_training_set else find_task(source.in_same_edition("xquad"))

    def adapter(self, task: Task) -> DualEncoderAdapter:
        """Return the retrieval adapter."""
        return DualEncoderAdapter(task, self.recipe_for(task), self.source, self.pooling, self.both)
