"""Schema of language files, and the checks that report the line of every error."""

import re
import unicodedata
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from itertools import chain

import msgspec

from isogloss.decoding import decode_toml
from isogloss.errors import near_names
from isogloss.grammar.templates import GrammarError, Join, slots
from isogloss.languages import language

LexiconEntry = str | dict[str, str]

# Number of contexts and questions of each test; a case combines every context with every question.
TESTS = {
    "comparisons": (1, 2),
    "intensifiers": (6, 2),
    "properties": (1, 5),
    "job_vs_nationality": (4, 2),
    "animal_vs_vehicle": (2, 2),
    "animal_vs_vehicle_2": (2, 2),
}
# Properties that the test `properties` asks about.
PROPERTIES = ("colour", "size", "age", "shape", "material")
# Answer types: words of these lexicons, and people.
ASKED = (*PROPERTIES, "profession", "nationality", "animal", "vehicle", "name")
LEAST_NAMES = 40

# Review status of a test: unreviewed, with the author's doubts; or the number of speakers, the date, and the reviewed
# content (`isogloss.checklist.review_marks`).
REVIEW = re.compile(
    r"unreviewed(?:[; ].*)?|reviewed by (?P<speakers>[1-9]\d{0,3}) "
    r"on (?P<date>\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])), content (?P<content>[0-9a-f]{12})",
    re.ASCII,
)

# Scripts that begin sentences with a capital. Georgian has capitals but never uses them this way.
CASED_SCRIPTS = ("Latn", "Cyrl", "Grek")

_SCRIPT_NAMES = {
    "Latn": ("LATIN",), "Arab": ("ARABIC",), "Cyrl": ("CYRILLIC",), "Grek": ("GREEK",), "Deva": ("DEVANAGARI",),
    "Beng": ("BENGALI",), "Guru": ("GURMUKHI",), "Gujr": ("GUJARATI",), "Taml": ("TAMIL",), "Telu": ("TELUGU",),
    "Mlym": ("MALAYALAM",), "Thai": ("THAI",), "Mymr": ("MYANMAR",), "Geor": ("GEORGIAN",), "Hebr": ("HEBREW",),
    "Kore": ("HANGUL",), "Jpan": ("HIRAGANA", "KATAKANA", "CJK", "IDEOGRAPHIC"), "Hans": ("CJK",),
}  # fmt: skip


class GivenNames(msgspec.Struct, forbid_unknown_fields=True):
    """Given names in the language's own script."""

    male: list[LexiconEntry]
    female: list[LexiconEntry]


class FormRule(msgspec.Struct, forbid_unknown_fields=True):
    """A form derived by rule: [pattern, replacement] steps, the first match applies; examples serve as tests."""

    steps: list[tuple[str, str]]
    examples: list[tuple[str, str]]


class QuestionTemplates(msgspec.Struct, forbid_unknown_fields=True):
    """A test: contexts, and questions with their answers, also as whole sentences.

    Attributes:
        contexts: contexts.
        questions: question, answer, and the answer as a whole sentence.
        also: further right sentences of each question; they may name the other person, and `{opposite}` is the
            opposite adjective.
        true: true sentences that support an answer without giving it.
        than: phrases that compare somebody with `{b}` ("than {b}"), and so never answer with `{b}`.
    """

    contexts: list[str]
    questions: list[tuple[str, str, str]]
    also: list[list[str]] = []
    true: list[str] = []
    than: list[str] = []


class PropertyTemplates(msgspec.Struct, forbid_unknown_fields=True):
    """The properties test: a question for each kind of property, and its answer as a whole sentence."""

    contexts: list[str]
    ask: dict[str, str]
    sentence: dict[str, str]


class InvarianceTemplates(msgspec.Struct, forbid_unknown_fields=True):
    """Sentences that do not change an answer."""

    unrelated: list[str]


class SpellingClass(msgspec.Struct, forbid_unknown_fields=True):
    """A way of typing the language (without tone marks, in plain ASCII), accepted and reported by name.

    Attributes:
        strip: combining marks to drop, "all" for every mark that Unicode separates from its letter.
        replace: letters and their replacement, after that.
    """

    strip: str = ""
    replace: dict[str, str] = {}


class Templates(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """The sentences of all tests."""

    comparisons: QuestionTemplates
    intensifiers: QuestionTemplates
    properties: PropertyTemplates
    job_vs_nationality: QuestionTemplates
    animal_vs_vehicle: QuestionTemplates
    animal_vs_vehicle_2: QuestionTemplates
    invariance: InvarianceTemplates

    def tests(self) -> Iterator[tuple[str, str]]:
        """Yield all templates with their test: contexts, questions, answers, whole sentences."""
        properties = self.properties
        for text in (*properties.contexts, *properties.ask.values(), *properties.sentence.values()):
            yield "properties", text
        for name in TESTS:
            if name != "properties":
                test: QuestionTemplates = getattr(self, name)
                for text in chain(test.contexts, *test.questions, *test.also, test.true, test.than):
                    yield name, text


class LanguageFile(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """One language: lexicons, templates, and agreement rules."""

    code: str
    names: GivenNames
    review: dict[str, str]
    adjective: dict[str, LexiconEntry]
    state: dict[str, LexiconEntry]
    intensifier: dict[str, LexiconEntry]
    reducer: dict[str, LexiconEntry]
    object: dict[str, LexiconEntry]
    colour: dict[str, LexiconEntry]
    size: dict[str, LexiconEntry]
    age: dict[str, LexiconEntry]
    shape: dict[str, LexiconEntry]
    material: dict[str, LexiconEntry]
    profession: dict[str, LexiconEntry]
    nationality: dict[str, LexiconEntry]
    animal: dict[str, LexiconEntry]
    vehicle: dict[str, LexiconEntry]
    templates: Templates
    articles: list[str] = []
    classifiers: list[str] = []
    prefixes: list[str] = []
    particles: list[str] = []
    accepted: dict[str, list[str]] = {}
    sentence_words: list[str] = []
    negations: list[str] = []
    rejections: list[str] = []
    repeated: list[str] = []
    spellings: dict[str, str] = {}
    spelling_classes: dict[str, SpellingClass] = {}
    upper: dict[str, str] = {}
    uncapitalized: list[str] = []
    rules: dict[str, FormRule] = {}
    joins: list[Join] = []
    why_no_forms: str = ""
    notes: str = ""

    def lexicon(self, name: str) -> dict[str, LexiconEntry]:
        """Return a lexicon by name."""
        entries: dict[str, LexiconEntry] = getattr(self, name)
        return entries


@cache
def _concept_file() -> Mapping[str, Mapping[str, str]]:
    return decode_toml((files("isogloss.grammar") / "concepts.toml").read_text(encoding="utf-8"), "concepts.toml")


@cache
def concepts() -> Mapping[str, Mapping[str, str]]:
    """Return the concepts every language has words for, with English glosses."""
    return {name: words for name, words in _concept_file().items() if name != "antonyms"}


@cache
def antonyms() -> Mapping[str, str]:
    """Return the opposite of each adjective that has one, in both directions."""
    pairs = _concept_file()["antonyms"]
    return {**pairs, **{second: first for first, second in pairs.items()}}


def parse(text: str, name: str) -> LanguageFile:
    """Parse a language file; a GrammarError reports every error with its line."""
    try:
        file = msgspec.convert(decode_toml(text, name), LanguageFile)
    except msgspec.ValidationError as error:
        path = str(error).rpartition("`$")[2].strip("`").strip(".")
        raise GrammarError(str(error), where=f"{name}:{key_line(text, path)}") from None
    mistakes = [f"{name}:{key_line(text, path)}: {what}" for path, what in _mistakes(file)]
    if mistakes:
        raise GrammarError(f"{len(mistakes)} mistakes\n  " + "\n  ".join(mistakes), where=name)
    return file


def key_line(text: str, path: str) -> int:
    """Return the line of a key such as `adjective.old`, or of its table if the key is missing."""
    table, _, key = re.sub(r"\[.*", "", path).rpartition(".")
    if not table:
        table, key = key, ""
    current, best = "", 1
    for number, line in enumerate(text.split("\n"), 1):
        stripped = line.strip()
        if header := re.match(r"\[+([\w.-]+)\]+\s*(?:#|$)", stripped):
            current = header[1]
            if current == table:
                best = number
        elif (current == table or not current) and re.match(rf"\"?{re.escape(key or table)}\"?\s*=", stripped):
            return number
    return best


def _mistakes(file: LanguageFile) -> Iterator[tuple[str, str]]:
    yield from _lexicon_mistakes(file)
    yield from _name_mistakes(file)
    yield from _template_mistakes(file)
    yield from _script_mistakes(file)
    for test in TESTS:
        if not REVIEW.fullmatch(file.review.get(test, "")):
            mark = '"reviewed by 2 on 2026-01-31, content 0123456789ab"'
            yield f"review.{test}", f'review of {test} must be "unreviewed" or {mark}'
    has_forms = any(isinstance(entry, dict) for name in concepts() for entry in file.lexicon(name).values())
    if not has_forms and not file.rules and not file.why_no_forms:
        yield "code", "no word has forms and there are no rules: explain in why_no_forms"


def _lexicon_mistakes(file: LanguageFile) -> Iterator[tuple[str, str]]:
    for name, wanted in concepts().items():
        lexicon = file.lexicon(name)
        for key in wanted:
            if key not in lexicon:
                yield name, f"[{name}] lacks {key!r} ({wanted[key]})"
        for key in lexicon:
            if key not in wanted:
                close = near_names(key, wanted, 1)
                yield f"{name}.{key}", f"unknown concept {key!r}" + (f", did you mean {close[0]!r}?" if close else "")
        seen: dict[str, str] = {}
        for key, entry in lexicon.items():
            shown = entry if isinstance(entry, str) else entry.get("base") or next(iter(entry.values()), "")
            if not shown.strip() or shown != unicodedata.normalize("NFC", shown):
                yield f"{name}.{key}", f"{shown!r} is empty or not in Unicode NFC"
            if shown in seen:
                yield f"{name}.{key}", f"{shown!r} is also the word for {seen[shown]!r}: tests need distinct words"
            seen[shown] = key


def _name_mistakes(file: LanguageFile) -> Iterator[tuple[str, str]]:
    seen: set[str] = set()
    for gender, entries in (("male", file.names.male), ("female", file.names.female)):
        if len(entries) < LEAST_NAMES:
            yield f"names.{gender}", f"{len(entries)} {gender} names, expected at least {LEAST_NAMES}"
        for entry in entries:
            base = entry if isinstance(entry, str) else entry.get("base", "")
            if base in seen or not base.strip():
                yield f"names.{gender}", f"name {base!r} is empty or duplicate"
            if _foreign(base, file.code):
                yield f"names.{gender}", f"name {base!r} is not in the language's script"
            seen.add(base)


def _template_mistakes(file: LanguageFile) -> Iterator[tuple[str, str]]:
    slot_names = {*concepts(), "a", "b", "p", "q", "opposite"}
    for test, template in file.templates.tests():
        for slot in sorted(slots(template) - slot_names):
            yield f"templates.{test}.contexts", f"unknown slot {slot!r} in {template!r}"
    for test, (contexts, questions) in TESTS.items():
        written = getattr(file.templates, test)
        count = len(written.ask) if test == "properties" else len(written.questions)
        if (len(written.contexts), count) != (contexts, questions):
            counted = f"{len(written.contexts)} contexts and {count} questions"
            yield f"templates.{test}.contexts", f"{counted} instead of {contexts} and {questions}"
    for field in ("ask", "sentence"):
        if set(getattr(file.templates.properties, field)) != set(PROPERTIES):
            yield f"templates.properties.{field}", "expected one each for colour, size, age, shape and material"
        if test != "properties" and len(written.also) not in (0, questions):
            yield f"templates.{test}.also", f"{len(written.also)} lists of sentences instead of {questions}"
    for name in file.repeated:
        if name not in file.rules:
            yield "repeated", f"no rule [rules.{name}]"
    for name in file.accepted:
        if name not in ASKED:
            yield f"accepted.{name}", f"no question has {name!r} as answer, only {', '.join(ASKED)}"


@cache
def in_script(letter: str, code: str) -> bool:
    """Return True if a letter belongs to the language's script."""
    return unicodedata.name(letter, "").startswith(_SCRIPT_NAMES[language(code).script])


def _foreign(text: str, code: str) -> str:
    """Return the letters outside slots that belong to another script."""
    plain = re.sub(r"\{[^}]*\}", "", text)
    return "".join(letter for letter in plain if letter.isalpha() and not in_script(letter, code))


def _script_mistakes(file: LanguageFile) -> Iterator[tuple[str, str]]:
    for name in concepts():
        for key, entry in file.lexicon(name).items():
            texts = [entry] if isinstance(entry, str) else [v for k, v in entry.items() if k != "class"]
            if wrong := "".join(_foreign(text, file.code) for text in texts):
                yield f"{name}.{key}", f"letters of another script: {wrong!r}"
    for test, template in file.templates.tests():
        if _foreign(template, file.code):
            yield f"templates.{test}.contexts", f"letters of another script in {template!r}"
