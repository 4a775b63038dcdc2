"""The tokens of a sequence-to-sequence model: of texts, around them, and of what names a language."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from isogloss.languages.registry import language as known_language
from isogloss.systems.base import SystemFailureError
from isogloss.systems.pretrained import ModelSource
from isogloss.systems.tokens.inputs import max_positions
from isogloss.systems.tokens.subwords import Int32, row_starts, tokenize, unique
from isogloss.training.encoded import Array, Encoded

# T5 has its sentinels as special tokens, mT5's vocabulary as plain sub-words.
_SENTINELS = ("<extra_id_{}>", "▁<extra_id_{}>")


@dataclass(frozen=True)
class Seq2SeqSpecialTokens:
    """The special tokens around a source text and around a target text.

    Attributes:
        source_prefix: before the source.
        source_suffix: after it.
        target_prefix: before the target; they are given, not chosen (mBART: the language).
        target_suffix: after it; the first of them ends the text.
        decoder_start: the token a decoder is given first.
    """

    source_prefix: Int32
    source_suffix: Int32
    target_prefix: Int32
    target_suffix: Int32
    decoder_start: int

    @property
    def source_count(self) -> int:
        """Special tokens around a source."""
        return len(self.source_prefix) + len(self.source_suffix)

    @property
    def target_count(self) -> int:
        """Special tokens around a target."""
        return len(self.target_prefix) + len(self.target_suffix)

    def source(self, text: Int32) -> Int32:
        """A source text with its special tokens."""
        return np.concatenate([self.source_prefix, text, self.source_suffix])

    def target(self, text: Int32) -> Int32:
        """A target text with its special tokens."""
        return np.concatenate([self.target_prefix, text, self.target_suffix])


class Seq2SeqTokenizer:
    """The tokenizer of a sequence-to-sequence model."""

    def __init__(self, model: ModelSource) -> None:
        self.model = model
        self._special_tokens: dict[str, Seq2SeqSpecialTokens] = {}

    @cached_property
    def tokenizer(self) -> Any:
        """The tokenizer itself."""
        found = self.model.tokenizer
        if found.pad_token_id is None or found.eos_token_id is None:
            lacks = "padding" if found.pad_token_id is None else "end"
            fix = "Give a sequence-to-sequence model (mT5, T5, mBART)"
            raise SystemFailureError(f"its tokenizer has no {lacks} token", where=self.model.name, fix=fix)
        return found

    @property
    def pad(self) -> int:
        """The token that fills up."""
        return int(self.tokenizer.pad_token_id)

    @cached_property
    def markers(self) -> Int32:
        """Tokens that number the words of a sentence: T5's sentinels, or the ten digits where there are none."""
        vocabulary = self.tokenizer.get_vocab()
        for form in _SENTINELS:
            names = [form.format(number) for number in range(100)]
            found = [vocabulary[name] for name in names if name in vocabulary]
            if found:
                return np.array(found, np.int32)
        return np.array([row[-1] for row in self.subwords([str(digit) for digit in range(10)])], np.int32)

    def special_tokens(self, language: str) -> Seq2SeqSpecialTokens:
        """The special tokens around texts of a language."""
        if language not in self._special_tokens:
            self._special_tokens[language] = self._probe(language)
        return self._special_tokens[language]

    @property
    def max_positions(self) -> int:
        """Tokens that the model can tell the places of; 0 where there is no end to them, as in T5."""
        return max_positions(self.model.config)

    def subwords(self, texts: Sequence[str]) -> list[Int32]:
        """The sub-words of texts, without special tokens; each different text is tokenised once."""
        distinct, which = unique(texts)
        found = tokenize(self.tokenizer, distinct)
        return [found.ids[found.starts[row] : found.starts[row + 1]] for row in which.tolist()]

    def _probe(self, language: str) -> Seq2SeqSpecialTokens:
        """The special tokens, found by looking at how the tokenizer does it."""
        tokenizer = self.tokenizer
        if hasattr(tokenizer, "src_lang"):
            tokenizer.src_lang = tokenizer.tgt_lang = self._language_code(language)
        bare = tokenizer("a", add_special_tokens=False)["input_ids"]
        source = _around(bare, tokenizer("a")["input_ids"])
        target = _around(bare, tokenizer(text_target="a")["input_ids"])
        if not len(target[1]):
            fix = "Give a sequence-to-sequence model (mT5, T5, mBART)"
            raise SystemFailureError("its tokenizer does not end a text", where=self.model.name, fix=fix)
        start = self.model.config.decoder_start_token_id
        # mBART-25 has none: a text begins with the token that ends it, its language.
        return Seq2SeqSpecialTokens(*source, *target, int(target[1][-1]) if start is None else int(start))

    def _language_code(self, language: str) -> str:
        """What the tokenizer calls a language: `en_XX` (mBART) or `eng_Latn` (NLLB)."""
        entry = known_language(language)
        names = "|".join({entry.code, entry.iso3, entry.individual})
        for token in self.tokenizer.all_special_tokens:
            if re.fullmatch(rf"({names})_[A-Za-z]+", token):
                return str(token)
        fix = "Leave this language out, or take a model that needs no language ids (mT5)"
        what = f"it must be told the language of a text, and has no id for {language}"
        raise SystemFailureError(what, where=self.model.name, fix=fix)


def _around(bare: list[int], whole: list[int]) -> tuple[Int32, Int32]:
    """What a tokenizer put before and after a text."""
    begin = next((k for k in range(len(whole)) if whole[k : k + len(bare)] == bare), 0)
    return np.array(whole[:begin], np.int32), np.array(whole[begin + len(bare) :], np.int32)


def join_fields(fields: Sequence[Int32], room: int) -> Int32:
    """Fields one after the other; where they are too long, the longest lose their ends first."""
    over = sum(map(len, fields)) - room
    kept = list(fields)
    while over > 0:
        lengths = sorted({len(field) for field in kept}, reverse=True)
        longest = [number for number, field in enumerate(kept) if len(field) == lengths[0]]
        gap = lengths[0] - (lengths[1] if len(lengths) > 1 else 0)
        each = max(1, min(gap, over // len(longest)))
        for number in longest[:over]:
            kept[number] = kept[number][: lengths[0] - each]
            over -= each
    return np.concatenate(kept) if kept else np.empty(0, np.int32)


def encode_rows(rows: Sequence[Int32], **columns: Array) -> Encoded:
    """Rows as one flat array, with a number for every row in each column."""
    flat = np.concatenate(rows) if rows else np.empty(0, np.int32)
    starts = row_starts(np.array([len(row) for row in rows], np.int64))
    return Encoded(flat, starts, {}, columns)
