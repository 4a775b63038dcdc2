"""The examples of a case: as they are, or changed in a way that must not change the answers."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

import msgspec

from isogloss.grammar.cases import PEOPLE, ChecklistCase, ChecklistExample, examples, fillers, templates
from isogloss.grammar.file import Grammar

# So many names of each gender, and so many unrelated sentences, are used in every language: those that a language has
# beyond them change no example.
_NAMES = 40
_UNRELATED = 3


def _unrelated(case: ChecklistCase, speaker: Grammar) -> Iterator[ChecklistExample]:
    """The case after a sentence that has nothing to do with it."""
    extra = speaker.file.templates.invariance.unrelated[case.number % _UNRELATED]
    blank = " " if " " in extra or " " in speaker.file.templates.comparisons.contexts[0] else ""
    for example in examples(case, speaker):
        yield msgspec.structs.replace(example, context=f"{extra}{blank}{example.context}", variant="inv-unrelated")


def _other_names(case: ChecklistCase, speaker: Grammar) -> Iterator[ChecklistExample]:
    """The case with other people of the same gender: each name moves half-way round the list."""
    people = [slot for slot, _ in case.slots if slot in PEOPLE]
    if not people:
        return  # things have no names to swap
    moved = {
        slot: f"{value[0]}{(int(value[1:]) + _NAMES // 2) % _NAMES}" for slot, value in case.slots if slot in people
    }
    other = replace(case, slots=tuple((slot, moved.get(slot, value)) for slot, value in case.slots))
    old, new = fillers(case, speaker), fillers(other, speaker)
    # Not only names as they are listed: an answer may have them in another case.
    called = [*(f"{{{slot}}}" for slot in people), *(asked.answer for asked in templates(case, speaker)[1])]
    pairs = ((speaker.answer(form, old), speaker.answer(form, new)) for form in called)
    renamed = tuple(dict.fromkeys((before, after) for before, after in pairs if before != after))
    for example in examples(other, speaker):
        yield msgspec.structs.replace(example, case=case, variant="inv-names", renamed=renamed)


# The plain example is CheckList's minimum functionality test: its answer is right or wrong. The changed ones are
# invariance tests: the answer must not change with them.
VARIANTS: Mapping[str, Callable[[ChecklistCase, Grammar], Iterator[ChecklistExample]]] = {
    "mft": examples,
    "inv-names": _other_names,
    "inv-unrelated": _unrelated,
}
