"""Translators: the interface, and opening one by its name.

- `apertium:{source3}-{target3}`: Apertium
- `my-program --to {target}`: any program with one text per line
- `hf:facebook/nllb-200-distilled-600M#beams=1`: a Hugging Face model, with settings after the `#`
- `llm:qwen3-32b`: a language model behind an endpoint
- `replay:pairs.tsv`: stored translations; `replay:FILE#examples`: the same examples in another language
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from isogloss.checked_settings import PositiveInt, checked_settings
from isogloss.errors import IsoglossError
from isogloss.languages import Language, known_language
from isogloss.plugins import load_object

if TYPE_CHECKING:
    from isogloss.tasks.examples import Examples
    from isogloss.tasks.task import Task
    from isogloss.translation.command_translator import CommandTranslator
    from isogloss.translation.stored_examples import StoredExamples

# A function that can be used as a translator, without a cache.
TranslationFunction = Callable[[Sequence[str]], Sequence[str]]

# Prefixes of names, and what opens them.
_FORMS = {
    "apertium": "isogloss.translation.apertium_translator:ApertiumTranslator",
    "hf": "isogloss.systems.seq2seq.translator:open_seq2seq",
    "llm": "isogloss.translation.endpoint_translator:EndpointTranslator",
    "replay": "isogloss.translation.replay_translator:ReplayTranslator",
}
_FORM = re.compile(rf"({'|'.join(_FORMS)}):([^#]*)(?:#(.*))?", re.S)
_PLACEHOLDER = re.compile(r"\{(source|target)(3?)\}")
# Texts and reasons to list in an error.
_LISTED = 3
_LONGEST_SHOWN = 80


class UntranslatedError(IsoglossError):
    """Texts (or examples, by id) without a translation, with the reasons; the translations of others are stored."""

    def __init__(
        self, reasons: Mapping[str, str], total: int, *, what: str = "texts", where: str = "", fix: str = ""
    ) -> None:
        self.reasons = dict(reasons)
        first = ", ".join(repr(text[:_LONGEST_SHOWN]) for text in list(self.reasons)[:_LISTED])
        kinds = list(dict.fromkeys(self.reasons.values()))
        more = f"; {len(kinds) - _LISTED} other reasons" if len(kinds) > _LISTED else ""
        counts = f"{len(reasons):,} of {total:,} {what} have no translation ({'; '.join(kinds[:_LISTED])}{more})"
        super().__init__(f"{counts}, first {first}", where=where, fix=fix)


class Translator(ABC):
    """A translator from one language to another.

    Attributes:
        name: name as given by the user.
        version: everything else that decides the translations; with the name and the languages, it is the key of cached
            translations.
        source: language of the texts.
        target: language of the translations.
        is_stored: True if there are only translations that are stored already, in a file.
        keeps_store: True if the translator stores what it receives itself (see `find`), so that no cache is needed.
        notes: remarks about the translations so far, such as the number of texts that were cut.
    """

    name: str = ""
    version: str = ""
    source: str = ""
    target: str = ""
    is_stored: bool = False
    keeps_store: bool = False

    @property
    def notes(self) -> list[str]:
        """Remarks about the translations so far."""
        return []

    def find(self, texts: Sequence[str]) -> dict[str, str]:
        """Return the translations of those texts that the translator has in its own store."""
        return {}

    def stored_examples(self, task: "Task", originals: "Examples") -> "StoredExamples | None":
        """Return translations of whole examples, or None if the translator has only texts.

        Raises:
            UntranslatedError: some examples have no translation.
            DataError: the stored examples are not those of the task.
        """
        return None

    @abstractmethod
    def batches(self, texts: Sequence[str]) -> Iterator[dict[str, str]]:
        """Yield translations by text as they become ready, in any order.

        Args:
            texts: distinct texts, none of them blank.

        Raises:
            UntranslatedError: after all other translations, if some texts have none.
            IsoglossError: the translator fails.
        """

    def translate(self, texts: Sequence[str]) -> list[str]:
        """Return one translation per text; blank texts stay as they are.

        Raises:
            UntranslatedError: some texts have no translation.
            IsoglossError: the translator fails.
        """
        translations: dict[str, str] = {}
        for batch in self.batches([text for text in dict.fromkeys(texts) if text.strip()]):
            translations |= batch
        if left_out := [text for text in texts if text.strip() and text not in translations]:
            reasons = dict.fromkeys(left_out, "left out by the translator")
            raise UntranslatedError(reasons, len(texts), where=self.name)
        return [translations[text] if text.strip() else text for text in texts]

    def __call__(self, texts: Sequence[str]) -> list[str]:
        """Return one translation per text; see `translate`."""
        return self.translate(texts)


def open_translator(
    name: str, source: str = "", target: str = "", settings: Mapping[str, Any] | None = None
) -> Translator:
    """Open a translator.

    Args:
        name: a command, `apertium:PAIR`, `hf:MODEL`, `llm:MODEL` or `replay:PATH`; settings may follow a `#`, as in
            `hf:MODEL#beams=1`.
            `{source}` and `{target}` become the codes of the languages, `{source3}` and `{target3}` their ISO 639-3
            codes.
        source: language of the texts.
        target: language of the translations.
        settings: further settings; they override those in the name.

    Raises:
        UnknownNameError: unknown setting, or a language that the translator does not know.
        IsoglossError: the translator cannot be opened.
    """
    if not (named := name.strip()):
        raise IsoglossError("no translator", fix="Name a command, apertium:PAIR, hf:MODEL, llm:MODEL or replay:PATH")
    match = _FORM.fullmatch(named)
    if match is None:
        from isogloss.translation.command_translator import CommandTranslator

        return CommandTranslator(with_languages(named, source, target), source, target, **_batch_only(settings))
    form, argument, written = match.groups()
    opened: Translator = load_object(_FORMS[form])(
        with_languages(argument.strip(), source, target),
        source,
        target,
        {**_settings_in(written or ""), **(settings or {})},
    )
    return opened


def command_translator(command: str, source: str = "", target: str = "") -> "CommandTranslator":
    """Return a translator that runs a program with one text per input line and one translation per output line.

    Args:
        command: for example `my-program --to es`.
        source: language of the texts.
        target: language of the translations.
    """
    from isogloss.translation.command_translator import CommandTranslator

    return CommandTranslator(command, source, target)


def with_languages(text: str, source: str, target: str) -> str:
    """Replace `{source}`, `{target}`, `{source3}` and `{target3}` by the codes of the languages."""

    def code(match: re.Match[str]) -> str:
        tag = source if match[1] == "source" else target
        entry: Language | None = known_language(tag) if match[2] else None
        return entry.iso3 if entry else tag

    return _PLACEHOLDER.sub(code, text)


def _settings_in(written: str) -> dict[str, Any]:
    pairs = (part.partition("=") for part in written.split(",") if part.strip())
    return {key.strip(): _value(value.strip()) if equals else True for key, equals, value in pairs}


def _value(text: str) -> Any:
    if text in ("true", "false"):
        return text == "true"
    for number in (int, float):
        with suppress(ValueError):
            return number(text)
    return text


def _batch_only(settings: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the settings of a command, which has only one."""
    if others := sorted({*(settings or {})} - {"batch"}):
        raise IsoglossError(f"a command has no setting {others[0]!r}", fix="Write its options into the command itself")
    return checked_settings(settings or {}, {"batch": PositiveInt}, "setting of a command", "--with")
