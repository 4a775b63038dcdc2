"""Classification and multiple choice: the most likely of several texts."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from isogloss.systems.pretrained import Batch, Model, Tensor
from isogloss.systems.targets import IGNORED, choice_indices, label_ids, premises_and_questions, question_texts
from isogloss.systems.text2text.adapter import NOTHING, PairRows, Text2TextAdapter, encode_rows, with_inputs
from isogloss.tasks.examples import Examples
from isogloss.training.objective import Arrays, Encoded, Ints, masked, padded, padded_column

_ELEMENTS = 1 << 28  # logits in memory at a time: with a large vocabulary they are by far the largest array


class OptionScoring(Text2TextAdapter):
    """A choice between texts: the one with the highest mean token log-probability."""

    @abstractmethod
    def fields_and_options(self, examples: Examples) -> tuple[list[list[str]], list[list[str]]]:
        """Return the source of every example, as fields, and the texts to choose from."""

    def pairs(self, train: Examples) -> Encoded:
        """Return pairs with the correct text as the target."""
        fields, options = self.fields_and_options(train)
        choices = "choices" in train.columns
        gold = choice_indices(train) if choices else label_ids(self.task, train[train.gold], train)
        targets = [row[number] for row, number in zip(options, gold, strict=True)]

        def rows() -> PairRows:
            texts = zip(self.special_tokens(train), self.tokenizer.subwords(targets), strict=True)
            for number, (source, text) in enumerate(zip(self.sources(train, fields), texts, strict=True)):
                yield number, source, self.target(*text)

        return self.cached_pairs(train, [fields, targets], rows)

    def predict(self, model: Model, examples: Examples) -> Sequence[Any]:
        """Return the index of each example's best text."""
        return list(self.scores(model, examples).argmax(axis=1).tolist())

    def scores(self, model: Model, examples: Examples) -> npt.NDArray[np.float32]:
        """Return the mean log-probability of every text of every example; -inf for missing texts."""
        from isogloss.training.inference import outputs

        if not len(examples):
            return np.empty((0, 1), np.float32)
        (fields, options), specials = self.fields_and_options(examples), self.special_tokens(examples)
        sources = self.tokenised("read", examples, [fields], lambda: encode_rows(self.sources(examples, fields)))
        subwords = iter(self.tokenizer.subwords([text for row in options for text in row]))
        most, rows = max(map(len, options)), []
        for special, texts in zip(specials, options, strict=True):
            rows += [self.target(special, next(subwords)) for _ in texts] + [NOTHING] * (most - len(texts))
        targets = encode_rows(rows)
        longest, pad = int(targets.lengths.max()), self.tokenizer.pad
        first = np.array([special.decoder_start for special in specials], np.int64)

        def batch(items: Ints, width: int, size: int) -> Arrays:
            """Return sources, with labels (size, texts, tokens)."""
            which = (items[:, None] * most + np.arange(most)).ravel()
            flat = padded(targets.input_ids, targets.starts, which, longest, size * most, IGNORED)
            written = with_inputs(flat.reshape(size, most, longest), padded_column(first, items, size, pad), pad)
            return {**masked(sources, items, width, size, pad), **written}

        table = np.full((len(examples), most), -np.inf, np.float32)
        for items, (scores,) in outputs(model, sources.lengths, batch, mean_log_probabilities):
            table[items] = scores
        return table


def mean_log_probabilities(model: Model, batch: Batch) -> tuple[Tensor]:
    """Return the mean token log-probability of every text, including its end; each source is encoded once."""
    import torch
    from torch.nn.functional import cross_entropy

    labels, inputs, mask = batch["labels"], batch["decoder_input_ids"], batch["attention_mask"]
    rows, texts, longest = labels.shape
    states = model.get_encoder()(input_ids=batch["input_ids"], attention_mask=mask).last_hidden_state
    step = max(1, _ELEMENTS // (texts * longest * model.config.vocab_size))
    parts = []
    for part in (slice(begin, begin + step) for begin in range(0, rows, step)):
        logits = model(
            encoder_outputs=(states[part].repeat_interleave(texts, dim=0),),
            attention_mask=mask[part].repeat_interleave(texts, dim=0),
            decoder_input_ids=inputs[part].flatten(0, 1),
            use_cache=False,
        ).logits
        targets = labels[part].flatten()
        losses = cross_entropy(logits.flatten(0, 1).float(), targets, ignore_index=IGNORED, reduction="none")
        parts.append(-losses.view(-1, texts, longest).sum(dim=2))
    counts = (labels != IGNORED).sum(dim=2)
    means = torch.cat(parts) / counts.clamp(min=1)
    return (means.masked_fill(counts == 0, -torch.inf),)


class Text2TextClassifier(OptionScoring):
    """MLDoc, XNLI and PAWS-X: the model generates the label's number, as a name's score would depend on its length."""

    name = "text2text classification"

    def fields_and_options(self, examples: Examples) -> tuple[list[list[str]], list[list[str]]]:
        """Return `text: …`, or `sentence1: …` and `sentence2: …`, and the label numbers, from 0."""
        numbers = [[str(number) for number in range(len(self.task.labels))]] * len(examples)
        if "text" in examples.columns:
            return [[f"text: {text}"] for text in examples["text"]], numbers
        both = zip(examples["text_a"], examples["text_b"], strict=True)
        return [[f"sentence1: {first}", f"sentence2: {second}"] for first, second in both], numbers

    def predict(self, model: Model, examples: Examples) -> list[str]:
        """Return each example's best label."""
        return [self.task.labels[number] for number in super().predict(model, examples)]


class Text2TextMultipleChoice(OptionScoring):
    """XCOPA: the model reads premise and choices, and generates the correct choice."""

    name = "text2text multiple choice"

    def fields_and_options(self, examples: Examples) -> tuple[list[list[str]], list[list[str]]]:
        """Return `premise: … question: … choice1: … choice2: …`, and the choices."""
        options = [list(choices) for choices in examples["choices"]]
        fields = []
        premises, _ = premises_and_questions(examples)
        for premise, question, texts in zip(premises, question_texts(examples), options, strict=True):
            choices = [f"choice{n}: {text}" for n, text in enumerate(texts, 1)]
            fields.append([f"premise: {premise}", f"question: {question}", *choices])
        return fields, options
