"""Classification: a label for a text, or for two."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from isogloss.systems.encoder.adapter import EncoderAdapter, LabelledItems, most_likely
from isogloss.systems.neural.gold import label_numbers
from isogloss.systems.tokens.inputs import Inputs, Rows
from isogloss.systems.tokens.special_tokens import Framed, Slices, shortened
from isogloss.systems.tokens.subwords import encode, unique
from isogloss.tasks.examples import Examples
from isogloss.training.encoded import Encoded
from isogloss.training.objective import TrainingObjective

if TYPE_CHECKING:
    from torch import nn


class Classification(EncoderAdapter):
    """MLDoc, XNLI and PAWS-X: a softmax over the labels, on what the model makes of the first token."""

    auto = "AutoModelForSequenceClassification"

    def _exercise(self, train: Examples) -> TrainingObjective:
        labels = label_numbers(self.task, train[train.gold], train)
        rows = self._rows(train)
        return LabelledItems(rows.batch, rows.lengths, labels)

    def answers(self, model: "nn.Module", examples: Examples) -> list[str]:
        """The likeliest label of each."""
        rows = self._rows(examples)
        best = most_likely(model, rows.lengths, rows.batch)
        return [self.task.labels[number] for number in best.tolist()]

    def _rows(self, examples: Examples) -> Rows:
        names = ("text",) if "text" in examples.columns else ("text_a", "text_b")
        columns = [examples[name] for name in names]
        longest = self.recipe.max_length

        def make() -> Encoded:
            return self.inputs.encoded(framed(self.inputs, columns, longest), {}, {})

        encoded = self._tokenised(columns, (longest,), make)
        return Rows(self.inputs, encoded, self.inputs.language_ids(examples))


def framed(inputs: Inputs, columns: Sequence[Sequence[str]], longest: int) -> Framed:
    """One text a row, or two, cut where they are too long, the longer first; a repeated text is tokenised once."""
    texts, which = unique([text for column in columns for text in column])
    pieces = encode(inputs.tokenizer, texts)
    slices = [Slices.of(pieces, part) for part in np.split(which, len(columns))]
    if len(slices) == 1:
        [text] = slices
        room = inputs.room(inputs.single, longest)
        return inputs.single.around(text._replace(lengths=np.minimum(text.lengths, room)))
    first, second = slices
    return inputs.double.around(*shortened(first, second, inputs.room(inputs.double, longest)))
