"""What may be written of an answer: any stretch of the passage, token by token."""

import torch
from torch import Tensor

from isogloss.systems.text2text.decoding import Constraint


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
        """Its first token; where the answer stands several times, in the first place."""
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
