"""Sentences with slots: CheckList's syntax, with forms, agreement and degree.

| slot | is |
|---|---|
| `{x}` | the word's citation form |
| `{x[0]}` | the first of several values (CheckList) |
| `{x.more}` | the word's form `more` |
| `{x@y}` | the form that agrees with the class of `y` |
| `{x.acc@y}` | the form `acc` in that class |
| `{x+z}` | a predicate with the degree word `z` at `~`; also `{x+'most'}` |
"""

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache

from isogloss.grammar.words import GrammarError, Rewrite, Word, with_degree

Filler = Word | str | Sequence[str]

_SLOT = re.compile(
    r"\{(?P<name>[a-z_]+\d*)(?:\[(?P<index>\d+)\])?(?:\.(?P<form>[a-z_0-9]+))?(?:@(?P<agree>[a-z_]+\d*))?"
    r"(?:\+(?P<degree>[a-z_]+\d*|'[^'{}]+'))?\}"
)


@dataclass(frozen=True, eq=False, kw_only=True)
class Slot:
    """One slot; compared by identity, since templates are compiled once."""

    name: str
    index: int = -1
    form: str = ""
    agree: str = ""
    degree: str = ""  # a literal degree word
    degree_of: str = ""  # or its slot

    def text(self, word: Filler, agree: str, degree: str, rules: Mapping[str, Rewrite]) -> str:
        """Return the slot's text for a word, its agreement class, and a degree word."""
        if self.index >= 0:
            return str(word[self.index]) if isinstance(word, Sequence) else str(word)
        if isinstance(word, Word):
            form = word.form(self.form, agree, rules)
        elif self.form:
            form = rules[self.form](str(word))
        else:
            form = word if isinstance(word, str) else word[0]
        return with_degree(form, degree)


@lru_cache(maxsize=8192)
def compiled(template: str) -> tuple[str | Slot, ...]:
    """Split a template into text and slots; raise an error for an invalid brace."""
    pieces: list[str | Slot] = []
    end = 0
    for match in _SLOT.finditer(template):
        pieces.append(template[end : match.start()])
        name, index, form, agree, degree = match.groups(default="")
        by = {"degree": degree.strip("'")} if degree.startswith("'") else {"degree_of": degree}
        pieces.append(Slot(name=name, index=int(index or -1), form=form, agree=agree, **by))
        end = match.end()
    pieces.append(template[end:])
    if any("{" in piece or "}" in piece for piece in pieces if isinstance(piece, str)):
        raise GrammarError(f"not a slot in {template!r}", fix="Write slots as {x}, {x.form}, {x@y} or {x+z}")
    return tuple(piece for piece in pieces if piece)


def slots(template: str) -> set[str]:
    """Return the slot names of a template."""
    names: set[str] = set()
    for piece in compiled(template):
        if isinstance(piece, Slot):
            names.update(filter(None, (piece.name, piece.agree, piece.degree_of)))
    return names


def answer_slot(template: str) -> str:
    """Return the slot of the answer word."""
    for piece in compiled(template):
        if isinstance(piece, Slot):
            return piece.name
    raise GrammarError(f"no slot in the answer {template!r}", fix="Write a slot as the answer: {a}, {animal.acc}")


class TemplateWriter:
    """Filler of templates by the rules of one language, with a cache of slot texts."""

    def __init__(self, rules: Mapping[str, Rewrite], polish: Callable[[str], str] = str) -> None:
        self._rules = rules
        self._polish = polish
        self._known: dict[tuple[object, ...], str] = {}

    def fill(self, template: str, fillers: Mapping[str, Filler]) -> str:
        """Return the template with its slots filled."""
        pieces = [piece if isinstance(piece, str) else self._slot(piece, fillers) for piece in compiled(template)]
        return "".join(pieces)

    def say(self, template: str, fillers: Mapping[str, Filler]) -> str:
        """Return the filled template, polished (contractions, capitals) for the language."""
        return self._polish(self.fill(template, fillers))

    def _slot(self, slot: Slot, fillers: Mapping[str, Filler]) -> str:
        word = fillers[slot.name]
        other = fillers[slot.agree] if slot.agree else None
        agree = other.agreement if isinstance(other, Word) else ""
        by = fillers[slot.degree_of] if slot.degree_of else slot.degree
        key = (slot, word, agree, by)
        try:
            return self._known[key]
        except (KeyError, TypeError):  # several values (CheckList) cannot be cached
            degree = by.form("", agree, {}) if isinstance(by, Word) else str(by)
            text = slot.text(word, agree, degree, self._rules)
            with suppress(TypeError):
                self._known[key] = text
            return text
