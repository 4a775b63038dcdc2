"""Encoder heads for answers that are not one of several labels: sets of labels, and numbers."""

from typing import Any

import numpy as np

from isogloss.systems.encoder.adapter import EncoderClassifier, model_arguments
from isogloss.systems.pretrained import Batch, Model, Tensor
from isogloss.systems.targets import gold_numbers, label_table
from isogloss.systems.tokens.inputs import InputRows
from isogloss.tasks.examples import Examples
from isogloss.tasks.kinds.regression import scale_of
from isogloss.training.objective import Array, Arrays, Ints, TrainingObjective


class _TargetItems(TrainingObjective):
    """Items with a row of targets each; `mask` is 0 for padding."""

    def __init__(self, items: InputRows, targets: Array) -> None:
        self.items, self.targets, self.lengths = items, targets.astype(np.float32), items.lengths

    def batch(self, items: Ints, width: int, size: int) -> Arrays:
        """Return the items with their targets."""
        targets, mask = np.zeros((size, self.targets.shape[1]), np.float32), np.zeros((size, 1), np.float32)
        targets[: len(items)], mask[: len(items)] = self.targets[items], 1
        return {**self.items.batch(items, width, size), "targets": targets, "mask": mask}


class _LabelItems(_TargetItems):
    """The loss is the binary cross-entropy, averaged over the labels of an item."""

    def loss(self, model: Model, batch: Batch) -> Tensor:
        """Return the summed loss."""
        from torch.nn.functional import binary_cross_entropy_with_logits

        logits = model(**model_arguments(batch)).logits.float()
        losses = binary_cross_entropy_with_logits(logits, batch["targets"], reduction="none")
        return (losses * batch["mask"]).mean(dim=1).sum()


class _NumberItems(_TargetItems):
    """The loss is the squared error."""

    def loss(self, model: Model, batch: Batch) -> Tensor:
        """Return the summed loss."""
        logits = model(**model_arguments(batch)).logits.float()
        return (((logits - batch["targets"]) ** 2) * batch["mask"]).sum()


def _logits(model: Model, batch: Batch) -> tuple[Tensor]:
    return (model(**model_arguments(batch)).logits,)


class _OpenHead(EncoderClassifier):
    """A head with outputs that are not alternatives."""

    def outputs(self, model: Model, examples: Examples) -> Array:
        """Return the outputs of the head for every example."""
        from isogloss.training.inference import outputs

        items = self._rows(examples)
        table = np.zeros((len(examples), int(model.config.num_labels)), np.float32)
        for numbers, (logits,) in outputs(model, items.lengths, items.batch, _logits):
            table[numbers] = logits
        return table


class EncoderLabelSets(_OpenHead):
    """Multi-label classification: one output per label, trained by binary cross-entropy."""

    name = "encoder label sets"

    def _objective(self, train: Examples) -> TrainingObjective:
        return _LabelItems(self._rows(train), label_table(self.task, train))

    def predict(self, model: Model, examples: Examples) -> list[Any]:
        """Return the labels that are more likely than not."""
        likely = (self.outputs(model, examples) > 0).tolist()
        return [[label for label, given in zip(self.task.labels, row, strict=True) if given] for row in likely]


class EncoderRegressor(_OpenHead):
    """Regression: one output, trained by squared error on the task's scale from 0 to 1, or on the numbers as given."""

    name = "encoder regression"

    @property
    def head_settings(self) -> dict[str, Any]:
        """One output."""
        return {"num_labels": 1}

    @property
    def _scale(self) -> tuple[float, float]:
        return scale_of(self.task) or (0.0, 1.0)

    def _objective(self, train: Examples) -> TrainingObjective:
        low, high = self._scale
        return _NumberItems(self._rows(train), ((gold_numbers(train) - low) / (high - low))[:, None])

    def predict(self, model: Model, examples: Examples) -> list[Any]:
        """Return one number per example."""
        low, high = self._scale
        return list((low + (high - low) * self.outputs(model, examples)[:, 0].astype(np.float64)).tolist())
