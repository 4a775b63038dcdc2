"""The loss of generated targets, and greedy decoding of the most likely allowed tokens, so that outputs parse."""

from abc import ABC, abstractmethod
from collections.abc import Mapping

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy
from torch.utils.checkpoint import checkpoint

from isogloss.systems.targets import IGNORED
from isogloss.systems.text2text.tagging import TagFormat

_ELEMENTS = 1 << 29  # logits in memory at a time
_CHECK_EVERY = 8  # tokens between checks for the end of all rows: each check stalls the accelerator


def target_loss(model: nn.Module, batch: Mapping[str, Tensor]) -> Tensor:
    """Return the summed cross-entropy of the labels, in float32, without materialising all logits."""
    # mT5 has 250,000 tokens: the logits of a batch of 2^17 tokens would fill any device. Large batches therefore apply
    # the output layer to some positions at a time, and again in the backward pass.
    names = ("input_ids", "attention_mask", "decoder_input_ids")
    arguments = {"use_cache": False, **{name: batch[name] for name in names}}
    labels = batch["labels"].flatten()
    at_once = max(1, _ELEMENTS // model.config.vocab_size)
    # mBART adds a bias after its output layer, so the two cannot be separated.
    if len(labels) <= at_once or hasattr(model, "final_logits_bias"):
        return _summed(nn.Identity(), model(**arguments).logits.flatten(0, 1), labels)
    head = model.get_output_embeddings()
    model.set_output_embeddings(nn.Identity())  # the model then returns the hidden states as its logits
    try:
        states = model(**arguments).logits.flatten(0, 1)
    finally:
        model.set_output_embeddings(head)
    parts = zip(states.split(at_once), labels.split(at_once), strict=True)
    settings = {"use_reentrant": False, "preserve_rng_state": False}
    return torch.stack([checkpoint(_summed, head, *part, **settings) for part in parts]).sum()


def _summed(head: nn.Module, states: Tensor, labels: Tensor) -> Tensor:
    return cross_entropy(head(states).float(), labels, ignore_index=IGNORED, reduction="sum")


class Constraint(ABC):
    """The tokens that the rows of a batch may generate next."""

    done: Tensor  # mask of the rows that have ended

    @abstractmethod
    def choose(self, logits: Tensor) -> Tensor:
        """Choose each row's most likely allowed token from logits (rows, vocabulary), and record it."""


def generate(model: nn.Module, batch: Mapping[str, Tensor], constraint: Constraint, longest: int) -> Tensor:
    """Return the tokens generated after `decoder_input_ids`, (rows, tokens), at most `longest`."""
    mask = batch["attention_mask"]
    states = model.get_encoder()(input_ids=batch["input_ids"], attention_mask=mask).last_hidden_state
    sources = {"encoder_outputs": (states,), "attention_mask": mask}
    inputs, cache, written = batch["decoder_input_ids"], None, []
    for step in range(longest):
        output = model(**sources, decoder_input_ids=inputs, past_key_values=cache, use_cache=True)
        cache = output.past_key_values
        token = constraint.choose(output.logits[:, -1].float())
        written.append(token)
        inputs = token[:, None]
        if step % _CHECK_EVERY == _CHECK_EVERY - 1 and bool(constraint.done.all()):
            break
    return torch.stack(written, dim=1)


class AnyToken(Constraint):
    """Any token; a row that has ended repeats its `end`."""

    def __init__(self, end: Tensor) -> None:
        self.end, self.done = end, torch.zeros_like(end, dtype=torch.bool)

    def choose(self, logits: Tensor) -> Tensor:
        """Choose the most likely token."""
        token = torch.where(self.done, self.end, logits.argmax(dim=1))
        self.done = self.done | (token == self.end)
        return token


class CopyConstraint(Constraint):
    """Copies a span of the passage: at least one token, then its continuation anywhere in the passage, or the end.

    `inside` is a mask of the tokens that belong to the passage, `solid` of those that may start an answer: not bare
    whitespace markers. `score` is the log-probability of the answer and its end, over the whole vocabulary.
    """

    def __init__(self, input_ids: Tensor, inside: Tensor, solid: Tensor, end: Tensor) -> None:
        self.input_ids, self.inside, self.end = input_ids, inside, end
        self.done = ~solid.any(dim=1)
        self.score = torch.zeros(len(input_ids), device=input_ids.device)
        self.length = torch.zeros_like(self.score, dtype=torch.long)
        self._next = solid  # positions that may come next
        self._ends = torch.zeros_like(inside)  # possible positions of the last generated token

    @property
    def last(self) -> Tensor:
        """Position of the answer's last token in the row; -1 without a passage."""
        return torch.where(self.length > 0, self._ends.long().argmax(dim=1), -1)

    @property
    def first(self) -> Tensor:
        """Position of its first token; the first occurrence if there are several."""
        return torch.where(self.length > 0, self.last - self.length + 1, 0)

    def choose(self, logits: Tensor) -> Tensor:
        """Choose a token of the passage, or the end."""
        log_probabilities = logits.log_softmax(dim=1)
        best, position = log_probabilities.gather(1, self.input_ids).masked_fill(~self._next, -torch.inf).max(dim=1)
        end = log_probabilities.gather(1, self.end[:, None]).squeeze(1)
        closes = (end >= best) & (self.length > 0) & ~self.done
        continues = ~closes & ~self.done
        token = self.input_ids.gather(1, position[:, None])
        here = self._next & (self.input_ids == token)
        self._ends = torch.where(continues[:, None], here, self._ends)
        self._next = torch.where(continues[:, None], here.roll(1, dims=1) & self.inside, self._next)
        self.length += continues
        self.score += torch.where(continues, best, torch.where(closes, end, 0.0))
        self.done = self.done | closes
        return torch.where(continues, token.squeeze(1), self.end)


class TagConstraint(Constraint):
    """Numbered tags, exactly one per word of a row, followed by the row's `end` and then `pad`."""

    def __init__(self, tag_format: TagFormat, words: Tensor, end: Tensor, pad: int) -> None:
        device, rows = words.device, len(words)
        self.words, self.pad = words, pad
        self.done = torch.zeros(rows, dtype=torch.bool, device=device)
        # A partly generated tag is a node, its prefix; the empty prefix is node 0.
        nodes = tag_format.prefixes
        alphabet = sorted({token for row in tag_format.subwords for token in row.tolist()})
        self.alphabet = torch.tensor(alphabet, device=device)
        children = torch.full((len(nodes), len(alphabet)), -1)
        for prefix, node in nodes.items():
            if prefix:
                children[nodes[prefix[:-1]], alphabet.index(prefix[-1])] = node
        tags = {tuple(row.tolist()) for row in tag_format.subwords}
        self.children = children.to(device)
        self.whole = torch.tensor([prefix in tags for prefix in nodes], device=device)
        # The start counts as a complete tag, so that only the first marker may follow.
        most = int(words.max())
        markers = torch.tensor([tag_format.marker(word) for word in range(most)] + [pad], device=device)
        number = torch.arange(most + 1, device=device)
        self.next = torch.where(number == words[:, None], end[:, None], markers)
        self.node = torch.full((rows,), -1, device=device)
        self.word = torch.zeros(rows, dtype=torch.long, device=device)

    def choose(self, logits: Tensor) -> Tensor:
        """Choose a token of a tag, a marker, or the end."""
        begun = self.node >= 0
        children = self.children[self.node.clamp(min=0)]
        scores = logits[:, self.alphabet].masked_fill((children < 0) | ~begun[:, None], -torch.inf)
        best, which = scores.max(dim=1)
        mark = self.next.gather(1, self.word[:, None]).squeeze(1)
        whole = self.whole[self.node.clamp(min=0)] | ~begun
        ends = whole & (logits.gather(1, mark[:, None]).squeeze(1) >= best)
        token = torch.where(ends, mark, self.alphabet[which])
        self.node = torch.where(ends, 0, children.gather(1, which[:, None]).squeeze(1))
        token = torch.where(self.done, self.pad, token)
        finished = ends & (self.word == self.words)
        self.word = torch.where(ends & ~finished & ~self.done, self.word + 1, self.word)
        self.done = self.done | finished
        return token
