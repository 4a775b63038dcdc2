"""Classification and multiple choice: of some texts, the one that the model would rather write."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from isogloss.systems.base import SystemFailureError
from isogloss.systems.encoder.choice import QUESTIONS
from isogloss.systems.neural.gold import label_numbers, where
from isogloss.systems.neural.task_adapter import IGNORED
from isogloss.systems.text2text.adapter import TextAdapter, shifted
from isogloss.systems.text2text.vocabulary import Row, encoded
from isogloss.tasks.examples import Examples
from isogloss.training.encoded import Array, Encoded, masked, padded
from isogloss.training.objective import Arrays, Ints

if TYPE_CHECKING:
    from torch import Tensor, nn

_ELEMENTS = 1 << 28  # of the logits that exist at a time: a large vocabulary makes them by far the largest array


class Choosing(TextAdapter):
    """A task whose answer is one of some texts: the one with the highest mean log-probability of its pieces."""

    @abstractmethod
    def fields(self, examples: Examples) -> list[list[str]]:
        """What is read of every example, in parts."""

    @abstractmethod
    def options(self, examples: Examples) -> list[list[str]]:
        """The texts to choose from, for every example."""

    @abstractmethod
    def right(self, train: Examples) -> list[int]:
        """Which of them is right."""

    def pairs(self, train: Examples) -> Encoded:
        """The right text is written."""
        fields = self.fields(train)
        targets = [row[number] for row, number in zip(self.options(train), self.right(train), strict=True)]

        def make() -> Encoded:
            return self.paired(train, self.sources(train, fields), self.vocabulary.pieces(targets))

        return self.tokenised("pairs", train, [fields, targets], make)

    def chosen(self, model: "nn.Module", examples: Examples) -> Ints:
        """The number of the best text of every example."""
        best: Ints = self.scores(model, examples).argmax(axis=1)
        return best

    def scores(self, model: "nn.Module", examples: Examples) -> npt.NDArray[np.float32]:
        """The mean log-probability of every text of every example; -inf where there are fewer texts."""
        from isogloss.training.inference import outputs

        if not len(examples):
            return np.empty((0, 1), np.float32)
        asked = _Asked(self, examples)
        found = np.full((len(examples), asked.width), -np.inf, np.float32)
        for items, (scores,) in outputs(model, asked.rows.lengths, asked.batch, mean_log_probabilities):
            found[items] = scores
        return found


class _Asked:
    """Examples with all texts that could be written, as batches."""

    def __init__(self, adapter: Choosing, examples: Examples) -> None:
        self.pad = adapter.vocabulary.pad
        fields, options = adapter.fields(examples), adapter.options(examples)
        self.rows = adapter.tokenised("read", examples, [fields], lambda: encoded(adapter.sources(examples, fields)))
        frames = adapter.frames(examples)
        self.width = max(map(len, options))
        pieces = iter(adapter.vocabulary.pieces([text for row in options for text in row]))
        nothing = np.empty(0, np.int32)
        written: list[Row] = []
        for frame, row in zip(frames, options, strict=True):
            written += [adapter.written(frame, next(pieces)) for _ in row] + [nothing] * (self.width - len(row))
        self.written = encoded(written)
        self.begins = np.array([frame.start for frame in frames], np.int64)

    def batch(self, items: Ints, width: int, size: int) -> Arrays:
        """Rows that are read, with labels (size, texts, pieces)."""
        which = (items[:, None] * self.width + np.arange(self.width)).ravel()
        longest = int(self.written.lengths.max())
        flat = padded(self.written.input_ids, self.written.starts, which, longest, size * self.width, IGNORED)
        labels = flat.astype(np.int64).reshape(size, self.width, longest)
        begins = np.full(size, self.pad, np.int64)
        begins[: len(items)] = self.begins[items]
        given: Array = shifted(labels, begins, self.pad)
        return {**masked(self.rows, items, width, size, self.pad), "given": given, "labels": labels}


def mean_log_probabilities(model: "nn.Module", batch: Mapping[str, "Tensor"]) -> "tuple[Tensor]":
    """The mean log-probability of the pieces of every text, the end included; what is read is read once."""
    import torch
    from torch.nn.functional import cross_entropy

    network: Any = model
    labels, given, mask = batch["labels"], batch["given"], batch["attention_mask"]
    rows, texts, longest = labels.shape
    states = network.get_encoder()(input_ids=batch["input_ids"], attention_mask=mask).last_hidden_state
    step = max(1, _ELEMENTS // (texts * longest * network.config.vocab_size))
    parts = []
    for part in (slice(begin, begin + step) for begin in range(0, rows, step)):
        logits = network(
            encoder_outputs=(states[part].repeat_interleave(texts, dim=0),),
            attention_mask=mask[part].repeat_interleave(texts, dim=0),
            decoder_input_ids=given[part].flatten(0, 1),
            use_cache=False,
        ).logits
        wanted = labels[part].flatten()
        losses = cross_entropy(logits.flatten(0, 1).float(), wanted, ignore_index=IGNORED, reduction="none")
        parts.append(-losses.view(-1, texts, longest).sum(dim=2))
    counts = (labels != IGNORED).sum(dim=2)
    means = torch.cat(parts) / counts.clamp(min=1)
    return (means.masked_fill(counts == 0, -torch.inf),)


class Classification(Choosing):
    """MLDoc, XNLI and PAWS-X: the number of the label is written.

    Numbers, because names of different length would be compared by their length as well.
    """

    def fields(self, examples: Examples) -> list[list[str]]:
        """`text: …`, or `sentence1: …` and `sentence2: …`."""
        if "text" in examples.columns:
            return [[f"text: {text}"] for text in examples["text"]]
        both = zip(examples["text_a"], examples["text_b"], strict=True)
        return [[f"sentence1: {first}", f"sentence2: {second}"] for first, second in both]

    def options(self, examples: Examples) -> list[list[str]]:
        """The numbers of the labels, counted from 0."""
        return [[str(number) for number in range(len(self.task.labels))]] * len(examples)

    def right(self, train: Examples) -> list[int]:
        """The numbers of the gold labels."""
        numbers: list[int] = label_numbers(self.task, train[train.gold], train).tolist()
        return numbers

    def answers(self, model: "nn.Module", examples: Examples) -> list[str]:
        """The best label of each."""
        return [self.task.labels[number] for number in self.chosen(model, examples).tolist()]


class MultipleChoice(Choosing):
    """XCOPA: of the choices, which are read with the premise, the right one is written."""

    def fields(self, examples: Examples) -> list[list[str]]:
        """`premise: … question: … choice1: … choice2: …`."""
        columns = (examples[name] for name in ("premise", "question", "choices"))
        return [
            [
                f"premise: {premise}",
                f"question: {QUESTIONS.get(question, question)}",
                *(f"choice{number}: {choice}" for number, choice in enumerate(choices, 1)),
            ]
            for premise, question, choices in zip(*columns, strict=True)
        ]

    def options(self, examples: Examples) -> list[list[str]]:
        """The choices themselves."""
        return [list(choices) for choices in examples["choices"]]

    def right(self, train: Examples) -> list[int]:
        """The gold."""
        right: list[int] = list(train[train.gold])
        for number, choices in zip(right, train["choices"], strict=True):
            if number not in range(len(choices)):
                fix = "Choices are counted from 0"
                raise SystemFailureError(f"there is no choice {number!r}", where=where(train), fix=fix)
        return right

    def answers(self, model: "nn.Module", examples: Examples) -> Sequence[int]:
        """The index of the best choice."""
        best: list[int] = self.chosen(model, examples).tolist()
        return best
