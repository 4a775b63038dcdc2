"""Answers in translated passages: where they are, and which questions are left."""

from collections.abc import Iterator, Sequence

from isogloss.tasks.examples import Examples

# Answers to one question, each with where in the passage it begins, or should.
Answers = list[tuple[str, int]]

# The columns that are found again in translated passages; the first has texts, which are translated too.
PROJECTED = ("answers", "answer_starts")


def project_answers(
    originals: Examples, translated: Examples, translations: Sequence[Sequence[str]]
) -> Iterator[Answers]:
    """The answers to each question, translated by themselves, that are in its translated passage."""
    before = zip(originals["context"], originals["answer_starts"], strict=True)
    for context, (original, starts), answers in zip(translated["context"], before, translations, strict=True):
        # A translated answer is about as far into its passage as the original.
        stretch = len(context) / max(1, len(original))
        places = [round(start * stretch) for start in starts] + [0] * len(answers)
        yield find_answers(context, list(zip(answers, places, strict=False)))


def find_answers(context: str, answers: Answers) -> Answers:
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
        note = f"{lost:,} of {len(examples):,} questions left out: the answer is not in the passage"
        kept.notes = [*kept.notes, note]
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
