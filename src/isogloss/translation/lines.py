"""Translation by lines: every distinct line of all texts is translated once."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

from isogloss.translation.translators import TranslationFunction, Translator, UntranslatedError


class TextLine(NamedTuple):
    """A line of a text without surrounding blanks: its number, its offset in the text, and the line itself."""

    number: int
    offset: int
    line: str


class LineTranslator:
    """A translator that is asked for every distinct line once, and for blank lines never."""

    def __init__(self, translator: Translator | TranslationFunction) -> None:
        self._translator = translator
        self._known: dict[str, str] = {}

    def __call__(self, lines: Sequence[str]) -> list[str]:
        """Return the translations of some lines."""
        if new := self._unknown(lines):
            self._known.update(zip(new, self._translator(new), strict=True))
        return self._all_known(lines)

    def attempt(self, lines: Sequence[str]) -> list[str]:
        """Return the translations of lines that help but are not needed; "" for those that a file does not have."""
        if not isinstance(self._translator, Translator) or not self._translator.is_stored:
            return self(lines)
        with suppress(UntranslatedError):
            for batch in self._translator.batches(self._unknown(lines)):
                self._known |= batch
        return self._all_known(lines)

    def _unknown(self, lines: Sequence[str]) -> list[str]:
        stripped = dict.fromkeys(line.strip() for line in lines)
        return [line for line in stripped if line and line not in self._known]

    def _all_known(self, lines: Sequence[str]) -> list[str]:
        return [self._known.get(line.strip(), "") for line in lines]

    def texts(self, texts: Sequence[str]) -> list[str]:
        """Return the translations of texts of several lines, keeping their line breaks."""
        self([line for text in texts for line in text.split("\n")])
        return ["\n".join(self(text.split("\n"))) for text in texts]

    def answers(self, texts: Sequence[str]) -> list[str]:
        """Return the translations of single answers or entities, which a file may not have."""
        self.attempt([line for text in texts for line in text.split("\n")])
        return ["\n".join(self._all_known(text.split("\n"))) for text in texts]

    def dictionary(self, words: Sequence[str]) -> Mapping[str, str]:
        """Return the translations of single words."""
        return dict(zip(words, self.attempt(words), strict=True))


def line_with(text: str, start: int, end: int) -> TextLine | None:
    """Return the line that contains a span, or None if the span is empty or covers several lines."""
    if not start < end or "\n" in text[start:end]:
        return None
    begin = text.rfind("\n", 0, start) + 1
    line = text[begin:].partition("\n")[0]
    blanks = len(line) - len(line.lstrip())
    own = TextLine(text.count("\n", 0, start), begin + blanks, line.strip())
    inside = own.offset <= start and end <= own.offset + len(own.line)
    return own if inside else None
