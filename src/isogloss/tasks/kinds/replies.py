"""Answers in free text: what a model's reply says, or None if it says nothing, or two different things.

What the reply marks as its answer counts alone ("Answer: X", a box, JSON); otherwise all of it does. An answer may also
be named in a sentence ("This article is about sports."). A sentence that denies an answer, doubts it or puts it beside
something else ("sports and leisure") does not give it; nor does a question.
"""

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from enum import Enum, auto
from functools import cache
from typing import Any, NamedTuple, cast

from isogloss.answer_shapes import Unit, answer_units, sentence_units
from isogloss.grammar.file import CODES, grammar

# Longer replies are not searched for names of answers.
_LONGEST = 1 << 16
# Maximum number of choices where it is unknown.
_MOST_CHOICES = 5
_WORD = re.compile(r"[\w'’]+|[/&+]")
_CLAUSE = re.compile(r"\b(?:but|however)\b|[;—]", re.I)
_BESIDE = frozenset("and or plus vs versus / & +".split())
_HEDGES = frozenset("possibly potentially perhaps maybe might could may either".split())
_DENIALS = "not no none neither nor never cannot without unable impossible difficult unclear unlikely"
_QUESTION = ("?", "？", "؟")
_EDGE = " \t\n\"'“”„‘’«»「」『』()[]{}.,;:!。，：؛।۔*_`"
_ORDINALS = {"first": 0, "second": 1, "third": 2, "fourth": 3, "fifth": 4}
_NOUN = r"(?:choice|option|alternative|answer|hypothesis)"
# "1", "(A)", "Option 2", "the second option", "B: text".
_MARKED = re.compile(
    rf"(?:the\s+)?(?:(?P<ordinal>{'|'.join(_ORDINALS)})(?:\s+{_NOUN})?"
    rf"|(?:{_NOUN}\s+)?\W{{0,2}}(?P<mark>[0-9]{{1,3}}|[A-Za-z])\b(?!['’])|choice_?(?P<choice>[0-9]{{1,3}}))"
    r"\W{0,3}(?:(?<=[\s:.)\]])(?P<text>\S.*))?",
    re.I | re.S,
)


class _Says(Enum):
    """Verdict of a sentence on an answer."""

    YES = auto()
    NO = auto()
    MAYBE = auto()  # possibly, or with something else


class _Number(NamedTuple):
    """The number of a choice, counted from 0 or 1."""

    value: int


class Reply(NamedTuple):
    """A reply, and the input columns of its example as far as they are known."""

    text: str
    inputs: Mapping[str, Any] = {}


def label_in(text: str, language: str, labels: Mapping[str, str]) -> str | None:
    """Return the label that a reply gives; `labels` has them by spelling, in lower case."""
    spoken = {tuple(_words(spelling)): label for spelling, label in labels.items()}
    # A digit or letter in a sentence may mean anything.
    named = {words: label for words, label in spoken.items() if len("".join(words)) > 1}
    denials = _denials(language)

    def read(units: Sequence[Unit]) -> Iterator[tuple[str, _Says]]:
        for unit in units:
            if (whole := labels.get(unit.text.strip(_EDGE).casefold())) is not None:
                yield whole, _Says.YES
            elif not unit.text.rstrip(_EDGE).endswith(_QUESTION):
                for clause in _CLAUSE.split(unit.text):
                    yield from _named(_words(clause), named, denials)

    return cast("str | None", _one(text, language, read))


def _named(
    words: list[str], named: Mapping[tuple[str, ...], str], denials: Collection[str]
) -> Iterator[tuple[str, _Says]]:
    """Yield the labels in a clause, with what it says of them."""
    says = _Says.NO if any(word in denials or word.endswith(("n't", "n’t")) for word in words) else _Says.YES
    open_ = _Says.MAYBE if says is _Says.YES else says
    longest_first = sorted({len(label) for label in named}, reverse=True)
    taken = 0
    for start in range(len(words)):
        for end in (start + size for size in longest_first if start >= taken):
            if (label := named.get(tuple(words[start:end]))) is not None:
                beside = _BESIDE.intersection((*words[max(0, start - 1) : start], *words[end : end + 1]))
                yield label, open_ if beside or not _HEDGES.isdisjoint(words[:start]) else says
                taken = end
                break


def choices_in(replies: Sequence[Reply], language: str, spellings: Mapping[str, int]) -> list[int | None]:
    """Return the index of the choice that each reply gives.

    A number counts from 0 or from 1, which the replies tell together: only one way of counting has a 0, and only the
    other reaches the number of choices. If that is open, numbers give no answer unless `spellings` explains them.
    """
    sizes = [len(reply.inputs.get("choices", ())) for reply in replies]
    read = [_choice_in(reply, language, spellings) for reply in replies]
    from_zero = any(choice == _Number(0) for choice in read)
    from_one = any(choice == _Number(size) for choice, size in zip(read, sizes, strict=True) if size)
    first = None if from_zero == from_one else int(from_one)
    indices: list[int | None] = []
    for choice, size in zip(read, sizes, strict=True):
        index = choice if not isinstance(choice, _Number) else None if first is None else choice.value - first
        indices.append(index if index in range(size or _MOST_CHOICES) else None)
    return indices


def _choice_in(reply: Reply, language: str, spellings: Mapping[str, int]) -> "int | _Number | None":
    texts = [_letters(choice) for choice in reply.inputs.get("choices", ())]
    denials = _denials(language)

    def read(units: Sequence[Unit]) -> Iterator[tuple[int | _Number, _Says]]:
        for unit in units:
            yield from ((choice, _Says.YES) for choice in _choices_meant(unit.text, texts, spellings))
        whole = "\n".join(unit.text for unit in units)
        says = _Says.YES if denials.isdisjoint(_words(whole)) else _Says.MAYBE
        letters = _letters(whole)
        yield from ((index, says) for index, choice in enumerate(texts) if choice and choice in letters)

    return cast("int | _Number | None", _one(reply.text, language, read))


def _choices_meant(text: str, texts: list[str], spellings: Mapping[str, int]) -> "Iterator[int | _Number]":
    """Yield the choice that a sentence means as a whole: twice if it has both a letter and the text."""
    bare = text.strip(_EDGE)
    if (index := spellings.get(bare.casefold())) is not None:
        yield index
        return
    marked = _MARKED.fullmatch(bare)
    if marked is None or (marked["text"] and _letters(marked["text"]) not in texts) or _letters(bare) in texts:
        return
    mark = marked["mark"] or ""
    if marked["text"]:
        yield texts.index(_letters(marked["text"]))
    if marked["ordinal"]:
        yield _ORDINALS[marked["ordinal"].casefold()]
    elif marked["choice"]:
        yield int(marked["choice"]) - 1
    elif not mark.isdecimal():
        yield ord(mark.casefold()) - ord("a")
    elif not marked["text"]:  # the text of a choice does not need its number
        yield _Number(int(mark))


def answer_in(text: str, language: str) -> str | None:
    """Return the answer that a reply gives in its own words: what it marks as its answer, or its only line."""
    if not text.strip():
        return ""
    units = answer_units(text, language)
    decisive = [unit for unit in units if unit.explicit] or units
    answers = list(dict.fromkeys(unit.text.strip() for unit in decisive))
    if len(answers) != 1:
        return None
    if not decisive[0].explicit and (before := text.strip().removesuffix(answers[0])) != text.strip():
        # What looks like a list's number may begin the answer: "1. FC Köln".
        is_number = any(map(str.isdecimal, before)) and not any(map(str.isalpha, before))
        return text.strip() if is_number else answers[0]
    return answers[0]


def tags_in(text: str, language: str, labels: Collection[str], count: int | None) -> list[str] | None:
    """Return the tags that a reply lists, one per token."""
    units = answer_units(text, language)
    decisive = [unit for unit in units if unit.explicit] or units
    tags = [tag for unit in decisive for tag in unit.text.replace(",", " ").split()]
    return tags if tags and all(tag in labels for tag in tags) and len(tags) == (count or len(tags)) else None


def _one(text: str, language: str, read: Callable[[Sequence[Unit]], Iterator[tuple[Any, _Says]]]) -> Any:
    """Return the only answer in what a reply marks as its answer, or else in all of it; None without exactly one."""
    units = sentence_units(text, language) if len(text) <= _LONGEST else []
    readings = set(read([unit for unit in units if unit.explicit] or units))
    given = {answer for answer, says in readings if says is _Says.YES}
    contested = {answer for answer, says in readings if says is _Says.NO} & given
    is_open = any(says is _Says.MAYBE for _, says in readings)
    return given.pop() if len(given) == 1 and not contested and not is_open else None


@cache
def _denials(language: str) -> frozenset[str]:
    own = grammar(language).file.negations if language in CODES else ()
    return frozenset((*_DENIALS.split(), *(word.casefold() for word in own)))


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text.casefold()))
