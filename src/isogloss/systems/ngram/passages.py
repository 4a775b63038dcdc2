"""Questions with their passages, cut into tokens, and what can be seen about every token without understanding it."""

from collections.abc import Sequence
from functools import cached_property

import numpy as np
import numpy.typing as npt

from isogloss.metrics.statistics import FloatArray, IntArray
from isogloss.systems.ngram.hashing import Hashes, Mask, Texts, character_classes, join, shapes

_STEM = 5  # characters of a word that count when it is compared: crude, but it works for any suffixing language
_SENTENCE_ENDS = np.array([ord(mark) for mark in ".!?。！？।॥؟۔።"], np.uint32)
_BLANK, _DIGIT, _MARK, _OTHER, _UNSPACED, _UPPER = (ord(letter) for letter in "BdmPcA")


class Tokens:
    """Texts cut into words, punctuation marks and, in scripts without blanks, single characters.

    Attributes:
        starts: where each token begins among the code points of all texts.
        ends: where it ends.
        owners: the text it is in.
        bounds: (n + 1,) the first token of each text, and the end.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        # The one capital whose small form is two code points would shift everything after it.
        self.text = Texts([text.replace("İ", "i").lower() for text in texts])
        self.classes = character_classes(Texts(texts).codes)
        blank = self.classes == _BLANK
        first = np.zeros(len(blank) + 1, np.bool_)
        first[self.text.bounds] = True
        wordlike = ~blank & (self.classes != _OTHER)
        joins = wordlike & (self.classes != _UNSPACED) & np.append(False, wordlike[:-1])[: len(wordlike)] & ~first[:-1]
        after_character = np.append(False, self.classes[:-1] == _UNSPACED)[: len(wordlike)]
        joins &= (self.classes == _MARK) | ~after_character
        self.starts = np.flatnonzero(~blank & ~joins)
        self.ends = np.flatnonzero(~blank & ~np.append(joins[1:], np.zeros(min(1, len(joins)), np.bool_))) + 1
        self.owners = self.text.owners[self.starts]
        self.bounds: IntArray = np.searchsorted(self.owners, np.arange(len(texts) + 1))

    def __len__(self) -> int:
        return len(self.starts)

    @cached_property
    def words(self) -> Hashes:
        """The hash of each token, in lower case."""
        return self.text.hashes(self.starts, self.ends)

    @cached_property
    def shapes(self) -> Hashes:
        """The shape of each token."""
        return shapes(self.classes, self.starts, self.ends)

    @cached_property
    def keys(self) -> Hashes:
        """What of a token is compared: a word's beginning, or a character of an unspaced script with the next one."""
        reach = np.where(self.first_class == _UNSPACED, self.starts + 2, np.minimum(self.starts + _STEM, self.ends))
        return self.text.hashes(self.starts, np.minimum(reach, self.text.bounds[self.owners + 1]))

    @cached_property
    def first_class(self) -> npt.NDArray[np.uint8]:
        """The class of each token's first character."""
        return self.classes[self.starts]


class Passages:
    """A block of questions and their passages.

    Attributes:
        tokens: of the passages.
        openings: two hashes a token for how its question begins, with one word and with two.
        matched: whether the token occurs in its question.
        sentence: a number for the sentence of each token.
        overlap: how much of what the passage shares with the question is in the token's sentence, 0 to 1.
    """

    def __init__(self, questions: Sequence[str], contexts: Sequence[str]) -> None:
        question_tokens = Tokens(questions)
        self.tokens = tokens = Tokens(contexts)
        self.openings = tuple(hashes[tokens.owners] for hashes in _openings(question_tokens))
        own_keys = join(tokens.keys, tokens.owners.astype(np.uint64))
        self.matched: Mask = (tokens.first_class != _OTHER) & np.isin(
            own_keys, join(question_tokens.keys, question_tokens.owners.astype(np.uint64))
        )
        _, place, counts = np.unique(own_keys, return_inverse=True, return_counts=True)
        # What occurs everywhere in the passage says little about one place in it.
        self.weight: FloatArray = np.where(self.matched, 1 / counts[place], 0.0)
        self.sentence = self._sentences()
        sums = np.bincount(self.sentence, self.weight)
        best = np.zeros(len(contexts))
        np.maximum.at(best, tokens.owners, sums[self.sentence])
        self.overlap: FloatArray = sums[self.sentence] / np.maximum(best[tokens.owners], 1e-9)

    def _sentences(self) -> IntArray:
        codes, ends = self.tokens.text.codes, self.tokens.ends
        stops = np.isin(codes[self.tokens.starts], _SENTENCE_ENDS)
        # "3.5" ends no sentence: a full stop of a spaced script has a blank, or nothing, after it.
        padded = np.append(self.tokens.classes, np.uint8(_BLANK))
        stops &= (padded[ends] == _BLANK) | (codes[self.tokens.starts] >= 0x3000)
        new = np.diff(self.tokens.owners, prepend=-1) != 0
        new[1:] |= stops[:-1]
        return np.cumsum(new) - 1

    def distance(self, *, forwards: bool) -> IntArray:
        """Tokens from each one to the nearest match after it (or before it) in its passage; 99 where there is none."""
        place = np.arange(len(self.tokens))
        telling = self.weight >= 1 / 3
        if forwards:
            nearest = np.minimum.accumulate(np.where(telling, place, len(place))[::-1])[::-1]
            known = nearest < self.tokens.bounds[self.tokens.owners + 1]
        else:
            nearest = np.maximum.accumulate(np.where(telling, place, -1))
            known = nearest >= self.tokens.bounds[self.tokens.owners]
        return np.where(known, np.abs(nearest - place), 99)

    @cached_property
    def running(self) -> dict[str, IntArray]:
        """Running counts of kinds of tokens, so that any span's are a difference."""
        kinds = {
            "matched": self.matched,
            "digit": self.tokens.first_class == _DIGIT,
            "upper": self.tokens.first_class == _UPPER,
            "mark": self.tokens.first_class == _OTHER,
            "stop": np.append(np.diff(self.sentence), 0) != 0,
        }
        return {name: np.append(0, np.cumsum(chosen)) for name, chosen in kinds.items()}


def _openings(questions: Tokens) -> tuple[Hashes, Hashes]:
    """Hashes of the first word and of the first two words of each question."""
    some = questions.bounds[:-1] < questions.bounds[1:]
    more = questions.bounds[:-1] + 1 < questions.bounds[1:]
    padded = np.append(questions.words, np.zeros(2, np.uint64))
    first = np.where(some, padded[questions.bounds[:-1]], np.uint64(0))
    second = np.where(more, padded[questions.bounds[:-1] + 1], np.uint64(0))
    return first, join(first, second)
