"""Words with their forms, and rules for unlisted forms."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from isogloss.errors import IsoglossError

# Position of a degree word in a predicate: "est ~ fatigué", "a ~ faim".
DEGREE = "~"


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
    for blank in (f"{DEGREE} ", f" {DEGREE}", DEGREE):
        if blank in predicate:
            return predicate.replace(blank, "", 1)
    return predicate
