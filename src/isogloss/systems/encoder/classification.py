"""Classification: a label for a text, or for two."""

from typing import TYPE_CHECKING

from isogloss.systems.encoder.adapter import EncoderAdapter, LabelledItems, most_likely
from isogloss.systems.targets import label_ids
from isogloss.systems.tokens.inputs import InputRows
from isogloss.tasks.examples import Examples
from isogloss.training.objective import TrainingObjective

if TYPE_CHECKING:
    from torch import nn


class EncoderClassifier(EncoderAdapter):
    """MLDoc, XNLI and PAWS-X: a softmax over the labels, on what the model makes of the first token."""

    name = "encoder classification"
    auto_class = "AutoModelForSequenceClassification"

    def _objective(self, train: Examples) -> TrainingObjective:
        labels = label_ids(self.task, train[train.gold], train)
        rows = self._rows(train)
        return LabelledItems(rows.batch, rows.lengths, labels)

    def predict(self, model: "nn.Module", examples: Examples) -> list[str]:
        """The likeliest label of each."""
        rows = self._rows(examples)
        best = most_likely(model, rows.lengths, rows.batch)
        return [self.task.labels[number] for number in best.tolist()]

    def _rows(self, examples: Examples) -> InputRows:
        names = ("text",) if "text" in examples.columns else ("text_a", "text_b")
        columns = [examples[name] for name in names]
        longest = self.recipe.max_length
        encoded = self._tokenised(columns, (longest,), lambda: self.inputs.encode(columns, longest))
        return self.inputs.rows_for(examples, encoded)
