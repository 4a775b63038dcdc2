"""What is asked of a case: its examples as they are, or changed in a way that must not change the answers."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from isogloss.checklist.shipped import suite_cases
from isogloss.checklist.tasks import CASES
from isogloss.grammar.cases import ChecklistCase, ChecklistExample, examples, fillers
from isogloss.grammar.file import Grammar, grammar
from isogloss.grammar.schema import TESTS

# MFT: the answer is right or wrong. INV: an answer must not change when other names are used, or when a sentence is
# added that has nothing to do with the question.
VARIANTS = ("mft", "inv-names", "inv-unrelated")

# So many names of each gender, and so many unrelated sentences, are used in every language: those that a language has
# beyond them change no example.
_NAMES = 40
_UNRELATED = 3


@dataclass(frozen=True)
class Variant:
    """An example as it is asked: plain (MFT), or changed in a way that must not change the answer (INV).

    Attributes:
        name: one of `VARIANTS`.
        example: the plain example.
        renamed: old and new names, where people were exchanged.
    """

    name: str
    example: ChecklistExample
    context: str
    question: str
    answer: str
    renamed: tuple[tuple[str, str], ...] = ()

    @property
    def id(self) -> str:
        """The example's id, with the kind of change behind it."""
        return self.example.id if self.name == "mft" else f"{self.example.id}-{self.name}"


def variants(
    code: str, variant: str = "mft", tests: Sequence[str] = tuple(TESTS), count: int = CASES, seed: int = 0
) -> Iterator[Variant]:
    """The examples of a language in one of the variants.

    Raises:
        UnknownNameError: no such language or test.
        IsoglossError: more cases are wanted than there are.
    """
    speaker = grammar(code)
    change = {"mft": _plain, "inv-names": _other_names, "inv-unrelated": _unrelated}[variant]
    for test in tests:
        for case in suite_cases(test, count, seed):
            yield from change(case, speaker)


def _plain(case: ChecklistCase, speaker: Grammar) -> Iterator[Variant]:
    for example in examples(case, speaker):
        yield Variant("mft", example, example.context, example.question, example.answer)


def _unrelated(case: ChecklistCase, speaker: Grammar) -> Iterator[Variant]:
    extra = speaker.file.templates.invariance.unrelated[case.number % _UNRELATED]
    blank = " " if " " in extra or " " in speaker.file.templates.comparisons.contexts[0] else ""
    for example in examples(case, speaker):
        context = f"{extra}{blank}{example.context}"
        yield Variant("inv-unrelated", example, context, example.question, example.answer)


def _other_names(case: ChecklistCase, speaker: Grammar) -> Iterator[Variant]:
    """The case with other people of the same gender: each name moves half-way round the list."""
    people = [slot for slot, _ in case.slots if slot in ("a", "b")]
    if not people:
        return  # things have no names to swap
    moved = {
        slot: f"{value[0]}{(int(value[1:]) + _NAMES // 2) % _NAMES}" for slot, value in case.slots if slot in people
    }
    other = replace(case, slots=tuple((slot, moved.get(slot, value)) for slot, value in case.slots))
    old, new = fillers(case, speaker), fillers(other, speaker)
    renamed = tuple((old[slot].base, new[slot].base) for slot in people)
    for example, changed in zip(examples(case, speaker), examples(other, speaker), strict=True):
        yield Variant("inv-names", example, changed.context, changed.question, changed.answer, renamed)
