"""Sentences with slots: CheckList's syntax, with forms, agreement and degree.

| slot | is |
|---|---|
| `{x}` | the word's citation form |
| `{x[0]}` | the first of several values (CheckList) |
| `{x.more}` | the word's form `more` |
| `{x@y}` | the form that agrees with the class of `y` |
| `{x.acc@y}` | the form `acc` in that class |
| `{x+z}` | a predicate with the degree word `z` in its place `~`; also `{x+'most'}` |
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from isogloss.grammar.words import GrammarError, Rewrite, Word, with_degree

Filler = Word | str | Sequence[str]

_SLOT = re.compile(
    r"\{(?P<name>[a-z_]+\d*)(?:\[(?P<index>\d+)\])?(?:\.(?P<form>[a-z_0-9]+))?(?:@(?P<agree>[a-z_]+\d*))?"
    r"(?:\+(?P<degree>[a-z_]+\d*|'[^'{}]+'))?\}"
)


@dataclass(frozen=True, eq=False)
class Slot:
    """One place to fill; compared by identity, since templates are compiled once."""

    name: str
    index: int = -1
    form: str = ""
    agree: str = ""
    degree: str = ""  # a degree word as it is written
    degree_of: str = ""  # or the slot that it fills

    def text(self, word: Filler, agree: str, degree: str, rules: Mapping[str, Rewrite]) -> str:
        """The text that goes here, for a word, the class it agrees with, and a degree word."""
        if self.index >= 0:
            return str(word[self.index]) if isinstance(word, Sequence) else str(word)
        if isinstance(word, Word):
            found = word.form(self.form, agree, rules)
        elif self.form:
            found = rules[self.form](str(word))
        else:
            found = word if isinstance(word, str) else word[0]
        return with_degree(found, degree)


@lru_cache(maxsize=8192)
def compiled(template: str) -> tuple[str | Slot, ...]:
    """The template as pieces of text and slots; a brace that is no slot is an error."""
    pieces: list[str | Slot] = []
    end = 0
    for match in _SLOT.finditer(template):
        pieces.append(template[end : match.start()])
        found = match.groupdict(default="")
        index = int(found["index"]) if found["index"] else -1
        literal = found["degree"].startswith("'")
        degrees = (found["degree"].strip("'"), "") if literal else ("", found["degree"])
        pieces.append(Slot(found["name"], index, found["form"], found["agree"], *degrees))
        end = match.end()
    pieces.append(template[end:])
    if any("{" in piece or "}" in piece for piece in pieces if isinstance(piece, str)):
        raise GrammarError(f"not a slot in {template!r}", fix="Slots are {x}, {x.form}, {x@y}, {x+z}")
    return tuple(piece for piece in pieces if piece)


def slots(template: str) -> set[str]:
    """The names a template needs to be filled."""
    names: set[str] = set()
    for piece in compiled(template):
        if isinstance(piece, Slot):
            names.update(filter(None, (piece.name, piece.agree, piece.degree_of)))
    return names


def answer_slot(template: str) -> str:
    """The slot whose word an answer is."""
    for piece in compiled(template):
        if isinstance(piece, Slot):
            return piece.name
    raise GrammarError(f"no slot in the answer {template!r}", fix="An answer is a slot: {a}, {animal.acc}")


class TemplateWriter:
    """Fills templates by the rules of one language; what a slot makes of a word is worked out once."""

    def __init__(self, rules: Mapping[str, Rewrite], polish: Callable[[str], str] = str) -> None:
        self._rules = rules
        self._polish = polish
        self._known: dict[tuple[object, ...], str] = {}

    def fill(self, template: str, fillers: Mapping[str, Filler]) -> str:
        """The template with its slots filled."""
        pieces = [piece if isinstance(piece, str) else self._slot(piece, fillers) for piece in compiled(template)]
        return "".join(pieces)

    def say(self, template: str, fillers: Mapping[str, Filler]) -> str:
        """The filled template, polished (contractions, capitals) as the language has it."""
        return self._polish(self.fill(template, fillers))

    def _slot(self, slot: Slot, fillers: Mapping[str, Filler]) -> str:
        word = fillers[slot.name]
        other = fillers[slot.agree] if slot.agree else None
        agree = other.agreement if isinstance(other, Word) else ""
        by = fillers[slot.degree_of] if slot.degree_of else slot.degree
        key = (slot, word, agree, by)
        try:
            return self._known[key]
        except KeyError:
            text = self._known[key] = self._filled(slot, word, agree, by)
            return text
        except TypeError:  # several values (CheckList) cannot be looked up
            return self._filled(slot, word, agree, by)

    def _filled(self, slot: Slot, word: Filler, agree: str, by: Filler) -> str:
        degree = by.form("", agree, {}) if isinstance(by, Word) else str(by)
        return slot.text(word, agree, degree, self._rules)
