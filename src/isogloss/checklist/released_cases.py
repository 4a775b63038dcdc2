"""Cases of the released sheet: what can be drawn, the examples made of it, and the defects of their translation."""

import re
from collections.abc import Iterator, Mapping, Sequence
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

# The kind of a finding that only a translation can have, and its detail.
Defect = tuple[str, str]

_WORD = re.compile(r"[^\W\d_]+")
_DOUBLED = re.compile(r"(?<!\S)(\w+) \1(?!\w)")

# What is drawn for a slot: a row of fill-ins, two properties each with a value, or a person's name.
_Pair = tuple[SheetRow, SheetRow, SheetRow, SheetRow]
_Drawn = SheetRow | _Pair | str
_PAIR = ("p1", "v1", "p2", "v2")


class ReleasedExample(ChecklistExample, frozen=True):
    """An example with the defects of the cells it was made from."""

    defects: tuple[Defect, ...] = ()


class ReleasedCases:
    """All cases of a test in a language, by number from 0 to `size`."""

    def __init__(self, translation: SheetTranslation, names: Sequence[str]) -> None:
        self._translation = translation
        self._defects = dict(_cell_defects(translation))
        self._copies: dict[str, list[str]] = {}
        for slot in sorted({slot for row in translation.templates for slot, _ in slots(row.english)}):
            self._copies.setdefault(slot.rstrip("0123456789"), []).append(slot)
        self._values = {name: _choices(name, translation, names) for name in self._copies}
        self._sizes = {name: perm(len(self._values[name]), len(copies)) for name, copies in self._copies.items()}
        self.size = prod(self._sizes.values())

    def examples(self, index: int, number: int) -> Iterator[ReleasedExample]:
        """The examples of the case `index`, as case `number`: every context with every question."""
        drawn = self._drawn(index)
        facts = {lexicon_of(slot): row.english for slot, row in drawn.items() if isinstance(row, SheetRow)}
        pair = next((value for value in drawn.values() if isinstance(value, tuple)), None)
        case = ChecklistCase(self._translation.test, number, tuple(_english_slots(drawn)))
        people = tuple(value for value in drawn.values() if isinstance(value, str))
        place = 0
        for row in self._translation.contexts:
            # A fill-in may differ from context to context; question and answer take that of their context.
            here = facts | {CONTEXT: row.english}
            defects: list[Defect] = []
            values = self._words(drawn, here, defects)
            context = self._filled(row, here | _property(row, pair), values, defects)
            answers: dict[str, str] = {}
            for question, answer in zip(self._translation.questions, self._translation.answers, strict=True):
                asked = here | _property(question, pair)
                own = list(defects)
                said = self._filled(question, asked, values, own)
                gold = self._filled(answer, asked, values, own)
                if answers.setdefault(said, gold) != gold:
                    own.append(("same-question", f"{said!r}: {answers[said]!r} and {gold!r}"))
                yield ReleasedExample(case, place, context, said, gold, people, defects=tuple(own))
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
        self, drawn: Mapping[str, _Drawn], facts: Mapping[str, str], defects: list[Defect]
    ) -> dict[str, str | dict[str, str]]:
        values: dict[str, str | dict[str, str]] = {}
        for slot, value in drawn.items():
            if isinstance(value, str):
                values[slot] = value
            elif isinstance(value, SheetRow):
                values[slot] = self._fitting(value, facts, defects).text
            else:
                texts = (self._fitting(row, facts, defects).text for row in value)
                values[slot] = dict(zip(_PAIR, texts, strict=True))
        return values

    def _filled(
        self, row: SheetRow, facts: Mapping[str, str], values: Mapping[str, str | dict[str, str]], defects: list[Defect]
    ) -> str:
        template = self._fitting(row, facts, defects).text
        text = fill(template, values)
        for double in _DOUBLED.finditer(text):
            if re.search(rf"(?<!\w){re.escape(double[1])} \{{|\}} {re.escape(double[1])}(?!\w)", template):
                defects.append(("doubled", f"{double[0]!r} in {text!r}"))
        return text

    def _fitting(self, row: SheetRow, facts: Mapping[str, str], defects: list[Defect]) -> SheetCell:
        """The variant for what was drawn; where there is none, or more than one, the first."""
        found = row.fitting(facts)
        cell = (found or row.cells)[0]
        defects += self._defects.get((row.line, cell.text), ())
        twice = [name for name in cell.condition.wanted if facts.get(name) in cell.condition.repeated]
        if len(found) != 1 or twice:
            named = sorted({name for variant in row.cells for name in variant.condition.wanted} & facts.keys())
            drawn = ", ".join(f"{name} {facts[name]!r}" for name in named)
            defects.append(("condition", f"line {row.line}: {len(found) + len(twice)} variants for {drawn}"))
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


def _english_slots(drawn: Mapping[str, _Drawn]) -> Iterator[tuple[str, str]]:
    """The slots of a case, filled in English."""
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


def _cell_defects(translation: SheetTranslation) -> Iterator[tuple[tuple[int, str], list[Defect]]]:
    """What is wrong with a cell however it is filled, by line and text."""
    for row in translation.templates:
        siblings = [other for other in translation.contexts if other.line != row.line]
        for cell in row.cells:
            defects = [*_unknown_values(row, cell), *_slot_defects(row, cell)]
            if len(siblings) < len(translation.contexts):  # the row is a context itself
                defects += _english_left(row, cell, siblings)
            if defects:
                yield (row.line, cell.text), defects


def _unknown_values(row: SheetRow, cell: SheetCell) -> Iterator[Defect]:
    for value in cell.condition.unknown:
        yield "condition", f"line {row.line}: no English value {value!r}"


def _slot_defects(row: SheetRow, cell: SheetCell) -> Iterator[Defect]:
    """Slots too many or too few, but not those a condition makes superfluous (`What age` said without the word)."""
    wanted, found = slots(row.english), slots(cell.text)
    excused = {(slot, part) for slot, part in wanted if lexicon_of(slot) in cell.condition.wanted}
    for name, differing in (("lacks", wanted - found - excused), ("adds", found - wanted)):
        for slot, part in sorted(differing):
            yield "slots", f"line {row.line} {name} {{{slot}{'.' if part else ''}{part}}}: {cell.text!r}"


def _english_left(row: SheetRow, cell: SheetCell, siblings: Sequence[SheetRow]) -> Iterator[Defect]:
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
