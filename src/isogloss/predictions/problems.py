"""What is wrong with predictions: every problem is collected, none is hidden behind the first."""

from dataclasses import dataclass

from isogloss.errors import PredictionError

SHOWN = 12
# Characters of a message: an answer that it quotes may be a whole file.
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
        what = self.what if len(self.what) <= LONGEST else f"{self.what[:LONGEST]}…"
        text = f"{self.where}: {what}"
        return f"{text}. {self.fix}" if self.fix else text


def refuse(problems: list[Problem]) -> None:
    """Raise one error that shows the problems that keep predictions from being scored, if there are any."""
    errors = [problem for problem in problems if not problem.warning]
    if not errors:
        return
    shown = "\n".join(f"  {problem}" for problem in errors[:SHOWN])
    more = f"\n  … and {len(errors) - SHOWN} more" if len(errors) > SHOWN else ""
    count = "1 problem" if len(errors) == 1 else f"{len(errors)} problems"
    tail = "isogloss validate lists all of them"
    raise PredictionError(f"the predictions cannot be scored: {count}\n{shown}{more}\n{tail}")
