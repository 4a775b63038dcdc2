"""What happens to a sentence as a whole: contractions across words, and capitals."""

import re
from collections.abc import Callable, Sequence

import msgspec

_END = re.compile(r"[.!?]\s+")
_OPENING = " \"'«“„¿¡("


class Join(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A contraction or elision: wherever the pattern stands in a sentence it is replaced (`de le ` by `du `).

    The examples, each before and after, are tests.
    """

    pattern: str
    replacement: str
    examples: list[tuple[str, str]]


def polisher(
    joins: Sequence[Join], capitals: bool, upper: dict[str, str], uncapitalized: Sequence[str]
) -> Callable[[str], str]:
    """A function that contracts and capitalises sentences of one language.

    Args:
        joins: contractions, in the order they apply.
        capitals: whether sentences begin with a capital in this script.
        upper: letters whose capital is not Unicode's (Turkish i).
        uncapitalized: beginnings that stay small; the word after them takes the capital (Afrikaans 'n).
    """
    compiled = [(re.compile(join.pattern), join.replacement) for join in joins]

    def contract(text: str) -> str:
        for pattern, replacement in compiled:
            text = pattern.sub(replacement, text)
        return text

    def capitalize(text: str) -> str:
        start = 0
        while True:
            place = start
            for small in uncapitalized:
                if text.startswith(small, place):
                    place += len(small)
            while place < len(text) and text[place] in _OPENING:
                place += 1
            if place < len(text) and not text[place].isupper():
                letter = text[place]
                text = f"{text[:place]}{upper.get(letter) or letter.upper()}{text[place + 1 :]}"
            end = _END.search(text, place)
            if end is None:
                return text
            start = end.end()

    if not capitals:
        return contract
    return lambda text: capitalize(contract(text))
