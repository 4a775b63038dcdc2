"""The command `isogloss`. Verbs are imported only when called, to keep help and listing fast."""

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

# Verb: its module and a one-line description.
VERBS = {
    "list": ("listing", "List tasks, languages, suites, metrics, systems or analyses."),
    "fetch": ("fetch", "Download and verify datasets; show which are present."),
    "task": ("task", "Write a task file for your own data; check the files of a task."),
    "export": ("export", "Write a task's inputs with the ids to answer."),
    "import": ("importing", "Convert other tools' output into a prediction folder."),
    "validate": ("validate", "Report every problem in a prediction folder."),
    "score": ("score", "Score predictions, with confidence intervals."),
    "compare": ("compare", "Test whether systems differ significantly."),
    "plan": ("plan", "Plan a comparison: examples, languages, seeds and prompts it needs."),
    "explain": ("explain", "Show where a system fails and where systems differ; describe the data."),
    "analyze": ("analyze", "Analyse results across languages: gaps, families, rankings, …"),
    "select": ("select", "Compare rules for checkpoint selection."),
    "report": ("report", "Write one self-contained page with all results, tables and charts."),
    "board": ("board", "Build, serve and manage a leaderboard, or submit to one."),
    "predict": ("predict", "Run a system on one task and language."),
    "run": ("run", "Run a system on a grid of tasks, languages and seeds; resumable."),
    "train": ("train", "Fine-tune a model and evaluate it in every language."),
    "search": ("search", "Find exact nearest neighbours, distributed over many workers."),
    "llm": ("llm", "Prompt language models: requests, answers, probes, contamination."),
    "translate": ("translate", "Translate data for the translate-train and translate-test regimes."),
    "build": ("build", "Build Mewsli-X from public dumps."),
    "checklist": ("checklist", "Build, audit and review template tests of basic skills."),
    "demo": ("demo", "Run the baseline on a synthetic suite, offline."),
    "completion": ("completion", "Print the script that completes commands in bash, zsh or fish."),
}

# Verbs that keep working after a broken pipe: they talk to servers and other processes, and their work does not depend
# on a reader of their progress.
UNBROKEN = frozenset({"fetch", "run", "train", "predict", "search", "translate", "build", "llm", "demo", "board"})

_HELP = """Usage: isogloss VERB [OPTIONS] …

  Find out, honestly and fast, where a multilingual model stops working.

Verbs:
{verbs}

  isogloss VERB --help explains a verb, with examples. --version prints the version.

Start with:
  isogloss list tasks
  isogloss export xquad --languages en,sw --data DATA --out inputs
  isogloss score my-predictions --data DATA

Exit codes: 0 success; 1 problems in predictions or data; 2 wrong usage; 130 interrupted.
"""


def main(arguments: list[str] | None = None) -> None:
    """Run a command line; report problems that a user can solve in one line, without a traceback."""
    words = sys.argv[1:] if arguments is None else arguments
    if arguments is None and (shell := os.environ.get("_ISOGLOSS_COMPLETE")):
        from isogloss.cli.candidates import candidates

        sys.stdout.writelines(f"{candidate}\n" for candidate in candidates(words, VERBS, shell))
        return
    if arguments is None:
        _configure_streams(words)
        # Users need one line, not the source location.
        warnings.formatwarning = lambda message, *_: f"warning: {printable(str(message), lines=True)}\n"
    try:
        try:
            sys.exit(_run(words))
        finally:
            sys.stdout.flush()  # otherwise write errors surface only at exit
    except IsoglossError as error:
        _print_error(str(error))
        sys.exit(2 if isinstance(error, UnknownNameError) else 1)
    except KeyboardInterrupt:
        _print_error("interrupted")
        sys.exit(130)
    except OSError as error:
        _print_error(f"{error.filename or 'output'}: {error.strerror or error}")
        if arguments is None:
            # Python would retry pending output at exit and fail with a traceback.
            with suppress(OSError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)


def _configure_streams(words: list[str]) -> None:
    """Replace unprintable characters with question marks, and exit quietly on a closed pipe."""
    unbroken = bool(UNBROKEN.intersection(words[:1]))
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:  # closed by the caller
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_WRONLY), "w"))
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
            if unbroken:
                raw = _UnbrokenOutput(stream.fileno(), "w", closefd=False)
                buffer: Any = raw if stream.write_through else io.BufferedWriter(raw)
                output = io.TextIOWrapper(buffer, stream.encoding, "replace", write_through=stream.write_through)
                output.reconfigure(line_buffering=stream.line_buffering)
                setattr(sys, name, output)
    if hasattr(signal, "SIGPIPE") and not unbroken:
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)


class _UnbrokenOutput(io.FileIO):
    """Output that is discarded after the reader has closed the pipe."""

    def write(self, data: Any) -> int:
        try:
            return super().write(data) or 0
        except BrokenPipeError:
            return len(data)


def _run(words: list[str]) -> int:
    if not words or words[0] in ("--help", "-h", "help"):
        verbs = "\n".join(f"  {name:12}{line}" for name, (_, line) in VERBS.items())
        sys.stdout.write(_HELP.format(verbs=verbs))
        return 0 if words else 2
    if words[0] == "--version":
        sys.stdout.write(f"isogloss {__version__}\n")
        return 0
    if words[0] not in VERBS:
        _print_error(str(unknown("verb", words[0], VERBS)))
        return 2
    from typer import Abort, BadParameter

    command = verb_command(words[0])
    usage_error: Any = BadParameter.__base__  # base of all usage errors; its module depends on typer's version
    try:
        code = command.main(args=words[1:], prog_name=f"isogloss {words[0]}", standalone_mode=False)
    except usage_error as error:
        from typer.rich_utils import rich_format_error

        error.message = printable(error.message or "")
        rich_format_error(error)
        return int(error.exit_code)
    except Abort:  # end of input at a prompt
        _print_error("aborted")
        return 1
    return code if isinstance(code, int) else 0


def verb_command(verb: str) -> Any:
    """Return the command of a verb, with the option for task files where it applies."""
    from typer.main import get_command

    from isogloss.cli.options import add_tasks_option, join_help_lines

    command = get_command(import_module(f"isogloss.cli.{VERBS[verb][0]}").app)
    add_tasks_option(command)
    join_help_lines(command)
    return command


def _print_error(text: str) -> None:
    """Print an error to stderr, escaping control characters in file names and server messages."""
    red, plain = ("\033[1;31m", "\033[0m") if sys.stderr.isatty() and "NO_COLOR" not in os.environ else ("", "")
    sys.stderr.write(f"{red}error:{plain} {printable(text, lines=True)}\n")
