"""Constrained decoding: the likeliest token that is allowed, one after the other, so that answers can be read back."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn

from isogloss.systems.text2text.tag_format import TagFormat

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


class CopyConstraint(Constraint):
    """At least one token of the passage, then whatever follows what was written anywhere in it, or the end.

    Args:
        input_ids: the rows that were read.
        inside: which of them are of the passage.
        solid: which of those an answer may begin with: not the mark of a blank by itself.
        end: the token that ends each row.

    Attributes:
        length: tokens that were written.
        score: the log-probability of the answer and its end, of all that could be written.
    """

    def __init__(self, input_ids: Tensor, inside: Tensor, solid: Tensor, end: Tensor) -> None:
        self.input_ids, self.inside, self.end = input_ids, inside, end
        rows = len(input_ids)
        self.done = ~solid.any(dim=1)
        self.score = torch.zeros(rows, device=input_ids.device)
        self.length = torch.zeros(rows, dtype=torch.long, device=input_ids.device)
        self._next = solid  # tokens that may come next
        self._ends = torch.zeros_like(inside)  # tokens that may be the last that was written

    @property
    def last(self) -> Tensor:
        """The last token of the answer, in the row; -1 where there is no passage."""
        return torch.where(self.length > 0, self._ends.long().argmax(dim=1), -1)

    @property
    def first(self) -> Tensor:
        """Its first token; where the answer occurs several times, in the first place."""
        return torch.where(self.length > 0, self.last - self.length + 1, 0)

    def choose(self, logits: Tensor) -> Tensor:
        """A token of the passage, or the end."""
        log_probabilities = logits.log_softmax(dim=1)
        best, place = log_probabilities.gather(1, self.input_ids).masked_fill(~self._next, -torch.inf).max(dim=1)
        end = log_probabilities.gather(1, self.end[:, None]).squeeze(1)
        closes = (end >= best) & (self.length > 0) & ~self.done
        goes_on = ~closes & ~self.done
        token = self.input_ids.gather(1, place[:, None])
        here = self._next & (self.input_ids == token)
        self._ends = torch.where(goes_on[:, None], here, self._ends)
        self._next = torch.where(goes_on[:, None], here.roll(1, dims=1) & self.inside, self._next)
        self.length += goes_on
        self.score += torch.where(goes_on, best, torch.where(closes, end, 0.0))
        self.done = self.done | closes
        return torch.where(goes_on, token.squeeze(1), self.end)


class TagConstraint(Constraint):
    """Numbered tags, exactly one for each word of a row; after the last come the row's `end` and then `pad`."""

    def __init__(self, tag_format: TagFormat, words: Tensor, end: Tensor, pad: int) -> None:
        device, rows = words.device, len(words)
        self.words, self.pad = words, pad
        self.done = torch.zeros(rows, dtype=torch.bool, device=device)
        # A tag that is being written is a node, its beginning; the beginning with nothing yet is node 0.
        alphabet = sorted({token for row in tag_format.subwords for token in row.tolist()})
        self.alphabet = torch.tensor(alphabet, device=device)
        goes_on = torch.full((len(tag_format.prefixes), len(alphabet)), -1)
        whole = torch.zeros(len(tag_format.prefixes), dtype=torch.bool)
        for prefix, node in tag_format.prefixes.items():
            if prefix:
                goes_on[tag_format.prefixes[prefix[:-1]], alphabet.index(prefix[-1])] = node
        for row in tag_format.subwords:
            whole[tag_format.prefixes[tuple(row.tolist())]] = True
        self.goes_on, self.whole = goes_on.to(device), whole.to(device)
        # Before the first word: the beginning counts as a whole tag, after which only its marker may come.
        most = int(words.max())
        markers = torch.tensor([tag_format.marker(word) for word in range(most)] + [pad], device=device)
        number = torch.arange(most + 1, device=device)
        self.next = torch.where(number == words[:, None], end[:, None], markers)
        self.node = torch.full((rows,), -1, device=device)
        self.word = torch.zeros(rows, dtype=torch.long, device=device)

    def choose(self, logits: Tensor) -> Tensor:
        """A token of a tag, a marker, or the end."""
        begun = self.node >= 0
        goes_on = self.goes_on[self.node.clamp(min=0)]
        scores = logits[:, self.alphabet].masked_fill((goes_on < 0) | ~begun[:, None], -torch.inf)
        best, which = scores.max(dim=1)
        mark = self.next.gather(1, self.word[:, None]).squeeze(1)
        whole = self.whole[self.node.clamp(min=0)] | ~begun
        ends = whole & (logits.gather(1, mark[:, None]).squeeze(1) >= best)
        token = torch.where(ends, mark, self.alphabet[which])
        self.node = torch.where(ends, 0, goes_on.gather(1, which[:, None]).squeeze(1))
        token = torch.where(self.done, self.pad, token)
        finished = ends & (self.word == self.words)
        self.word = torch.where(ends & ~finished & ~self.done, self.word + 1, self.word)
        self.done = self.done | finished
        return token
