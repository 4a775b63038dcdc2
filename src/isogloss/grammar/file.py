"""The grammar of a language: its file, read and checked, as words, rules and sentences."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files
from itertools import product
from pathlib import Path
from typing import NamedTuple

from isogloss.errors import IsoglossError, unknown
from isogloss.grammar.polish import polisher
from isogloss.grammar.schema import ASKED, CASED_SCRIPTS, PROPERTIES, TESTS, LanguageFile, concepts, parse
from isogloss.grammar.templates import Filler, Slot, TemplateWriter, answer_slot, compiled
from isogloss.grammar.words import GrammarError, Rewrite, Word, with_degree
from isogloss.languages import language

_FOLDER = files("isogloss.grammar") / "languages"

# The languages that have a file.
CODES = tuple(sorted(entry.name.removesuffix(".toml") for entry in _FOLDER.iterdir() if entry.name.endswith(".toml")))


def grammar_path(code: str) -> Path:
    """Where the file of a language is."""
    return Path(str(_FOLDER / f"{code}.toml"))


def checkout_path(code: str) -> Path:
    """Where the file of a language is, if it is that of a checkout, which may be changed.

    Raises:
        IsoglossError: this is an installed package.
    """
    path = grammar_path(code)
    if not (path.parents[4] / "pyproject.toml").is_file():
        fix = "Clone the repository, pip install -e . there, and call it again"
        raise IsoglossError("this is an installed package, not a checkout to change", where=str(path), fix=fix)
    return path


class AskedQuestion(NamedTuple):
    """A question template of a case.

    Attributes:
        question: the question.
        answer: what fills it is a span of the context.
        sentence: the answer as a whole sentence.
        slot: the slot whose word is asked for.
    """

    question: str
    answer: str
    sentence: str
    slot: str


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

    @cached_property
    def answer_forms(self) -> Mapping[str, Mapping[str, tuple[str, ...]]]:
        """Every form in which a word may be given as an answer, by lexicon (people under `name`) and concept.

        These are its listed forms, those that answer templates ask for, and those the file says are accepted, with and
        without their article or classifier.
        """
        people = {name.concept: name for names in self.names.values() for name in names}
        asked = {name: people if name == "name" else self.lexicons[name] for name in ASKED}
        return {
            name: {concept: self._forms(word, self._answered_as(name)) for concept, word in words.items()}
            for name, words in asked.items()
        }

    def _answered_as(self, lexicon: str) -> list[str]:
        """The names of the forms in which words of a lexicon are answers."""
        answers = (compiled(asked.answer)[0] for test in self.questions.values() for asked in test)
        forms = {piece.form: None for piece in answers if isinstance(piece, Slot) and piece.name == lexicon}
        return [*filter(None, forms), *self.file.accepted.get(lexicon, ())]

    def _forms(self, word: Word, names: Sequence[str]) -> tuple[str, ...]:
        """The word's listed forms and those named, in every class that it has a form for."""
        found = [word.base, *word.forms.values()]
        classes = dict.fromkeys((word.agreement, "", *word.forms))
        for name, agree in product(names, classes):
            with suppress(GrammarError):  # a rule that does not fit the word: it has no such form
                found.append(word.form(name, agree, self.rules))
        whole = [with_degree(form, "") for form in found]
        return tuple(dict.fromkeys((*whole, *map(self._without_article, whole))))

    def _without_article(self, form: str) -> str:
        words = form.split(" ")
        while len(words) > 1 and words[0] in self._small_words:
            words.pop(0)
        return " ".join(words)

    @cached_property
    def _small_words(self) -> frozenset[str]:
        return frozenset((*self.file.articles, *self.file.classifiers))

    @cached_property
    def questions(self) -> Mapping[str, list[AskedQuestion]]:
        """The questions of every test but `properties`."""
        tests = {test: getattr(self.file.templates, test) for test in TESTS if test != "properties"}
        return {
            name: [AskedQuestion(ask, answer, said, answer_slot(answer)) for ask, answer, said in test.questions]
            for name, test in tests.items()
        }

    @cached_property
    def property_questions(self) -> Mapping[tuple[str, str], AskedQuestion]:
        """The questions of `properties`, by the slot whose word is asked for and the kind of property that it is."""
        sheet = self.file.templates.properties
        return {
            (slot, kind): AskedQuestion(sheet.ask[kind], f"{{{slot}@object}}", sheet.sentence[kind], slot)
            for slot, kind in product(("p", "q"), PROPERTIES)
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
    return Grammar(parse(grammar_path(code).read_text(encoding="utf-8"), f"{code}.toml"))
