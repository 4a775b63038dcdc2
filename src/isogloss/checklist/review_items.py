"""Review items of a language: cases of every test, and every template, word and name of its file once.

An item is about one wording: a verdict holds as long as that wording is unchanged.
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
from isogloss.grammar.templates import Slot, Word, compiled

# Default number of cases per test on a page; with fewer, a test is not marked as reviewed.
SAMPLED_CASES = 8
# Reference language shown with each text.
GLOSS_LANGUAGE = "en"

_STATEMENT, _QUESTION, _ANSWER, _SENTENCE = "statement", "question", "answer", "answer as a sentence"
_NAMES = {"m": "male", "f": "female"}


class ReviewLine(NamedTuple):
    """One line to read: a text in the language, its English version, its label, and the word form it illustrates."""

    label: str
    text: str
    gloss: str = ""
    form: str = ""


@dataclass(frozen=True, kw_only=True)
class ReviewItem:
    """One thing to judge.

    Attributes:
        key: key in the language file (`adjective.old`, `templates.comparisons.questions[0]`); for a case the
            example id, followed by `/accepted` if its accepted answers are judged.
        kind: "case", "answers", "template", "word" or "names".
        wording: the text to judge, without examples.
        sources: keys of the language file used in a case.
        meaning: English meaning of a word.
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
    """Return all review items of a language, test by test, with this number of sampled cases per test."""
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
    """Yield one example of each sampled case, alternating contexts and questions."""
    rng = random.Random(f"isogloss/review/{seed}/{test}")  # noqa: S311 - reproducible, not secret
    turns: list[int] = []
    for number in sorted(rng.sample(range(CASES), cases)):
        case_examples = list(examples(suite_cases(test)[number], speaker))
        turns = turns or rng.sample(range(len(case_examples)), len(case_examples))
        yield case_examples[turns.pop() % len(case_examples)]


def _glossed(case: ChecklistCase, speaker: Grammar, english: Grammar) -> dict[str, Word]:
    """Return the words of a case in English; people keep their names to identify them."""
    words = fillers(case, speaker)
    return fillers(case, english) | {slot: words[slot] for slot in PEOPLE if slot in words}


def _case_item(example: ChecklistExample, speaker: Grammar, english: Grammar) -> ReviewItem:
    case = example.case
    contexts, questions = templates(case, english)
    context, question = divmod(example.place, len(questions))
    glosses, words = _glossed(case, speaker, english), fillers(case, speaker)
    lines = (
        ReviewLine(_STATEMENT, example.context, english.say(contexts[context], glosses)),
        ReviewLine(_QUESTION, example.question, english.say(questions[question].question, glosses)),
        ReviewLine(_ANSWER, example.answer, english.answer(questions[question].answer, glosses)),
    )
    # The uses are the contexts, then those of each question in turn.
    uses = _template_uses(case, speaker)
    uses_per_question = (len(uses) - len(contexts)) // len(questions)
    first = len(contexts) + question * uses_per_question
    keys = [use.key for use in (uses[context], *uses[first : first + uses_per_question])]
    keys += [_word_key(case, slot, words[slot]) for slot, _ in case.slots if slot not in PEOPLE]
    wording, tests = " / ".join(line.text for line in lines), (case.test,)
    return ReviewItem(key=example.id, kind="case", tests=tests, wording=wording, lines=lines, sources=tuple(keys))


def _answers_item(example: ChecklistExample, speaker: Grammar) -> ReviewItem:
    case = example.case
    _, questions = templates(case, speaker)
    slot = questions[example.place % len(questions)].slot
    sources = (_word_key(case, slot, fillers(case, speaker)[slot]),)
    lines = [ReviewLine(_STATEMENT, example.context), ReviewLine(_QUESTION, example.question)]
    lines += [ReviewLine("counts as correct", answer) for answer in (*example.accepted, example.sentence)]
    wording, key = " / ".join((example.question, *example.accepted)), f"{example.id}/accepted"
    return ReviewItem(key=key, kind="answers", tests=(case.test,), wording=wording, lines=tuple(lines), sources=sources)


class TemplateUse(NamedTuple):
    """A template of a language file in use: its key, its labelled texts, and the preceding text."""

    key: str
    parts: tuple[tuple[str, str], ...]
    before: tuple[tuple[str, str], ...] = ()


def _template_uses(case: ChecklistCase, speaker: Grammar) -> list[TemplateUse]:
    table = f"templates.{case.test}"
    contexts, questions = templates(case, speaker)
    uses = [TemplateUse(f"{table}.contexts[{n}]", ((_STATEMENT, text),)) for n, text in enumerate(contexts)]
    for number, template in enumerate(questions):
        question, sentence = (_QUESTION, template.question), (_SENTENCE, template.sentence)
        if case.test == "properties":
            lexicon = case.lexicon(template.slot)
            uses.append(TemplateUse(f"{table}.ask.{lexicon}", (question,)))
            uses.append(TemplateUse(f"{table}.sentence.{lexicon}", (sentence,), (question,)))
        else:
            answer = (_ANSWER, template.answer)
            uses.append(TemplateUse(f"{table}.questions[{number}]", (question, answer, sentence)))
    return uses


def _template_items(test: str, speaker: Grammar, english: Grammar) -> list[ReviewItem]:
    """Return every template of a test, each filled with the words of a different case."""
    cases = suite_cases(test)
    items: dict[str, ReviewItem] = {}
    for case in (*cases[::7], *cases):
        pairs = zip(_template_uses(case, speaker), _template_uses(case, english), strict=True)
        new = next(((use, same) for use, same in pairs if use.key not in items), None)
        if new is None:
            continue
        use, same = new
        words, glosses = fillers(case, speaker), _glossed(case, speaker, english)
        lines: list[ReviewLine] = []
        for (label, text), (_, gloss) in zip((*use.before, *use.parts), (*same.before, *same.parts), strict=True):
            ours, theirs = (speaker.answer, english.answer) if label == _ANSWER else (speaker.say, english.say)
            lines.append(ReviewLine(label, ours(text, words), theirs(gloss, glosses)))
        wording = " / ".join(text for _, text in use.parts)
        items[use.key] = ReviewItem(key=use.key, kind="template", tests=(test,), wording=wording, lines=tuple(lines))
    return [items[key] for key in sorted(items)]


@dataclass
class WordUse:
    """A word in use: its tests, and an example sentence for each of its forms."""

    tests: dict[str, None] = field(default_factory=dict)
    forms: dict[str, ReviewLine] = field(default_factory=dict)


def _word_items(speaker: Grammar, english: Grammar) -> list[ReviewItem]:
    """Return every word with all its forms, and the lists of names."""
    uses = _word_uses(speaker, english)
    items: list[ReviewItem] = []
    for lexicon, meanings in concepts().items():
        accepted = speaker.answer_forms.get(lexicon, {})
        for concept, meaning in meanings.items():
            key = f"{lexicon}.{concept}"
            if key not in uses:
                continue  # not used in any sentence
            tests, forms = tuple(uses[key].tests), uses[key].forms
            others = [form for form in accepted.get(concept, ()) if form not in forms]
            lines = (*forms.values(), *([ReviewLine("also correct", ", ".join(others))] if others else []))
            wording, meant = " / ".join((*forms, *others)), f"{lexicon}: {meaning}"
            items.append(ReviewItem(key=key, kind="word", tests=tests, wording=wording, lines=lines, meaning=meant))
    return [*items, *(_names_item(gender, speaker, uses) for gender in _NAMES)]


def _names_item(gender: str, speaker: Grammar, uses: Mapping[str, WordUse]) -> ReviewItem:
    people = speaker.names[gender]
    used = [uses.get(f"names.{person.concept}", WordUse()) for person in people]
    bases = {person.base: None for person in people}
    others = {form: None for use in used for form in use.forms if form not in bases}
    tests = dict.fromkeys(chain.from_iterable(use.tests for use in used))
    lines = [ReviewLine(f"{_NAMES[gender]} names", ", ".join(bases))]
    lines += [ReviewLine("the same in sentences", ", ".join(others))] if others else []
    wording, key = " / ".join(line.text for line in lines), f"names.{_NAMES[gender]}"
    return ReviewItem(key=key, kind="names", tests=tuple(tests), wording=wording, lines=tuple(lines))


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
                    sentence = speaker.say(text, words)
                    use.forms[form] = ReviewLine(label, sentence, english.say(gloss, glosses), form)
    return uses


def _form_templates(template: str) -> Iterator[tuple[str, str]]:
    """Yield the slots of a template with the template of only that word, without a degree."""
    for slot in compiled(template):
        if isinstance(slot, Slot):
            agreeing = f"@{slot.agree}" if slot.agree else ""
            yield slot.name, f"{{{slot.name}{f'.{slot.form}' if slot.form else ''}{agreeing}}}"
            if slot.degree_of:
                yield slot.degree_of, f"{{{slot.degree_of}{agreeing}}}"


def _word_key(case: ChecklistCase, slot: str, word: Word) -> str:
    if slot in PEOPLE:
        return f"names.{_NAMES[word.concept[0]]}"
    return f"{case.lexicon(slot) if slot in dict(case.slots) else slot}.{word.concept}"


def _unrelated_items(speaker: Grammar, english: Grammar) -> Iterable[ReviewItem]:
    pairs = zip(*(grammar.file.templates.invariance.unrelated for grammar in (speaker, english)), strict=False)
    for number, (text, gloss) in enumerate(pairs):
        key = f"templates.invariance.unrelated[{number}]"
        yield ReviewItem(key=key, kind="template", tests=(), wording=text, lines=(ReviewLine(_STATEMENT, text, gloss),))
