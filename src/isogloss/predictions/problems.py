"""What is wrong with predictions: every problem is collected, none is hidden behind the first."""

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from isogloss.errors import PredictionError

SHOWN = 12
# Characters of each part of a message: an answer that it quotes may be a whole file.
LONGEST = 600


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong: where (file:line, or task/language/id), what, what to do.

    A warning does not keep the predictions from being scored; the reference scorers pass over it too.
    """

    where: str
    what: str
    fix: str = ""
    warning: bool = False

    def __str__(self) -> str:
        where, what, fix = (
            part if len(part) <= LONGEST else f"{part[:LONGEST]}…" for part in (self.where, self.what, self.fix)
        )
        return f"{where}: {what}. {fix}" if fix else f"{where}: {what}"


class LeftOut(msgspec.Struct, frozen=True):
    """Answers that are in no score, and why: of a cell whose gold cannot be used, or of a misnamed file or folder.

    Attributes:
        reason: why.
        fix: what to do about it.
        task: of a cell; "" for a misnamed file or folder, as the next two are.
        language: of a cell.
        split: of a cell.
        path: the gold file where that is known, or what is misnamed.
    """

    reason: str
    fix: str = ""
    task: str = ""
    language: str = ""
    split: str = ""
    path: str = ""

    def __str__(self) -> str:
        return f"left out: {self.problem}"

    @property
    def problem(self) -> Problem:
        """The same as a problem, for those who want it all scored."""
        cell = f"{self.task}/{self.language} {self.split}" if self.task else ""
        return Problem(": ".join(part for part in (cell, self.path) if part), self.reason, self.fix)


def number_of(count: int, noun: str) -> str:
    """A count in words: `1 file`, `2 files`."""
    return f"{count} {noun}{'' if count == 1 else 's'}"


def refuse(problems: Sequence[Problem]) -> None:
    """Raise one error that shows the problems that keep predictions from being scored, if there are any."""
    # What is wrong with a file that several cells share is said once.
    errors = list(dict.fromkeys(problem for problem in problems if not problem.warning))
    if not errors:
        return
    shown = "\n".join(f"  {problem}" for problem in errors[:SHOWN])
    more = f"\n  … and {len(errors) - SHOWN} more" if len(errors) > SHOWN else ""
    tail = "isogloss validate lists all of them"
    raise PredictionError(
        f"the predictions cannot be scored: {number_of(len(errors), 'problem')}\n{shown}{more}\n{tail}"
    )
