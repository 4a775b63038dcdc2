"""Cells of tables as values of columns; a ValueError states the expected form."""

from collections.abc import Callable
from typing import Any

import msgspec


def text_cell(cell: Any) -> str:
    """Return a text; numbers and truth values as JSON writes them."""
    if isinstance(cell, str):
        return cell
    if isinstance(cell, bool | int | float):
        return msgspec.json.encode(cell).decode()
    raise ValueError("expected a text")


def texts_cell(cell: Any, split: Callable[[str], list[str]] = lambda text: [text]) -> list[str]:
    """Return a list of texts: a list, a JSON array, or a text divided by `split`, by default into itself alone."""
    if isinstance(cell, str):
        if not cell.lstrip().startswith("["):
            return split(cell)
        try:
            return msgspec.json.decode(cell, type=list[str])
        except msgspec.DecodeError:
            return split(cell)
    if isinstance(cell, list | tuple):
        return list(map(text_cell, cell))
    raise ValueError("expected a list of texts")


def whole_number_cell(cell: Any) -> int:
    """Return a whole number."""
    text = text_cell(cell).strip()
    if not text.isdecimal() or len(text) > 18:
        raise ValueError("expected a whole number")
    return int(text)
