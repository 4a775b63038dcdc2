"""Classification and multiple choice: of some texts, the one that the model would rather write."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from isogloss.systems.neural.task_adapter import IGNORED
from isogloss.systems.targets import choice_indices, label_ids, question_texts
from isogloss.systems.text2text.adapter import Text2TextAdapter, encode_pairs, shift_right
from isogloss.systems.text2text.tokenizer import encode_rows
from isogloss.systems.tokens.subwords import Int32
from isogloss.tasks.examples import Examples
from isogloss.training.encoded import Encoded, masked, padded, padded_column
from isogloss.training.objective import Arrays, Ints

if TYPE_CHECKING:
    from torch import Tensor, nn

_ELEMENTS = 1 << 28  # of the logits that exist at a time: a large vocabulary makes them by far the largest array


class OptionScoring(Text2TextAdapter):
    """A task whose answer is one of some texts: the one with the highest mean log-probability of its tokens."""

    @abstractmethod
    def fields(self, examples: Examples) -> list[list[str]]:
        """What is read of every example, in parts."""

    @abstractmethod
    def options(self, examples: Examples) -> list[list[str]]:
        """The texts to choose from, for every example."""

    @abstractmethod
    def gold_options(self, train: Examples) -> list[int]:
        """Which of them is right."""

    def pairs(self, train: Examples) -> Encoded:
        """The target is the right text."""
        fields = self.fields(train)
        targets = [row[number] for row, number in zip(self.options(train), self.gold_options(train), strict=True)]

        def make() -> Encoded:
            specials = self.special_tokens(train)
            rows = zip(specials, self.tokenizer.subwords(targets), strict=True)
            pairs = list(zip(self.sources(train, fields), (self.target(*row) for row in rows), strict=True))
            return encode_pairs(pairs, [special.decoder_start for special in specials])

        return self.tokenised("pairs", train, [fields, targets], make)

    def best_options(self, model: "nn.Module", examples: Examples) -> list[int]:
        """The number of the best text of every example."""
        best: list[int] = self.scores(model, examples).argmax(axis=1).tolist()
        return best

    def scores(self, model: "nn.Module", examples: Examples) -> npt.NDArray[np.float32]:
        """The mean log-probability of every text of every example; -inf where there are fewer texts."""
        from isogloss.training.inference import outputs

        if not len(examples):
            return np.empty((0, 1), np.float32)
        rows = _OptionRows(self, examples)
        found = np.full((len(examples), rows.options), -np.inf, np.float32)
        for items, (scores,) in outputs(model, rows.sources.lengths, rows.batch, mean_log_probabilities):
            found[items] = scores
        return found


class _OptionRows:
    """Examples with all texts that could be written, as batches."""

    def __init__(self, adapter: OptionScoring, examples: Examples) -> None:
        self.pad = adapter.tokenizer.pad
        fields, options = adapter.fields(examples), adapter.options(examples)
        self.sources = adapter.tokenised(
            "read", examples, [fields], lambda: encode_rows(adapter.sources(examples, fields))
        )
        specials = adapter.special_tokens(examples)
        self.options = max(map(len, options))
        subwords = iter(adapter.tokenizer.subwords([text for row in options for text in row]))
        nothing = np.empty(0, np.int32)
        targets: list[Int32] = []
        for special, row in zip(specials, options, strict=True):
            targets += [adapter.target(special, next(subwords)) for _ in row] + [nothing] * (self.options - len(row))
        self.targets = encode_rows(targets)
        self.first = np.array([special.decoder_start for special in specials], np.int64)

    def batch(self, items: Ints, width: int, size: int) -> Arrays:
        """Sources, with labels (size, texts, tokens)."""
        which = (items[:, None] * self.options + np.arange(self.options)).ravel()
        longest = int(self.targets.lengths.max())
        flat = padded(self.targets.input_ids, self.targets.starts, which, longest, size * self.options, IGNORED)
        labels = flat.astype(np.int64).reshape(size, self.options, longest)
        given = shift_right(labels, padded_column(self.first, items, size, self.pad), self.pad)
        return {**masked(self.sources, items, width, size, self.pad), "decoder_input_ids": given, "labels": labels}


def mean_log_probabilities(model: "nn.Module", batch: Mapping[str, "Tensor"]) -> "tuple[Tensor]":
    """The mean log-probability of the tokens of every text, the end included; what is read is read once."""
    import torch
    from torch.nn.functional import cross_entropy

    network: Any = model
    labels, given, mask = batch["labels"], batch["decoder_input_ids"], batch["attention_mask"]
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


class Text2TextClassifier(OptionScoring):
    """MLDoc, XNLI and PAWS-X: the number of the label is written.

    Numbers, because names of different length would be compared by their length as well.
    """

    name = "text2text classification"

    def fields(self, examples: Examples) -> list[list[str]]:
        """`text: …`, or `sentence1: …` and `sentence2: …`."""
        if "text" in examples.columns:
            return [[f"text: {text}"] for text in examples["text"]]
        both = zip(examples["text_a"], examples["text_b"], strict=True)
        return [[f"sentence1: {first}", f"sentence2: {second}"] for first, second in both]

    def options(self, examples: Examples) -> list[list[str]]:
        """The numbers of the labels, counted from 0."""
        return [[str(number) for number in range(len(self.task.labels))]] * len(examples)

    def gold_options(self, train: Examples) -> list[int]:
        """The numbers of the gold labels."""
        numbers: list[int] = label_ids(self.task, train[train.gold], train).tolist()
        return numbers

    def predict(self, model: "nn.Module", examples: Examples) -> list[str]:
        """The best label of each."""
        return [self.task.labels[number] for number in self.best_options(model, examples)]


class Text2TextMultipleChoice(OptionScoring):
    """XCOPA: of the choices, which are read with the premise, the right one is written."""

    name = "text2text multiple choice"

    def fields(self, examples: Examples) -> list[list[str]]:
        """`premise: … question: … choice1: … choice2: …`."""
        columns = examples["premise"], question_texts(examples), examples["choices"]
        return [
            [
                f"premise: {premise}",
                f"question: {question}",
                *(f"choice{number}: {choice}" for number, choice in enumerate(choices, 1)),
            ]
            for premise, question, choices in zip(*columns, strict=True)
        ]

    def options(self, examples: Examples) -> list[list[str]]:
        """The choices themselves."""
        return [list(choices) for choices in examples["choices"]]

    def gold_options(self, train: Examples) -> list[int]:
        """The gold."""
        indices: list[int] = choice_indices(train).tolist()
        return indices

    def predict(self, model: "nn.Module", examples: Examples) -> Sequence[int]:
        """The index of the best choice."""
        return self.best_options(model, examples)
