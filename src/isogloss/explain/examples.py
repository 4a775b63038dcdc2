"""Examples behind a bucket or a difference: text, gold, every system's answer, and its score."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from isogloss.explain.cell_table import CellTable
from isogloss.tasks.kinds import kind_of


class Case(msgspec.Struct, frozen=True):
    """One example as somebody reads it: what was asked, what is right, what each system said, its score (0..100)."""

    id: str
    inputs: dict[str, str]
    gold: Any
    predictions: dict[str, Any]
    scores: dict[str, float]


@dataclass
class Cases:
    """The examples that were asked for, each kept once; at most `limit` a bucket, the worst first.

    `names` are the systems, `found` maps `task/language` to example id to the case.
    """

    limit: int
    names: Sequence[str] = ("system",)
    found: dict[str, dict[str, Case]] = field(default_factory=dict)

    def add(self, sheet: CellTable, rows: npt.NDArray[np.bool_]) -> list[str]:
        """The ids of the examples that have any of the rows; their cases are kept."""
        inside = np.unique(sheet.example[rows])
        worst_first = np.argsort(np.mean(sheet.scores, axis=0)[inside], kind="stable")
        return self.keep(sheet, inside[worst_first][: self.limit].tolist())

    def keep(self, sheet: CellTable, rows: Sequence[int]) -> list[str]:
        """The ids of some examples; their cases are kept."""
        known = self.found.setdefault(sheet.name, {})
        for row in rows:
            if sheet.examples.ids[row] not in known:
                known[sheet.examples.ids[row]] = case(sheet, row, self.names)
        return [sheet.examples.ids[row] for row in rows]


def case(sheet: CellTable, row: int, names: Sequence[str]) -> Case:
    """The example of a row with the answer of every system, under its name."""
    examples = sheet.examples
    # A tagged sentence is its tokens; offsets are for systems that bring their own.
    inputs = ["tokens"] if sheet.task.kind == "tagging" else kind_of(sheet.task).inputs
    texts = {name: _text(examples[name][row]) for name in inputs if name in examples.columns}
    own = [names[system] for system in sheet.systems]
    answers = {name: values[row] for name, values in zip(own, sheet.values, strict=True)}
    scores = {name: 100 * float(of_system[row]) for name, of_system in zip(own, sheet.scores, strict=True)}
    return Case(examples.ids[row], texts, examples[examples.gold][row], answers, scores)


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    return " ".join(map(str, value)) if isinstance(value, list) else " / ".join(map(str, value))
