"""Pages of the reference of commands, from the commands themselves."""

import re
from collections.abc import Iterator
from typing import Any

from isogloss.cli.main import VERBS, verb_command

_FRONT = "---\nhide: [toc]\n---\n\n"


def _text(value: str) -> str:
    """Return a help text for a Markdown table or paragraph: placeholders and patterns must stay as they are."""
    text = re.sub(r"\[/?(?:bold|dim|italic)\]", "", " ".join(value.split()))
    for character in "\\`*_{}[]<>|":
        text = text.replace(character, f"&#{ord(character)};")
    text = re.sub(r"\bdocs/([a-z-]+\.md)\b", r"[\g<0>](../../\1)", text)
    return re.sub(r"(?<![\w-])--[a-z][a-z-]*", r"`\g<0>`", text)


def _default(parameter: Any) -> str:
    shown = parameter.show_default if isinstance(parameter.show_default, str) else parameter.default
    if parameter.required:
        return "required"
    if callable(shown) or shown in (None, False, "", (), []) or getattr(parameter, "is_flag", False):
        return ""
    return _text(str(shown))


def _description(help_text: str) -> Iterator[str]:
    r"""Paragraphs of a help text; those marked by \b, such as examples, keep their lines."""
    for paragraph in re.split(r"\n\s*\n", help_text.strip()):
        if "\b" not in paragraph:
            yield _text(paragraph)
            continue
        lines = [line for line in paragraph.replace("\b", "").splitlines() if line.strip()]
        title = lines[0].strip() if lines[0].rstrip().endswith(":") else ""
        if title:
            yield _text(title)
        body = lines[1:] if title else lines
        kind = "bash" if title.startswith("Example") else "text"
        margin = min(len(line) - len(line.lstrip()) for line in body)
        yield f"```{kind}\n" + "\n".join(line[margin:] for line in body) + "\n```"


def _rows(parameters: list[Any]) -> Iterator[str]:
    for parameter in parameters:
        names = ", ".join(f"`{name}`" for name in [*parameter.opts, *parameter.secondary_opts])
        yield f"| {names} | {_text(parameter.help or '')} | {_default(parameter)} |"


def _command(command: Any, name: str, level: int) -> Iterator[str]:
    """Lines of one command, and of its subcommands below it."""
    yield f"{'#' * level} isogloss {name}"
    yield from _description(command.help or "")
    arguments = [each for each in command.params if each.param_type_name == "argument"]
    for each in arguments:
        yield f"`{each.metavar or each.name.upper()}`: {_text(each.help or '')}"
    panels: dict[str, list[Any]] = {}
    for each in command.params:
        if each.param_type_name == "option" and not each.hidden and each.name != "help":
            panels.setdefault(getattr(each, "rich_help_panel", None) or "Options", []).append(each)
    for title, options in panels.items():
        yield "\n".join([f"| {_text(title)} | | default |", "|---|---|---|", *_rows(options)])
    for word, each in getattr(command, "commands", {}).items():
        yield from _command(each, f"{name} {word}", level + 1)


def pages() -> Iterator[tuple[str, str]]:
    """Return path and text of the overview and of one page per verb."""
    rows = [f"| [`isogloss {verb}`]({verb}.md) | {line} |" for verb, (_, line) in VERBS.items()]
    head = "# Commands\n\nGenerated from `isogloss VERB --help`.\n\n"
    yield "reference/commands/index.md", head + "\n".join(["| command | |", "|---|---|", *rows]) + "\n"
    for verb in VERBS:
        command = verb_command(verb)
        single = getattr(command, "commands", {}) == {}
        front = _FRONT if single else ""
        yield f"reference/commands/{verb}.md", front + "\n\n".join(_command(command, verb, 1)) + "\n"
