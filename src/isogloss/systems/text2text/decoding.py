"""Writing token by token, the likeliest that is allowed: what comes out can always be read back."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn

_LOOK_EVERY = 8  # tokens between two looks whether all rows are done: a look stops an accelerator


class Constraint(ABC):
    """What the rows of a batch may write, given what they have written.

    Attributes:
        done: the rows that have ended.
    """

    done: Tensor

    @abstractmethod
    def choose(self, logits: Tensor) -> Tensor:
        """The likeliest token of each row that is allowed, from (rows, vocabulary); the choice is remembered."""


def generate(model: nn.Module, batch: Mapping[str, Tensor], constraint: Constraint, longest: int) -> Tensor:
    """What the model writes after `decoder_input_ids`, (rows, tokens): at most `longest`, where rows end by then."""
    network: Any = model
    mask = batch["attention_mask"]
    states = network.get_encoder()(input_ids=batch["input_ids"], attention_mask=mask).last_hidden_state
    given, memory, written = batch["decoder_input_ids"], None, []
    for step in range(longest):
        found = network(
            encoder_outputs=(states,),
            attention_mask=mask,
            decoder_input_ids=given,
            past_key_values=memory,
            use_cache=True,
        )
        memory = found.past_key_values
        token = constraint.choose(found.logits[:, -1].float())
        written.append(token)
        given = token[:, None]
        if step % _LOOK_EVERY == _LOOK_EVERY - 1 and bool(constraint.done.all()):
            break
    return torch.stack(written, dim=1)
