"""Examples behind a bucket or a difference: text, gold, every system's answer, and its score."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from isogloss.explain.cell_table import CellTable
from isogloss.tasks.kinds import kind_of


class ListedExample(msgspec.Struct, frozen=True):
    """One example as somebody reads it: what was asked, what is right, what each system said, its score (0..100)."""

    id: str
    inputs: dict[str, str]
    gold: Any
    predictions: dict[str, Any]
    scores: dict[str, float]


@dataclass
class ExampleCollector:
    """The examples that were asked for, each kept once; at most `limit` a bucket, the worst first.

    `names` are the systems, `found` maps `task/language` to example id to the example.
    """

    limit: int
    names: Sequence[str] = ("system",)
    found: dict[str, dict[str, ListedExample]] = field(default_factory=dict)

    def add(self, table: CellTable, rows: npt.NDArray[np.bool_]) -> list[str]:
        """The ids of the examples that have any of the rows; they are kept."""
        inside = np.unique(table.row_example[rows])
        worst_first = np.argsort(np.mean(table.goodness, axis=0)[inside], kind="stable")
        return self.keep(table, inside[worst_first][: self.limit].tolist())

    def keep(self, table: CellTable, rows: Sequence[int]) -> list[str]:
        """The ids of some examples; they are kept."""
        known = self.found.setdefault(table.name, {})
        for row in rows:
            if table.examples.ids[row] not in known:
                known[table.examples.ids[row]] = listed_example(table, row, self.names)
        return [table.examples.ids[row] for row in rows]


def listed_example(table: CellTable, row: int, names: Sequence[str]) -> ListedExample:
    """The example of a row with the answer of every system, under its name."""
    examples = table.examples
    kind = kind_of(table.task)
    # A tagged sentence is its tokens; text and offsets are for systems that bring their own.
    inputs = kind.inputs[:1] if kind.rows == "entity" else kind.inputs
    texts = {name: _text(examples[name][row]) for name in inputs if name in examples.columns}
    own = [names[system] for system in table.systems]
    answers = {name: values[row] for name, values in zip(own, table.values, strict=True)}
    scores = {name: 100 * float(of_system[row]) for name, of_system in zip(own, table.scores, strict=True)}
    return ListedExample(examples.ids[row], texts, examples[examples.gold][row], answers, scores)


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    return " ".join(map(str, value)) if isinstance(value, list) else " / ".join(map(str, value))
