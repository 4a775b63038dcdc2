"""What a model is given: rows of tokens as the arrays its forward pass takes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from isogloss.systems.base import SystemFailureError
from isogloss.systems.pretrained import ModelSource
from isogloss.systems.tokens.special_tokens import SpecialTokens, TokenRows, cut_longest_first
from isogloss.systems.tokens.subwords import TextSlices, tokenize, unique
from isogloss.tasks.examples import Examples
from isogloss.training.encoded import Array, Encoded, masked, padded, padded_column
from isogloss.training.objective import Ints

# Arguments of a forward pass; whatever else is in a batch is for the loss.
MODEL_ARGUMENTS = ("input_ids", "attention_mask", "token_type_ids", "langs")

# Kinds of models whose positions begin after that of the padding: RoBERTa and what came of it.
_SHIFTED_POSITIONS = ("roberta", "camembert", "longformer", "luke", "mpnet", "xmod", "data2vec-text")


@dataclass(frozen=True)
class ModelInputs:
    """How one model wants its inputs: its tokenizer, its special tokens, and the arguments it takes.

    Segments go to models with more than one of them, languages to those that have an embedding for each (XLM).
    """

    source: ModelSource

    @cached_property
    def tokenizer(self) -> Any:
        """The tokenizer."""
        return self.source.tokenizer

    @cached_property
    def single(self) -> SpecialTokens:
        """The special tokens around one text."""
        return SpecialTokens.of(self.tokenizer, 1)

    @cached_property
    def pair(self) -> SpecialTokens:
        """The special tokens around two texts."""
        return SpecialTokens.of(self.tokenizer, 2)

    @cached_property
    def segmented(self) -> bool:
        """Whether the model tells segments apart."""
        return int(getattr(self.source.config, "type_vocab_size", 0) or 0) > 1

    @cached_property
    def languages(self) -> Mapping[str, int] | None:
        """The number of each language, for models with an embedding for each of several; None for all others."""
        config = self.source.config
        embedded = getattr(config, "use_lang_emb", False) and getattr(config, "n_langs", 1) > 1
        return (getattr(config, "lang2id", None) or {}) if embedded else None

    @cached_property
    def unknown(self) -> int:
        """The token for what cannot be tokenised; vocabularies of bytes have none, and get the padding for it."""
        token = self.tokenizer.unk_token_id
        return int(self.padding if token is None else token)

    @cached_property
    def padding(self) -> int:
        """The token that fills rows up."""
        return int(self.tokenizer.pad_token_id or 0)

    def room(self, special_tokens: SpecialTokens, longest: int) -> int:
        """Sub-words that fit an input of the longest length, special tokens not counted; an error where none fits."""
        check_length(self.source, longest)
        return room_for_text(self.source, longest, special_tokens.count)

    def encode(self, columns: Sequence[Sequence[str]], longest: int) -> Encoded:
        """One text a row, or two, cut where they are too long, the longer first; a repeated text is tokenised once."""
        texts, which = unique([text for column in columns for text in column])
        subwords = tokenize(self.tokenizer, texts)
        first, *second = (TextSlices.of(subwords, part) for part in np.split(which, len(columns)))
        if second:
            both = cut_longest_first(first, second[0], self.room(self.pair, longest))
            return self.encoded(self.pair.add_to(*both))
        return self.encoded(self.single.add_to(first.cut(self.room(self.single, longest))))

    def encoded(
        self, rows: TokenRows, aligned: Mapping[str, Array] | None = None, columns: Mapping[str, Array] | None = None
    ) -> Encoded:
        """Rows as they are kept: with segments only where the model tells them apart."""
        segments = {"segments": rows.segments} if self.segmented else {}
        return Encoded(rows.ids, rows.starts, {**segments, **(aligned or {})}, columns or {})

    def language_ids(self, examples: Examples) -> Ints | None:
        """The language number of every example, None where the model needs none; an error where it knows none."""
        if self.languages is None:
            return None
        codes = language_codes(examples)
        strange = sorted(set(codes) - set(self.languages))
        if strange:
            known = ", ".join(sorted(self.languages))
            fix = f"It knows {known}" if known else "Add lang2id to its configuration, the number of every language"
            raise SystemFailureError(f"the model has no number for {strange[0]!r}", where=self.source.name, fix=fix)
        return np.fromiter((self.languages[code] for code in codes), np.int64, len(examples))

    def rows_for(self, examples: Examples, encoded: Encoded, example_of: Ints | None = None) -> "InputRows":
        """Tokenised rows of examples, with their language numbers where the model needs them.

        `example_of` has the example of each row, where that is not simply the row's number.
        """
        languages = self.language_ids(examples)
        if languages is not None and example_of is not None:
            languages = languages[example_of]
        return InputRows(self, encoded, languages)


@dataclass(frozen=True)
class InputRows:
    """Tokenised rows, and the language number of each where the model needs one."""

    inputs: ModelInputs
    encoded: Encoded
    languages: Ints | None = None

    @property
    def lengths(self) -> Ints:
        """Tokens of each row."""
        return self.encoded.lengths

    def batch(self, rows: Ints, width: int, size: int) -> dict[str, Array]:
        """Some rows as arguments of the forward pass, (size, width) each."""
        encoded = self.encoded
        batch = masked(encoded, rows, width, size, self.inputs.padding)
        if self.inputs.segmented:
            segments = padded(encoded.aligned["segments"], encoded.starts, rows, width, size, 0)
            batch["token_type_ids"] = segments.astype(np.int64)
        if self.languages is not None:
            batch["langs"] = padded_column(self.languages, rows, size, 0)[:, None].repeat(width, axis=1)
        return batch


def language_codes(examples: Examples) -> Sequence[str]:
    """The language of every example; examples of several say which is whose in a column `language`."""
    return examples["language"] if "language" in examples.columns else [examples.language] * len(examples)


def max_positions(config: Any) -> int:
    """Tokens that a model can tell the places of; 0 where there is no end to them, as in T5."""
    found = int(getattr(config, "max_position_embeddings", 0) or 0)
    shifted = any(kind in config.model_type for kind in _SHIFTED_POSITIONS)
    return found - int(config.pad_token_id) - 1 if shifted else found


def check_length(source: ModelSource, longest: int) -> None:
    """Raise a SystemFailureError where a model has fewer positions than rows may have tokens.

    To be called whenever there are rows, for those from the cache may have been made for another model.
    """
    if 0 < (most := max_positions(source.config)) < longest:
        what = f"max_length is {longest}, but the model has {most} positions"
        raise SystemFailureError(what, where=source.name, fix=f"Set max_length to {most} or less")


def room_for_text(source: ModelSource, longest: int, special_tokens: int) -> int:
    """Sub-words that fit a row of the longest length beside so many special tokens; an error where none fits."""
    if longest <= special_tokens:
        what = f"max_length is {longest}, and special tokens alone take {special_tokens}"
        raise SystemFailureError(what, where=source.name, fix="Set a larger max_length")
    return longest - special_tokens
