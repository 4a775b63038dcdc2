"""The loss over a large vocabulary, without ever having all its logits.

mT5 has 250,000 tokens: the logits of a batch of 2^17 tokens would fill any device. Where they are many, the output
layer is applied to some positions at a time, and again in the backward pass.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy
from torch.utils.checkpoint import checkpoint

from isogloss.systems.neural.task_adapter import IGNORED

_ELEMENTS = 1 << 29  # of the logits that exist at a time


def target_loss(model: nn.Module, batch: Mapping[str, Tensor]) -> Tensor:
    """The summed cross-entropy of the labels, in float32."""
    network: Any = model
    arguments = {
        "input_ids": batch["input_ids"],
        "attention_mask": batch["attention_mask"],
        "decoder_input_ids": batch["decoder_input_ids"],
        "use_cache": False,
    }
    labels = batch["labels"].flatten()
    at_once = max(1, _ELEMENTS // network.config.vocab_size)
    # mBART adds a bias after its output layer, so that one cannot be had without the other.
    if len(labels) <= at_once or hasattr(network, "final_logits_bias"):
        return _summed(nn.Identity(), network(**arguments).logits.flatten(0, 1), labels)
    with _headless(network) as head:
        states = network(**arguments).logits.flatten(0, 1)
    parts = zip(states.split(at_once), labels.split(at_once), strict=True)
    settings = {"use_reentrant": False, "preserve_rng_state": False}
    return torch.stack([checkpoint(_summed, head, *part, **settings) for part in parts]).sum()


@contextmanager
def _headless(network: Any) -> Iterator[nn.Module]:
    """The output layer, while the model does without: its logits are then the states that layer is made for."""
    head: nn.Module = network.get_output_embeddings()
    network.set_output_embeddings(nn.Identity())
    try:
        yield head
    finally:
        network.set_output_embeddings(head)


def _summed(head: nn.Module, states: Tensor, labels: Tensor) -> Tensor:
    return cross_entropy(head(states).float(), labels, ignore_index=IGNORED, reduction="sum")
