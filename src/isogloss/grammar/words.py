"""Words with their forms, and the rules that make forms that are not listed."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from isogloss.errors import IsoglossError

# Where a degree word goes in a predicate: "est ~ fatigué", "a ~ faim".
DEGREE = "~"


class GrammarError(IsoglossError):
    """Something a language file asks for and does not have."""


@dataclass(frozen=True)
class Rewrite:
    """A form made by rule: the first pattern that fits the word is replaced; none fitting is an error.

    Vowel harmony, buffer consonants and particles that look at the last sound are lists of such steps.
    """

    name: str
    steps: tuple[tuple[str, str], ...]

    @cached_property
    def _compiled(self) -> list[tuple[re.Pattern[str], str]]:
        return [(re.compile(pattern), replacement) for pattern, replacement in self.steps]

    def __call__(self, word: str) -> str:
        """The word in this form."""
        for pattern, replacement in self._compiled:
            changed, count = pattern.subn(replacement, word, count=1)
            if count:
                return changed
        raise GrammarError(f"rule {self.name!r} has no step for {word!r}")


@dataclass(frozen=True, eq=False)
class Word:
    """A word: its citation form, its other forms, and the class that others agree with (gender, noun class).

    Words are compared by identity: there is one for each entry of a language file.
    """

    concept: str
    base: str
    forms: Mapping[str, str]
    agreement: str = ""

    def form(self, name: str, agree: str, rules: Mapping[str, Rewrite]) -> str:
        """The form `name`, agreeing with the class `agree`: listed as `name.class`, `name`, or made by rule.

        Without a name it is the form of the class, or the citation form.
        """
        if not name:
            return self.forms.get(agree, self.base) if agree else self.base
        for key in (f"{name}.{agree}", name) if agree else (name,):
            if key in self.forms:
                return self.forms[key]
        for key in (f"{name}.{agree}", name):
            if key in rules:
                return rules[key](self.forms.get(agree, self.base))
        raise GrammarError(f"{self.concept!r} has no form {name!r}", fix=f"List it, or give a rule [rules.{name}]")


def with_degree(predicate: str, degree: str) -> str:
    """A predicate with its degree word, or without one."""
    if DEGREE not in predicate:
        if degree:
            raise GrammarError(f"{predicate!r} has no place for a degree word", fix="Mark it with ~")
        return predicate
    if degree:
        return predicate.replace(DEGREE, degree)
    for blank in (f"{DEGREE} ", f" {DEGREE}", DEGREE):
        if blank in predicate:
            return predicate.replace(blank, "", 1)
    return predicate
