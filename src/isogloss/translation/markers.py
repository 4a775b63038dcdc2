"""Markers around a span: the translator carries them into its translation, where they mark the translated span."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

Span = tuple[int, int]
Translate = Callable[[Sequence[str]], Sequence[str]]


@dataclass(frozen=True)
class Markers:
    """A pair of markers: opening and closing."""

    opening: str
    closing: str

    def occur_in(self, text: str) -> bool:
        """Return True if a text already has one of the markers."""
        return self.opening in text or self.closing in text

    def mark(self, text: str, span: Span) -> str:
        """Return the text with the markers around a span."""
        start, end = span
        return f"{text[:start]}{self.opening}{text[start:end]}{self.closing}{text[end:]}"

    def read(self, marked: str) -> tuple[str, Span] | None:
        """Return a translated text without its markers and the marked span; None if the markers did not survive.

        They must both occur exactly once, in order, and around visible text.
        """
        if marked.count(self.opening) != 1 or marked.count(self.closing) != 1:
            return None
        before, _, rest = marked.partition(self.opening)
        inside, closed, after = rest.partition(self.closing)
        if not closed or not inside.strip():
            return None
        start = len(before) + len(inside) - len(inside.lstrip())
        return before + inside + after, (start, start + len(inside.strip()))


# In order of preference; the first two are rare in texts, and translators trained on web pages know the others.
CANDIDATES = (Markers("⟦", "⟧"), Markers("[", "]"), Markers("<b>", "</b>"), Markers("«", "»"))
# Number of spans on which the candidates are tried.
_TRIED = 16


def transferred(unmarked: str, span: Span, plain: str) -> Span | None:
    """Return the same span in a text that differs in white space only; None if the texts differ otherwise."""
    if "".join(unmarked.split()) != "".join(plain.split()):
        return None
    first = sum(not character.isspace() for character in unmarked[: span[0]])
    count = sum(not character.isspace() for character in unmarked[slice(*span)])
    visible = [position for position, character in enumerate(plain) if not character.isspace()]
    if not count:
        return None
    return visible[first], visible[first + count - 1] + 1


def surviving_markers(translate: Translate, spans: Sequence[tuple[str, Span]]) -> Markers | None:
    """Return the markers that a translator keeps most often in a few texts, or None if it keeps none.

    Args:
        translate: the translator.
        spans: texts with a span each; the first few serve.
    """
    tried = [
        (markers, markers.mark(text, span))
        for text, span in spans[:_TRIED]
        for markers in CANDIDATES
        if not markers.occur_in(text)
    ]
    translations = translate([text for _, text in tried])
    kept = Counter(markers for (markers, _), text in zip(tried, translations, strict=True) if markers.read(text))
    return max(CANDIDATES, key=lambda markers: kept[markers]) if kept else None
