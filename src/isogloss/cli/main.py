"""The command `isogloss`: a verb is imported only when it is called, so that help and listing are instant."""

import io
import os
import signal
import sys
import warnings
from contextlib import suppress
from importlib import import_module
from typing import Any

from isogloss.errors import IsoglossError, UnknownNameError, unknown
from isogloss.escaping import printable
from isogloss.version import __version__

# Verb: its module, and what it does in one line.
VERBS = {
    "list": ("listing", "Show the tasks, languages, suites, metrics and systems there are."),
    "fetch": ("fetch", "Download datasets, checked and resumable; show what is here."),
    "export": ("export", "Write the inputs of a task with the ids to answer."),
    "import": ("importing", "Turn other tools' output files into a prediction folder."),
    "validate": ("validate", "Find every problem of a prediction folder at once."),
    "score": ("score", "Score a prediction folder: every number, with intervals."),
    "compare": ("compare", "Tell two or more systems apart, or say that nobody can."),
    "explain": ("explain", "Show where a system fails, where two differ, what the data are like."),
    "analyze": ("analyze", "Ask what holds across languages: gaps, families, rankings, …"),
    "select": ("select", "Find out which dev set should choose the checkpoint."),
    "report": ("report", "Make one page that shows everything, offline; tables and charts too."),
    "board": ("board", "The leaderboard: build it, serve it, submit to it, keep it."),
    "predict": ("predict", "Have a system answer one task in one language."),
    "run": ("run", "Fill a grid: a system on tasks, languages and seeds; resumable."),
    "train": ("train", "Fine-tune a model, under any regime; see it in every language."),
    "search": ("search", "Find the nearest vectors among many, exactly, over many workers."),
    "translate": ("translate", "Have data translated, for the regimes that need it."),
    "checklist": ("checklist", "Template tests of simple things: build, audit, show."),
    "demo": ("demo", "See it all work: the floor baseline on a made-up suite, offline."),
}

# Verbs that a broken pipe or connection must not end without a word: they talk to servers and to other processes, and
# their work goes on although nobody reads its progress.
UNBROKEN = frozenset({"fetch", "run", "train", "predict", "search", "translate", "demo", "board"})

_HELP = """Usage: isogloss VERB [OPTIONS] …

  Find out, honestly and fast, where a multilingual model stops working.

Verbs:
{verbs}

  isogloss VERB --help explains a verb, with examples.  --version prints the version.

Start with:
  isogloss list tasks
  isogloss export xquad --languages en,sw --data DATA --out inputs
  isogloss score my-predictions --data DATA

Exit codes: 0 all well; 1 problems in predictions or data; 2 wrong usage; 130 interrupted.
"""


def main(arguments: list[str] | None = None) -> None:
    """Run a command line; problems a user can solve end in one line, not in a traceback."""
    words = sys.argv[1:] if arguments is None else arguments
    if arguments is None:
        _configure_streams(words)
        # One line to a user; where in our code it arose is of no interest.
        warnings.formatwarning = lambda message, *_: f"warning: {printable(str(message), lines=True)}\n"
    try:
        try:
            sys.exit(_run(words))
        finally:
            sys.stdout.flush()  # or what cannot be written would be noticed by nobody but Python's last breath
    except UnknownNameError as error:
        _print_error(str(error))
        sys.exit(2)
    except IsoglossError as error:
        _print_error(str(error))
        sys.exit(1)
    except KeyboardInterrupt:
        _print_error("interrupted")
        sys.exit(130)
    except OSError as error:
        _print_error(f"{error.filename or 'output'}: {error.strerror or error}")
        if arguments is None:
            _discard_output()
        sys.exit(1)


def _configure_streams(words: list[str]) -> None:
    """A terminal that cannot show a letter gets a question mark, and a closed pipe ends the program quietly."""
    unbroken = bool(UNBROKEN.intersection(words[:1]))
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:  # closed before we began
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_WRONLY), "w"))
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
            if unbroken:
                setattr(sys, name, _unbroken(stream))
    if hasattr(signal, "SIGPIPE") and not unbroken:
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)


def _discard_output() -> None:
    """Send nowhere what is still waiting to be printed, or Python would try again and fail with a traceback."""
    with suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


class _UnbrokenOutput(io.FileIO):
    """Output that goes nowhere once nobody reads it any more."""

    def write(self, data: Any) -> int:
        try:
            return super().write(data) or 0
        except BrokenPipeError:
            return len(data)


def _unbroken(stream: io.TextIOWrapper) -> io.TextIOWrapper:
    raw = _UnbrokenOutput(stream.fileno(), "w", closefd=False)
    buffer: Any = raw if stream.write_through else io.BufferedWriter(raw)
    lines, through = stream.line_buffering, stream.write_through
    return io.TextIOWrapper(buffer, stream.encoding, "replace", line_buffering=lines, write_through=through)


def _run(words: list[str]) -> int:
    if not words or words[0] in ("--help", "-h", "help"):
        verbs = "\n".join(f"  {name:10}{line}" for name, (_, line) in VERBS.items())
        sys.stdout.write(_HELP.format(verbs=verbs))
        return 0 if words else 2
    if words[0] == "--version":
        sys.stdout.write(f"isogloss {__version__}\n")
        return 0
    if words[0] not in VERBS:
        _print_error(str(unknown("verb", words[0], VERBS)))
        return 2
    from typer import Abort, BadParameter
    from typer.main import get_command

    command = get_command(import_module(f"isogloss.cli.{VERBS[words[0]][0]}").app)
    usage_error: Any = BadParameter.__base__  # of every wrong usage; which module has it depends on typer's version
    try:
        code = command.main(args=words[1:], prog_name=f"isogloss {words[0]}", standalone_mode=False)
    except usage_error as error:
        from typer.rich_utils import rich_format_error

        error.message = printable(error.message or "")
        rich_format_error(error)
        return int(error.exit_code)
    except Abort:  # the input has ended before a question was answered
        _print_error("aborted")
        return 1
    return code if isinstance(code, int) else 0


def _print_error(text: str) -> None:
    """To the error stream; names of files, and what servers say, are part of messages and may be anything."""
    red, plain = ("\033[1;31m", "\033[0m") if sys.stderr.isatty() and "NO_COLOR" not in os.environ else ("", "")
    sys.stderr.write(f"{red}error:{plain} {printable(text, lines=True)}\n")
