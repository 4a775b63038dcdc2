"""What a model is given: rows of pieces as the arrays its forward pass takes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from isogloss.systems.base import SystemFailureError
from isogloss.systems.neural.models import ModelSource
from isogloss.systems.tokens.special_tokens import Frame, Framed
from isogloss.systems.tokens.subwords import spread
from isogloss.tasks.examples import Examples
from isogloss.training.encoded import Array, Encoded, masked, padded
from isogloss.training.objective import Ints

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
        """The number of each language, for models that must be told; None for all others, and those with only one."""
        config = self.source.config
        told = getattr(config, "use_lang_emb", False) and getattr(config, "n_langs", 1) > 1
        return (getattr(config, "lang2id", None) or {}) if told else None

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
        check_length(self.source, longest)
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

        Raises:
            SystemFailureError: the model does not know a language.
        """
        if self.languages is None:
            return None
        codes = language_codes(examples)
        strange = sorted(set(codes) - set(self.languages))
        if strange:
            known = ", ".join(sorted(self.languages))
            fix = f"It knows {known}" if known else "Add lang2id to its configuration, the number of every language"
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
        batch = masked(encoded, rows, width, size, self.inputs.padding)
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


def language_codes(examples: Examples) -> Sequence[str]:
    """The language of every example; examples of several say which is whose in a column `language`."""
    return examples["language"] if "language" in examples.columns else [examples.language] * len(examples)


def positions(config: Any) -> int:
    """Pieces that a model can tell the places of; 0 where there is no end to them, as in T5."""
    found = int(getattr(config, "max_position_embeddings", 0) or 0)
    shifted = any(kind in config.model_type for kind in _SHIFTED)
    return found - int(config.pad_token_id) - 1 if shifted else found


def check_length(source: ModelSource, longest: int) -> None:
    """Look whether a model can take rows of a length.

    To be called whenever there are rows, for those from the cache may have been made for another model.

    Raises:
        SystemFailureError: it has fewer positions.
    """
    if 0 < (most := positions(source.config)) < longest:
        what = f"max_length is {longest}, but the model has {most} positions"
        raise SystemFailureError(what, where=source.name, fix=f"Set max_length to {most} or less")
