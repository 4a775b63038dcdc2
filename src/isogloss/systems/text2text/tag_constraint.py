"""What may be written of the tags of a sentence: the next marker when a tag is whole, else a token that goes on."""

import torch
from torch import Tensor

from isogloss.systems.text2text.decoding import Constraint
from isogloss.systems.text2text.tag_format import TagFormat


class TagConstraint(Constraint):
    """Numbered tags, exactly one for each word of a row; rows end after the last.

    Args:
        tag_format: how tags are written.
        words: of each row.
        end: the token that ends each row.
        pad: what is written after the end.
    """

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
