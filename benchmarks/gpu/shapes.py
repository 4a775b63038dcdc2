"""Models with their real configurations, and data with the real lengths of their tasks."""

import copy
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import torch
import transformers
from torch import Tensor, nn

from isogloss.training.objective import Arrays, Encoded, Ints, TrainingObjective, padded, padded_column

# Every twentieth quantile of the tokens of an input, counted on the English sets with a WordPiece vocabulary of
# 119,547: XNLI pairs (dev, cut at 128), SQuAD windows (XQuAD's, of 384), UD-POS sentences (train, cut at 128).
QUANTILES = {
    "xnli": (13, 21, 24, 26, 28, 30, 32, 34, 36, 37, 39, 41, 43, 45, 47, 49, 51, 53, 57, 61, 79),
    "squad": (44, 95, 118, 127, 136, 141, 148, 154, 162, 170, 176, 185, 194, 204, 224, 235, 260, 271, 286, 371, 384),
    "pos": (3, 5, 8, 9, 11, 12, 14, 15, 17, 19, 20, 22, 24, 26, 28, 30, 33, 37, 42, 51, 128),
}
LABELS = {"xnli": 3, "squad": 2, "pos": 17}
CLASSES = {
    "xnli": transformers.AutoModelForSequenceClassification,
    "squad": transformers.AutoModelForQuestionAnswering,
    "pos": transformers.AutoModelForTokenClassification,
}


@dataclass(frozen=True)
class Size:
    """A model's size, with the batch and learning rate of the paper's recipe."""

    name: str
    config: transformers.PretrainedConfig
    batch: int
    rate: float


def sizes() -> dict[str, Size]:
    mbert = transformers.BertConfig(vocab_size=119547)
    large = transformers.XLMRobertaConfig(
        vocab_size=250002,
        hidden_size=1024,
        num_hidden_layers=24,
        num_attention_heads=16,
        intermediate_size=4096,
        max_position_embeddings=514,
        type_vocab_size=1,
        layer_norm_eps=1e-5,
    )
    little = transformers.BertConfig(
        vocab_size=24448, hidden_size=320, num_hidden_layers=10, num_attention_heads=8, intermediate_size=1280
    )
    return {
        "small": Size("20 million", little, 32, 3e-4),
        "mbert": Size("mBERT", mbert, 32, 2e-5),
        "large": Size("XLM-R Large", large, 16, 3e-5),
    }


def small() -> transformers.PretrainedConfig:
    """Four layers: enough to show errors, and quick on a CPU."""
    return transformers.BertConfig(vocab_size=2000, hidden_size=256, num_hidden_layers=4, num_attention_heads=4)


def model_of(config: transformers.PretrainedConfig, shape: str, device: str, seed: int = 0) -> nn.Module:
    torch.manual_seed(seed)
    config = copy.deepcopy(config)  # a model may change its own
    config.num_labels = LABELS[shape]
    with torch.device(device):
        return CLASSES[shape].from_config(config)


class Synthetic(TrainingObjective):
    """Random tokens in the lengths of a task, with random labels."""

    def __init__(self, shape: str, config: transformers.PretrainedConfig, count: int, seed: int = 0) -> None:
        random = np.random.default_rng(seed)
        lengths = np.interp(random.random(count), np.linspace(0, 1, 21), QUANTILES[shape]).astype(np.int64)
        starts = np.concatenate([[0], np.cumsum(lengths)])
        tokens = random.integers(5, config.vocab_size, starts[-1]).astype(np.int32)
        labels = {
            "xnli": random.integers(0, 3, count),
            "squad": (random.random((count, 2)) * lengths[:, None]).astype(np.int64),
            "pos": random.integers(0, 17, starts[-1]),
        }[shape]
        aligned, columns = ({"labels": labels}, {}) if shape == "pos" else ({}, {"labels": labels})
        self.shape, self.pad = shape, config.pad_token_id
        self.encoded = Encoded(tokens, starts, aligned, columns)
        self.lengths = lengths

    def batch(self, items: Ints, width: int, size: int) -> Arrays:
        encoded = self.encoded
        tokens = padded(encoded.input_ids, encoded.starts, items, width, size, self.pad)
        if self.shape == "pos":
            labels = padded(encoded.aligned["labels"], encoded.starts, items, width, size, -100)
        else:
            labels = padded_column(encoded.columns["labels"], items, size, -100)
        mask = np.zeros((size, width), np.int64)
        mask[: len(items)] = np.arange(width) < self.lengths[items, None]
        mask[len(items) :, 0] = 1  # a softmax over no position is 0 / 0
        return {"input_ids": tokens.astype(np.int64), "attention_mask": mask, "labels": labels}

    def weight(self, items: Ints) -> float:
        return float(self.lengths[items].sum() if self.shape == "pos" else len(items))

    def loss(self, model: nn.Module, batch: Mapping[str, Tensor]) -> Tensor:
        output = model(input_ids=batch["input_ids"], attention_mask=batch["attention_mask"])
        labels = batch["labels"]
        if self.shape == "squad":
            # Padding is never an answer; its states are undefined.
            both = torch.stack([output.start_logits, output.end_logits], 1).float()
            if batch["attention_mask"] is not None:
                both = both.masked_fill((batch["attention_mask"] == 0)[:, None], -torch.inf)
            both = both.flatten(0, 1)
            return nn.functional.cross_entropy(both, labels.flatten(), ignore_index=-100, reduction="sum") / 2
        logits = output.logits.float().flatten(0, -2)
        return nn.functional.cross_entropy(logits, labels.flatten(), ignore_index=-100, reduction="sum")

    def inputs(self, items: Ints, width: int, size: int) -> Arrays:
        """Return a batch for inference."""
        return {name: array for name, array in self.batch(items, width, size).items() if name != "labels"}


def logits(model: nn.Module, batch: Mapping[str, Tensor]) -> tuple[Tensor, ...]:
    output = model(**batch)
    return (output.logits,) if "logits" in output else (output.start_logits, output.end_logits)
