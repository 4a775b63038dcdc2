"""Translation by lines: every distinct line of all texts is translated once."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

from isogloss.errors import IsoglossError
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
            answer = self._translator(new)
            if isinstance(answer, str) or not isinstance(answer, Iterable):
                raise IsoglossError(f"the translator returned {type(answer).__name__}, expected a list of texts")
            translated = list(answer)
            if len(translated) != len(new):
                raise IsoglossError(f"the translator returned {len(translated):,} texts for {len(new):,}")
            self._known.update(zip(new, map(_valid, translated), strict=True))
        return self._all_known(lines)

    def attempt(self, lines: Sequence[str]) -> list[str]:
        """Return the translations of lines that help but are not needed; "" for those that a file does not have."""
        if self._stored is None:
            return self(lines)
        with suppress(UntranslatedError):
            for batch in self._stored.batches(self._unknown(lines)):
                self._known |= batch
        return self._all_known(lines)

    @property
    def _stored(self) -> Translator | None:
        """The translator if it has only stored translations, or None."""
        return self._translator if isinstance(self._translator, Translator) and self._translator.is_stored else None

    def _unknown(self, lines: Sequence[str]) -> list[str]:
        stripped = dict.fromkeys(line.strip() for line in lines)
        return [line for line in stripped if line and line not in self._known]

    def _all_known(self, lines: Sequence[str]) -> list[str]:
        return [self._known.get(line.strip(), "") for line in lines]

    def texts(self, texts: Sequence[str]) -> list[str]:
        """Return the translations of texts of several lines, keeping their line breaks.

        A file may have the translation of a whole text, with other line breaks; then its lines are not asked for.
        """
        several = list(dict.fromkeys(text for text in texts if "\n" in text)) if self._stored else []
        whole = {
            text: translation for text, translation in zip(several, self.attempt(several), strict=True) if translation
        }
        self([line for text in texts if text not in whole for line in text.split("\n")])
        return [whole.get(text) or "\n".join(self._all_known(text.split("\n"))) for text in texts]

    def answers(self, texts: Sequence[str]) -> list[str]:
        """Return the translations of single answers or entities, which a file may not have."""
        self.attempt([line for text in texts for line in text.split("\n")])
        return ["\n".join(self._all_known(text.split("\n"))) for text in texts]

    def dictionary(self, words: Sequence[str]) -> Mapping[str, str]:
        """Return the translations of single words."""
        return dict(zip(words, self.attempt(words), strict=True))


def _valid(text: str) -> str:
    """Replace lone surrogates, which files in UTF-8 cannot hold."""
    return text.encode("utf-8", "replace").decode()


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
