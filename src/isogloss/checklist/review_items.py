"""What a speaker is asked about a language: cases of every test, and every template, word and name of its file once.

An item is about one wording: a verdict on it holds as long as that wording stays, whatever else changes.
"""

import random
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from itertools import chain
from typing import NamedTuple

from isogloss.checklist.shipped import suite_cases
from isogloss.checklist.tasks import CASES
from isogloss.grammar.cases import PEOPLE, ChecklistCase, ChecklistExample, examples, fillers, templates
from isogloss.grammar.file import Grammar, grammar
from isogloss.grammar.schema import TESTS, concepts
from isogloss.grammar.templates import Slot, compiled
from isogloss.grammar.words import Word

# Cases of each test that a page has unless more are wanted; with fewer, a test is not marked as reviewed.
SAMPLED_CASES = 8
# What everything is said in beside the language itself.
GLOSS_LANGUAGE = "en"

_STATEMENT, _QUESTION, _ANSWER, _SENTENCE = "statement", "question", "answer", "answer as a sentence"
_NAMES = {"m": "male", "f": "female"}


@dataclass(frozen=True)
class ReviewLine:
    """One thing to read: a text in the language, the same in English, what it is, and the form it is shown for."""

    label: str
    text: str
    gloss: str = ""
    form: str = ""


@dataclass(frozen=True)
class ReviewItem:
    """One thing to judge.

    Attributes:
        key: of the language file (`adjective.old`, `templates.comparisons.questions[0]`); of a case the id of the
            example, with `/accepted` behind it where its right answers are judged.
        kind: "case", "answers", "template", "word" or "names".
        tests: whose sentences it is part of.
        wording: what is judged, without the examples it is shown in.
        lines: what the speaker reads.
        sources: the keys of the language file that a case is made of.
        meaning: of a word, in English.
    """

    key: str
    kind: str
    tests: tuple[str, ...]
    wording: str
    lines: tuple[ReviewLine, ...]
    sources: tuple[str, ...] = ()
    meaning: str = ""


@cache
def review_items(code: str, cases: int = SAMPLED_CASES, seed: int = 0) -> tuple[ReviewItem, ...]:
    """All that a speaker is asked about a language, test by test.

    Args:
        code: the language.
        cases: so many cases of each test are sampled.
        seed: another samples other cases.

    Raises:
        UnknownNameError: no such language.
        GrammarError: its file has mistakes.
    """
    speaker, english = grammar(code), grammar(GLOSS_LANGUAGE)
    words = _word_items(speaker, english)
    items: list[ReviewItem] = []
    for test in TESTS:
        sampled = list(_sampled_examples(test, speaker, cases, seed))
        items += [_case_item(example, speaker, english) for example in sampled]
        items += [_answers_item(example, speaker) for example in sampled if len(example.accepted) > 1]
        items += _template_items(test, speaker, english)
        items += [item for item in words if item.tests[0] == test and item.kind == "word"]
    return (*items, *(item for item in words if item.kind == "names"), *_unrelated_items(speaker, english))


def _sampled_examples(test: str, speaker: Grammar, cases: int, seed: int) -> Iterator[ChecklistExample]:
    """One example of each sampled case; contexts and questions take turns."""
    rng = random.Random(f"isogloss/review/{seed}/{test}")  # noqa: S311 - reproducible, not secret
    turns: list[int] = []
    for number in sorted(rng.sample(range(CASES), cases)):
        asked = list(examples(suite_cases(test)[number], speaker))
        turns = turns or rng.sample(range(len(asked)), len(asked))
        yield asked[turns.pop() % len(asked)]


def _glossed(case: ChecklistCase, speaker: Grammar, english: Grammar) -> dict[str, Word]:
    """The words of a case in English; people keep their names, so that it can be seen who is who."""
    words = fillers(case, speaker)
    return fillers(case, english) | {slot: words[slot] for slot in PEOPLE if slot in words}


def _case_item(example: ChecklistExample, speaker: Grammar, english: Grammar) -> ReviewItem:
    contexts, questions = templates(example.case, english)
    context, question = divmod(example.place, len(questions))
    words = _glossed(example.case, speaker, english)
    lines = (
        ReviewLine(_STATEMENT, example.context, english.say(contexts[context], words)),
        ReviewLine(_QUESTION, example.question, english.say(questions[question].question, words)),
        ReviewLine(_ANSWER, example.answer, english.answer(questions[question].answer, words)),
    )
    wording = " / ".join(line.text for line in lines)
    return ReviewItem(example.id, "case", (example.case.test,), wording, lines, _sources(example, speaker))


def _answers_item(example: ChecklistExample, speaker: Grammar) -> ReviewItem:
    case = example.case
    _, questions = templates(case, speaker)
    slot = questions[example.place % len(questions)].slot
    asked = [(_STATEMENT, example.context), (_QUESTION, example.question)]
    counted = [("counts as right", answer) for answer in (*example.accepted, example.sentence)]
    return ReviewItem(
        f"{example.id}/accepted",
        "answers",
        (case.test,),
        " / ".join((example.question, *example.accepted)),
        tuple(ReviewLine(label, text) for label, text in (*asked, *counted)),
        (_word_key(case, slot, fillers(case, speaker)[slot]),),
    )


def _sources(example: ChecklistExample, speaker: Grammar) -> tuple[str, ...]:
    """The keys of the templates and words that an example is made of."""
    case = example.case
    contexts, questions = templates(case, speaker)
    uses = _template_uses(case, speaker)
    context, question = divmod(example.place, len(questions))
    # The uses are the contexts, then what belongs to each question in turn.
    each = (len(uses) - len(contexts)) // len(questions)
    first = len(contexts) + question * each
    words = fillers(case, speaker)
    keys = [use.key for use in (uses[context], *uses[first : first + each])]
    return (*keys, *(_word_key(case, slot, words[slot]) for slot, _ in case.slots if slot not in PEOPLE))


class TemplateUse(NamedTuple):
    """A template of a language file as a case uses it: its key, the texts under it, and what is said before them.

    Each text comes with what it is.
    """

    key: str
    parts: tuple[tuple[str, str], ...]
    before: tuple[tuple[str, str], ...] = ()

    @property
    def wording(self) -> str:
        """The texts themselves."""
        return " / ".join(text for _, text in self.parts)


def _template_uses(case: ChecklistCase, speaker: Grammar) -> list[TemplateUse]:
    table = f"templates.{case.test}"
    contexts, questions = templates(case, speaker)
    uses = [TemplateUse(f"{table}.contexts[{n}]", ((_STATEMENT, text),)) for n, text in enumerate(contexts)]
    for number, asked in enumerate(questions):
        question, sentence = (_QUESTION, asked.question), (_SENTENCE, asked.sentence)
        if case.test == "properties":
            lexicon = case.lexicon(asked.slot)
            uses.append(TemplateUse(f"{table}.ask.{lexicon}", (question,)))
            uses.append(TemplateUse(f"{table}.sentence.{lexicon}", (sentence,), (question,)))
        else:
            answer = (_ANSWER, asked.answer)
            uses.append(TemplateUse(f"{table}.questions[{number}]", (question, answer, sentence)))
    return uses


def _template_items(test: str, speaker: Grammar, english: Grammar) -> list[ReviewItem]:
    """Every template of a test, each filled with the words of another case."""
    cases = suite_cases(test)
    found: dict[str, ReviewItem] = {}
    for case in (*cases[::7], *cases):
        pairs = zip(_template_uses(case, speaker), _template_uses(case, english), strict=True)
        for use, same in pairs:
            if use.key not in found:
                lines = tuple(_filled(case, use, same, speaker, english))
                found[use.key] = ReviewItem(use.key, "template", (test,), use.wording, lines)
                break
    return [found[key] for key in sorted(found)]


def _filled(
    case: ChecklistCase, use: TemplateUse, same: TemplateUse, speaker: Grammar, english: Grammar
) -> Iterator[ReviewLine]:
    words, glosses = fillers(case, speaker), _glossed(case, speaker, english)
    pairs = zip((*use.before, *use.parts), (*same.before, *same.parts), strict=True)
    for (label, text), (_, gloss) in pairs:
        if label == _ANSWER:
            yield ReviewLine(label, speaker.answer(text, words), english.answer(gloss, glosses))
        else:
            yield ReviewLine(label, speaker.say(text, words), english.say(gloss, glosses))


@dataclass
class WordUse:
    """A word as the tests use it: in which of them, and for each of its forms a sentence that has it."""

    tests: dict[str, None] = field(default_factory=dict)
    forms: dict[str, ReviewLine] = field(default_factory=dict)


def _word_items(speaker: Grammar, english: Grammar) -> list[ReviewItem]:
    """Every word with all its forms, and the lists of names."""
    uses = _word_uses(speaker, english)
    items: list[ReviewItem] = []
    for lexicon, meanings in concepts().items():
        accepted = speaker.answer_forms.get(lexicon, {})
        for concept, meaning in meanings.items():
            use = uses.get(f"{lexicon}.{concept}")
            if use is None:
                continue  # no sentence has it
            others = [form for form in accepted.get(concept, ()) if form not in use.forms]
            lines = [*use.forms.values(), *([ReviewLine("counts as right, too", ", ".join(others))] if others else [])]
            wording = " / ".join((*use.forms, *others))
            key, tests = f"{lexicon}.{concept}", tuple(use.tests)
            items.append(ReviewItem(key, "word", tests, wording, tuple(lines), meaning=f"{lexicon}: {meaning}"))
    return [*items, *(_names_item(gender, speaker, uses) for gender in _NAMES)]


def _names_item(gender: str, speaker: Grammar, uses: Mapping[str, WordUse]) -> ReviewItem:
    """The names of a gender, and the other forms in which sentences have them."""
    people = speaker.names[gender]
    used = [uses.get(f"names.{person.concept}", WordUse()) for person in people]
    bases = {person.base: None for person in people}
    others = {form: None for use in used for form in use.forms if form not in bases}
    tests = dict.fromkeys(chain.from_iterable(use.tests for use in used))
    lines = [ReviewLine(f"{_NAMES[gender]} names", ", ".join(bases))]
    lines += [ReviewLine("the same in sentences", ", ".join(others))] if others else []
    wording = " / ".join(line.text for line in lines)
    return ReviewItem(f"names.{_NAMES[gender]}", "names", tuple(tests), wording, tuple(lines))


def _word_uses(speaker: Grammar, english: Grammar) -> Mapping[str, WordUse]:
    uses: dict[str, WordUse] = {}
    for case in chain.from_iterable(suite_cases(test) for test in TESTS):
        words, glosses = fillers(case, speaker), _glossed(case, speaker, english)
        parts = (use.parts for use in _template_uses(case, speaker))
        same = (use.parts for use in _template_uses(case, english))
        for (label, text), (_, gloss) in zip(chain.from_iterable(parts), chain.from_iterable(same), strict=True):
            for slot, form_template in _form_templates(text) if label != _ANSWER else ():
                word = words[slot]
                key = f"names.{word.concept}" if slot in PEOPLE else _word_key(case, slot, word)
                use = uses.setdefault(key, WordUse())
                use.tests.setdefault(case.test)
                form = speaker.answer(form_template, words)
                if form not in use.forms:
                    said = speaker.say(text, words)
                    use.forms[form] = ReviewLine(label, said, english.say(gloss, glosses), form)
    return uses


def _form_templates(template: str) -> Iterator[tuple[str, str]]:
    """The slots of a template, each with the template of its word alone, without a degree."""
    for slot in compiled(template):
        if isinstance(slot, Slot):
            agreeing = f"@{slot.agree}" if slot.agree else ""
            yield slot.name, f"{{{slot.name}{f'.{slot.form}' if slot.form else ''}{agreeing}}}"
            if slot.degree_of:
                yield slot.degree_of, f"{{{slot.degree_of}{agreeing}}}"


def _word_key(case: ChecklistCase, slot: str, word: Word) -> str:
    """Where the word of a slot is in the language file."""
    if slot in PEOPLE:
        return f"names.{_NAMES[word.concept[0]]}"
    return f"{case.lexicon(slot) if slot in dict(case.slots) else slot}.{word.concept}"


def _unrelated_items(speaker: Grammar, english: Grammar) -> Iterable[ReviewItem]:
    pairs = zip(*(each.file.templates.invariance.unrelated for each in (speaker, english)), strict=False)
    for number, (text, gloss) in enumerate(pairs):
        key = f"templates.invariance.unrelated[{number}]"
        yield ReviewItem(key, "template", (), text, (ReviewLine(_STATEMENT, text, gloss),))
