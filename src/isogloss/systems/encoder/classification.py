"""Classification of one or two texts, and multiple choice."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from isogloss.systems.base import SystemFailureError, dataset_name
from isogloss.systems.encoder.adapter import EncoderAdapter, LabelledItems, most_likely
from isogloss.systems.pretrained import Model
from isogloss.systems.targets import choice_indices, label_ids, question_texts
from isogloss.systems.tokens.inputs import InputRows
from isogloss.tasks.examples import Examples
from isogloss.training.encoded import Array
from isogloss.training.objective import Ints, TrainingObjective


class EncoderClassifier(EncoderAdapter):
    """MLDoc, XNLI and PAWS-X: a softmax over the labels, from the first token's state."""

    name = "encoder classification"
    auto_class = "AutoModelForSequenceClassification"

    def _objective(self, train: Examples) -> TrainingObjective:
        labels = label_ids(self.task, train[train.gold], train)
        return LabelledItems(self._rows(train), {"labels": labels})

    def predict(self, model: Model, examples: Examples) -> list[str]:
        """Return each example's most likely label."""
        return [self.task.labels[number] for number in most_likely(model, self._rows(examples))]

    def _rows(self, examples: Examples) -> InputRows:
        names = ("text",) if "text" in examples.columns else ("text_a", "text_b")
        return self._text_rows(examples, [examples[name] for name in names])


class EncoderMultipleChoice(EncoderAdapter):
    """XCOPA and Social IQa: one score per choice, and a softmax over an example's choices."""

    name = "encoder multiple choice"
    auto_class = "AutoModelForMultipleChoice"

    @property
    def head_settings(self) -> dict[str, Any]:
        """Empty: the head gives one score per choice."""
        return {}

    def _objective(self, train: Examples) -> TrainingObjective:
        groups = self._groups(train)
        return LabelledItems(groups, {"labels": choice_indices(train)}, groups.choices)

    def predict(self, model: Model, examples: Examples) -> list[int]:
        """Return the index of each example's best choice."""
        return most_likely(model, self._groups(examples))

    def _groups(self, examples: Examples) -> "_ChoiceGroups":
        choices = examples["choices"]
        counts = set(map(len, choices)) or {1}
        if len(counts) > 1:
            what = f"examples have {' or '.join(map(str, sorted(counts)))} choices"
            fix = "Use the same number of choices in every example"
            raise SystemFailureError(what, where=dataset_name(examples), fix=fix)
        [count] = counts
        questions = zip(examples["premise"], question_texts(examples), strict=True)
        texts = [f"{premise} {question}" for premise, question in questions for _ in range(count)]
        columns = [texts, [text for texts in choices for text in texts]]
        rows = self._text_rows(examples, columns, np.arange(len(examples)).repeat(count))
        return _ChoiceGroups(rows.inputs, rows.encoded, rows.languages, count)


@dataclass(frozen=True)
class _ChoiceGroups(InputRows):
    """Rows grouped by example."""

    choices: int = 1

    @property
    def lengths(self) -> Ints:
        longest: Ints = self.encoded.lengths.reshape(-1, self.choices).max(axis=1)
        return longest

    def batch(self, rows: Ints, width: int, size: int) -> dict[str, Array]:
        """Return some examples, (size, choices, width) each."""
        every = (rows[:, None] * self.choices + np.arange(self.choices)).ravel()
        flat = super().batch(every, width, size * self.choices)
        return {name: array.reshape(size, self.choices, width) for name, array in flat.items()}
