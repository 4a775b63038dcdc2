"""Texts of task files."""

import json
import re
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_WIDTH = 110


def toml_text(text: str) -> str:
    """Return a TOML string; JSON's escapes are valid in it, but JSON leaves U+007F as it is."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007F")


def toml_key(name: str) -> str:
    """Return a key of a TOML table."""
    return name if _BARE.fullmatch(name) else toml_text(name)


def toml_value(value: Any) -> str:
    """Return a value on one line."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return str(value)
    if isinstance(value, str):
        return toml_text(value)
    if isinstance(value, Mapping):
        inner = ", ".join(f"{toml_key(str(key))} = {toml_value(each)}" for key, each in value.items())
        return f"{{ {inner} }}" if inner else "{}"
    return f"[{', '.join(map(toml_value, value))}]"


def toml_lines(table: Mapping[str, Any]) -> str:
    """Return a task file: short values first, tables that need several lines at the end."""
    lines: list[str] = []
    tables: list[str] = []
    for key, value in table.items():
        line = f"{key} = {toml_value(value)}"
        if len(line) <= _WIDTH:
            lines.append(line)
        elif isinstance(value, Mapping):
            entries = (f"{toml_key(str(name))} = {toml_value(each)}" for name, each in value.items())
            tables.append("\n".join(["", f"[{key}]", *entries]))
        elif isinstance(value, str | int | float):
            lines.append(line)
        else:
            lines += _listed(key, value)
    return "\n".join([*lines, *tables]) + "\n"


def _listed(key: str, values: Sequence[Any]) -> list[str]:
    """Return a long list over several lines."""
    cells = ", ".join(map(toml_value, values))
    if any("\\" in str(value) or " " in str(value) for value in values):
        return [f"{key} = [", *(f"    {toml_value(value)}," for value in values), "]"]
    wrapped = textwrap.wrap(cells, _WIDTH - 4, break_long_words=False, break_on_hyphens=False)
    return [f"{key} = [", *(f"    {line}" for line in wrapped), "]"]
