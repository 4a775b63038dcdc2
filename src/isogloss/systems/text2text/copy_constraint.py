"""What may be written of an answer: any stretch of the passage, piece by piece."""

import torch
from torch import Tensor

from isogloss.systems.text2text.decoding import Constraint


class CopyConstraint(Constraint):
    """At least one piece of the passage, then whatever follows what was written anywhere in it, or the end.

    Args:
        pieces: the rows that were read.
        inside: which of them are of the passage.
        solid: which of those an answer may begin with: not the mark of a blank by itself.
        closing: the piece that ends each row.

    Attributes:
        length: pieces that were written.
        score: the log-probability of the answer and its end, of all that could be written.
    """

    def __init__(self, pieces: Tensor, inside: Tensor, solid: Tensor, closing: Tensor) -> None:
        self.pieces, self.inside, self.closing = pieces, inside, closing
        rows = len(pieces)
        self.done = ~solid.any(dim=1)
        self.score = torch.zeros(rows, device=pieces.device)
        self.length = torch.zeros(rows, dtype=torch.long, device=pieces.device)
        self._next = solid  # pieces that may come next
        self._ends = torch.zeros_like(inside)  # pieces that may be the last that was written

    @property
    def last(self) -> Tensor:
        """The last piece of the answer, in the row; -1 where there is no passage."""
        return torch.where(self.length > 0, self._ends.long().argmax(dim=1), -1)

    @property
    def first(self) -> Tensor:
        """Its first piece; where the answer stands several times, in the first place."""
        return torch.where(self.length > 0, self.last - self.length + 1, 0)

    def choose(self, logits: Tensor) -> Tensor:
        """A piece of the passage, or the end."""
        said = logits.log_softmax(dim=1)
        best, place = said.gather(1, self.pieces).masked_fill(~self._next, -torch.inf).max(dim=1)
        end = said.gather(1, self.closing[:, None]).squeeze(1)
        closes = (end >= best) & (self.length > 0) & ~self.done
        goes_on = ~closes & ~self.done
        piece = self.pieces.gather(1, place[:, None])
        here = self._next & (self.pieces == piece)
        self._ends = torch.where(goes_on[:, None], here, self._ends)
        self._next = torch.where(goes_on[:, None], here.roll(1, dims=1) & self.inside, self._next)
        self.length += goes_on
        self.score += torch.where(goes_on, best, torch.where(closes, end, 0.0))
        self.done = self.done | closes
        return torch.where(goes_on, piece.squeeze(1), self.closing)
