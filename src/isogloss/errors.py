"""The errors of the package, all of one form: what is wrong, where, what to do.

Every error a user can cause is an `IsoglossError`; the command line prints it without a traceback.
"""

from collections.abc import Iterable
from difflib import get_close_matches

# Characters of each part of a message: what it quotes may be a whole file.
_LONGEST = {"where": 1_000, "what": 16_000, "fix": 2_000}


class IsoglossError(Exception):
    """A problem the user can solve: what is wrong, where, and what to do about it."""

    def __init__(self, what: str, *, where: str = "", fix: str = "") -> None:
        self.what = what
        self.where = where
        self.fix = fix
        super().__init__(what)

    def __str__(self) -> str:
        """`where: what. fix`, each part only where it is known, and at most so long."""
        where, what, fix = (
            text if len(text := getattr(self, part)) <= most else f"{text[:most]}…" for part, most in _LONGEST.items()
        )
        text = f"{where}: {what}" if where else what
        return f"{text}. {fix}" if fix else text


class UnknownNameError(IsoglossError):
    """A name that is in no registry; the message offers the nearest ones."""


class DataError(IsoglossError):
    """A dataset file that is missing, short, damaged or without gold."""


class PredictionError(IsoglossError):
    """Predictions that cannot be scored as they are."""


def near_names(name: str, known: Iterable[str], limit: int = 3) -> list[str]:
    """The names closest to a misspelt one, best first."""
    return get_close_matches(name.lower(), list(known), n=limit, cutoff=0.5)


def unknown(kind: str, name: str, known: Iterable[str], *, where: str = "") -> UnknownNameError:
    """An error for a name that does not exist: nearest names, or the whole list if it is short."""
    names = sorted(known)
    close = near_names(name, names)
    if close:
        fix = f"Did you mean {' or '.join(close)}?"
    elif len(names) <= 60:
        fix = f"Known: {', '.join(names)}"
    else:
        fix = f"There are {len(names)} {kind}s to choose from"
    return UnknownNameError(f"unknown {kind} {name!r}", where=where, fix=fix)
