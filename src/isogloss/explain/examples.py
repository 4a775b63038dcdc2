"""Examples behind a bucket or a difference: text, gold, every system's answer, and its score."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from isogloss.explain.cell_table import CellTable
from isogloss.notebooks import short_repr
from isogloss.tasks.kinds import kind_of


class ListedExample(msgspec.Struct, frozen=True, kw_only=True):
    """One example with its texts, gold, and every system's answer and score (0..100)."""

    id: str
    inputs: dict[str, str]
    gold: Any
    predictions: dict[str, Any]
    scores: dict[str, float]

    __repr__ = short_repr


@dataclass
class ExampleCollector:
    """Collected examples, each stored once; at most `limit` per bucket, the worst first."""

    limit: int
    names: Sequence[str] = ("system",)  # of the systems
    examples: dict[str, dict[str, ListedExample]] = field(default_factory=dict)  # `task/language` -> id -> example

    def add(self, table: CellTable, rows: npt.NDArray[np.bool_]) -> list[str]:
        """Collect the examples of these rows; return their ids."""
        inside = np.unique(table.row_example[rows])
        worst_first = np.argsort(np.mean(table.goodness, axis=0)[inside], kind="stable")
        return self.keep(table, inside[worst_first][: self.limit].tolist())

    def keep(self, table: CellTable, rows: Sequence[int]) -> list[str]:
        """Collect some examples; return their ids."""
        cell = self.examples.setdefault(table.name, {})
        for row in rows:
            if table.examples.ids[row] not in cell:
                cell[table.examples.ids[row]] = listed_example(table, row, self.names)
        return [table.examples.ids[row] for row in rows]


def listed_example(table: CellTable, row: int, names: Sequence[str]) -> ListedExample:
    """Return the example of a row with the answer of every system, by name."""
    examples = table.examples
    kind = kind_of(table.task)
    # A tagged sentence is shown as tokens; text and offsets are for systems with their own tokenizer.
    inputs = kind.inputs[:1] if kind.rows == "entity" else kind.inputs
    values = {name: examples[name][row] for name in inputs if name in examples.columns}
    texts = {
        name: value if isinstance(value, str) else (" " if isinstance(value, list) else " / ").join(map(str, value))
        for name, value in values.items()
    }
    own = [names[system] for system in table.systems]
    answers = {name: values[row] for name, values in zip(own, table.values, strict=True)}
    scores = {name: 100 * float(system_scores[row]) for name, system_scores in zip(own, table.scores, strict=True)}
    return ListedExample(
        id=examples.ids[row], inputs=texts, gold=examples[examples.gold][row], predictions=answers, scores=scores
    )
