"""Words with their forms, sentences with slots, and their polishing.

A sentence has CheckList's slots, with forms, agreement and degree:

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
from functools import cached_property, lru_cache

import msgspec

from isogloss.errors import IsoglossError

# Position of a degree word in a predicate: "est ~ fatigué", "a ~ faim".
DEGREE = "~"
_END = re.compile(r"[.!?]\s+")
_OPENING = " \"'«“„¿¡("
_SLOT = re.compile(
    r"\{(?P<name>[a-z_]+\d*)(?:\[(?P<index>\d+)\])?(?:\.(?P<form>[a-z_0-9]+))?(?:@(?P<agree>[a-z_]+\d*))?"
    r"(?:\+(?P<degree>[a-z_]+\d*|'[^'{}]+'))?\}"
)


class GrammarError(IsoglossError):
    """A form or word that a language file uses but does not define."""


@dataclass(frozen=True)
class Rewrite:
    """A form derived by rule: the first matching pattern is replaced; no match is an error.

    Vowel harmony, buffer consonants and particles that depend on the last sound are lists of these steps.
    """

    name: str
    steps: tuple[tuple[str, str], ...]

    @cached_property
    def _compiled(self) -> list[tuple[re.Pattern[str], str]]:
        return [(re.compile(pattern), replacement) for pattern, replacement in self.steps]

    def __call__(self, word: str) -> str:
        """Return the word in this form."""
        for pattern, replacement in self._compiled:
            changed, count = pattern.subn(replacement, word, count=1)
            if count:
                return changed
        raise GrammarError(f"rule {self.name!r} has no step for {word!r}")


@dataclass(frozen=True, eq=False)
class Word:
    """A word: its citation form, its other forms, and its agreement class (gender, noun class).

    Words are compared by identity: each entry of a language file is one object.
    """

    concept: str
    base: str
    forms: Mapping[str, str]
    agreement: str = ""

    def form(self, name: str, agree: str, rules: Mapping[str, Rewrite]) -> str:
        """Return the form `name`, agreeing with the class `agree`: listed as `name.class`, `name`, or derived by rule.

        Without a name, return the form of the class, or the citation form.
        """
        if not name:
            return self.forms.get(agree, self.base) if agree else self.base
        for key in (f"{name}.{agree}", name) if agree else (name,):
            if key in self.forms:
                return self.forms[key]
        for key in (f"{name}.{agree}", name):
            if key in rules:
                return rules[key](self.forms.get(agree, self.base))
        raise GrammarError(f"{self.concept!r} has no form {name!r}", fix=f"List it, or add a rule [rules.{name}]")


def with_degree(predicate: str, degree: str) -> str:
    """Return a predicate with or without a degree word."""
    if DEGREE not in predicate:
        if degree:
            raise GrammarError(f"{predicate!r} has no position for a degree word", fix="Mark it with ~")
        return predicate
    if degree:
        return predicate.replace(DEGREE, degree)
    blank = next(blank for blank in (f"{DEGREE} ", f" {DEGREE}", DEGREE) if blank in predicate)
    return predicate.replace(blank, "", 1)


Filler = Word | str | Sequence[str]


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
        self._rules, self._polish = rules, polish
        self._known: dict[tuple[object, ...], str] = {}

    def fill(self, template: str, fillers: Mapping[str, Filler]) -> str:
        """Return the template with its slots filled."""
        return "".join(piece if isinstance(piece, str) else self._slot(piece, fillers) for piece in compiled(template))

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


class Join(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A contraction or elision: every match of the pattern is replaced (`de le ` by `du `).

    The examples (before, after) serve as tests.
    """

    pattern: str
    replacement: str
    examples: list[tuple[str, str]]


def polisher(
    joins: Sequence[Join], capitals: bool, upper: dict[str, str], uncapitalized: Sequence[str]
) -> Callable[[str], str]:
    """Return a function that contracts sentences of one language and, in scripts with capitals, capitalises them.

    `upper` has letters with a capital other than Unicode's (Turkish i); beginnings in `uncapitalized` stay lower-case,
    and the next word is capitalised (Afrikaans 'n).
    """
    compiled = [(re.compile(join.pattern), join.replacement) for join in joins]

    def contract(text: str) -> str:
        for pattern, replacement in compiled:
            text = pattern.sub(replacement, text)
        return text

    def capitalize(text: str) -> str:
        start = 0
        while True:
            position = start
            for small in uncapitalized:
                if text.startswith(small, position):
                    position += len(small)
            while position < len(text) and text[position] in _OPENING:
                position += 1
            if position < len(text) and not text[position].isupper():
                letter = text[position]
                text = f"{text[:position]}{upper.get(letter) or letter.upper()}{text[position + 1 :]}"
            end = _END.search(text, position)
            if end is None:
                return text
            start = end.end()

    if not capitals:
        return contract
    return lambda text: capitalize(contract(text))
