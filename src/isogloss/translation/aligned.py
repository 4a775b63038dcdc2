"""Answers in translated passages: where they are, and which questions are left."""

from collections.abc import Sequence

from isogloss.tasks.examples import Examples

# Answers to one question, each with where in the passage it begins, or should.
Answers = list[tuple[str, int]]


def located(context: str, answers: Answers) -> Answers:
    """The answers that are in a passage, as it spells them, each at the place nearest to where it should be."""
    found = []
    for text, place in answers:
        start, length = _nearest(context, text.strip().rstrip("."), place)
        if start >= 0:
            found.append((context[start : start + length], start))
    return found


def with_answers(examples: Examples, found: Sequence[Answers]) -> Examples:
    """Questions with the answers that were found in their passages; those without any are left out, and counted."""
    rows = [row for row, answers in enumerate(found) if answers]
    kept = examples.keep(rows)
    kept.columns["answers"] = [[text for text, _ in found[row]] for row in rows]
    kept.columns["answer_starts"] = [[start for _, start in found[row]] for row in rows]
    if lost := len(examples) - len(rows):
        kept.notes = [
            *kept.notes,
            f"{lost:,} of {len(examples):,} questions left out: the answer is not in the passage",
        ]
    return kept


def _nearest(context: str, text: str, place: int) -> tuple[int, int]:
    """Where a text begins in a passage, best in the same case, and its length; -1 where it does not occur."""
    small = context.lower()
    # Lower case may be longer than the original, and then its offsets do not fit.
    for passage, wanted in ((context, text), (small if len(small) == len(context) else "", text.lower())):
        if wanted and (starts := _occurrences(passage, wanted)):
            return min(starts, key=lambda start: abs(start - place)), len(wanted)
    return -1, 0


def _occurrences(passage: str, text: str) -> list[int]:
    starts = []
    start = passage.find(text)
    while start >= 0:
        starts.append(start)
        start = passage.find(text, start + 1)
    return starts
