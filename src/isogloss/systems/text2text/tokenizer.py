"""Tokens of sequence-to-sequence models: texts, special tokens and language codes."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from isogloss.languages.registry import language as known_language
from isogloss.systems.base import SystemFailureError
from isogloss.systems.pretrained import ModelSource
from isogloss.systems.tokens.subwords import Int32, TextSlices, row_starts, tokenize, unique
from isogloss.training.encoded import Array, Encoded

_FIX = "Use a sequence-to-sequence model (mT5, T5, mBART)"
# Sentinels are special tokens in T5, and plain sub-words in mT5.
_SENTINELS = ("<extra_id_{}>", "▁<extra_id_{}>")


@dataclass(frozen=True, kw_only=True)
class Seq2SeqSpecialTokens:
    """Special tokens around a source text and a target text."""

    source_prefix: Int32
    source_suffix: Int32
    target_prefix: Int32  # given to the decoder, not generated (mBART: the language)
    target_suffix: Int32  # the first ends the text
    decoder_start: int  # first token given to the decoder

    @property
    def target_count(self) -> int:
        """Number of special tokens around a target."""
        return len(self.target_prefix) + len(self.target_suffix)

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
            sentinels = [vocabulary[name] for name in names if name in vocabulary]
            if sentinels:
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
        self._special_tokens[language] = Seq2SeqSpecialTokens(
            source_prefix=source[0],
            source_suffix=source[1],
            target_prefix=target[0],
            target_suffix=target[1],
            # mBART-25 has none: a text starts with the token that ends it, its language.
            decoder_start=int(target[1][-1]) if start is None else int(start),
        )
        return self._special_tokens[language]

    def _language_code(self, language: str) -> str:
        """Return the tokenizer's code for a language: `en_XX` (mBART) or `eng_Latn` (NLLB)."""
        entry = known_language(language)
        names = "|".join({entry.code, entry.iso3, entry.individual})
        for token in self.tokenizer.all_special_tokens:
            if re.fullmatch(rf"({names})_[A-Za-z]+", token):
                return str(token)
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
    return np.concatenate(parts) if parts else np.empty(0, np.int32)


def encode_rows(rows: Sequence[Int32], **columns: Array) -> Encoded:
    """Encode rows as one flat array; each column has one number per row."""
    flat = TextSlices.stacked(rows)
    return Encoded(flat.ids, row_starts(flat.lengths), {}, columns)
