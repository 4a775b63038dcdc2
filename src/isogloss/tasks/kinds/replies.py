"""Answers in free text: what a model's reply says, and how it was read.

What the reply marks as its answer counts alone ("Answer: X", a box, JSON); otherwise all of it does. An answer may also
be named in a sentence ("This article is about sports."). A sentence that denies an answer, doubts it or offers another
beside it ("sports or politics") does not give it; nor does a question. No answer is ever guessed.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from isogloss.answer_shapes import Unit, answer_units, sentence_units
from isogloss.reply_outcomes import Outcome
from isogloss.tasks.kinds.named_labels import RECITAL, LabelNames, Mention, Says, denials, words_of
from isogloss.tasks.kinds.silence import Silence, opens_with_refusal

# Longer replies are not searched for names of answers.
LONGEST = 1 << 16
# Maximum number of choices where it is unknown.
_MOST_CHOICES = 5
_QUESTION = ("?", "？", "؟")
EDGE = " \t\n\"'“”„‘’«»「」『』()[]{}.,;:!。，：؛।۔*_`"
_ORDINALS = {"first": 0, "second": 1, "third": 2, "fourth": 3, "fifth": 4}
_NOUN = r"(?:choice|option|alternative|answer|hypothesis)"
# "1", "(A)", "Option 2", "the second option", "B: text".
_MARKED = re.compile(
    rf"(?:the\s+)?(?:(?P<ordinal>{'|'.join(_ORDINALS)})(?:\s+{_NOUN})?"
    rf"|(?:{_NOUN}\s+)?\W{{0,2}}(?P<mark>[0-9]{{1,3}}|[A-Za-z])\b(?!['’])|choice_?(?P<choice>[0-9]{{1,3}}))"
    r"\W{0,3}(?:(?<=[\s:.)\]])(?P<text>\S.*))?",
    re.I | re.S,
)


class _Number(NamedTuple):
    """The number of a choice, counted from 0 or 1."""

    value: int


class Reply(NamedTuple):
    """A reply, and the input columns of its example as far as they are known.

    Attributes:
        text: the text.
        inputs: inputs of the example by column.
        cut: True if the reply ended at the token limit.
        filtered: True if a content filter withheld it.
    """

    text: str
    inputs: Mapping[str, Any] = {}
    cut: bool = False
    filtered: bool = False


class Reading(NamedTuple):
    """The answer read from a reply, None without one, and how it was read."""

    answer: Any | None
    outcome: Outcome


UNREAD = Reading(None, Outcome.UNPARSED)


def settled(reply: Reply, reading: Reading) -> Reading:
    """Return a reading with the reason for a missing answer that is known from outside the text."""
    if reading.answer is not None:
        return reading
    if reply.filtered:
        return Reading(None, Outcome.FILTERED)
    if reply.cut:
        return Reading(None, Outcome.CUT)
    return reading if reply.text.strip() else Reading(None, Outcome.EMPTY)


def label_readings(replies: Sequence[Reply], language: str, labels: Mapping[str, str]) -> list[Reading]:
    """Return the label that each reply gives; `labels` has them by spelling, in lower case."""
    names = LabelNames(labels, language)
    return [settled(reply, _label_in(reply.text, language, labels, names)) for reply in replies]


def _label_in(text: str, language: str, labels: Mapping[str, str], names: LabelNames) -> Reading:
    if (label := labels.get(text.strip(EDGE).casefold())) is not None:
        return Reading(label, Outcome.STRICT)
    if len(text) > LONGEST:
        return UNREAD
    units = sentence_units(text, language)
    explicit = [unit for unit in units if unit.explicit]
    silence = Silence(text, language, names.denied)
    mentions: list[Mention] = []
    for unit in explicit or units:
        if (whole := labels.get(unit.text.strip(EDGE).casefold())) is not None:
            mentions.append(Mention(whole, Says.YES, main=True))
        elif not unit.text.rstrip(EDGE).endswith(_QUESTION):
            mentions += names.mentions(unit.text, doubtful=silence.refuses, short=len(units) <= 3)
    if silence.denies_all and not explicit:
        return Reading(None, Outcome.NONE)
    reading = _decided(mentions, silence)
    if reading.answer is not None and not explicit:
        # A name in quotes is another answer, wherever it stands, unless it is denied.
        denied = {mention.label for mention in mentions if mention.says is Says.NO}
        quoted = names.quoted("\n".join(unit.text for unit in units))
        if 1 < len(quoted - denied | {reading.answer}) < RECITAL:
            return Reading(None, Outcome.SEVERAL)
    return reading


def _decided(mentions: Sequence[Mention], silence: Silence) -> Reading:
    """Return the only label that a reply asserts; explanations count if its statements name none."""
    decisive = [mention for mention in mentions if mention.main and mention.says is not Says.NO]
    decisive = decisive or [mention for mention in mentions if mention.says is not Says.NO]
    given = {mention.label for mention in decisive if mention.says is Says.YES}
    denied = {mention.label for mention in mentions if mention.says is Says.NO}
    named = {mention.label for mention in decisive}
    if len(named) == 1 and given and not given & denied:
        return Reading(given.pop(), Outcome.TOLERANT)
    if 1 < len(named) < RECITAL:
        return Reading(None, Outcome.SEVERAL)
    return Reading(None, silence.outcome)


def choices_in(replies: Sequence[Reply], language: str, spellings: Mapping[str, int]) -> list[Reading]:
    """Return the index of the choice that each reply gives.

    A number counts from 0 or from 1, which the replies tell together: only one way of counting has a 0, and only the
    other reaches the number of choices. If that is open, numbers give no answer unless `spellings` explains them.
    """
    sizes = [len(reply.inputs.get("choices", ())) for reply in replies]
    read = [_choice_in(reply, language, spellings) for reply in replies]
    from_zero = any(reading.answer == _Number(0) for reading in read)
    from_one = any(reading.answer == _Number(size) for reading, size in zip(read, sizes, strict=True) if size)
    first = None if from_zero == from_one else int(from_one)
    readings: list[Reading] = []
    for reply, reading, size in zip(replies, read, sizes, strict=True):
        choice, outcome = reading
        index = choice if not isinstance(choice, _Number) else None if first is None else choice.value - first
        known = index in range(size or _MOST_CHOICES)
        unread = Reading(None, Outcome.UNPARSED if outcome.is_answer else outcome)
        readings.append(settled(reply, Reading(index, outcome) if known else unread))
    return readings


def _choice_in(reply: Reply, language: str, spellings: Mapping[str, int]) -> Reading:
    """Return the index or number of the choice that a reply gives."""
    text = reply.text
    if len(text) > LONGEST:
        return UNREAD
    texts = [_letters(choice) for choice in reply.inputs.get("choices", ())]
    units = sentence_units(text, language)
    decisive = [unit for unit in units if unit.explicit] or units
    given = {choice for unit in decisive for choice in _choices_meant(unit.text, texts, spellings)}
    whole = "\n".join(unit.text for unit in decisive)
    letters = _letters(whole)
    quoted = {index for index, choice in enumerate(texts) if choice and choice in letters}
    doubted = not denials(language).isdisjoint(words_of(whole))
    if len(given | quoted) == 1 and not (quoted and doubted):
        bare = text.strip(EDGE)
        strict = _letters(bare) in texts or bare.casefold() in spellings or _is_mark(bare)
        return Reading((given | quoted).pop(), Outcome.STRICT if strict else Outcome.TOLERANT)
    if len(given | quoted) > 1 and not doubted:
        return Reading(None, Outcome.SEVERAL)
    return Reading(None, Silence(text, language).outcome)


def _is_mark(bare: str) -> bool:
    """Return True for the number, letter or name of a choice alone."""
    marked = _MARKED.fullmatch(bare)
    return marked is not None and not marked["text"]


def _choices_meant(text: str, texts: list[str], spellings: Mapping[str, int]) -> "Iterator[int | _Number]":
    """Yield the choice that a sentence means as a whole: twice if it has both a letter and the text."""
    bare = text.strip(EDGE)
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


def answer_in(reply: Reply, language: str) -> Reading:
    """Return the answer that a reply gives in its own words: what it marks as its answer, or its only line."""
    units = answer_units(reply.text, language)
    decisive = [unit for unit in units if unit.explicit] or units
    answers = list(dict.fromkeys(unit.text.strip() for unit in decisive))
    if len(answers) == 1 and (decisive[0].explicit or not opens_with_refusal(reply.text, language)):
        answer = _with_number(reply.text.strip(), answers[0], decisive)
        same = _bare(answer) == _bare(reply.text)
        return settled(reply, Reading(answer, Outcome.STRICT if same else Outcome.TOLERANT))
    if opens_with_refusal(reply.text, language):
        return settled(reply, Reading(None, Outcome.REFUSAL))
    return settled(reply, Reading(None, Outcome.SEVERAL) if len(answers) > 1 else UNREAD)


def _with_number(text: str, answer: str, units: Sequence[Unit]) -> str:
    """Return an answer with the number before it, which looks like a list's: "1. FC Köln"."""
    if not units[0].explicit and (before := text.removesuffix(answer)) != text:
        is_number = any(map(str.isdecimal, before)) and not any(map(str.isalpha, before))
        return text if is_number else answer
    return answer


def tags_in(reply: Reply, language: str, labels: Collection[str], count: int | None) -> Reading:
    """Return the tags that a reply lists, one per token."""
    units = answer_units(reply.text, language)
    decisive = [unit for unit in units if unit.explicit] or units
    tags = [tag for unit in decisive for tag in unit.text.replace(",", " ").split()]
    if tags and all(tag in labels for tag in tags) and len(tags) == (count or len(tags)):
        bare = re.sub(r"[\s,\[\]\"']+", " ", reply.text).split()
        return settled(reply, Reading(tags, Outcome.STRICT if bare == tags else Outcome.TOLERANT))
    return settled(reply, Reading(None, Silence(reply.text, language).outcome))


def _bare(text: str) -> str:
    return text.strip(EDGE).casefold()


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text.casefold()))
