"""Polishing of sentences: contractions across words, and capitals."""

import re
from collections.abc import Callable, Sequence

import msgspec

_END = re.compile(r"[.!?]\s+")
_OPENING = " \"'«“„¿¡("


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
    """Return a function that contracts and capitalises sentences of one language.

    Args:
        joins: contractions, in order of application.
        capitals: True if sentences begin with a capital in this script.
        upper: letters with a capital other than Unicode's (Turkish i).
        uncapitalized: beginnings that stay lower-case; the next word is capitalised (Afrikaans 'n).
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
