"""Requirements on every call: a result or a clear error, fast, in little memory, without leftovers.

An error is an `IsoglossError`, or an exit code of 1 or 2 with a short, printable message without a traceback.
Everything else is a `FaultError`.
"""

import io
import json
import math
import re
import resource
import signal
import traceback
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from isogloss.cli.main import main
from isogloss.errors import IsoglossError

# Maximum seconds per call; generous, because the machine may be busy.
SECONDS = 10
# Maximum bytes that a call may add to the process's memory, and to its address space.
MEMORY = 1 << 30
ADDRESS_SPACE = 4 << 30
# Maximum characters of a message, and of printed tables.
MESSAGE = 20_000
SCREEN = 1_000_000

_UNFINISHED = re.compile(r"^\..*\.(part|claim)$|\.lock(\.|$)|^tmp")


class FaultError(AssertionError):
    """A fault that no input may cause; `where` distinguishes causes."""

    def __init__(self, kind: str, what: str, where: str = "") -> None:
        super().__init__(f"{kind}: {what}" + (f" [{where}]" if where else ""))
        self.cause = f"{kind} {where or what[:60]}"


class _OverrunError(BaseException):
    """Time limit exceeded; not an `Exception`, so that handlers do not catch it."""


@dataclass(frozen=True)
class Outcome:
    """Outcome of a call: its result or output, or its error."""

    refused: bool
    value: Any = None
    text: str = ""


def attempt(call: Callable[[], Any], *, seconds: float = SECONDS, limited: bool = True) -> Outcome:
    """Call a function; `limited=False` is for browser engines, which reserve terabytes of address space."""
    try:
        with _memory_watched(limited), _alarm(seconds):
            value = call()
    except IsoglossError as error:
        text = str(error)
        check_length(text, MESSAGE)
        return Outcome(refused=True, text=text)
    except _OverrunError as error:
        raise FaultError("hang", f"more than {seconds} seconds", _place(error)) from None
    except MemoryError as error:
        raise FaultError("memory", "MemoryError", _place(error)) from None
    except (Exception, SystemExit) as error:
        raise FaultError("crash", _last_line(error), _place(error)) from error
    return Outcome(refused=False, value=value)


def command(*words: object, seconds: float = SECONDS, limited: bool = True) -> Outcome:
    """Run a command line in this process; `value` is its exit code."""
    out, err = io.StringIO(), io.StringIO()

    def call() -> int:
        with redirect_stdout(out), redirect_stderr(err):
            try:
                main([str(word) for word in words])
            except SystemExit as ended:
                return ended.code if isinstance(ended.code, int) else 1
        return 0

    code = attempt(call, seconds=seconds, limited=limited).value
    if code not in (0, 1, 2):
        raise FaultError("exit code", str(code), f"isogloss {words[0] if words else ''}")
    for text, most in ((out.getvalue(), SCREEN), (err.getvalue(), MESSAGE)):
        check_length(text, most)
        check_printable(text, f"printed by isogloss {words[0] if words else ''}")
    if code and not (out.getvalue() + err.getvalue()).strip():
        raise FaultError("silence", f"exit code {code} without a word", f"isogloss {words[0] if words else ''}")
    return Outcome(refused=bool(code), value=code, text=out.getvalue() + err.getvalue())


def check_length(text: str, most: int) -> None:
    """Check that a message is short and not a traceback."""
    if len(text) > most:
        raise FaultError("length", f"{len(text)} characters: {text[:80]!r} …", _shape(text))
    if "Traceback (most recent call last)" in text:
        raise FaultError("traceback", text[-300:], _shape(text))


def check_printable(text: str, where: str) -> None:
    """Check that a text has no control characters or direction overrides."""
    for character in sorted(set(text) - {"\n", "\t"}):
        if unicodedata.category(character) == "Cc" or character in "\u202d\u202e":
            place = text.index(character)
            raise FaultError(
                "control character", f"U+{ord(character):04X} in {text[max(0, place - 60) : place + 20]!r}", where
            )


def unfinished(folder: Path) -> set[str]:
    """Return files that only a running process may have: unfinished writes, claims and locks."""
    found = (path for path in folder.rglob("*") if _UNFINISHED.search(path.name))
    return {str(path.relative_to(folder)) for path in found}


def check_tidy(folder: Path, before: set[str]) -> None:
    """Check that no unfinished files are left."""
    if left := unfinished(folder) - before:
        raise FaultError("leftover", ", ".join(sorted(left))[:200], "left behind")


def check_scores(record: Any) -> None:
    """Check that every score of a result record is from 0 to 100 and inside its interval."""
    for cell in record["cells"]:
        for name, number in cell["metrics"].items():
            values = [number[key] for key in ("value", "low", "high") if number[key] is not None]
            if not all(
                isinstance(value, int | float) and math.isfinite(value) and -1e-9 <= value <= 100 + 1e-9
                for value in values
            ):
                raise FaultError("score", f"{cell['task']}/{cell['language']} {name}: {number}", "no score")


def numbers(record: Any) -> dict[str, Any]:
    """Return the numbers of all cells of a result record, for comparisons."""
    return {f"{cell['task']}/{cell['language']}": cell["metrics"] for cell in record["cells"]}


def read_json(path: Path) -> Any:
    """Read a written JSON file, which must be strictly valid."""

    def refuse(word: str) -> Any:
        raise FaultError("output", f"{word} in {path.name} is not JSON", "written JSON")

    return json.loads(path.read_text(encoding="utf-8"), parse_constant=refuse)


@contextmanager
def _alarm(seconds: float) -> Iterator[None]:
    def ring(*_: object) -> None:
        raise _OverrunError

    before = signal.signal(signal.SIGALRM, ring)
    # Repeatedly: the first may be lost in code that cannot raise.
    signal.setitimer(signal.ITIMER_REAL, seconds, 1.0)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@contextmanager
def _memory_watched(limited: bool) -> Iterator[None]:
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    before = _status("VmSize"), _status("VmRSS")
    if limited and before[0]:
        resource.setrlimit(resource.RLIMIT_AS, (before[0] + ADDRESS_SPACE, hard))
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
    grown = _status("VmHWM") - before[1]
    if grown > MEMORY:
        raise FaultError("memory", f"{grown >> 20} MiB", "more than a gigabyte")


def _status(name: str) -> int:
    """Return a value of /proc/self/status in bytes, 0 if the system has none."""
    try:
        found = re.search(rf"^{name}:\s+(\d+) kB", Path("/proc/self/status").read_text(encoding="ascii"), re.MULTILINE)
    except OSError:
        return 0
    return int(found[1]) << 10 if found else 0


def _place(error: BaseException) -> str:
    """Return the innermost function of the package and the error, which identify the cause of a crash."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if "isogloss" in frame.filename]
    at = f"{Path(frames[-1].filename).name}:{frames[-1].lineno} {frames[-1].name}" if frames else "outside"
    return f"{type(error).__name__} at {at}"


def _last_line(error: BaseException) -> str:
    return traceback.format_exception_only(error)[-1].strip()[:300]


def _shape(text: str) -> str:
    """Return a message without the details of the case."""
    return re.sub(r"[^A-Za-z ]+", " ", text)[:60]
