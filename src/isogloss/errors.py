"""The exceptions of the package.

IsoglossError             any failure the user can act on; the command line prints it without a traceback
├── UnknownNameError      an unknown name
├── DataError             a dataset file that cannot be used
│   ├── MissingDataError  the examples, split or translation are not available; nothing is broken
│   ├── NoGoldError       the examples are available, their gold labels are not
│   └── DamagedFileError  a file that cannot be decoded
└── PredictionError       predictions that cannot be scored

Packages add subclasses for failures that only they raise and handle:

- data: ChecksumError, HostError; checklist: OtherFormatError (all DataError)
- predictions: SubsetError (PredictionError)
- scoring: NoScoreError (UnknownNameError)
- endpoints: EndpointError, RequestError; prompts: MissingWordError, PromptRecipeError, NotPromptedError
- board: BoardError, StateError; PepperError (DataError); ArchiveError, FormError, QuotaError, UploadLimitError
  (PredictionError)
- training: TrainingError, RecipeError; systems: SystemFailureError; grammar: GrammarError; analysis: AnalysisError
- translation: GarbageTranslationError
- runs: NotAvailableError, TimeLimitError, SlurmSilentError, LockLostError; workers: WorkerDiedError, ClusterGoneError
- plugins: PluginError; translation: UntranslatedError
"""

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import Any

# Maximum characters of each part of a message: it may quote a whole file.
_LONGEST = {"where": 1_000, "what": 16_000, "fix": 2_000}


class IsoglossError(Exception):
    """A failure the user can act on: what is wrong, where, and how to fix it.

    `cause` is the failure without the names of its task and language, by which equal failures are counted; "" if
    unknown.
    """

    def __init__(self, what: str, *, where: str = "", fix: str = "", cause: str = "") -> None:
        self.what = what
        self.where = where
        self.fix = fix
        self.cause = cause
        super().__init__(what)

    def __str__(self) -> str:
        """Return `where: what. fix`, without empty parts and with long parts cut."""
        where, what, fix = (
            text if len(text := getattr(self, part)) <= most else f"{text[:most]}…" for part, most in _LONGEST.items()
        )
        text = f"{where}: {what}" if where else what
        return f"{text}. {fix}" if fix else text


class UnknownNameError(IsoglossError):
    """An unknown name; the message suggests the nearest ones."""


class DataError(IsoglossError):
    """A dataset file that is missing, incomplete, damaged or without gold."""


class MissingDataError(DataError):
    """Examples, a split or a translation that is not available, although nothing is broken."""


class NoGoldError(DataError):
    """Examples without usable gold labels."""


class DamagedFileError(DataError):
    """A file that cannot be decoded as text, JSON, TOML or an array."""


class PredictionError(IsoglossError):
    """Predictions that cannot be scored."""


def near_names(name: str, known: Iterable[str], limit: int = 3, cutoff: float = 0.5) -> list[str]:
    """Return the names closest to a misspelt one, best first."""
    return get_close_matches(name.lower(), list(known), n=limit, cutoff=cutoff)


def unknown(
    kind: str, name: object, known: Iterable[str], *, where: str = "", close: Sequence[str] | None = None
) -> UnknownNameError:
    """Return an error that suggests the nearest names (or `close`), or lists all names if they are few.

    In Python, the name may be anything: an object with an id, such as a task, is to be passed by its id.
    """
    if not isinstance(name, str):
        identifier = getattr(name, "id", None)
        fix = f"Pass {identifier!r}" if isinstance(identifier, str) else ""
        article = "an" if kind[0] in "aeio" else "a"
        return UnknownNameError(
            f"expected the name of {article} {kind}, got {type(name).__name__}", where=where, fix=fix
        )
    names = sorted(known)
    close = near_names(name, names) if close is None else close
    if close:
        fix = f"Did you mean {' or '.join(close)}?"
    elif len(names) <= 60:
        fix = f"Known: {', '.join(names)}"
    else:
        fix = f"There are {len(names)} {kind}s to choose from"
    return UnknownNameError(f"unknown {kind} {name!r}", where=where, fix=fix)


def named(kind: str, given: Any) -> list[str] | None:
    """Return the names in an argument, one or several, as a list; None for all.

    Raises:
        UnknownNameError: no name, or something else, such as tasks instead of their names.
    """
    if given is None:
        return None
    names = list(given) if isinstance(given, Iterable) and not isinstance(given, str) else [given]
    if not names:
        raise UnknownNameError(f"no {kind} is named", fix=f"Name at least one {kind}, or pass None for all")
    for name in names:
        if not isinstance(name, str):
            raise unknown(kind, name, ())
    return names


def check_count(name: str, value: Any, least: int) -> None:
    """Raise an IsoglossError if an argument is not a whole number of at least `least`, of Python or NumPy."""
    if not hasattr(value, "__index__") or value < least:
        raise IsoglossError(f"{name} must be a whole number of at least {least}, got {value!r}")


def check_number(name: str, value: object) -> None:
    """Raise an IsoglossError if an argument is not a number, of Python or NumPy."""
    if not hasattr(value, "__float__"):
        raise IsoglossError(f"{name} must be a number, got {value!r}")
