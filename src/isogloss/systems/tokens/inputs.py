"""Model inputs: rows of tokens with special tokens, as arrays for the forward pass."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

from isogloss.systems.base import SystemFailureError
from isogloss.systems.pretrained import ModelSource, plain_backend
from isogloss.systems.tokens.subwords import Int32, TextSlices, concatenate, tokenize, unique
from isogloss.tasks.examples import Examples
from isogloss.training.objective import Array, Arrays, Encoded, Ints, masked, padded, padded_column

# Arguments of a forward pass; other arrays in a batch are for the loss.
MODEL_ARGUMENTS = ("input_ids", "attention_mask", "token_type_ids", "langs")

# Model types with positions that start after the padding position: RoBERTa and its descendants.
_SHIFTED_POSITIONS = ("roberta", "camembert", "longformer", "luke", "mpnet", "xmod", "data2vec-text")


@dataclass(frozen=True)
class TokenRows:
    """Rows of tokens, including special ones; row i is `ids[starts[i]:starts[i + 1]]`."""

    ids: Int32
    starts: Ints
    segments: npt.NDArray[np.uint8]  # 0 or 1 per token
    positions: tuple[Ints, ...]  # indices of each text's sub-words in `ids`


@dataclass(frozen=True)
class SpecialTokens:
    """Special tokens before, between and after texts, as the tokenizer adds them."""

    groups: tuple[tuple[tuple[int, int], ...], ...]  # (id, segment) of the tokens in each gap
    segments: tuple[int, ...]  # of the texts

    @classmethod
    def of(cls, tokenizer: Any, texts: int) -> "SpecialTokens":
        """Derive the special tokens of one or two texts from a tokenised example."""
        if tokenizer.is_fast:
            encoding = plain_backend(tokenizer).encode(*["a"] * texts)
            owners = [-1 if owner is None else owner for owner in encoding.sequence_ids]
            ids, types = encoding.ids, encoding.type_ids
        else:
            marks = [[-1 - text] for text in range(texts)]  # not used by any sub-word
            ids = tokenizer.build_inputs_with_special_tokens(*marks)
            owners = [max(-1, -1 - number) for number in ids]
            types = tokenizer.create_token_type_ids_from_sequences(*marks)
        groups: list[list[tuple[int, int]]] = [[] for _ in range(texts + 1)]
        for position, (owner, token) in enumerate(zip(owners, zip(ids, types, strict=True), strict=True)):
            if owner < 0:
                groups[max(owners[:position], default=-1) + 1].append(token)
        segments = tuple(types[owners.index(text)] for text in range(texts))
        return cls(tuple(map(tuple, groups)), segments)

    @property
    def count(self) -> int:
        """Number of special tokens."""
        return sum(map(len, self.groups))

    def add_to(self, *texts: TextSlices) -> TokenRows:
        """Return rows of the texts with their special tokens."""
        rows = len(texts[0].lengths)
        first, *others = (TextSlices.repeated([token for token, _ in group], rows) for group in self.groups)
        ids, starts, positions = concatenate([first, *chain.from_iterable(zip(texts, others, strict=True))])
        segments = np.empty(len(ids), np.uint8)
        for group, here in zip(self.groups, positions[0::2], strict=True):
            segments[here] = np.tile([segment for _, segment in group], rows)
        for segment, here in zip(self.segments, positions[1::2], strict=True):
            segments[here] = segment
        return TokenRows(ids, starts, segments, tuple(positions[1::2]))


def cut_longest_first(first: TextSlices, second: TextSlices, room: int) -> tuple[TextSlices, TextSlices]:
    """Cut both texts to fit the room, the longer one first."""
    least = np.minimum(first.lengths, second.lengths)
    over = first.lengths + second.lengths > room
    shorter = np.where(over, np.minimum(least, room // 2), least)
    longer = np.where(over, room - shorter, np.maximum(first.lengths, second.lengths))
    swap = first.lengths > second.lengths
    return first.cut(np.where(swap, longer, shorter)), second.cut(np.where(swap, shorter, longer))


@dataclass(frozen=True)
class ModelInputs:
    """The input conventions of a model: its tokenizer, special tokens and arguments."""

    source: ModelSource

    @cached_property
    def single(self) -> SpecialTokens:
        """Special tokens around one text."""
        return SpecialTokens.of(self.source.tokenizer, 1)

    @cached_property
    def pair(self) -> SpecialTokens:
        """Special tokens around two texts."""
        return SpecialTokens.of(self.source.tokenizer, 2)

    @cached_property
    def segmented(self) -> bool:
        """True if the model distinguishes segments."""
        return int(getattr(self.source.config, "type_vocab_size", 0) or 0) > 1

    @cached_property
    def languages(self) -> Mapping[str, int] | None:
        """Numbers of the languages, for models with language embeddings; None for all others."""
        config = self.source.config
        embedded = getattr(config, "use_lang_emb", False) and getattr(config, "n_langs", 1) > 1
        return (getattr(config, "lang2id", None) or {}) if embedded else None

    @cached_property
    def padding(self) -> int:
        """Padding token."""
        return int(self.source.tokenizer.pad_token_id or 0)

    def room(self, special_tokens: SpecialTokens, longest: int) -> int:
        """Return the number of sub-words that fit next to the special tokens; raise an error if none fits."""
        check_length(self.source, longest)
        return room_for_text(self.source, longest, special_tokens.count)

    def encode(self, columns: Sequence[Sequence[str]], longest: int) -> Encoded:
        """Encode one or two texts per row, cut if too long, the longer first; repeated texts are tokenised once."""
        texts, which = unique([text for column in columns for text in column])
        subwords = tokenize(self.source.tokenizer, texts)
        first, *second = (TextSlices.of(subwords, part) for part in np.split(which, len(columns)))
        if second:
            both = cut_longest_first(first, second[0], self.room(self.pair, longest))
            return self.encoded(self.pair.add_to(*both), {}, {})
        return self.encoded(self.single.add_to(first.cut(self.room(self.single, longest))), {}, {})

    def encoded(self, rows: TokenRows, aligned: Arrays, columns: Arrays) -> Encoded:
        """Return rows in stored form, with segments only if the model distinguishes them."""
        segments = {"segments": rows.segments} if self.segmented else {}
        return Encoded(rows.ids, rows.starts, {**segments, **aligned}, columns)

    def language_ids(self, examples: Examples) -> Ints | None:
        """Return each example's language number, or None if the model needs none; refuse unknown languages."""
        if self.languages is None:
            return None
        codes = language_codes(examples)
        if unknown := sorted(set(codes) - set(self.languages)):
            supported = ", ".join(sorted(self.languages))
            fix = f"It supports {supported}" if supported else "Add lang2id, the number of each language, to its config"
            raise SystemFailureError(f"the model has no number for {unknown[0]!r}", where=self.source.name, fix=fix)
        return np.fromiter((self.languages[code] for code in codes), np.int64, len(examples))

    def rows_for(self, examples: Examples, encoded: Encoded, example_of: Ints | None = None) -> "InputRows":
        """Return tokenised rows; `example_of` holds the example of each row, if different from the row's number."""
        languages = self.language_ids(examples)
        if languages is not None and example_of is not None:
            languages = languages[example_of]
        return InputRows(self, encoded, languages)


@dataclass(frozen=True)
class InputRows:
    """Tokenised rows, with language numbers if the model needs them."""

    inputs: ModelInputs
    encoded: Encoded
    languages: Ints | None = None

    @property
    def lengths(self) -> Ints:
        """Tokens per row."""
        return self.encoded.lengths

    def batch(self, rows: Ints, width: int, size: int) -> dict[str, Array]:
        """Return some rows as arguments of the forward pass, (size, width) each."""
        encoded = self.encoded
        batch = masked(encoded, rows, width, size, self.inputs.padding)
        if self.inputs.segmented:
            segments = padded(encoded.aligned["segments"], encoded.starts, rows, width, size, 0)
            batch["token_type_ids"] = segments.astype(np.int64)
        if self.languages is not None:
            batch["langs"] = padded_column(self.languages, rows, size, 0)[:, None].repeat(width, axis=1)
        return batch


def language_codes(examples: Examples) -> Sequence[str]:
    """Return the language of every example, from the column `language` if there are several."""
    return examples["language"] if "language" in examples.columns else [examples.language] * len(examples)


def max_positions(config: Any) -> int:
    """Return the maximum number of positions; 0 if unlimited, as in T5."""
    positions = int(getattr(config, "max_position_embeddings", 0) or 0)
    shifted = any(kind in config.model_type for kind in _SHIFTED_POSITIONS)
    return positions - int(config.pad_token_id) - 1 if shifted else positions


def check_length(source: ModelSource, longest: int) -> None:
    """Refuse rows with more tokens than a model has positions; cached ones may have been tokenised for another."""
    if 0 < (most := max_positions(source.config)) < longest:
        what = f"max_length is {longest}, but the model has {most} positions"
        raise SystemFailureError(what, where=source.name, fix=f"Set max_length to {most} or less")


def room_for_text(source: ModelSource, longest: int, special_tokens: int) -> int:
    """Return the number of sub-words that fit next to the special tokens; raise an error if none fits."""
    if longest <= special_tokens:
        what = f"max_length is {longest}, but the special tokens take {special_tokens}"
        raise SystemFailureError(what, where=source.name, fix="Set a larger max_length")
    return longest - special_tokens
