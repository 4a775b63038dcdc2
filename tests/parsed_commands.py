"""Check command lines without running them: verbs, options, values, and the names of tasks, languages and suites."""

import re
import shlex
from collections.abc import Iterator
from importlib import import_module
from typing import Any

from typer.main import get_command

from isogloss.cli.main import VERBS
from isogloss.cli.options import add_tasks_option, words
from isogloss.errors import IsoglossError
from isogloss.languages import language
from isogloss.tasks.registry import task
from isogloss.tasks.suites import suite

_NAMES = {"tasks": task, "task": task, "languages": language, "language": language, "suite": suite}


def commands(text: str) -> Iterator[str]:
    """Yield the calls of isogloss in a block of shell commands."""
    for line in re.sub(r"\\\n\s*", " ", text).splitlines():
        for part in re.split(r"\s*(?:&&|\|\||[|;]|<|2?>+)\s*", re.sub(r"\s+#\s.*|^#.*", "", line)):
            if found := re.fullmatch(r"(?:\w+=\S+ )*(isogloss .*?)\s*&?", part.strip()):
                yield found[1]


def command_problem(line: str) -> str:
    """Return why a command line cannot be meant, or an empty text."""
    program, verb, *rest = shlex.split(line)
    assert program == "isogloss"
    if verb in {"--help", "--version"}:
        return ""
    if verb not in VERBS:
        return f"unknown verb {verb}"
    command: Any = get_command(import_module(f"isogloss.cli.{VERBS[verb][0]}").app)
    add_tasks_option(command)
    while hasattr(command, "commands") and rest and not rest[0].startswith("-"):
        name, *rest = rest
        if name not in command.commands:
            return f"unknown subcommand {name}"
        command = command.commands[name]
    return "" if "--help" in rest else _misused(command, rest)


def _misused(command: Any, given: list[str]) -> str:
    """Return what is wrong with the options and arguments of a command, or an empty text."""
    context = command.make_context(command.name, [], resilient_parsing=True)
    context.resilient_parsing = False
    try:
        values, extra, _ = command.make_parser(context).parse_args(list(given))
        for parameter in command.params:
            value = values.get(parameter.name)
            if parameter.required and not value:
                return f"missing {parameter.name}"
            if isinstance(value, str | list | tuple):
                parameter.type_cast_value(context, value)
    except context.fail.__globals__["UsageError"] as error:  # its module depends on typer's version
        return str(error.format_message())
    return f"unexpected {extra}" if extra else _unknown_name(values)


def _unknown_name(given: dict[str, Any]) -> str:
    for option, find in _NAMES.items():
        value = given.get(option)
        # Files, patterns and placeholders are no names.
        names = words(value) if isinstance(value, str) and not re.search(r"[./*A-Z…]", value) else None
        for name in names or ():
            try:
                find(name)
            except IsoglossError as error:
                return str(error)
    return ""
