"""The grammar of a language: its file, read and checked, as words, rules and sentences."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files

from isogloss.errors import unknown
from isogloss.grammar.polish import polisher
from isogloss.grammar.schema import CASED_SCRIPTS, LanguageFile, concepts, parse
from isogloss.grammar.templates import Filler, TemplateWriter
from isogloss.grammar.words import GrammarError, Rewrite, Word
from isogloss.languages import language

_FOLDER = files("isogloss.grammar") / "languages"

# The languages that have a file.
CODES = tuple(sorted(entry.name.removesuffix(".toml") for entry in _FOLDER.iterdir() if entry.name.endswith(".toml")))


@dataclass(frozen=True)
class Grammar:
    """What a language file holds, ready to fill sentences."""

    file: LanguageFile

    @property
    def code(self) -> str:
        """The language."""
        return self.file.code

    @cached_property
    def rules(self) -> Mapping[str, Rewrite]:
        """Forms made by rule."""
        return {name: Rewrite(name, tuple(rule.steps)) for name, rule in self.file.rules.items()}

    @cached_property
    def polish(self) -> Callable[[str], str]:
        """What is done to every filled sentence."""
        capitals = language(self.code).script in CASED_SCRIPTS
        return polisher(self.file.joins, capitals, self.file.upper, self.file.uncapitalized)

    @cached_property
    def _writer(self) -> TemplateWriter:
        return TemplateWriter(self.rules, self.polish)

    @cached_property
    def lexicons(self) -> Mapping[str, Mapping[str, Word]]:
        """The words of every lexicon by concept."""
        return {name: {key: _word(key, entry) for key, entry in self.file.lexicon(name).items()} for name in concepts()}

    @cached_property
    def names(self) -> Mapping[str, list[Word]]:
        """Given names of men (`m`) and women (`f`)."""
        lists = {"m": self.file.names.male, "f": self.file.names.female}
        return {
            gender: [_word(f"{gender}{i}", entry, gender) for i, entry in enumerate(entries)]
            for gender, entries in lists.items()
        }

    def word(self, lexicon: str, concept: str) -> Word:
        """A word by its concept; a name by gender and number (`m3`)."""
        if lexicon == "name":
            return self.names[concept[0]][int(concept[1:])]
        return self.lexicons[lexicon][concept]

    def say(self, template: str, fillers: Mapping[str, Filler]) -> str:
        """A filled and polished sentence."""
        try:
            return self._writer.say(template, fillers)
        except GrammarError as error:
            raise GrammarError(error.what, where=f"{self.code}: {template}", fix=error.fix) from None

    def answer(self, template: str, fillers: Mapping[str, Filler]) -> str:
        """A filled answer: neither contracted nor capitalised, since it is part of a sentence."""
        return self._writer.fill(template, fillers)


def _word(concept: str, entry: str | Mapping[str, str], agreement: str = "") -> Word:
    if isinstance(entry, str):
        return Word(concept, entry, {}, agreement)
    forms = {key: value for key, value in entry.items() if key not in ("base", "class")}
    base = entry.get("base") or forms.get("m") or next(iter(forms.values()))
    return Word(concept, base, forms, entry.get("class", agreement))


@cache
def grammar(code: str) -> Grammar:
    """The grammar of a language.

    Args:
        code: its ISO 639-1 code, one of `CODES`.

    Raises:
        UnknownNameError: there is no file for it; with the nearest codes.
        GrammarError: the file has mistakes; each with its line.
    """
    if code not in CODES:
        raise unknown("language of the checklist", code, CODES)
    return Grammar(parse((_FOLDER / f"{code}.toml").read_text(encoding="utf-8"), f"{code}.toml"))
