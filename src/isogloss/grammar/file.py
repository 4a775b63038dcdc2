"""The grammar of a language: words, rules and sentences from a checked file."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files
from itertools import product
from pathlib import Path
from typing import NamedTuple

from isogloss.errors import IsoglossError, unknown
from isogloss.grammar import templates
from isogloss.grammar.schema import ASKED, CASED_SCRIPTS, PROPERTIES, TESTS, LanguageFile, concepts, parse
from isogloss.grammar.templates import Filler, GrammarError, Rewrite, Slot, TemplateWriter, Word, answer_slot
from isogloss.languages import language

_FOLDER = files("isogloss.grammar") / "languages"

# Languages with a file.
CODES = tuple(sorted(entry.name.removesuffix(".toml") for entry in _FOLDER.iterdir() if entry.name.endswith(".toml")))


def grammar_path(code: str) -> Path:
    """Return the path of a language file."""
    return Path(str(_FOLDER / f"{code}.toml"))


def checkout_path(code: str) -> Path:
    """Return the path of a language file in a checkout, which may be edited, unlike that of an installed package."""
    path = grammar_path(code)
    if not (path.parents[4] / "pyproject.toml").is_file():
        fix = "Clone the repository, run pip install -e . there, and try again"
        raise IsoglossError("this is an installed package, not an editable checkout", where=str(path), fix=fix)
    return path


class AskedQuestion(NamedTuple):
    """Templates of a question, its answer (a span of the context) and the answer as a sentence; the answer's slot."""

    question: str
    answer: str
    sentence: str
    slot: str


@dataclass(frozen=True)
class Grammar:
    """A language file, ready to fill sentences."""

    file: LanguageFile

    @property
    def code(self) -> str:
        """Language code."""
        return self.file.code

    @cached_property
    def rules(self) -> Mapping[str, Rewrite]:
        """Rules that derive forms."""
        return {name: Rewrite(name, tuple(rule.steps)) for name, rule in self.file.rules.items()}

    @cached_property
    def polish(self) -> Callable[[str], str]:
        """Function applied to every filled sentence."""
        capitals = language(self.code).script in CASED_SCRIPTS
        return templates.polisher(self.file.joins, capitals, self.file.upper, self.file.uncapitalized)

    @cached_property
    def _writer(self) -> TemplateWriter:
        return TemplateWriter(self.rules, self.polish)

    @cached_property
    def lexicons(self) -> Mapping[str, Mapping[str, Word]]:
        """Words of every lexicon by concept."""
        return {name: {key: _word(key, entry) for key, entry in self.file.lexicon(name).items()} for name in concepts()}

    @cached_property
    def names(self) -> Mapping[str, list[Word]]:
        """Given names of men (`m`) and women (`f`)."""
        lists = (("m", self.file.names.male), ("f", self.file.names.female))
        return {sex: [_word(f"{sex}{i}", entry, sex) for i, entry in enumerate(entries)] for sex, entries in lists}

    @cached_property
    def answer_forms(self) -> Mapping[str, Mapping[str, tuple[str, ...]]]:
        """Accepted answer forms of each word, by lexicon (people under `name`) and concept.

        These are its listed forms, the forms used in answer templates, and those the file accepts, with and without
        article or classifier.
        """
        people = {name.concept: name for names in self.names.values() for name in names}
        answers = [templates.compiled(question.answer)[0] for test in self.questions.values() for question in test]
        forms: dict[str, dict[str, tuple[str, ...]]] = {}
        for lexicon in ASKED:
            used = {piece.form: None for piece in answers if isinstance(piece, Slot) and piece.name == lexicon}
            names = [*filter(None, used), *self.file.accepted.get(lexicon, ())]
            words = people if lexicon == "name" else self.lexicons[lexicon]
            forms[lexicon] = {concept: self._forms(word, names) for concept, word in words.items()}
        return forms

    def _forms(self, word: Word, names: Sequence[str]) -> tuple[str, ...]:
        """Return the word's listed forms and the named ones, in every class with a form."""
        forms = [word.base, *word.forms.values()]
        classes = dict.fromkeys((word.agreement, "", *word.forms))
        for name, agree in product(names, classes):
            with suppress(GrammarError):  # the rule does not fit the word, so this form does not exist
                forms.append(word.form(name, agree, self.rules))
        whole = dict.fromkeys(templates.with_degree(form, "") for form in forms)
        small_words = {*self.file.articles, *self.file.classifiers}
        for form in list(whole):
            words = form.split(" ")
            while len(words) > 1 and words[0] in small_words:
                words.pop(0)
            whole[" ".join(words)] = None
        return tuple(whole)

    @cached_property
    def questions(self) -> Mapping[str, list[AskedQuestion]]:
        """Questions of every test except `properties`."""
        tests = {test: getattr(self.file.templates, test).questions for test in TESTS if test != "properties"}
        return {
            name: [AskedQuestion(ask, answer, sentence, answer_slot(answer)) for ask, answer, sentence in questions]
            for name, questions in tests.items()
        }

    @cached_property
    def property_questions(self) -> Mapping[tuple[str, str], AskedQuestion]:
        """Questions of `properties`, by slot of the answer word and kind of property."""
        sheet = self.file.templates.properties
        return {
            (slot, kind): AskedQuestion(sheet.ask[kind], f"{{{slot}@object}}", sheet.sentence[kind], slot)
            for slot, kind in product(("p", "q"), PROPERTIES)
        }

    def word(self, lexicon: str, concept: str) -> Word:
        """Return a word by concept, or a name by gender and number (`m3`)."""
        if lexicon == "name":
            return self.names[concept[0]][int(concept[1:])]
        return self.lexicons[lexicon][concept]

    def say(self, template: str, fillers: Mapping[str, Filler]) -> str:
        """Return a filled and polished sentence."""
        try:
            return self._writer.say(template, fillers)
        except GrammarError as error:
            raise GrammarError(error.what, where=f"{self.code}: {template}", fix=error.fix) from None

    def answer(self, template: str, fillers: Mapping[str, Filler]) -> str:
        """Return a filled answer, neither contracted nor capitalised, since it is part of a sentence."""
        return self._writer.fill(template, fillers)


def _word(concept: str, entry: str | Mapping[str, str], agreement: str = "") -> Word:
    if isinstance(entry, str):
        return Word(concept, entry, {}, agreement)
    forms = {key: value for key, value in entry.items() if key not in ("base", "class")}
    base = entry.get("base") or forms.get("m") or next(iter(forms.values()))
    return Word(concept, base, forms, entry.get("class", agreement))


@cache
def grammar(code: str) -> Grammar:
    """Return the grammar of a language in `CODES`; a GrammarError reports every error of its file with its line."""
    if code not in CODES:
        raise unknown("language of the checklist", code, CODES)
    return Grammar(parse(grammar_path(code).read_text(encoding="utf-8"), f"{code}.toml"))
