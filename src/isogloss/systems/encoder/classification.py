"""Classification (a label for a text, or for two) and multiple choice (which of some texts goes best with another)."""

from typing import TYPE_CHECKING, Any

import numpy as np

from isogloss.systems.base import SystemFailureError, dataset_name
from isogloss.systems.encoder.adapter import EncoderAdapter, LabelledItems, most_likely
from isogloss.systems.targets import choice_indices, label_ids, question_texts
from isogloss.systems.tokens.inputs import InputRows
from isogloss.tasks.examples import Examples
from isogloss.training.encoded import Array
from isogloss.training.objective import Ints, TrainingObjective

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


class EncoderMultipleChoice(EncoderAdapter):
    """XCOPA and Social IQa: a number for every choice, and a softmax over those of one example."""

    name = "encoder multiple choice"
    auto_class = "AutoModelForMultipleChoice"

    @property
    def head_settings(self) -> dict[str, Any]:
        """Nothing: the head gives one number, however many choices there are."""
        return {}

    def _objective(self, train: Examples) -> TrainingObjective:
        groups = self._groups(train)
        return LabelledItems(groups.batch, groups.lengths, choice_indices(train), groups.choices)

    def predict(self, model: "nn.Module", examples: Examples) -> list[int]:
        """The number of the best choice of each."""
        groups = self._groups(examples)
        best: list[int] = most_likely(model, groups.lengths, groups.batch).tolist()
        return best

    def _groups(self, examples: Examples) -> "_ChoiceGroups":
        choices = examples["choices"]
        counts = set(map(len, choices)) or {1}
        if len(counts) > 1:
            what = f"examples have {' or '.join(map(str, sorted(counts)))} choices"
            fix = "Give all of them the same number of choices"
            raise SystemFailureError(what, where=dataset_name(examples), fix=fix)
        [count] = counts
        questions = zip(examples["premise"], question_texts(examples), strict=True)
        texts = [f"{premise} {question}" for premise, question in questions]
        columns = [[text for text in texts for _ in range(count)], [text for texts in choices for text in texts]]
        longest = self.recipe.max_length
        encoded = self._tokenised(columns, (longest,), lambda: self.inputs.encode(columns, longest))
        return _ChoiceGroups(self.inputs.rows_for(examples, encoded, np.arange(len(examples)).repeat(count)), count)


class _ChoiceGroups:
    """Rows in groups of one example."""

    def __init__(self, rows: InputRows, choices: int) -> None:
        self.rows, self.choices = rows, choices
        self.lengths: Ints = rows.lengths.reshape(-1, choices).max(axis=1)

    def batch(self, items: Ints, width: int, size: int) -> dict[str, Array]:
        """Some examples, (size, choices, width) each."""
        rows = (items[:, None] * self.choices + np.arange(self.choices)).ravel()
        flat = self.rows.batch(rows, width, size * self.choices)
        return {name: array.reshape(size, self.choices, width) for name, array in flat.items()}
