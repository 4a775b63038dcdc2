"""The pieces of a sequence-to-sequence model: of texts, of the marks around them, and of what names a language."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from isogloss.languages.registry import language as known_language
from isogloss.systems.base import SystemFailureError
from isogloss.systems.neural.models import ModelSource
from isogloss.systems.tokens.inputs import positions
from isogloss.systems.tokens.subwords import encode, unique
from isogloss.training.encoded import Array, Encoded
from isogloss.training.objective import Ints

Row = npt.NDArray[np.int32]

_SENTINELS = ("<extra_id_{}>", "▁<extra_id_{}>")  # T5 has them as special tokens, mT5's vocabulary as plain pieces


@dataclass(frozen=True)
class Frame:
    """What stands around a text that is read, and around one that is written.

    Attributes:
        before: pieces before the text that is read.
        after: pieces after it.
        opening: pieces before the text that is written; they are given, not chosen (mBART: the language).
        closing: pieces after it; the first of them ends the text.
        start: the piece a decoder is given first.
    """

    before: Row
    after: Row
    opening: Row
    closing: Row
    start: int

    @property
    def size(self) -> int:
        """Pieces around a text that is read."""
        return len(self.before) + len(self.after)

    def read(self, text: Row) -> Row:
        """A text as a model reads it."""
        return np.concatenate([self.before, text, self.after])

    def written(self, text: Row) -> Row:
        """A text as a model writes it."""
        return np.concatenate([self.opening, text, self.closing])


class Vocabulary:
    """How a model's tokenizer writes texts."""

    def __init__(self, source: ModelSource) -> None:
        self.source = source
        self._frames: dict[str, Frame] = {}

    @cached_property
    def tokenizer(self) -> Any:
        """The tokenizer.

        Raises:
            SystemFailureError: it is none for sequence-to-sequence models.
        """
        found = self.source.tokenizer
        if found.pad_token_id is None or found.eos_token_id is None:
            lacks = "padding" if found.pad_token_id is None else "end"
            fix = "Give a sequence-to-sequence model (mT5, T5, mBART)"
            raise SystemFailureError(f"its tokenizer has no {lacks} token", where=self.source.name, fix=fix)
        return found

    @property
    def pad(self) -> int:
        """The piece that fills up."""
        return int(self.tokenizer.pad_token_id)

    @cached_property
    def markers(self) -> Row:
        """Pieces that number the words of a sentence: T5's sentinels, or the ten digits where there are none."""
        pieces = self.tokenizer.get_vocab()
        for form in _SENTINELS:
            names = [form.format(number) for number in range(100)]
            found = [pieces[name] for name in names if name in pieces]
            if found:
                return np.array(found, np.int32)
        return np.array([row[-1] for row in self.pieces([str(digit) for digit in range(10)])], np.int32)

    def frame(self, language: str) -> Frame:
        """The pieces around texts of a language.

        Raises:
            SystemFailureError: the model must be told the language, and does not know it.
        """
        if language not in self._frames:
            self._frames[language] = self._probed(language)
        return self._frames[language]

    @property
    def positions(self) -> int:
        """Pieces that the model can tell the places of; 0 where there is no end to them, as in T5."""
        return positions(self.source.config)

    def pieces(self, texts: Sequence[str]) -> list[Row]:
        """The pieces of texts, without any frame; each different text is tokenised once."""
        distinct, which = unique(texts)
        found = encode(self.tokenizer, distinct)
        return [found.ids[found.starts[row] : found.starts[row + 1]] for row in which.tolist()]

    def _probed(self, language: str) -> Frame:
        tokenizer = self.tokenizer
        if hasattr(tokenizer, "src_lang"):
            tokenizer.src_lang = tokenizer.tgt_lang = self._code(language)
        bare = tokenizer("a", add_special_tokens=False)["input_ids"]
        read = _around(bare, tokenizer("a")["input_ids"])
        written = _around(bare, tokenizer(text_target="a")["input_ids"])
        if not len(written[1]):
            fix = "Give a sequence-to-sequence model (mT5, T5, mBART)"
            raise SystemFailureError("its tokenizer does not end a text", where=self.source.name, fix=fix)
        start = self.source.config.decoder_start_token_id
        # mBART-25 has none: a text begins with the piece that ends it, its language.
        return Frame(*read, *written, int(written[1][-1]) if start is None else int(start))

    def _code(self, language: str) -> str:
        """What the tokenizer calls a language: `en_XX` (mBART) or `eng_Latn` (NLLB)."""
        entry = known_language(language)
        names = "|".join({entry.code, entry.iso3, entry.individual})
        for token in self.tokenizer.all_special_tokens:
            if re.fullmatch(rf"({names})_[A-Za-z]+", token):
                return str(token)
        fix = "Leave this language out, or take a model that needs no language ids (mT5)"
        what = f"it must be told the language of a text, and has no id for {language}"
        raise SystemFailureError(what, where=self.source.name, fix=fix)


def _around(bare: list[int], framed: list[int]) -> tuple[Row, Row]:
    """What a tokenizer put before and after a text."""
    begin = next((k for k in range(len(framed)) if framed[k : k + len(bare)] == bare), 0)
    return np.array(framed[:begin], np.int32), np.array(framed[begin + len(bare) :], np.int32)


def joined(fields: Sequence[Row], room: int) -> Row:
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


def encoded(rows: Sequence[Row], aligned: dict[str, Array] | None = None, **columns: Any) -> Encoded:
    """Rows as one flat array."""
    starts: Ints = np.zeros(len(rows) + 1, np.int64)
    np.cumsum([len(row) for row in rows], out=starts[1:])
    flat = np.concatenate(rows) if rows else np.empty(0, np.int32)
    return Encoded(flat, starts, aligned or {}, {name: np.asarray(column) for name, column in columns.items()})
