"""A language's file: read, checked, and ready to speak."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files

from isogloss.errors import unknown
from isogloss.grammar.polish import Join, polisher
from isogloss.grammar.schema import LanguageFile, concepts, parse
from isogloss.grammar.templates import Filler, Writer, slots
from isogloss.grammar.words import GrammarError, Rewrite, Word
from isogloss.languages import language

_FOLDER = files("isogloss.grammar") / "languages"

# The languages that have a file.
CODES = tuple(sorted(entry.name.removesuffix(".toml") for entry in _FOLDER.iterdir() if entry.name.endswith(".toml")))

# Scripts that begin sentences with a capital. Georgian has capitals that are never used this way.
_CASED = ("Latn", "Cyrl", "Grek")


@dataclass(frozen=True)
class Grammar:
    """Everything a language file says, as words, rules and sentences."""

    file: LanguageFile

    @property
    def code(self) -> str:
        """The language."""
        return self.file.code

    @cached_property
    def rules(self) -> Mapping[str, Rewrite]:
        """Forms made by rule."""
        return {name: Rewrite(name, tuple(rule.steps), tuple(rule.examples)) for name, rule in self.file.rules.items()}

    @cached_property
    def joins(self) -> list[Join]:
        """Contractions across words."""
        return [Join(join.pattern, join.replacement, tuple(join.examples)) for join in self.file.joins]

    @cached_property
    def polish(self) -> Callable[[str], str]:
        """What is done to every filled sentence."""
        capitals = language(self.code).script in _CASED
        return polisher(self.joins, capitals, self.file.upper, self.file.uncapitalized)

    @cached_property
    def _writer(self) -> Writer:
        return Writer(self.rules, self.polish)

    @cached_property
    def lexicons(self) -> Mapping[str, Mapping[str, Word]]:
        """The words of every lexicon by concept."""
        return {name: {key: _word(key, entry) for key, entry in self.file.lexicon(name).items()} for name in concepts()}

    @cached_property
    def names(self) -> Mapping[str, list[Word]]:
        """Given names of men (`m`) and women (`f`)."""
        lists = {"m": self.file.names.male, "f": self.file.names.female}
        return {
            gender: [_word(f"{gender}{i}", entry, gender) for i, entry in enumerate(found)]
            for gender, found in lists.items()
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
        """A filled answer: neither contracted nor capitalised, since it stands inside a sentence."""
        return self._writer.fill(template, fillers)

    def sentences(self) -> Iterator[tuple[str, str]]:
        """Every template of every test, named."""
        for test, templates in self.file.templates.tests().items():
            for template in templates:
                yield test, template

    def unfillable(self) -> list[str]:
        """What a template asks of a word that the word cannot give: every template with every word, one at a time."""
        found: list[str] = []
        for test, template in self.sentences():
            needed = slots(template)
            first = {name: words[0] for name, words in self._choices(needed).items()}
            for name, words in self._choices(needed).items():
                for word in words:
                    try:
                        self.say(template, {**first, name: word})
                    except (GrammarError, KeyError) as error:
                        found.append(f"{self.code}, {test}: {error}")
        return found

    def _choices(self, needed: set[str]) -> dict[str, list[Word]]:
        people = [*self.names["m"], *self.names["f"]]
        properties = [
            w for name in ("colour", "size", "age", "shape", "material") for w in self.lexicons[name].values()
        ]
        special = {"a": people, "b": people, "p": properties, "q": properties}
        return {name: special.get(name) or list(self.lexicons[name].values()) for name in sorted(needed)}


def _word(concept: str, entry: str | Mapping[str, str], agreement: str = "") -> Word:
    if isinstance(entry, str):
        return Word(concept, entry, {}, agreement)
    forms = {key: value for key, value in entry.items() if key not in ("base", "class")}
    base = entry.get("base") or forms.get("m") or next(iter(forms.values()))
    return Word(concept, base, forms, entry.get("class", agreement))


@cache
def grammar(code: str) -> Grammar:
    """The grammar of a language."""
    if code not in CODES:
        raise unknown("language of the checklist", code, CODES)
    return Grammar(parse((_FOLDER / f"{code}.toml").read_text(encoding="utf-8"), f"{code}.toml"))
