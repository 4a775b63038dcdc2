"""Answers in the order of the examples: matched by id, never by position; what does not fit is a problem."""

import re
from collections.abc import Iterable

from isogloss.predictions.formats import Answers
from isogloss.predictions.problems import Problem
from isogloss.tasks.examples import REST, Examples
from isogloss.tasks.kinds import Kind, Values, kind_of
from isogloss.tasks.task import Task

# One message is enough where a whole file is off; validate shows this many examples of a kind.
LISTED = 5


def align(task: Task, examples: Examples, answers: Answers) -> tuple[Values, list[Problem]]:
    """Put answers in the order of the examples, by id.

    Returns:
        An answer for each example, None where there is none; and all that is wrong with them.
    """
    kind = kind_of(task)
    if REST in examples.ids:
        answers = _merge_unnamed(examples, answers)
    rows, twice = first_rows(answers)
    problems = [*answers.problems, *twice]
    places = [rows.get(identifier, -1) for identifier in examples.ids]
    values = [answers.values[place] if place >= 0 else None for place in places]
    problems += _missing(task, examples, answers, places, kind)
    problems += _extra(task, examples, answers, rows, kind)
    if all(problem.warning for problem in answers.problems):
        for check, warning in ((kind.errors, False), (kind.warnings, True)):
            for row, what, fix in check(task, examples, values):
                where = f"{answers.where(places[row])} ({task.id}/{examples.language}/{examples.ids[row]})"
                problems.append(Problem(where, what, fix, warning=warning))
    return values, [*problems, *_abstained(task, examples, answers, places)]


def aligned_confidences(examples: Examples, answers: Answers) -> list[float | None] | None:
    """How sure the system was of its answer to each example, None where it does not say; None where it never does."""
    if answers.confidences is None:
        return None
    rows, _ = first_rows(answers)
    return [answers.confidences[rows[name]] if name in rows else None for name in examples.ids]


def _merge_unnamed(examples: Examples, answers: Answers) -> Answers:
    """The same pairs, with those of all sources that gold does not name as the one answer of `REST`."""
    known = set(examples.ids)
    merged = Answers(answers.path, problems=answers.problems)
    unnamed: list[str] = []
    for identifier, value, number in zip(answers.ids, answers.values, answers.numbers, strict=True):
        if identifier in known:
            merged.add(identifier, value, number)
        else:
            unnamed += [f"{identifier} {item}" for item in value or ()]
    if unnamed:
        merged.add(REST, unnamed)
    return merged


def first_rows(answers: Answers) -> tuple[dict[str, int], list[Problem]]:
    """The first row of every id, and a problem for each further one."""
    rows: dict[str, int] = {}
    problems: list[Problem] = []
    for row, identifier in enumerate(answers.ids):
        first = rows.setdefault(identifier, row)
        if first != row:
            what = f"id {identifier!r} occurs twice, first at {answers.where(first)}"
            problems.append(Problem(answers.where(row), what, "Answer every example once"))
    return rows, problems


def _missing(task: Task, examples: Examples, answers: Answers, places: list[int], kind: Kind) -> list[Problem]:
    missing = [examples.ids[row] for row, place in enumerate(places) if place < 0]
    # In mining most sentences have no translation: saying nothing about one is an answer, but not about all.
    if not missing or (kind.silence_is_answer and answers.ids):
        return []
    named = ", ".join(missing[:LISTED]) + (", …" if len(missing) > LISTED else "")
    what = f"no answer for {len(missing)} of {len(examples)} examples: {named}"
    harmless = kind.lenient and len(missing) < len(examples)
    fix = "They count as wrong" if harmless else f"Answer every id of isogloss export {task.id}; null abstains"
    return [Problem(f"{answers.path} ({task.id}/{examples.language})", what, fix, warning=harmless)]


def _abstained(task: Task, examples: Examples, answers: Answers, places: list[int]) -> list[Problem]:
    count = sum(place >= 0 and answers.values[place] is None for place in places)
    if not count:
        return []
    what = f"{count} of {len(examples)} answers {'is' if count == 1 else 'are'} null"
    return [Problem(f"{answers.path} ({task.id}/{examples.language})", what, "They count as wrong", warning=True)]


# What the two functions above say.
_UNANSWERED = tuple(
    map(re.compile, (r"no answer for (\d+) of (\d+) examples", r"(\d+) of (\d+) answers (?:is|are) null"))
)


def unanswered_share(notes: Iterable[str]) -> float:
    """The share of a cell's examples that were not answered, 0..1, by the notes of its score.

    Of several seeds the one counts that left most unanswered.
    """
    given = list(notes)
    found = [[match for note in given if (match := pattern.match(note))] for pattern in _UNANSWERED]
    return min(1.0, sum(max((int(each[1]) / int(each[2]) for each in of), default=0.0) for of in found))


def _extra(task: Task, examples: Examples, answers: Answers, rows: dict[str, int], kind: Kind) -> list[Problem]:
    known = set(examples.split_ids or examples.ids)
    extra = [identifier for identifier in rows if identifier not in known]
    if not extra:
        return []
    named = ", ".join(repr(identifier) for identifier in extra[:LISTED]) + (", …" if len(extra) > LISTED else "")
    count = "1 id is" if len(extra) == 1 else f"{len(extra)} ids are"
    what = f"{count} not of {task.id}/{examples.language} {examples.split}: {named}"
    # Where nothing at all fits, the file is another language's or split's, and a zero would be a lie.
    # In mining a further source is no slip of the pen, but a pair that must count as a wrong one: not to be ignored.
    harmless = kind.lenient and len(extra) < len(rows) and not kind.silence_is_answer
    fix = "They are ignored" if harmless else "Is this the right language and split?"
    return [Problem(answers.where(rows[extra[0]]), what, fix, warning=harmless)]
