"""Projection of answers onto translated passages."""

import re
from collections.abc import Iterator, Sequence

from isogloss.tasks.examples import Examples

# Answers to one question, each with its (expected) offset in the passage.
Answers = list[tuple[str, int]]

# Columns to project onto translated passages; the first holds texts, which are translated too.
PROJECTED = ("answers", "answer_starts")


def project_answers(
    originals: Examples, translated: Examples, translations: Sequence[Sequence[str]]
) -> Iterator[Answers]:
    """Yield the separately translated answers to each question that occur in its translated passage."""
    before = zip(originals["context"], originals["answer_starts"], strict=True)
    for context, (original, starts), answers in zip(translated["context"], before, translations, strict=True):
        # A translated answer is at about the same relative position as the original.
        stretch = len(context) / max(1, len(original))
        offsets = [round(start * stretch) for start in starts] + [0] * len(answers)
        yield find_answers(context, list(zip(answers, offsets, strict=False)))


def find_answers(context: str, answers: Answers) -> Answers:
    """Return the answers found in a passage, as spelled there, at the occurrence nearest to the expected offset."""
    lower, matches = context.lower(), []
    for answer, expected in answers:
        text = answer.strip().rstrip(".")
        # Preferably in the same case. Lower-casing may change the length, and then offsets do not match.
        for passage, wanted in ((context, text), (lower if len(lower) == len(context) else "", text.lower())):
            starts = [match.start() for match in re.finditer(f"(?={re.escape(wanted)})", passage)] if wanted else []
            if starts:
                start = min(starts, key=lambda start: abs(start - expected))
                matches.append((context[start : start + len(wanted)], start))
                break
    return matches


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
