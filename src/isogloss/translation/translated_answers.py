"""Answers in translated passages: those stored with their offsets, and those that are searched for."""

from collections import Counter
from collections.abc import Mapping, Sequence

from isogloss.tasks.examples import Examples
from isogloss.translation.projection import LOST, exact_span, find_text, steps_text

# Answers to one question, each with its (expected) offset in the passage.
Answers = list[tuple[str, int]]


def find_answers(context: str, answers: Answers) -> Answers:
    """Return the answers found in a passage, as spelled there, at the occurrence nearest to the expected offset."""
    places = (exact_span(context, answer, expected) for answer, expected in answers)
    return [(context[slice(*span)], span[0]) for span in places if span]


def search_answers(
    originals: Examples, translated: Examples, translations: Sequence[Sequence[str]]
) -> tuple[list[Answers], Counter[str]]:
    """Return the separately translated answers found in their translated passages, and the number by step."""
    located: list[Answers] = []
    steps: Counter[str] = Counter()
    before = zip(originals["context"], originals["answer_starts"], strict=True)
    for context, (original, starts), answers in zip(translated["context"], before, translations, strict=True):
        # A translated answer is at about the same relative position as the original.
        stretch = len(context) / max(1, len(original))
        offsets = [round(start * stretch) for start in starts] + [0] * len(answers)
        places = [find_text(context, *answer) for answer in zip(answers, offsets, strict=False)]
        located.append([(context[slice(*place.span)], place.span[0]) for place in places if place])
        steps.update(place.step if place else LOST for place in places)
    return located, steps


def with_answers(examples: Examples, located: Sequence[Answers]) -> Examples:
    """Return the questions with answers found in their passages, with a note on how many were dropped."""
    rows = [row for row, answers in enumerate(located) if answers]
    answered = examples.keep(rows)
    answered.columns["answers"] = [[text for text, _ in located[row]] for row in rows]
    answered.columns["answer_starts"] = [[start for _, start in located[row]] for row in rows]
    if lost := len(examples) - len(rows):
        note = f"{lost:,} of {len(examples):,} questions dropped: the answer is not in the passage"
        answered.notes = [*answered.notes, note]
    return answered


def steps_note(steps: Mapping[str, int], what: str) -> str:
    """Return a note on a projection, "" if nothing was projected."""
    total = sum(steps.values())
    return steps_text(steps, total, what) if total else ""
