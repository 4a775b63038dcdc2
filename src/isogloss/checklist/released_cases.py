"""Cases of the released sheet: possible draws, their examples, and translation defects."""

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

# Kind of a finding specific to translations, and its detail.
Defect = tuple[str, str]

_WORD = re.compile(r"[^\W\d_]+")
_DOUBLED = re.compile(r"(?<!\S)(\w+) \1(?!\w)")

# Value drawn for a slot: a row of fill-ins, two properties with values, or a person's name.
_Pair = tuple[SheetRow, SheetRow, SheetRow, SheetRow]
_Drawn = SheetRow | _Pair | str
_PAIR = ("p1", "v1", "p2", "v2")


class ReleasedExample(ChecklistExample, frozen=True, kw_only=True):
    """An example with the defects of its cells."""

    defects: tuple[Defect, ...] = ()


class ReleasedCases:
    """All cases of a test in a language, numbered from 0 to `size`."""

    def __init__(self, translation: SheetTranslation, names: Sequence[str]) -> None:
        self._translation = translation
        cells = [(row, cell) for row in translation.templates for cell in row.cells]
        self._defects = {
            (row.line, cell.text): defects
            for row, cell in cells
            if (defects := list(_cell_defects(row, cell, translation.contexts)))
        }
        self._copies: dict[str, list[str]] = {}
        for slot in sorted({slot for row in translation.templates for slot, _ in slots(row.english)}):
            self._copies.setdefault(slot.rstrip("0123456789"), []).append(slot)
        self._values = {name: _choices(name, translation, names) for name in self._copies}
        self._sizes = {name: perm(len(self._values[name]), len(copies)) for name, copies in self._copies.items()}
        self.size = prod(self._sizes.values())

    def examples(self, draw: int, number: int) -> Iterator[ReleasedExample]:
        """Yield the examples of the draw `draw`, as case `number`: every context with every question."""
        drawn = self._drawn(draw)
        facts = {lexicon_of(slot): row.english for slot, row in drawn.items() if isinstance(row, SheetRow)}
        pair = next((value for value in drawn.values() if isinstance(value, tuple)), None)
        english: dict[str, str] = {}
        for slot, value in drawn.items():
            if isinstance(value, tuple):
                english |= zip(_PAIR, (row.english for row in value), strict=True)
            else:
                english[slot] = value if isinstance(value, str) else value.english
        case = ChecklistCase(test=self._translation.test, number=number, slots=tuple(english.items()))
        people = tuple(value for value in drawn.values() if isinstance(value, str))
        pairs = list(zip(self._translation.questions, self._translation.answers, strict=True))
        for index, row in enumerate(self._translation.contexts):
            # A fill-in may differ between contexts; question and answer use that of their context.
            context_facts = facts | {CONTEXT: row.english}
            defects: list[Defect] = []
            values = self._words(drawn, context_facts, defects)
            context = self._filled(row, context_facts | _property(row, pair), values, defects)
            answers: dict[str, str] = {}
            for place, (question, answer) in enumerate(pairs, index * len(pairs)):
                about = context_facts | _property(question, pair)
                own = list(defects)
                text = self._filled(question, about, values, own)
                gold = self._filled(answer, about, values, own)
                if answers.setdefault(text, gold) != gold:
                    own.append(("same-question", f"{text!r}: {answers[text]!r} and {gold!r}"))
                yield ReleasedExample(
                    case=case, place=place, context=context, question=text, answer=gold, people=people, defects=(*own,)
                )

    def _drawn(self, index: int) -> dict[str, _Drawn]:
        """Return the assignment with an index; copies of one slot (`x`, `x1`) always differ."""
        drawn: dict[str, _Drawn] = {}
        for name, copies in self._copies.items():
            index, remainder = divmod(index, self._sizes[name])
            left = list(self._values[name])
            for slot in copies:
                remainder, chosen = divmod(remainder, len(left))
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
        """Return the variant that fits the draw; if none or several fit, the first."""
        matches = row.fitting(facts)
        cell = (matches or row.cells)[0]
        defects += self._defects.get((row.line, cell.text), ())
        repeated = [name for name in cell.condition.wanted if facts.get(name) in cell.condition.repeated]
        if len(matches) != 1 or repeated:
            named = sorted({name for variant in row.cells for name in variant.condition.wanted} & facts.keys())
            drawn = ", ".join(f"{name} {facts[name]!r}" for name in named)
            defects.append(("condition", f"line {row.line}: {len(matches) + len(repeated)} variants for {drawn}"))
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


def _property(row: SheetRow, pair: _Pair | None) -> dict[str, str]:
    """Return the property of a template: the one it asks about; in contexts, the first."""
    if pair is None:
        return {}
    return {PROPERTY: pair[2 if ("p", "p2") in slots(row.english) else 0].english}


def fill(template: str, values: Mapping[str, str | dict[str, str]]) -> str:
    """Fill a template as CheckList does; slots without a value stay."""

    def text(match: re.Match[str]) -> str:
        value = values.get(match["name"] + match["copy"])
        if isinstance(value, dict):
            value = value.get(match["part"] or "")
        if value is None:
            return match[0]
        if match["index"]:
            listed = parts(value)
            if int(match["index"]) >= len(listed):
                return match[0]
            value = listed[int(match["index"])]
        # `a:` is CheckList's English article, in any language; all other options have no effect.
        if "a" in (match["options"] or ""):
            return f"{'an' if value[:1].lower() in 'aeiou' else 'a'} {value}"
        return value

    return SLOT.sub(text, template)


def _cell_defects(row: SheetRow, cell: SheetCell, contexts: Sequence[SheetRow]) -> Iterator[Defect]:
    """Yield the defects of a cell that do not depend on the draw."""
    for value in cell.condition.unknown:
        yield "condition", f"line {row.line}: no English value {value!r}"
    wanted, present = slots(row.english), slots(cell.text)
    # A condition may make a slot superfluous (`What age` without the word).
    excused = {(slot, part) for slot, part in wanted if lexicon_of(slot) in cell.condition.wanted}
    for name, differing in (("lacks", wanted - present - excused), ("adds", present - wanted)):
        for slot, part in sorted(differing):
            yield "slots", f"line {row.line} {name} {{{slot}{'.' if part else ''}{part}}}: {cell.text!r}"
    others = [other for other in contexts if other.line != row.line]
    if others and len(others) < len(contexts) and cell.text != row.english:
        # A word that English and the language share (Dutch `is`) occurs in several contexts; an untranslated one, in
        # one.
        elsewhere = {word for other in others for variant in other.cells for word in _words(variant.text)}
        for word in sorted((_words(row.english) & _words(cell.text)) - elsewhere):
            yield "english", f"line {row.line} leaves {word!r}: {cell.text!r}"


def _words(template: str) -> set[str]:
    return set(_WORD.findall(SLOT.sub(" ", template).lower()))
