"""Cells of tables: contents other than text."""

import json


def json_strings(text: str) -> list[str] | None:
    """Return the strings of a JSON list, or None if a text is not one."""
    if not text.lstrip().startswith("["):
        return None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    is_list = isinstance(value, list) and all(isinstance(item, str) for item in value)
    return value if is_list else None
