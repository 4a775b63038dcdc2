"""Shared parts of all text-to-text tasks."""

import re
from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from isogloss.languages.registry import language as known_language
from isogloss.systems.base import SystemFailureError
from isogloss.systems.neural.task_adapter import TaskAdapter
from isogloss.systems.pretrained import Batch, Model, ModelSource, Tensor
from isogloss.systems.targets import IGNORED
from isogloss.systems.tokens.inputs import check_length, language_codes, max_positions, room_for_text
from isogloss.systems.tokens.subwords import Int32, TextSlices, row_starts, tokenize, unique
from isogloss.tasks.examples import Examples
from isogloss.training.objective import Array, Arrays, Encoded, Ints, TrainingObjective, masked, padded, padded_column

_FIX = "Use a sequence-to-sequence model (mT5, T5, mBART)"
# Sentinels are special tokens in T5, and plain sub-words in mT5.
_SENTINELS = ("<extra_id_{}>", "▁<extra_id_{}>")


class Seq2SeqSpecialTokens(NamedTuple):
    """Special tokens around a source text and a target text."""

    source_prefix: Int32
    source_suffix: Int32
    target_prefix: Int32  # given to the decoder, not generated (mBART: the language)
    target_suffix: Int32  # the first ends the text
    decoder_start: int  # first token given to the decoder

    def source(self, text: Int32) -> Int32:
        """Return a source text with its special tokens."""
        return np.concatenate([self.source_prefix, text, self.source_suffix])

    def target(self, text: Int32) -> Int32:
        """Return a target text with its special tokens."""
        return np.concatenate([self.target_prefix, text, self.target_suffix])


class Seq2SeqTokenizer:
    """The tokenizer of a sequence-to-sequence model."""

    def __init__(self, model: ModelSource) -> None:
        self.model = model
        self._special_tokens: dict[str, Seq2SeqSpecialTokens] = {}

    @cached_property
    def tokenizer(self) -> Any:
        """The underlying tokenizer."""
        tokenizer = self.model.tokenizer
        if tokenizer.pad_token_id is None or tokenizer.eos_token_id is None:
            missing = "padding" if tokenizer.pad_token_id is None else "end"
            raise SystemFailureError(f"the tokenizer has no {missing} token", where=self.model.name, fix=_FIX)
        return tokenizer

    @property
    def pad(self) -> int:
        """Padding token."""
        return int(self.tokenizer.pad_token_id)

    @cached_property
    def markers(self) -> Int32:
        """Tokens that number the words of a sentence: T5's sentinels, or else the ten digits."""
        vocabulary = self.tokenizer.get_vocab()
        for form in _SENTINELS:
            names = [form.format(number) for number in range(100)]
            if sentinels := [vocabulary[name] for name in names if name in vocabulary]:
                return np.array(sentinels, np.int32)
        return np.array([row[-1] for row in self.subwords([str(digit) for digit in range(10)])], np.int32)

    def subwords(self, texts: Sequence[str]) -> list[Int32]:
        """Return the sub-words of texts, without special tokens; each distinct text is tokenised once."""
        distinct, which = unique(texts)
        tokenised = tokenize(self.tokenizer, distinct)
        return [tokenised.ids[tokenised.starts[row] : tokenised.starts[row + 1]] for row in which.tolist()]

    def special_tokens(self, language: str) -> Seq2SeqSpecialTokens:
        """Return the special tokens around texts of a language, derived from a tokenised example."""
        if language in self._special_tokens:
            return self._special_tokens[language]
        tokenizer = self.tokenizer
        if hasattr(tokenizer, "src_lang"):
            tokenizer.src_lang = tokenizer.tgt_lang = self._language_code(language)
        bare = tokenizer("a", add_special_tokens=False)["input_ids"]
        source = _around(bare, tokenizer("a")["input_ids"])
        target = _around(bare, tokenizer(text_target="a")["input_ids"])
        if not len(target[1]):
            raise SystemFailureError("the tokenizer adds no end token", where=self.model.name, fix=_FIX)
        start = self.model.config.decoder_start_token_id
        # mBART-25 has none: a text starts with the token that ends it, its language.
        start = int(target[1][-1] if start is None else start)
        self._special_tokens[language] = Seq2SeqSpecialTokens(*source, *target, start)
        return self._special_tokens[language]

    def _language_code(self, language: str) -> str:
        """Return the tokenizer's code for a language: `en_XX` (mBART) or `eng_Latn` (NLLB)."""
        entry = known_language(language)
        names = "|".join({entry.code.partition("-")[0], entry.iso3, entry.individual})
        fitting = [t for t in self.tokenizer.all_special_tokens if re.fullmatch(rf"({names})_[A-Za-z]+", t)]
        if fitting:
            # NLLB has some languages in several scripts.
            return str(next((token for token in fitting if token.endswith(f"_{entry.script}")), fitting[0]))
        fix = "Leave out this language, or use a model without language ids (mT5)"
        what = f"the model needs the language of a text, and has no id for {language}"
        raise SystemFailureError(what, where=self.model.name, fix=fix)


def _around(bare: list[int], whole: list[int]) -> tuple[Int32, Int32]:
    """Return the tokens that a tokenizer adds before and after a text."""
    begin = next((k for k in range(len(whole)) if whole[k : k + len(bare)] == bare), 0)
    return np.array(whole[:begin], np.int32), np.array(whole[begin + len(bare) :], np.int32)


def join_fields(fields: Sequence[Int32], room: int) -> Int32:
    """Join fields; if they are too long together, the longest are cut first."""
    over = sum(map(len, fields)) - room
    parts = list(fields)
    while over > 0:
        lengths = sorted({len(field) for field in parts}, reverse=True)
        longest = [number for number, field in enumerate(parts) if len(field) == lengths[0]]
        gap = lengths[0] - (lengths[1] if len(lengths) > 1 else 0)
        cut = max(1, min(gap, over // len(longest)))
        for number in longest[:over]:
            parts[number] = parts[number][: lengths[0] - cut]
            over -= cut
    return np.concatenate([NOTHING, *parts])


def encode_rows(rows: Sequence[Int32], **columns: Array) -> Encoded:
    """Encode rows as one flat array; each column has one number per row."""
    flat = TextSlices.stacked(rows)
    return Encoded(flat.ids, row_starts(flat.lengths), {}, columns)


_GRANULE = 4  # targets are padded to a multiple of this
NOTHING = np.empty(0, np.int32)

# Rows of a training set: the number of the example, its source and its target.
PairRows = Iterable[tuple[int, Int32, Int32]]


class Text2TextAdapter(TaskAdapter):
    """A task as text-to-text: its source, its target, and the answer in the target."""

    auto_class = "AutoModelForSeq2SeqLM"

    @cached_property
    def tokenizer(self) -> Seq2SeqTokenizer:
        """The model's tokenizer."""
        return Seq2SeqTokenizer(self.source)

    def _objective(self, train: Examples) -> TrainingObjective:
        return Seq2SeqObjective(self.pairs(train), self.tokenizer.pad)

    def check(self, examples: Examples) -> None:
        """Check that a model with language ids knows the languages of the examples."""
        self.special_tokens(examples)

    @abstractmethod
    def pairs(self, train: Examples) -> Encoded:
        """Return sources and targets in turn; the column `start` holds the decoder's first token of each pair."""

    def cached_pairs(self, train: Examples, contents: Sequence[Any], rows: Callable[[], PairRows]) -> Encoded:
        """Return pairs from the cache, encoding `rows` on a miss."""

        def make() -> Encoded:
            specials, pairs = self.special_tokens(train), list(rows())
            starts = np.array([specials[example].decoder_start for example, *_ in pairs], np.int64)
            return encode_rows([row for _, *pair in pairs for row in pair], start=starts)

        return self.tokenised("pairs", train, contents, make)

    def special_tokens(self, examples: Examples) -> list[Seq2SeqSpecialTokens]:
        """Return the special tokens of every example, which name the language in some models."""
        return [self.tokenizer.special_tokens(code) for code in language_codes(examples)]

    def prompted(
        self, examples: Examples, rows: Encoded, owner: str, more: Callable[[Ints, int, int], Arrays]
    ) -> Callable[[Ints, int, int], Mapping[str, Array]]:
        """Return a function that builds batches for generation: sources, the tokens given to the decoder, `end`, and
        `more` arrays; the column `owner` holds the example of each row.
        """
        specials, pad = self.special_tokens(examples), self.tokenizer.pad
        prompts = np.array([[special.decoder_start, *special.target_prefix.tolist()] for special in specials], np.int64)
        ends = np.array([special.target_suffix[0] for special in specials], np.int64)

        def batch(items: Ints, width: int, size: int) -> Mapping[str, Array]:
            example = padded_column(rows.columns[owner], items, size, 0)
            decoder = {"decoder_input_ids": prompts[example], "end": ends[example]}
            return {**masked(rows, items, width, size, pad), **decoder, **more(items, width, size)}

        return batch

    def sources(self, examples: Examples, fields: Sequence[Sequence[str]]) -> list[Int32]:
        """Return source rows: the fields of every example, joined and cut to fit."""
        subwords = iter(self.tokenizer.subwords([text for row in fields for text in row]))
        return [
            special.source(join_fields([next(subwords) for _ in row], self.room(special)))
            for special, row in zip(self.special_tokens(examples), fields, strict=True)
        ]

    def room(self, special: Seq2SeqSpecialTokens) -> int:
        """Return the number of sub-words that fit a source row; raise `SystemFailureError` if none fits."""
        return room_for_text(self.source, self.recipe.max_length, len(special.source(NOTHING)))

    def target(self, special: Seq2SeqSpecialTokens, text: Int32) -> Int32:
        """Return a target row; a text that is too long is cut, like sources."""
        return special.target(text[: max(self.recipe.max_length - len(special.target(NOTHING)), 1)])

    def tokenised(self, what: str, examples: Examples, contents: Sequence[Any], make: Callable[[], Encoded]) -> Encoded:
        """Return sources or pairs for columns of examples from the cache, calling `make` on a miss."""
        recipe, config = self.recipe, self.source.config
        check_length(self.source, recipe.max_length)
        lengths = recipe.max_length, recipe.stride, recipe.query_length, recipe.answer_length
        model = config.decoder_start_token_id, max_positions(config)
        settings = (what, *model, " ".join(self.task.labels), *lengths)
        return self._tokenised([language_codes(examples), *contents], settings, make)


class Seq2SeqObjective(TrainingObjective):
    """Training on rows that alternate between source and target; the loss covers the target tokens."""

    def __init__(self, pairs: Encoded, pad: int) -> None:
        self.pairs, self.pad = pairs, pad
        self._target_lengths = pairs.lengths[1::2]
        self.lengths = np.maximum(pairs.lengths[0::2], self._target_lengths)
        order = np.argsort(self.lengths, kind="stable")
        self._sorted, self._longest = self.lengths[order], np.maximum.accumulate(self._target_lengths[order])

    def batch(self, items: Ints, width: int, size: int) -> Arrays:
        """Return sources, with the targets as labels."""
        # The longest target among items that fit a width, so that a width has a single shape.
        index = int(np.searchsorted(self._sorted, width, side="right")) - 1
        target_width = -(-int(self._longest[max(index, 0)]) // _GRANULE) * _GRANULE
        labels = padded(self.pairs.input_ids, self.pairs.starts, 2 * items + 1, target_width, size, IGNORED)
        first = padded_column(self.pairs.columns["start"], items, size, self.pad)
        return {**masked(self.pairs, 2 * items, width, size, self.pad), **with_inputs(labels, first, self.pad)}

    def weight(self, items: Ints) -> float:
        """Return the number of target tokens."""
        return float(self._target_lengths[items].sum())

    def loss(self, model: Model, batch: Batch) -> Tensor:
        """Return the summed cross-entropy of the target tokens."""
        from isogloss.systems.text2text.decoding import target_loss

        return target_loss(model, batch)


def with_inputs(labels: Array, first: Ints, pad: int) -> dict[str, Array]:
    """Return labels with the inputs of the decoder: the first token, then all labels except the last."""
    labels = labels.astype(np.int64)
    inputs = np.roll(np.where(labels == IGNORED, pad, labels), 1, axis=-1)
    inputs[..., 0] = first.reshape(-1, *[1] * (labels.ndim - 2))
    return {"decoder_input_ids": inputs, "labels": labels}
