"""The fair rule: an answer is right if a reader who knows the language would say so."""

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache

from isogloss.grammar.file import Grammar, grammar
from isogloss.languages import language as find_language

_END_MARKS = " \t\n\u200e\u200f\u200b\"'«»“”„‘’()[]"


def is_right(prediction: str, accepted: tuple[str, ...], language: str, question: str = "", sentence: str = "") -> bool:
    """Whether a prediction is one of the accepted answers, or says one of them in a sentence.

    Args:
        prediction: what a system answered.
        accepted: the right answers.
        language: of both, by its code.
        question: what was asked; its words may be said again.
        sentence: the answer as a whole sentence; so may its words.
    """
    reader = fair_reader(language)
    said = reader.bare(prediction)
    if not said:
        return False
    right = reader.all_bare(accepted)
    if said in right or any(reader.differ_by_attachment(said, each) for each in right):
        return True
    return bool(sentence) and _said_in_sentence(reader, prediction, accepted, reader.frame(question, sentence))


def known_forms(answer: str, language: str) -> tuple[str, ...]:
    """All forms of the word that an answer is a form of; none where the language file has no such word."""
    reader = fair_reader(language)
    return tuple(form for word in reader.words_with(answer) for form in word)


@dataclass(frozen=True)
class WordForms:
    """Where a word's forms are: `answer_forms[lexicon][concept]`."""

    lexicon: str
    concept: str


class FairReader:
    """How answers in one language are read."""

    def __init__(self, speaker: Grammar) -> None:
        file = speaker.file
        self._speaker = speaker
        self.segmented = find_language(speaker.code).segmented
        self._small = frozenset(map(_folded, (*file.articles, *file.classifiers)))
        self._end = file.end + _END_MARKS
        self._prefixes = tuple(map(_folded, file.prefixes))
        self._particles = tuple(map(_folded, file.particles))
        said_again = (*file.articles, *file.classifiers, *file.prefixes, *file.particles, *file.sentence_words)
        self._always = frozenset(token for text in said_again for token in self.tokens(text))

    @lru_cache(maxsize=65536)  # noqa: B019 - there is one reader a language, for ever
    def bare(self, text: str) -> str:
        """The text without what may be at its edges: marks, articles, classifiers."""
        words = _folded(text).strip(self._end).split()
        while len(words) > 1 and words[0] in self._small:
            words.pop(0)
        while len(words) > 1 and words[-1] in self._small:
            words.pop()
        joined = " ".join(words).strip(self._end)
        if not self.segmented:  # classifiers are then attached: in front in Chinese, behind in Burmese and Thai
            for attached in sorted(self._small, key=len, reverse=True):
                if joined not in ("", attached):
                    joined = joined.removeprefix(attached).removesuffix(attached).strip(self._end)
        return joined

    @lru_cache(maxsize=8192)  # noqa: B019
    def all_bare(self, texts: tuple[str, ...]) -> frozenset[str]:
        """Every text bare."""
        return frozenset(map(self.bare, texts))

    def differ_by_attachment(self, one: str, other: str) -> bool:
        """Whether one is the other with something that the language attaches to words."""
        longer, shorter = (one, other) if len(one) > len(other) else (other, one)
        if not shorter or shorter not in longer:
            return False
        for prefix in ("", *self._prefixes):
            if longer.startswith(prefix + shorter):
                attached = longer[len(prefix + shorter) :]
                if not attached or attached in self._particles:
                    return True
        return False

    @lru_cache(maxsize=65536)  # noqa: B019
    def tokens(self, text: str) -> tuple[str, ...]:
        """Words; letters in scripts that do not part words."""
        plain = "".join(letter if unicodedata.category(letter)[0] in "LMN" else " " for letter in _folded(text))
        return tuple(plain.split() if self.segmented else plain.replace(" ", ""))

    @lru_cache(maxsize=8192)  # noqa: B019
    def frame(self, question: str, sentence: str) -> frozenset[str]:
        """What an answer may say beside the answer proper: the question again, and how one says such a sentence."""
        return self._always.union(self.tokens(question), self.tokens(sentence))

    def spans(self, said: Sequence[str], wanted: Sequence[str]) -> Iterator[tuple[int, int]]:
        """Where the wanted tokens stand in what was said, perhaps with something attached to them."""
        size = len(wanted)
        for start in range(len(said) - size + 1) if wanted else ():
            found = tuple(said[start : start + size])
            if found == tuple(wanted) or (
                self.segmented and self.differ_by_attachment(" ".join(found), " ".join(wanted))
            ):
                yield start, start + size

    @cached_property
    def _by_form(self) -> dict[str, list[WordForms]]:
        index: dict[str, list[WordForms]] = {}
        for lexicon, words in self._speaker.answer_forms.items():
            for concept, forms in words.items():
                for bare in self.all_bare(forms):
                    index.setdefault(bare, []).append(WordForms(lexicon, concept))
        return index

    def words_with(self, answer: str) -> list[tuple[str, ...]]:
        """The words that an answer is a form of, each as all its forms."""
        found = self._by_form.get(self.bare(answer), ())
        return [self._speaker.answer_forms[word.lexicon][word.concept] for word in found]

    @lru_cache(maxsize=8192)  # noqa: B019
    def alternatives(self, answer: str) -> tuple[tuple[str, ...], ...]:
        """What would be wrong: the forms, in tokens, of all other words of its lexicon."""
        found = self._by_form.get(self.bare(answer), ())
        others = {
            form: None
            for word in found
            for concept, forms in self._speaker.answer_forms[word.lexicon].items()
            if concept != word.concept
            for form in forms
        }
        return tuple(dict.fromkeys(map(self.tokens, others)))


@cache
def fair_reader(language: str) -> FairReader:
    """The reader of a language."""
    return FairReader(grammar(language))


def _folded(text: str) -> str:
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())


def _said_in_sentence(reader: FairReader, prediction: str, accepted: tuple[str, ...], frame: frozenset[str]) -> bool:
    """Whether an accepted answer is said, with nothing beside it but the frame, and no alternative."""
    said = reader.tokens(prediction)
    for answer in accepted:
        for start, end in reader.spans(said, reader.tokens(answer)):
            if frame.issuperset(said[:start] + said[end:]):
                return not any(
                    begins < start or ends > end
                    for other in reader.alternatives(accepted[0])
                    for begins, ends in reader.spans(said, other)
                )
    return False
