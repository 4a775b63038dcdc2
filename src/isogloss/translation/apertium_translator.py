"""Translation by Apertium, rule-based and free, with a package of Debian per pair of languages."""

import sys
from collections.abc import Iterator, Mapping, Sequence
from shlex import quote
from typing import Any

from isogloss.checked_settings import PositiveInt, checked_settings
from isogloss.errors import IsoglossError
from isogloss.translation.command_translator import CommandTranslator, paced_batches
from isogloss.translation.translators import Translator


class ApertiumSettings:
    """Settings of Apertium: `batch`, the number of texts per start."""

    batch: PositiveInt


class ApertiumTranslator(Translator):
    """Apertium in one or several steps: `eng-spa`, or `eng-spa,spa-ita` by way of Spanish.

    Its own format `line` is not used: it drops full stops at the end of lines, and lets words agree with those of the
    next line, so that a translation would depend on the other texts. Here, empty lines separate the texts.

    Args:
        pairs: names of pairs as `apertium -l` lists them, with commas between them.
        source: language of the texts.
        target: language of the translations.
        settings: settings by the names of `ApertiumSettings`.
    """

    def __init__(self, pairs: str, source: str, target: str, settings: Mapping[str, Any]) -> None:
        self.name, self.source, self.target = f"apertium:{pairs}", source, target
        checked = checked_settings(settings, ApertiumSettings, "setting of a translator", self.name)
        self._batch: int = checked.get("batch", 0)
        names = [name.strip() for name in pairs.split(",") if name.strip()]
        if not names:
            raise IsoglossError(
                "no pair of languages", where="apertium", fix="Name it after the colon: apertium:eng-spa"
            )
        self._steps = [ParagraphCommand(f"apertium -u -f txt {quote(name)}", batch=sys.maxsize) for name in names]
        self.version = "-".join(step.version for step in self._steps)

    def batches(self, texts: Sequence[str]) -> Iterator[dict[str, str]]:
        """Yield the translations of a batch of texts after the last step."""
        yield from paced_batches(texts, self._batch, self._translated)

    def _translated(self, texts: Sequence[str]) -> dict[str, str]:
        translated = list(texts)
        for step in self._steps:
            translated = step.translate(translated)
        return dict(zip(texts, translated, strict=True))


class ParagraphCommand(CommandTranslator):
    """A program that treats paragraphs separately: texts are separated by empty lines.

    Some pairs move or add line breaks in a few texts. Batches with such texts are halved until these texts are alone.
    """

    def _run(self, lines: Sequence[str]) -> list[str]:
        translated = self._output([part for line in lines for part in (line, "")])
        if len(translated) == 2 * len(lines) and not any(translated[1::2]):
            return translated[::2]
        if len(lines) == 1:
            return [" ".join(filter(None, translated))]
        middle = len(lines) // 2
        return self._run(lines[:middle]) + self._run(lines[middle:])
