"""A result record in a line, and the error for scores that it does not have."""

from typing import TYPE_CHECKING

from isogloss.errors import UnknownNameError, near_names
from isogloss.escaping import NAME_LENGTH, printable
from isogloss.figures import counted, score_text

if TYPE_CHECKING:
    from isogloss.scoring.results import Results


class NoScoreError(UnknownNameError, KeyError):
    """A score that a result record does not have."""


def line_of(record: "Results") -> str:
    """Return the system, the suite and the most general score; scores of 0 because all answers are missing say so."""
    name = printable(str(record.system.get("name", "")), NAME_LENGTH)
    if (top := record.shown_overall) is not None:
        scored = score_text(top.value) + "*" * record.overall.partial
    elif record.is_one_cell():
        [average] = (average for average in record.tasks if average.members)
        scored = f"{average.name}/{average.members[0]} {score_text(average.score.value)}"
    else:
        scored = f"no overall, {counted(len(record.tasks), 'task')}"
    silent = sum(cell.unanswered == 1 for cell in record.cells)
    warned = f"; no answers in {silent:,} of {counted(len(record.cells), 'cell')}" if silent else ""
    return f"<Results: {name} on {record.suite} ({record.split}): {scored}{warned}>"


def no_score(record: "Results", key: object) -> NoScoreError:
    """Return the error for a key, of a task or of a task and a language, with the nearest ones of the record."""
    languages: dict[str, list[str]] = {}
    for cell in record.cells:
        languages.setdefault(cell.task, []).append(cell.language)
    task, *rest = key if isinstance(key, tuple) else (key,)
    if task in languages and len(rest) == 1:
        what = f"no score of {task}/{rest[0]}"
        return NoScoreError(what, fix=f"{task} is scored in {', '.join(languages[task])}")
    if isinstance(task, str) and len(rest) < 2:
        close = near_names(task, languages)
        fix = f"Did you mean {' or '.join(close)}?" if close else f"Scored: {', '.join(languages)}"
        return NoScoreError(f"no score of {task}", fix=fix)
    return NoScoreError(f"{key!r} is neither a task nor a task and a language", fix='Write results["xquad", "sw"]')
