"""Cases and their examples: a case is drawn over concepts, once for all languages, so that it says the same in each."""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import product

from isogloss.errors import unknown
from isogloss.grammar.file import Grammar
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

    @property
    def id(self) -> str:
        """The same in every language."""
        return f"{self.test}-{self.number:04d}"


@dataclass(frozen=True)
class ChecklistExample:
    """A context with a question and its right answer.

    Attributes:
        case: whose example it is.
        place: its number among the examples of the case.
        people: the names in it.
        variant: "mft" as it is, else how it was changed (`isogloss.checklist.variants`).
        renamed: old and new names, where people were exchanged.
    """

    case: ChecklistCase
    place: int
    context: str
    question: str
    answer: str
    people: tuple[str, ...] = ()
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


def fillers(case: ChecklistCase, speaker: Grammar) -> dict[str, Word]:
    """The case's words in a language."""
    words: dict[str, Word] = {}
    for slot, value in case.slots:
        lexicon, _, concept = value.rpartition("/")
        words[slot] = speaker.word("name" if slot in PEOPLE else lexicon or slot, concept)
    return words


def examples(case: ChecklistCase, speaker: Grammar) -> Iterator[ChecklistExample]:
    """Every context of the case with every question."""
    words = fillers(case, speaker)
    contexts, questions = templates(case, speaker)
    asked = [(speaker.say(question, words), speaker.answer(answer, words)) for question, answer in questions]
    people = tuple(words[slot].base for slot in PEOPLE if slot in words)
    said = (speaker.say(template, words) for template in contexts)
    for place, (context, (question, answer)) in enumerate(product(said, asked)):
        yield ChecklistExample(case, place, context, question, answer, people)


def templates(case: ChecklistCase, speaker: Grammar) -> tuple[list[str], list[tuple[str, str]]]:
    """Contexts, and questions with answers, of the case's test; the properties test asks for what was drawn."""
    sheet = speaker.file.templates
    if case.test == "properties":
        drawn = dict(case.slots)
        kinds = [(slot, drawn[slot].partition("/")[0]) for slot in ("p", "q")]
        contexts = sheet.properties.contexts
        questions = [(sheet.properties.ask[kind], f"{{{slot}@object}}") for slot, kind in kinds]
    else:
        contexts, questions = getattr(sheet, case.test).contexts, getattr(sheet, case.test).questions
    return contexts[: case.contexts], questions[: case.questions]
