"""How the tags of a sentence are written, and read back exactly."""

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from isogloss.systems.base import SystemFailureError
from isogloss.systems.text2text.tokenizer import Seq2SeqTokenizer
from isogloss.systems.tokens.subwords import Int32

_NOTHING = np.empty(0, np.int32)


class TagFormat:
    """Tags as tokens, and back: `<extra_id_0> DET <extra_id_1> NOUN` for two words.

    The markers come round again after the last, so that a sentence may have any number of words. A vocabulary that
    cannot tell the tags apart is a SystemFailureError.
    """

    def __init__(self, tokenizer: Seq2SeqTokenizer, tags: Sequence[str]) -> None:
        self.tags, self.markers = tuple(tags), tokenizer.markers
        self.subwords = tokenizer.subwords(self.tags)
        self._tag_of = {tuple(row.tolist()): number for number, row in enumerate(self.subwords)}
        inside = {token for row in self.subwords for token in row[1:].tolist()}
        unknown = tokenizer.tokenizer.unk_token_id
        unspellable = [tag for tag, row in zip(tags, self.subwords, strict=True) if not len(row) or unknown in row]
        numbers = set(self.markers.tolist())
        alike = len(self._tag_of) < len(self.tags) or len(numbers) < len(self.markers)
        if unspellable or alike or unknown in numbers or inside & numbers:
            what = f"its vocabulary cannot spell the tags {', '.join(unspellable or self.tags)}"
            fix = "Take a model whose vocabulary has capital letters and digits"
            raise SystemFailureError(what, where=tokenizer.model.name, fix=fix)

    @property
    def longest(self) -> int:
        """Tokens a word takes at most, with its marker."""
        return 1 + max(map(len, self.subwords))

    def marker(self, word: int) -> int:
        """The marker of a word."""
        return int(self.markers[word % len(self.markers)])

    def numbered(self, parts: Sequence[Int32]) -> Int32:
        """Words or tags, each after its marker."""
        count = len(self.markers)
        marks = (self.markers[word % count : word % count + 1] for word in range(len(parts)))
        return np.concatenate([_NOTHING, *(row for pair in zip(marks, parts, strict=True) for row in pair)])

    def write(self, tags: Sequence[int]) -> Int32:
        """The tags of a sentence, by their places in `tags`, as tokens."""
        return self.numbered([self.subwords[tag] for tag in tags])

    def parse(self, tokens: Sequence[int], words: int) -> list[int]:
        """The tags that were written for so many words; what comes after them is not looked at."""
        tags, place = [], 0
        for word in range(words):
            if place >= len(tokens) or tokens[place] != self.marker(word):
                raise ValueError(f"no marker of word {word} at token {place}")
            end = place + 2
            while end < len(tokens) and tuple(tokens[place + 1 : end + 1]) in self.prefixes:
                end += 1
            tag = self._tag_of.get(tuple(tokens[place + 1 : end]))
            if tag is None:
                raise ValueError(f"no tag after token {place}")
            tags.append(tag)
            place = end
        return tags

    @cached_property
    def prefixes(self) -> dict[tuple[int, ...], int]:
        """Every beginning of a tag, numbered; the empty one is 0."""
        found: dict[tuple[int, ...], int] = {(): 0}
        for row in self.subwords:
            for end in range(1, len(row) + 1):
                found.setdefault(tuple(row[:end].tolist()), len(found))
        return found
