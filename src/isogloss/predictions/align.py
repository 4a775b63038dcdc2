"""Put answers in the order of the examples: matched by id, never by position."""

from functools import partial

from isogloss.predictions.formats import Answers
from isogloss.predictions.problems import LISTED, Problem, ProblemCode
from isogloss.tasks.examples import REST, Examples
from isogloss.tasks.kinds import Kind, Values, kind_of
from isogloss.tasks.task import Task


def align(task: Task, examples: Examples, answers: Answers) -> tuple[Values, list[Problem]]:
    """Put answers in the order of the examples, by id.

    Returns:
        One answer per example, None where it is missing; and all problems of the answers.
    """
    kind = kind_of(task)
    if REST in examples.ids:
        answers = _merge_unnamed(examples, answers)
    first_row, duplicates = first_rows(answers)
    problems = [*answers.problems, *duplicates]
    rows = [first_row.get(identifier, -1) for identifier in examples.ids]
    values = [answers.values[row] if row >= 0 else None for row in rows]
    problem = partial(Problem, task=task.id, language=examples.language, total=len(examples), file=str(answers.path))
    missing = [identifier for identifier, row in zip(examples.ids, rows, strict=True) if row < 0]
    # In mining most sentences have no translation, so a source may be left out, but not every source.
    if missing and not (kind.silence_is_answer and answers.ids):
        warning = kind.lenient and len(missing) < len(examples)
        ids = tuple(missing[:LISTED])
        problems.append(problem(code=ProblemCode.UNANSWERED, ids=ids, count=len(missing), warning=warning))
    problems += _unknown_ids(examples, answers, first_row, kind)
    if all(problem.warning for problem in answers.problems):
        code = ProblemCode.INVALID_ANSWER
        for check, warning in ((kind.errors, False), (kind.warnings, True)):
            for index, what, fix in check(task, examples, values):
                cell = {"task": task.id, "language": examples.language, "ids": (examples.ids[index],)}
                problems.append(answers.problem(code, rows[index], **cell, detail=what, advice=fix, warning=warning))
    null = sum(row >= 0 and answers.values[row] is None for row in rows)
    if null:
        problems.append(problem(code=ProblemCode.NULL_ANSWERS, count=null, warning=True))
    return values, problems


def _unknown_ids(examples: Examples, answers: Answers, rows: dict[str, int], kind: Kind) -> list[Problem]:
    known_ids = set(examples.split_ids or examples.ids)
    extra = [identifier for identifier in rows if identifier not in known_ids]
    if not extra:
        return []
    return [
        answers.problem(
            ProblemCode.UNKNOWN_IDS,
            rows[extra[0]],
            task=examples.task,
            language=examples.language,
            split=examples.split,
            ids=tuple(extra[:LISTED]),
            count=len(extra),
            total=len(rows),
            # If no id matches, the file belongs to another language or split, and a score of 0 would mislead.
            # In mining an unknown source makes a wrong pair, which must count.
            warning=kind.lenient and len(extra) < len(rows) and not kind.silence_is_answer,
        )
    ]


def aligned_confidences(examples: Examples, answers: Answers) -> list[float | None] | None:
    """Return the confidence of each answer, None where it is missing; None if the file has no confidences."""
    if answers.confidences is None:
        return None
    rows, _ = first_rows(answers)
    return [answers.confidences[rows[name]] if name in rows else None for name in examples.ids]


def _merge_unnamed(examples: Examples, answers: Answers) -> Answers:
    """Merge the pairs of all sources that gold does not name into one answer to `REST`."""
    named = set(examples.ids)
    merged = Answers(answers.path, problems=answers.problems)
    unnamed: list[str] = []
    for identifier, value, number in zip(answers.ids, answers.values, answers.numbers, strict=True):
        if identifier in named:
            merged.add(identifier, value, number)
        else:
            unnamed += [f"{identifier} {item}" for item in value or ()]
    if unnamed:
        merged.add(REST, unnamed)
    return merged


def first_rows(answers: Answers) -> tuple[dict[str, int], list[Problem]]:
    """Return the first row of every id, and a problem for each repetition."""
    rows: dict[str, int] = {}
    problems: list[Problem] = []
    code = ProblemCode.DUPLICATE_ID
    for row, identifier in enumerate(answers.ids):
        first = rows.setdefault(identifier, row)
        if first != row:
            problems.append(answers.problem(code, row, ids=(identifier,), detail=answers.where(first)))
    return rows, problems


def unanswered_share(problems: list[Problem], total: int) -> float:
    """Return the share of examples without an answer, 0..1: missing or null."""
    unanswered = (ProblemCode.UNANSWERED, ProblemCode.NULL_ANSWERS)
    return sum(problem.count for problem in problems if problem.code in unanswered) / total if total else 0.0
