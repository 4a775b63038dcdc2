"""Cases and their examples: a case is drawn over concepts, once for all languages, so it means the same in each."""

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache, cached_property
from itertools import product
from typing import NamedTuple

import msgspec

from isogloss.errors import unknown
from isogloss.grammar.file import AskedQuestion, Grammar
from isogloss.grammar.schema import LEAST_NAMES, PROPERTIES, TESTS, antonyms, concepts
from isogloss.grammar.templates import Word, slots

# Slots filled with a person's name.
PEOPLE = ("a", "b")
# Slots of a test; all others are named after their lexicon. The slots of `properties` depend on the draw.
_SLOTS = {
    "comparisons": ("a", "b", "adjective"),
    "intensifiers": ("a", "b", "state", "intensifier", "reducer"),
    "job_vs_nationality": ("a", "profession", "nationality"),
    "animal_vs_vehicle": ("a", "animal", "vehicle"),
    "animal_vs_vehicle_2": ("a", "b", "animal", "vehicle"),
}


@dataclass(frozen=True, kw_only=True)
class ChecklistCase:
    """One assignment of concepts to the slots of a test: `a` is a name (`m3`), `p` a property (`colour/red`).

    Attributes:
        number: index among the cases of the test.
        slots: concept of each slot.
        contexts: number of the test's contexts to use, from the first; None for all.
        questions: the same for questions. With both numbers, templates added later do not change a case.
    """

    test: str
    number: int
    slots: tuple[tuple[str, str], ...]
    contexts: int | None = None
    questions: int | None = None

    @cached_property
    def id(self) -> str:
        """Id, the same in every language."""
        return f"{self.test}-{self.number:04d}"

    @cached_property
    def _drawn(self) -> Mapping[str, str]:
        return dict(self.slots)

    def lexicon(self, slot: str) -> str:
        """Return the lexicon of a slot: `name` for people, the drawn kind for a property, else the slot's name."""
        return "name" if slot in PEOPLE else self._drawn[slot].rpartition("/")[0] or slot


class ChecklistExample(msgspec.Struct, frozen=True, kw_only=True):
    """A context with a question and its correct answers.

    Attributes:
        place: index among the examples of the case.
        answer: a span of the context.
        people: names in the example.
        accepted: all correct answers: the span, and every other form of the answer word.
        wrong: answers to the case's other questions.
        sentence: the answer as a whole sentence.
        variant: "mft" if unchanged, else the kind of change (`isogloss.checklist.shipped.VARIANTS`).
        renamed: old and new names of exchanged people.
    """

    case: ChecklistCase
    place: int
    context: str
    question: str
    answer: str
    people: tuple[str, ...] = ()
    accepted: tuple[str, ...] = ()
    wrong: tuple[str, ...] = ()
    sentence: str = ""
    variant: str = "mft"
    renamed: tuple[tuple[str, str], ...] = ()

    @property
    def id(self) -> str:
        """Stable id, unique within a language."""
        changed = "" if self.variant == "mft" else f"-{self.variant}"
        return f"{self.case.id}-{self.place:02d}{changed}"


def _drawn_slots(test: str, rng: random.Random) -> dict[str, str]:
    """Return a concept for every slot of a test: people of one gender first, then the others in order."""

    def one(lexicon: str) -> str:
        return rng.choice(list(concepts()[lexicon]))

    if test == "properties":
        p, q = rng.sample(PROPERTIES, 2)
        return {"object": one("object"), "p": f"{p}/{one(p)}", "q": f"{q}/{one(q)}"}
    people = [slot for slot in _SLOTS[test] if slot in PEOPLE]
    gender = rng.choice("mf")
    names = rng.sample(range(LEAST_NAMES), len(people))
    drawn = {slot: f"{gender}{number}" for slot, number in zip(people, names, strict=True)}
    return drawn | {slot: one(slot) for slot in _SLOTS[test] if slot not in PEOPLE}


@cache
def draw(test: str, count: int = 200, seed: int = 0) -> tuple[ChecklistCase, ...]:
    """Draw `count` distinct cases of a test; a larger draw with the same seed begins with the smaller one."""
    if test not in TESTS:
        raise unknown("test", test, TESTS)
    rng = random.Random(f"isogloss/{seed}/{test}")  # noqa: S311 - reproducible, not secret
    seen: dict[tuple[tuple[str, str], ...], None] = {}
    while len(seen) < count:
        seen.setdefault(tuple(_drawn_slots(test, rng).items()))
    return tuple(ChecklistCase(test=test, number=number, slots=slots) for number, slots in enumerate(seen))


def first_context(case: ChecklistCase) -> ChecklistCase:
    """Return the case in its first context only: one example per question."""
    return replace(case, contexts=1)


def fillers(case: ChecklistCase, speaker: Grammar) -> dict[str, Word]:
    """Return the case's words in a language by slot, and words of properties also by lexicon."""
    words: dict[str, Word] = {}
    for slot, value in case.slots:
        drawn, _, concept = value.rpartition("/")
        words[slot] = speaker.word("name" if slot in PEOPLE else drawn or slot, concept)
        if drawn:
            words[drawn] = words[slot]
    return words


def examples(case: ChecklistCase, speaker: Grammar) -> Iterator[ChecklistExample]:
    """Yield every context of the case with every question."""
    words = fillers(case, speaker)
    contexts, questions = templates(case, speaker)
    people = tuple(words[slot].base for slot in PEOPLE if slot in words)
    accepted: list[tuple[str, ...]] = []
    for question in questions:
        answer = speaker.answer(question.answer, words)
        forms = speaker.answer_forms[case.lexicon(question.slot)][words[question.slot].concept]
        accepted.append(forms if forms[0] == answer else tuple(dict.fromkeys((answer, *forms))))
    texts = [(speaker.say(question.question, words), speaker.say(question.sentence, words)) for question in questions]
    context_texts = (speaker.say(template, words) for template in contexts)
    for index, (context, (number, (text, sentence))) in enumerate(product(context_texts, enumerate(texts))):
        yield ChecklistExample(
            case=case,
            place=index,
            context=context,
            question=text,
            answer=accepted[number][0],
            people=people,
            accepted=accepted[number],
            wrong=tuple(others[0] for index, others in enumerate(accepted) if index != number),
            sentence=sentence,
        )


def opposites(case: ChecklistCase, speaker: Grammar) -> list[str]:
    """Return for each question the sentence that answers the opposite one of two people, or "" without them."""
    _, questions = templates(case, speaker)
    if len(questions) != 2 or not all(question.slot in PEOPLE for question in questions):
        return ["" for _ in questions]
    words = fillers(case, speaker)
    swapped = {**words, "a": words["b"], "b": words["a"]}
    return [speaker.say(question.sentence, swapped) for question in reversed(questions)]


class Statements(NamedTuple):
    """Sentences about a case, for one question.

    Attributes:
        also: right sentences besides that of the question; they may name the other person.
        true: true sentences that answer another question of the case.
        than: phrases with a person as the one compared to ("than Ann"), which point to the other person.
    """

    also: tuple[str, ...]
    true: tuple[str, ...]
    than: tuple[str, ...]


def statements(case: ChecklistCase, speaker: Grammar) -> list[Statements]:
    """Return what can be said about the case in answer to each question.

    The context of a comparison answers its first question. If the adjective has an opposite, "B is younger than A" and
    "B is younger" answer both questions of "A is older than B".
    """
    contexts, questions = templates(case, speaker)
    words: dict[str, Word] = fillers(case, speaker)
    swapped = {**words, "a": words["b"], "b": words["a"]} if "b" in words else words
    also: list[list[str]] = [[] for _ in questions]
    true: list[str] = []
    than: list[str] = []
    if case.test != "properties":
        written = getattr(speaker.file.templates, case.test)
        antonym = antonyms().get(words["adjective"].concept) if "adjective" in words else None
        if antonym:
            words["opposite"] = speaker.word("adjective", antonym)
        for sentences, listed in zip(also, written.also, strict=False):
            usable = (template for template in listed if antonym or "opposite" not in slots(template))
            sentences += [speaker.say(template, words) for template in usable]
        if case.test == "comparisons":
            also[0].append(speaker.say(contexts[0], words))
            turned = {**swapped, "adjective": words.get("opposite", words["adjective"])}
            for sentences in also if antonym else ():
                sentences += [speaker.say(template, turned) for template in (contexts[0], questions[0].sentence)]
        if case.test in ("comparisons", "intensifiers"):
            listed = [it for it in speaker.file.templates.comparisons.than if slots(it) <= words.keys()]
            than = [speaker.answer(template, people) for template in listed for people in (words, swapped)]
        true = [speaker.say(template, words) for template in written.true]
    own = [speaker.say(question.sentence, words) for question in questions]
    by_question: list[Statements] = []
    for number in range(len(questions)):
        others = [each for other in range(len(questions)) if other != number for each in (own[other], *also[other])]
        supporting = dict.fromkeys(text for text in (*others, *true) if text not in also[number])
        by_question.append(Statements(tuple(dict.fromkeys(also[number])), tuple(supporting), tuple(than)))
    return by_question


def templates(case: ChecklistCase, speaker: Grammar) -> tuple[list[str], list[AskedQuestion]]:
    """Return contexts and questions of the case's test; the properties test depends on the draw."""
    contexts = getattr(speaker.file.templates, case.test).contexts
    if case.test == "properties":
        questions = [speaker.property_questions[slot, case.lexicon(slot)] for slot in ("p", "q")]
    else:
        questions = speaker.questions[case.test]
    return contexts[: case.contexts], questions[: case.questions]
