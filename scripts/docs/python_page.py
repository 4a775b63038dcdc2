"""Page of the reference of Python functions, from their signatures and docstrings."""

import inspect
import re
from collections.abc import Iterator
from typing import Any

import isogloss

_SECTIONS = {"Args:": "Parameters", "Returns:": "Returns", "Raises:": "Raises", "Yields:": "Yields"}


def _signature(name: str, function: Any) -> str:
    """Return the signature, one parameter per line."""
    signature = inspect.signature(function)
    lines, keyword_only = [], False
    for parameter in signature.parameters.values():
        if parameter.kind is parameter.KEYWORD_ONLY and not keyword_only:
            lines.append("*")
        keyword_only = keyword_only or parameter.kind in (parameter.KEYWORD_ONLY, parameter.VAR_POSITIONAL)
        annotation = parameter.annotation
        text = str(parameter)
        # An annotation in quotes is shown without them.
        lines.append(text.replace(repr(annotation), annotation) if isinstance(annotation, str) else text)
    result = inspect.formatannotation(signature.return_annotation)
    returned = "" if signature.return_annotation is signature.empty else f" -> {result}"
    text = f"{name}(\n" + "".join(f"    {line},\n" for line in lines) + f"){returned}"
    return re.sub(r"\b(?:isogloss|collections\.abc|pathlib|os|typing)(?:\.\w+)*\.(?=[A-Z])", "", text)


def _sections(doc: str) -> Iterator[str]:
    """Markdown of a docstring: Args, Returns and Raises become lists."""
    inside = False
    for block in re.split(r"\n\s*\n", doc):
        title, _, rest = block.partition("\n")
        if title.strip() in _SECTIONS and rest:
            inside = True
            yield f"**{_SECTIONS[title.strip()]}**"
            text = inspect.cleandoc(rest)
            yield " ".join(text.split()) if title.strip() == "Returns:" else "\n".join(_items(text))
        elif title.strip() == "Example:":
            yield f"```python\n{inspect.cleandoc(rest)}\n```"
        elif inside and block.startswith(" "):
            yield "\n".join(_items(inspect.cleandoc(block)))
        else:
            inside = False
            yield block


def _items(text: str) -> Iterator[str]:
    """Entries of a section; continuation lines are indented."""
    entries = re.split(r"\n(?=\S)", text)
    for entry in entries:
        joined = " ".join(entry.split())
        named = re.match(r"(\*{0,2}\w+): (.*)", joined)
        yield f"- `{named[1]}`: {named[2]}" if named else f"- {joined}"


def _members(module: Any) -> Iterator[tuple[str, Any]]:
    """Yield the public functions and classes of a module, and those that its public modules define."""
    for name in getattr(module, "__all__", ()):
        member = getattr(module, name)
        if inspect.ismodule(member):
            own = inspect.getmembers(member, lambda each: inspect.isfunction(each) or inspect.isclass(each))
            yield from ((f"{name}.{each}", value) for each, value in own if each[0] != "_" and _is_of(value, member))
        elif callable(member):
            yield name, member


def _is_of(value: Any, module: Any) -> bool:
    return bool(value.__module__ == module.__name__)


def _further() -> Iterator[str]:
    """Yield a table for each public module: its members, with the first sentence of their docstrings."""
    for title in ("metrics", "languages", "predictions", "systems", "checklist"):
        module = getattr(isogloss, title)
        rows = [(name, (inspect.getdoc(value) or "").split("\n\n")[0]) for name, value in _members(module)]
        yield f"## isogloss.{title}"
        lines = [f"| `{name}` | {' '.join(text.replace('|', '&#124;').split())} |" for name, text in rows]
        yield "\n".join(["| | |", "|---|---|", *lines])


def page() -> str:
    """Return the page: all functions at the top level of the package, by name, and the members of public modules."""
    functions = {
        name: found
        for name in dir(isogloss)
        if callable(found := getattr(isogloss, name)) and not inspect.ismodule(found)
    }
    parts = ["# Python", "The commands as functions, generated from their docstrings. Results render in notebooks."]
    for name, function in functions.items():
        parts += [f"## isogloss.{name}", f"```python\n{_signature(name, function)}\n```"]
        parts += _sections(inspect.getdoc(function) or "")
    parts += _further()
    return "\n\n".join(parts) + "\n"
