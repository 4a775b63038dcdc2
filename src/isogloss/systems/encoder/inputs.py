"""What a model is given: rows of pieces as the arrays its forward pass takes."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from isogloss.systems.base import SystemFailureError
from isogloss.systems.encoder.frame import Frame, Framed
from isogloss.systems.encoder.pieces import spread
from isogloss.systems.neural.models import ModelSource
from isogloss.tasks.examples import Examples
from isogloss.training.encoded import Array, Encoded, padded
from isogloss.training.exercise import Ints

__all__ = ["ARGUMENTS", "Inputs", "Rows"]

# Arguments of a forward pass; whatever else is in a batch is for the loss.
ARGUMENTS = ("input_ids", "attention_mask", "token_type_ids", "langs")

# Kinds of models whose positions begin after that of the padding: RoBERTa and what came of it.
_SHIFTED = ("roberta", "camembert", "longformer", "luke", "mpnet", "xmod", "data2vec-text")


@dataclass(frozen=True)
class Inputs:
    """The habits of one model: its tokenizer, and which arguments it wants.

    Segments go to models with more than one of them, languages to those that have an embedding for each (XLM).
    """

    source: ModelSource

    @cached_property
    def tokenizer(self) -> Any:
        """The fast tokenizer."""
        return self.source.tokenizer

    @cached_property
    def single(self) -> Frame:
        """The special tokens around one text."""
        return Frame.of(self.tokenizer, 1)

    @cached_property
    def double(self) -> Frame:
        """The special tokens around two texts."""
        return Frame.of(self.tokenizer, 2)

    @cached_property
    def segmented(self) -> bool:
        """Whether the model tells segments apart."""
        return int(getattr(self.source.config, "type_vocab_size", 0) or 0) > 1

    @cached_property
    def languages(self) -> Mapping[str, int] | None:
        """The number of each language, for models that must be told; None for all others."""
        config = self.source.config
        return getattr(config, "lang2id", None) if getattr(config, "use_lang_emb", False) else None

    @cached_property
    def unknown(self) -> int:
        """The token for what cannot be tokenised; vocabularies of bytes have none, and get the padding for it."""
        token = self.tokenizer.unk_token_id
        return int(self.padding if token is None else token)

    @cached_property
    def padding(self) -> int:
        """The token that fills rows up."""
        return int(self.tokenizer.pad_token_id or 0)

    def room(self, frame: Frame, longest: int) -> int:
        """Pieces of text that fit an input of the longest length, special tokens not counted.

        Raises:
            SystemFailureError: none fits, or the model has fewer positions.
        """
        config = self.source.config
        positions = int(getattr(config, "max_position_embeddings", 0) or 0)
        if any(kind in config.model_type for kind in _SHIFTED):
            positions -= int(config.pad_token_id) + 1
        if 0 < positions < longest:
            what = f"max_length is {longest}, but the model has {positions} positions"
            raise SystemFailureError(what, where=self.source.name, fix=f"Set max_length to {positions} or less")
        if longest <= frame.size:
            what = f"max_length is {longest}, and special tokens alone take {frame.size}"
            raise SystemFailureError(what, where=self.source.name, fix="Set a larger max_length")
        return longest - frame.size

    def encoded(self, framed: Framed, aligned: Mapping[str, Array], columns: Mapping[str, Array]) -> Encoded:
        """Rows as they are kept: with segments only where the model tells them apart."""
        segments = {"segments": framed.segments} if self.segmented else {}
        return Encoded(framed.ids, framed.starts, {**segments, **aligned}, columns)

    def language_ids(self, examples: Examples) -> Ints | None:
        """The language number of every example, where the model must be told.

        Examples of several languages say which is whose in a column `language`.

        Raises:
            SystemFailureError: the model does not know a language.
        """
        if self.languages is None:
            return None
        mixed = "language" in examples.columns
        codes = examples["language"] if mixed else [examples.language] * len(examples)
        strange = sorted(set(codes) - set(self.languages))
        if strange:
            fix = f"It knows {', '.join(sorted(self.languages))}"
            raise SystemFailureError(f"the model has no number for {strange[0]!r}", where=self.source.name, fix=fix)
        return np.fromiter((self.languages[code] for code in codes), np.int64, len(examples))


@dataclass(frozen=True)
class Rows:
    """Tokenised rows, and the language number of each where the model must be told."""

    inputs: Inputs
    encoded: Encoded
    languages: Ints | None = None

    @property
    def lengths(self) -> Ints:
        """Pieces of each row."""
        return self.encoded.lengths

    def batch(self, rows: Ints, width: int, size: int) -> dict[str, Array]:
        """Some rows as arguments of the forward pass, (size, width) each."""
        encoded = self.encoded
        lengths = np.ones(size, np.int64)  # a row of padding sees its first position, lest its attention be 0 / 0
        lengths[: len(rows)] = encoded.starts[rows + 1] - encoded.starts[rows]
        batch: dict[str, Array] = {
            "input_ids": padded(encoded.pieces, encoded.starts, rows, width, size, self.inputs.padding).astype(
                np.int64
            ),
            "attention_mask": (np.arange(width) < lengths[:, None]).astype(np.int64),
        }
        if self.inputs.segmented:
            segments = padded(encoded.aligned["segments"], encoded.starts, rows, width, size, 0)
            batch["token_type_ids"] = segments.astype(np.int64)
        if self.languages is not None:
            batch["langs"] = np.zeros((size, width), np.int64)
            batch["langs"][: len(rows)] = self.languages[rows][:, None]
        return batch

    def scatter(self, rows: Ints, values: Array, into: Array) -> None:
        """Put values of some rows, (rows, width or more), where their pieces are in a flat array."""
        lengths = self.encoded.starts[rows + 1] - self.encoded.starts[rows]
        inside = np.arange(values.shape[1]) < lengths[:, None]
        into[spread(self.encoded.starts[rows], lengths)] = values[inside]
