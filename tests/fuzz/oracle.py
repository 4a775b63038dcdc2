"""What every call must satisfy, whatever it is given: an answer or a clear refusal, soon, in little memory, tidily.

A refusal is an `IsoglossError`, or an exit code of 1 or 2 with a message: short, without a traceback, without what a
terminal would obey. Everything else is a `FaultError`.
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

# Seconds a call may take; a busy machine is slow, a hang is for ever.
SECONDS = 10
# Bytes a call may add to the memory of the process, and to its address space.
MEMORY = 1 << 30
ADDRESS_SPACE = 4 << 30
# Characters a message may have, and a whole screen of tables.
MESSAGE = 20_000
SCREEN = 1_000_000

_UNFINISHED = re.compile(r"^\..*\.(part|claim)$|\.lock(\.|$)|^tmp")


class FaultError(AssertionError):
    """Something no input may cause; `where` tells faults of one cause from those of another."""

    def __init__(self, kind: str, what: str, where: str = "") -> None:
        super().__init__(f"{kind}: {what}" + (f" [{where}]" if where else ""))
        self.cause = f"{kind} {where or what[:60]}"


class _OverrunError(BaseException):
    """Time is up; no `except Exception` may take it for an ordinary error."""


@dataclass(frozen=True)
class Outcome:
    """How a call ended: what it gave or printed; refused where it said why not."""

    refused: bool
    value: Any = None
    text: str = ""


def attempt(call: Callable[[], Any], *, seconds: float = SECONDS, limited: bool = True) -> Outcome:
    """Call something; `limited=False` is for a browser's engine, which reserves terabytes of address space."""
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
    """A command line in this process; `value` is its exit code."""
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
    """A message is short, and no traceback."""
    if len(text) > most:
        raise FaultError("length", f"{len(text)} characters: {text[:80]!r} …", _shape(text))
    if "Traceback (most recent call last)" in text:
        raise FaultError("traceback", text[-300:], _shape(text))


def check_printable(text: str, where: str) -> None:
    """Nothing in it moves a cursor, rings, or turns the direction of writing."""
    for character in sorted(set(text) - {"\n", "\t"}):
        if unicodedata.category(character) == "Cc" or character in "\u202d\u202e":
            place = text.index(character)
            raise FaultError(
                "control character", f"U+{ord(character):04X} in {text[max(0, place - 60) : place + 20]!r}", where
            )


def unfinished(folder: Path) -> set[str]:
    """Files that only a process at work may have: of writes, claims and locks."""
    found = (path for path in folder.rglob("*") if _UNFINISHED.search(path.name))
    return {str(path.relative_to(folder)) for path in found}


def check_tidy(folder: Path, before: set[str]) -> None:
    """No call leaves unfinished files behind."""
    if left := unfinished(folder) - before:
        raise FaultError("leftover", ", ".join(sorted(left))[:200], "left behind")


def check_scores(record: Any) -> None:
    """Every score of a result record is a number from 0 to 100 with its interval around it."""
    for cell in record["cells"]:
        for name, number in cell["metrics"].items():
            values = [number[key] for key in ("value", "low", "high") if number[key] is not None]
            if not all(
                isinstance(value, int | float) and math.isfinite(value) and -1e-9 <= value <= 100 + 1e-9
                for value in values
            ):
                raise FaultError("score", f"{cell['task']}/{cell['language']} {name}: {number}", "no score")


def numbers(record: Any) -> dict[str, Any]:
    """All cells' numbers of a result record, for holding one against another."""
    return {f"{cell['task']}/{cell['language']}": cell["metrics"] for cell in record["cells"]}


def read_json(path: Path) -> Any:
    """A JSON file that was just written, which must be one in the strict sense."""

    def refuse(word: str) -> Any:
        raise FaultError("output", f"{word} in {path.name} is not JSON", "written JSON")

    return json.loads(path.read_text(encoding="utf-8"), parse_constant=refuse)


@contextmanager
def _alarm(seconds: float) -> Iterator[None]:
    def ring(*_: object) -> None:
        raise _OverrunError

    before = signal.signal(signal.SIGALRM, ring)
    # Again and again: the first may be lost in a place that cannot raise.
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
    """A line of /proc/self/status in bytes, 0 where the system has none."""
    try:
        found = re.search(rf"^{name}:\s+(\d+) kB", Path("/proc/self/status").read_text(encoding="ascii"), re.MULTILINE)
    except OSError:
        return 0
    return int(found[1]) << 10 if found else 0


def _place(error: BaseException) -> str:
    """The innermost function of the package, and the error: what two crashes of one cause have in common."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if "isogloss" in frame.filename]
    at = f"{Path(frames[-1].filename).name}:{frames[-1].lineno} {frames[-1].name}" if frames else "outside"
    return f"{type(error).__name__} at {at}"


def _last_line(error: BaseException) -> str:
    return traceback.format_exception_only(error)[-1].strip()[:300]


def _shape(text: str) -> str:
    """A message without what is particular to a case."""
    return re.sub(r"[^A-Za-z ]+", " ", text)[:60]
