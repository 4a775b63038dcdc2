"""Columns that many tables have: words, and values with their intervals."""

from isogloss.analysis.finding import Column, Holds


def text_columns(*names: str) -> list[Column]:
    """Columns of text that are called the same in files and where people read."""
    return [Column(name) for name in names]


def interval_columns(name: str, holds: Holds, label: str = "", low: str = "", high: str = "") -> list[Column]:
    """A column of values and the two of their intervals, which are called `<name>_low` and `<name>_high` by default."""
    low, high = low or f"{name}_low", high or f"{name}_high"
    return [Column(name, holds, label, low, high), Column(low, holds), Column(high, holds)]
