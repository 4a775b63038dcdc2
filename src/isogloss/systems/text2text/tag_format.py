"""How the tags of a sentence are written, and read back exactly."""

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from isogloss.systems.base import SystemFailureError
from isogloss.systems.text2text.vocabulary import Row, Vocabulary

_NOTHING = np.empty(0, np.int32)


class TagFormat:
    """Tags as pieces, and back: `<extra_id_0> DET <extra_id_1> NOUN` for two words.

    The markers come round again after the last, so that a sentence may have any number of words.

    Args:
        vocabulary: of the model.
        tags: the task's.

    Raises:
        SystemFailureError: the vocabulary cannot tell the tags apart.
    """

    def __init__(self, vocabulary: Vocabulary, tags: Sequence[str]) -> None:
        self.tags, self.markers = tuple(tags), vocabulary.markers
        self.spelt = vocabulary.pieces(self.tags)
        self._tag_of = {tuple(row.tolist()): number for number, row in enumerate(self.spelt)}
        inside = {piece for row in self.spelt for piece in row[1:].tolist()}
        unknown = vocabulary.tokenizer.unk_token_id
        odd = [tag for tag, row in zip(tags, self.spelt, strict=True) if not len(row) or unknown in row]
        numbers = set(self.markers.tolist())
        alike = len(self._tag_of) < len(self.tags) or len(numbers) < len(self.markers)
        if odd or alike or unknown in numbers or inside & numbers:
            what = f"its vocabulary cannot spell the tags {', '.join(odd or self.tags)}"
            fix = "Take a model whose vocabulary has capital letters and digits"
            raise SystemFailureError(what, where=vocabulary.source.name, fix=fix)

    @property
    def longest(self) -> int:
        """Pieces a word takes at most, with its marker."""
        return 1 + max(map(len, self.spelt))

    def marker(self, word: int) -> int:
        """The marker of a word."""
        return int(self.markers[word % len(self.markers)])

    def numbered(self, parts: Sequence[Row]) -> Row:
        """Words or spelt tags, each after its marker."""
        count = len(self.markers)
        marks = (self.markers[word % count : word % count + 1] for word in range(len(parts)))
        return np.concatenate([_NOTHING, *(row for pair in zip(marks, parts, strict=True) for row in pair)])

    def write(self, tags: Sequence[int]) -> Row:
        """The tags of a sentence, by their places in `tags`, as pieces."""
        return self.numbered([self.spelt[tag] for tag in tags])

    def parse(self, pieces: Sequence[int], words: int) -> list[int]:
        """The tags that were written for so many words; what comes after them is not looked at.

        Raises:
            ValueError: the pieces are no tags of so many words.
        """
        tags, place = [], 0
        for word in range(words):
            if place >= len(pieces) or pieces[place] != self.marker(word):
                raise ValueError(f"no marker of word {word} at piece {place}")
            end = place + 2
            while end < len(pieces) and tuple(pieces[place + 1 : end + 1]) in self.prefixes:
                end += 1
            tag = self._tag_of.get(tuple(pieces[place + 1 : end]))
            if tag is None:
                raise ValueError(f"no tag after piece {place}")
            tags.append(tag)
            place = end
        return tags

    @cached_property
    def prefixes(self) -> dict[tuple[int, ...], int]:
        """Every beginning of a tag, numbered; the empty one is 0."""
        found: dict[tuple[int, ...], int] = {(): 0}
        for row in self.spelt:
            for end in range(1, len(row) + 1):
                found.setdefault(tuple(row[:end].tolist()), len(found))
        return found
