"""Cases and their examples: a case is drawn over concepts, once for all languages, so that it says the same in each."""

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache, cached_property
from itertools import product

import msgspec

from isogloss.errors import unknown
from isogloss.grammar.file import AskedQuestion, Grammar
from isogloss.grammar.schema import LEAST_NAMES, PROPERTIES, TESTS, concepts
from isogloss.grammar.words import Word

# Slots that are filled with the name of a person.
PEOPLE = ("a", "b")
# The slots of a test; all others are named after their lexicon. Those of `properties` depend on what is drawn.
_SLOTS = {
    "comparisons": ("a", "b", "adjective"),
    "intensifiers": ("a", "b", "state", "intensifier", "reducer"),
    "job_vs_nationality": ("a", "profession", "nationality"),
    "animal_vs_vehicle": ("a", "animal", "vehicle"),
    "animal_vs_vehicle_2": ("a", "b", "animal", "vehicle"),
}


@dataclass(frozen=True)
class ChecklistCase:
    """One assignment of concepts to the slots of a test: `a` is a name (`m3`), `p` a property (`colour/red`).

    Attributes:
        test: whose templates it fills.
        number: its place among the cases of the test.
        slots: what fills each slot.
        contexts: it is asked with so many of the test's contexts, the first ones; None for all there are.
        questions: the same of the questions. A template that is added later changes no case that has both numbers.
    """

    test: str
    number: int
    slots: tuple[tuple[str, str], ...]
    contexts: int | None = None
    questions: int | None = None

    @cached_property
    def id(self) -> str:
        """The same in every language."""
        return f"{self.test}-{self.number:04d}"

    @cached_property
    def _drawn(self) -> Mapping[str, str]:
        return dict(self.slots)

    def lexicon(self, slot: str) -> str:
        """Where the word of a slot is found: `name` for people, what was drawn for a property, else the slot's name."""
        if slot in PEOPLE:
            return "name"
        return self._drawn[slot].rpartition("/")[0] or slot


class ChecklistExample(msgspec.Struct, frozen=True):
    """A context with a question and its right answers.

    Attributes:
        case: whose example it is.
        place: its number among the examples of the case.
        answer: a span of the context.
        people: the names in it.
        accepted: all right answers: the span, and every other form of the word that is asked for.
        wrong: the answers to the case's other questions.
        sentence: the answer as a whole sentence.
        variant: "mft" as it is, else how it was changed (`isogloss.checklist.variants`).
        renamed: old and new names, where people were exchanged.
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
        """Stable, and unique within a language."""
        changed = "" if self.variant == "mft" else f"-{self.variant}"
        return f"{self.case.id}-{self.place:02d}{changed}"


def _drawn_slots(test: str, rng: random.Random) -> dict[str, str]:
    """A concept for every slot of a test: people of one gender first, then the others in their order."""

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
    """Exactly `count` distinct cases of a test; a case drawn twice is drawn again.

    The stream depends on the seed and the test alone, so more cases begin with the fewer.
    """
    if test not in TESTS:
        raise unknown("test", test, TESTS)
    rng = random.Random(f"isogloss/{seed}/{test}")  # noqa: S311 - reproducible, not secret
    seen: dict[tuple[tuple[str, str], ...], None] = {}
    while len(seen) < count:
        seen.setdefault(tuple(_drawn_slots(test, rng).items()))
    return tuple(ChecklistCase(test, number, slots) for number, slots in enumerate(seen))


def first_context(case: ChecklistCase) -> ChecklistCase:
    """The case in its first context only: an example for each question."""
    return replace(case, contexts=1)


def fillers(case: ChecklistCase, speaker: Grammar) -> dict[str, Word]:
    """The case's words in a language, by slot; those of properties also by their lexicon."""
    words: dict[str, Word] = {}
    for slot, value in case.slots:
        drawn, _, concept = value.rpartition("/")
        words[slot] = speaker.word("name" if slot in PEOPLE else drawn or slot, concept)
        if drawn:
            words[drawn] = words[slot]
    return words


def examples(case: ChecklistCase, speaker: Grammar) -> Iterator[ChecklistExample]:
    """Every context of the case with every question."""
    words = fillers(case, speaker)
    contexts, questions = templates(case, speaker)
    people = tuple(words[slot].base for slot in PEOPLE if slot in words)
    accepted = [_accepted(asked, case, words, speaker) for asked in questions]
    asked = [
        (
            speaker.say(question.question, words),
            accepted[number][0],
            people,
            accepted[number],
            tuple(others[0] for place, others in enumerate(accepted) if place != number),
            speaker.say(question.sentence, words),
        )
        for number, question in enumerate(questions)
    ]
    said = (speaker.say(template, words) for template in contexts)
    for place, (context, about) in enumerate(product(said, asked)):
        yield ChecklistExample(case, place, context, *about)


def _accepted(
    asked: AskedQuestion, case: ChecklistCase, words: Mapping[str, Word], speaker: Grammar
) -> tuple[str, ...]:
    """The right answers: the span of the context first."""
    answer = speaker.answer(asked.answer, words)
    forms = speaker.answer_forms[case.lexicon(asked.slot)][words[asked.slot].concept]
    return forms if forms[0] == answer else tuple(dict.fromkeys((answer, *forms)))


def opposites(case: ChecklistCase, speaker: Grammar) -> list[str]:
    """Of each question of a case, the sentence that answers the other one, said of the person who is right here.

    Empty where questions do not ask for one of two people.
    """
    _, questions = templates(case, speaker)
    if len(questions) != 2 or not all(asked.slot in PEOPLE for asked in questions):
        return ["" for _ in questions]
    words = fillers(case, speaker)
    swapped = {**words, "a": words["b"], "b": words["a"]}
    return [speaker.say(asked.sentence, swapped) for asked in reversed(questions)]


def templates(case: ChecklistCase, speaker: Grammar) -> tuple[list[str], list[AskedQuestion]]:
    """Contexts and questions of the case's test; the properties test asks for what was drawn."""
    contexts = getattr(speaker.file.templates, case.test).contexts
    if case.test == "properties":
        questions = [speaker.property_questions[slot, case.lexicon(slot)] for slot in ("p", "q")]
    else:
        questions = speaker.questions[case.test]
    return contexts[: case.contexts], questions[: case.questions]
