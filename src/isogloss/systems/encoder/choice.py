"""Multiple choice: which of some sentences goes best with what was said.

COPA and XCOPA ask for the cause or the effect of a premise, in English whatever the language: "<premise> What was the
cause?". Social IQa, the first stage of training, has a question of its own after its context.
"""

from typing import TYPE_CHECKING, Any

import numpy as np

from isogloss.systems.base import SystemFailureError
from isogloss.systems.encoder.adapter import EncoderAdapter, LabelledItems, most_likely
from isogloss.systems.encoder.classification import framed
from isogloss.systems.neural.gold import where
from isogloss.systems.tokens.inputs import Rows
from isogloss.tasks.examples import Examples
from isogloss.training.encoded import Array, Encoded
from isogloss.training.objective import Ints, TrainingObjective

if TYPE_CHECKING:
    from torch import nn

# What XCOPA calls its two questions; any other (Social IQa) is asked in its own words.
QUESTIONS = {"cause": "What was the cause?", "effect": "What was the effect?"}


class Choice(EncoderAdapter):
    """XCOPA and Social IQa: a number for every choice, and a softmax over those of one example."""

    auto = "AutoModelForMultipleChoice"

    @property
    def settings(self) -> dict[str, Any]:
        """Nothing: the head gives one number, however many choices there are."""
        return {}

    def _exercise(self, train: Examples) -> TrainingObjective:
        items = self._items(train)
        labels = np.array(train[train.gold])
        known = np.isin(labels, np.arange(items.choices))
        if not known.all():
            strange = train[train.gold][int(np.argmin(known))]
            what = f"label {strange!r} is not the number of one of {items.choices} choices"
            raise SystemFailureError(what, where=where(train), fix="Count the choices from 0")
        return LabelledItems(items.batch, items.lengths, labels.astype(np.int64), items.choices)

    def answers(self, model: "nn.Module", examples: Examples) -> list[int]:
        """The number of the best choice of each."""
        items = self._items(examples)
        best: list[int] = most_likely(model, items.lengths, items.batch).tolist()
        return best

    def _items(self, examples: Examples) -> "_Items":
        choices = examples["choices"]
        counts = set(map(len, choices)) or {1}
        if len(counts) > 1:
            what = f"examples have {' or '.join(map(str, sorted(counts)))} choices"
            raise SystemFailureError(what, where=where(examples), fix="Give all of them the same number of choices")
        [count] = counts
        asked = zip(examples["premise"], examples["question"], strict=True)
        said = [f"{premise} {QUESTIONS.get(question, question)}" for premise, question in asked]
        columns = [[text for text in said for _ in range(count)], [text for texts in choices for text in texts]]
        longest = self.recipe.max_length

        def make() -> Encoded:
            return self.inputs.encoded(framed(self.inputs, columns, longest), {}, {})

        encoded = self._tokenised(columns, (longest,), make)
        languages = self.inputs.language_ids(examples)
        return _Items(Rows(self.inputs, encoded, None if languages is None else languages.repeat(count)), count)


class _Items:
    """Rows in groups of one example."""

    def __init__(self, rows: Rows, choices: int) -> None:
        self.rows, self.choices = rows, choices
        self.lengths: Ints = rows.lengths.reshape(-1, choices).max(axis=1)

    def batch(self, items: Ints, width: int, size: int) -> dict[str, Array]:
        """Some examples, (size, choices, width) each."""
        rows = (items[:, None] * self.choices + np.arange(self.choices)).ravel()
        flat = self.rows.batch(rows, width, size * self.choices)
        return {name: array.reshape(size, self.choices, width) for name, array in flat.items()}
