"""Curves as bars of text, for the terminal."""

from collections.abc import Mapping, Sequence

from isogloss.analysis.finding import Value
from isogloss.escaping import printable
from isogloss.figures import score_text

_LONGEST_BAR = 40


def text_curve(
    records: Sequence[Mapping[str, Value]], *, group: str, at: str, value: str, goal: float | None = None
) -> str:
    """Return a bar per row, grouped by a column; `at` and `value` are columns of numbers.

    Values of at most the `goal` are marked with a star; rows without a value are left out.
    """
    rows = [row for row in records if isinstance(row[value], int | float)]
    if not rows:
        return ""
    largest = max(float(row[value] or 0) for row in rows)
    names, counts = [printable(str(row[group])) for row in rows], [f"{row[at]:,}" for row in rows]
    lines, before = [], ""
    for row, name, count in zip(rows, names, counts, strict=True):
        number = float(row[value] or 0)
        bar = "█" * max(1, round(_LONGEST_BAR * number / largest)) if largest else ""
        mark = " *" if goal is not None and number <= goal * (1 + 1e-9) else ""
        shown = "" if name == before else name
        lines.append(f" {shown:{_width(names)}}  {count:>{_width(counts)}} {bar} {score_text(number)}{mark}")
        before = name
    return "\n".join(lines)


def _width(words: Sequence[str]) -> int:
    return max(map(len, words))
