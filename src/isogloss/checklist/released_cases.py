"""Cases of the released sheet: what can be drawn, what is said then, and what is wrong with the saying."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import perm, prod

from isogloss.checklist.released_sheet import (
    CONTEXT,
    PEOPLE,
    PROPERTY,
    SLOT,
    SheetCell,
    SheetRow,
    SheetTranslation,
    lexicon_of,
    parts,
    slots,
)
from isogloss.grammar.cases import ChecklistCase, ChecklistExample

# A kind of finding that only a translation can have, and its detail.
Slip = tuple[str, str]

_WORD = re.compile(r"[^\W\d_]+")
_DOUBLED = re.compile(r"(?<!\S)(\w+) \1(?!\w)")

# What is drawn for a slot: a row of fill-ins, two properties each with a value, or a person's name.
_Pair = tuple[SheetRow, SheetRow, SheetRow, SheetRow]
_Drawn = SheetRow | _Pair | str
_PAIR = ("p1", "v1", "p2", "v2")


@dataclass(frozen=True)
class ReleasedExample(ChecklistExample):
    """An example with the people in it and the slips of the cells it was made from, as (kind, detail)."""

    people: tuple[str, ...] = ()
    slips: tuple[Slip, ...] = ()


class ReleasedCases:
    """All cases of a test in a language, by number from 0 to `size`."""

    def __init__(self, translation: SheetTranslation, names: Sequence[str]) -> None:
        self._translation = translation
        self._slips = dict(_cell_slips(translation))
        self._copies: dict[str, list[str]] = {}
        for slot in sorted({slot for row in translation.templates for slot, _ in slots(row.english)}):
            self._copies.setdefault(slot.rstrip("0123456789"), []).append(slot)
        self._values = {name: _choices(name, translation, names) for name in self._copies}
        self._sizes = {name: perm(len(self._values[name]), len(copies)) for name, copies in self._copies.items()}
        self.size = prod(self._sizes.values())

    def examples(self, index: int, number: int) -> Iterator[ReleasedExample]:
        """The examples of the case `index`, which is to be called case `number`: every context with every question."""
        drawn = self._drawn(index)
        facts = {lexicon_of(slot): row.english for slot, row in drawn.items() if isinstance(row, SheetRow)}
        pair = next((value for value in drawn.values() if isinstance(value, tuple)), None)
        case = ChecklistCase(self._translation.test, number, tuple(_told(drawn)))
        people = tuple(value for value in drawn.values() if isinstance(value, str))
        place = 0
        for row in self._translation.contexts:
            # A fill-in may differ from context to context; question and answer take that of their context.
            here = facts | {CONTEXT: row.english}
            slips: list[Slip] = []
            values = self._words(drawn, here, slips)
            context = self._said(row, here | _property(row, pair), values, slips)
            answers: dict[str, str] = {}
            for question, answer in zip(self._translation.questions, self._translation.answers, strict=True):
                asked = here | _property(question, pair)
                own = list(slips)
                said = self._said(question, asked, values, own)
                gold = self._said(answer, asked, values, own)
                if answers.setdefault(said, gold) != gold:
                    own.append(("same-question", f"{said!r}: {answers[said]!r} and {gold!r}"))
                yield ReleasedExample(case, place, context, said, gold, people, tuple(own))
                place += 1

    def _drawn(self, index: int) -> dict[str, _Drawn]:
        """The assignment with a number; copies of one slot (`x`, `x1`) never get the same."""
        drawn: dict[str, _Drawn] = {}
        for name, copies in self._copies.items():
            index, place = divmod(index, self._sizes[name])
            left = list(self._values[name])
            for slot in copies:
                place, chosen = divmod(place, len(left))
                drawn[slot] = left.pop(chosen)
        return drawn

    def _words(
        self, drawn: Mapping[str, _Drawn], facts: Mapping[str, str], slips: list[Slip]
    ) -> dict[str, str | dict[str, str]]:
        values: dict[str, str | dict[str, str]] = {}
        for slot, value in drawn.items():
            if isinstance(value, str):
                values[slot] = value
            elif isinstance(value, SheetRow):
                values[slot] = self._fitting(value, facts, slips).text
            else:
                told = (self._fitting(row, facts, slips).text for row in value)
                values[slot] = dict(zip(_PAIR, told, strict=True))
        return values

    def _said(
        self, row: SheetRow, facts: Mapping[str, str], values: Mapping[str, str | dict[str, str]], slips: list[Slip]
    ) -> str:
        template = self._fitting(row, facts, slips).text
        text = fill(template, values)
        for double in _DOUBLED.finditer(text):
            if re.search(rf"(?<!\w){re.escape(double[1])} \{{|\}} {re.escape(double[1])}(?!\w)", template):
                slips.append(("doubled", f"{double[0]!r} in {text!r}"))
        return text

    def _fitting(self, row: SheetRow, facts: Mapping[str, str], slips: list[Slip]) -> SheetCell:
        """The variant for what was drawn; where there is none, or more than one, the first."""
        found = row.fitting(facts)
        cell = (found or row.cells)[0]
        slips += self._slips.get((row.line, cell.text), ())
        twice = [name for name in cell.condition.wanted if facts.get(name) in cell.condition.repeated]
        if len(found) != 1 or twice:
            named = sorted({name for variant in row.cells for name in variant.condition.wanted} & facts.keys())
            drawn = ", ".join(f"{name} {facts[name]!r}" for name in named)
            slips.append(("condition", f"line {row.line}: {len(found) + len(twice)} variants for {drawn}"))
        return cell


def _choices(name: str, translation: SheetTranslation, names: Sequence[str]) -> Sequence[_Drawn]:
    if name == PEOPLE:
        return names
    rows = translation.lexicons[lexicon_of(name)]
    if lexicon_of(name) != PROPERTY:
        return rows
    return [
        (first, value, second, other)
        for first in rows
        for second in rows
        if first is not second
        for value in translation.lexicons[first.english]
        for other in translation.lexicons[second.english]
    ]


def _told(drawn: Mapping[str, _Drawn]) -> Iterator[tuple[str, str]]:
    """What was drawn, in English: the slots of a case."""
    for slot, value in drawn.items():
        if isinstance(value, tuple):
            yield from zip(_PAIR, (row.english for row in value), strict=True)
        else:
            yield slot, value if isinstance(value, str) else value.english


def _property(row: SheetRow, pair: _Pair | None) -> dict[str, str]:
    """The property a template is about: the one it asks for; in contexts, the one that stands first."""
    if pair is None:
        return {}
    return {PROPERTY: pair[2 if ("p", "p2") in slots(row.english) else 0].english}


def fill(template: str, values: Mapping[str, str | dict[str, str]]) -> str:
    """A template with its slots filled as CheckList does; a slot that cannot be filled stays."""

    def text(found: re.Match[str]) -> str:
        value = values.get(found["name"] + found["copy"])
        if isinstance(value, dict):
            value = value.get(found["part"] or "")
        if value is None:
            return found[0]
        if found["index"]:
            listed = parts(value)
            if int(found["index"]) >= len(listed):
                return found[0]
            value = listed[int(found["index"])]
        # `a:` is CheckList's English article, whatever the language; all other options do nothing.
        if "a" in (found["options"] or ""):
            return f"{'an' if value[:1].lower() in 'aeiou' else 'a'} {value}"
        return value

    return SLOT.sub(text, template)


def _cell_slips(translation: SheetTranslation) -> Iterator[tuple[tuple[int, str], list[Slip]]]:
    """What is wrong with a cell however it is filled, by line and text."""
    for row in translation.templates:
        siblings = [other for other in translation.contexts if other.line != row.line]
        for cell in row.cells:
            slips = [*_unknown_values(row, cell), *_slot_slips(row, cell)]
            if len(siblings) < len(translation.contexts):  # the row is a context itself
                slips += _english_left(row, cell, siblings)
            if slips:
                yield (row.line, cell.text), slips


def _unknown_values(row: SheetRow, cell: SheetCell) -> Iterator[Slip]:
    for value in cell.condition.unknown:
        yield "condition", f"line {row.line}: no English value {value!r}"


def _slot_slips(row: SheetRow, cell: SheetCell) -> Iterator[Slip]:
    """Slots too many or too few, but not those a condition makes superfluous (`What age` said without the word)."""
    wanted, found = slots(row.english), slots(cell.text)
    excused = {(slot, part) for slot, part in wanted if lexicon_of(slot) in cell.condition.wanted}
    for name, differing in (("lacks", wanted - found - excused), ("adds", found - wanted)):
        for slot, part in sorted(differing):
            yield "slots", f"line {row.line} {name} {{{slot}{'.' if part else ''}{part}}}: {cell.text!r}"


def _english_left(row: SheetRow, cell: SheetCell, siblings: Sequence[SheetRow]) -> Iterator[Slip]:
    """Words of the English original that the other contexts of the test, which say the same, do without.

    A word that English and the language share (Dutch `is`) stands in several contexts; one left over, in one.
    """
    if not siblings or cell.text == row.english:
        return
    elsewhere = {word for other in siblings for variant in other.cells for word in _words(variant.text)}
    for word in sorted((_words(row.english) & _words(cell.text)) - elsewhere):
        yield "english", f"line {row.line} leaves {word!r}: {cell.text!r}"


def _words(template: str) -> set[str]:
    return set(_WORD.findall(SLOT.sub(" ", template).lower()))
