"""Answers that are not one of a few: texts, numbers and sets of labels in the replies of language models."""

import re
from collections.abc import Mapping, Sequence

from isogloss.answer_shapes import Unit, answer_units, sentence_units, without_thoughts
from isogloss.reply_outcomes import Outcome
from isogloss.tasks.kinds.named_labels import LabelNames, Says
from isogloss.tasks.kinds.replies import EDGE, LONGEST, UNREAD, Reading, Reply, settled
from isogloss.tasks.kinds.silence import Silence, opens_with_refusal

# A number in any digits, with a point, a comma or the Arabic sign before decimals.
_NUMBER = re.compile(r"(?<![\w.,٫])[-+−]?\d{1,15}(?:[.,٫]\d{1,15})?(?:[eE][-+]?\d{1,2})?(?![\w٫]|[.,]\d)")
# What follows a number that is part of a scale: "4 out of 5", "4 / 5".
_OUT_OF = re.compile(r"\s*(?:/|out\s+of|of)\s*(?=[-+−]?\d)", re.I)
# Between the labels of a list.
_BETWEEN = re.compile(r"[,;|/\n、，؛،]+|\s+(?:and|&|\+)\s+")
_NOTHING = frozenset({"none", "no label", "no labels", "nothing", "n/a", "[]", "empty"})


def text_in(reply: Reply, language: str) -> Reading:
    """Return the text that a reply gives: what it marks as its answer, or all of it, as it is written.

    A first line that only introduces the rest ("Here is a summary:") is not part of it.
    """
    bare = without_thoughts(reply.text).strip()
    if opens_with_refusal(bare, language):
        return settled(reply, Reading(None, Outcome.REFUSAL))
    explicit = [unit.text for unit in answer_units(reply.text, language) if unit.explicit]
    if explicit:
        text = "\n".join(explicit)
    else:
        first, _, rest = bare.partition("\n")
        text = rest.strip() if rest.strip() and first.rstrip().endswith((":", "：")) else bare
    if not text:
        return settled(reply, UNREAD)
    return settled(reply, Reading(text, Outcome.STRICT if text == reply.text.strip() else Outcome.TOLERANT))


def number_in(reply: Reply, language: str, scale: tuple[float, float] | None) -> Reading:
    """Return the only number that a reply gives, None if it gives several or one outside the scale."""
    text = reply.text
    if len(text) > LONGEST:
        return settled(reply, UNREAD)
    units = sentence_units(text, language)
    decisive = [unit for unit in units if unit.explicit] or units
    numbers = {number for unit in decisive for number in _numbers(unit, scale)}
    if len(numbers) == 1:
        number = numbers.pop()
        if scale is None or scale[0] <= number <= scale[1]:
            strict = _NUMBER.fullmatch(text.strip(" \t\n*_`\"'").rstrip(".")) is not None
            return settled(reply, Reading(number, Outcome.STRICT if strict else Outcome.TOLERANT))
    if len(numbers) > 1:
        return settled(reply, Reading(None, Outcome.SEVERAL))
    return settled(reply, Reading(None, Silence(text, language).outcome))


def _numbers(unit: Unit, scale: tuple[float, float] | None) -> list[float]:
    """Return the numbers of a unit, without the end of the scale in "4 out of 5"."""
    numbers: list[float] = []
    end = -1
    for match in _NUMBER.finditer(unit.text):
        value = _value(match[0])
        is_scale = match.start() == end and numbers and (scale is None or value == scale[1])
        after = _OUT_OF.match(unit.text, match.end())
        end = after.end() if after else -1
        if not is_scale:
            numbers.append(value)
    return numbers


def _value(text: str) -> float:
    return float(text.replace("−", "-").replace(",", ".").replace("٫", "."))


def label_set_readings(replies: Sequence[Reply], language: str, labels: Mapping[str, str]) -> list[Reading]:
    """Return the labels that each reply gives; `labels` has them by spelling, in lower case."""
    names = LabelNames(labels, language)
    return [settled(reply, _label_set(reply.text, language, labels, names)) for reply in replies]


def _label_set(text: str, language: str, labels: Mapping[str, str], names: LabelNames) -> Reading:
    if len(text) > LONGEST:
        return UNREAD
    if (given := _listed(text.strip(), labels)) is not None:
        return Reading(given, Outcome.STRICT)
    units = answer_units(text, language)
    decisive = [unit for unit in units if unit.explicit] or units
    lists = [_listed(unit.text, labels) for unit in decisive]
    if decisive and None not in lists:
        return Reading(list(dict.fromkeys(label for part in lists for label in part or ())), Outcome.TOLERANT)
    silence = Silence(text, language, names.denied)
    mentions = [
        mention
        for unit in sentence_units(text, language)
        for mention in names.mentions(unit.text, doubtful=silence.refuses, short=len(units) <= 3)
    ]
    decided = {mention.label: mention.says for mention in mentions}
    if mentions and all(decided[one.label] is one.says is not Says.MAYBE for one in mentions):
        return Reading([label for label, says in decided.items() if says is Says.YES], Outcome.TOLERANT)
    if silence.denies_all:
        return Reading([], Outcome.TOLERANT)
    return Reading(None, Outcome.SEVERAL if mentions else silence.outcome)


def _listed(text: str, labels: Mapping[str, str]) -> list[str] | None:
    """Return the labels of a list, or None if it has something else; a label may contain a separator."""
    bare = text.strip(EDGE).casefold()
    if bare in labels:
        return [labels[bare]]
    if bare in _NOTHING or text.strip() == "[]":
        return []
    parts = [part.strip(EDGE).casefold() for part in _BETWEEN.split(text)]
    parts = [part for part in parts if part]
    if not parts or not all(part in labels for part in parts):
        return None
    return list(dict.fromkeys(labels[part] for part in parts))
