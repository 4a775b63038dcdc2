"""Cells of tables as values of columns; a ValueError states the expected form."""

from collections.abc import Callable
from math import isfinite
from string import ascii_uppercase
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
        return list(cell) if {*map(type, cell)} <= {str} else list(map(text_cell, cell))
    raise ValueError("expected a list of texts")


def index_cell(cell: Any) -> int:
    """Return the index of a choice, from its number counted from 0, or from its letter."""
    text = text_cell(cell).strip().upper()
    if len(text) == 1 and text in ascii_uppercase:
        return ascii_uppercase.index(text)
    if text.isdecimal() and len(text) < 3 and int(text) < len(ascii_uppercase):
        return int(text)
    raise ValueError("expected the index of a choice, from 0, or its letter, from A")


def number_cell(cell: Any) -> float:
    """Return a finite number."""
    try:
        value = float(text_cell(cell))
    except ValueError:
        value = float("nan")
    if not isfinite(value):
        raise ValueError("expected a finite number")
    return value
