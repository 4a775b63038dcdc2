"""Sheets: one cell with texts and answers, its rows, and what is known of each row.

For question answering, classification, choice and retrieval a row is an example; for tagging it is an entity. A sheet
holds one cell of one or more systems, so that attributes and buckets are the same for all of them.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt

from isogloss.errors import PredictionError, unknown
from isogloss.explain import tagging
from isogloss.explain.attributes import FERTILITY, Convention, attributes_for, fertility, from_jsonl
from isogloss.explain.buckets import NONE, Cut, fixed, learn
from isogloss.explain.model import Attribute, Column, Rows
from isogloss.metrics.statistics import FloatArray, IntArray, Statistics
from isogloss.scoring.cells import Answered, Request, answered_cells
from isogloss.tasks.examples import Examples
from isogloss.tasks.kinds import Values
from isogloss.tasks.task import Task

__all__ = ["RANK", "RANKS", "SCORE", "Chosen", "Sheet", "choose", "sheets"]

# The one figure of a task that is known by two: the mean of F1 and exact match (XTREME-R paper, section 5).
SCORE = "score"
# What depends on a system's answers has no column of the examples: only the analysis of one system can show it.
RANK = Attribute("rank", "rank of the first hit among 20", ("bitext", "pool"), discrete=True)
RANKS = ("1", "2-5", "6-20", NONE)


@dataclass(frozen=True)
class Chosen:
    """The attributes somebody asked for.

    Attributes:
        names: which; all if None.
        edges: fixed edges by attribute, instead of equal counts.
        own: attributes from a user's own files.
        convention: how lengths are counted: "script", or the paper's "whitespace".
    """

    names: tuple[str, ...] | None = None
    edges: Mapping[str, tuple[float, ...]] | None = None
    own: tuple[Attribute, ...] = ()
    convention: Convention = "script"

    def of(self, kind: str, examples: Examples | None = None) -> list[Attribute]:
        """The attributes of a kind of task, or those its examples have the columns for; one's own stand last."""
        known = attributes_of(kind, examples, self.convention)
        wanted = known if self.names is None else [found for found in known if found.name in self.names]
        return [*wanted, *self.own]

    def cut(self, attribute: Attribute, column: Column) -> Cut:
        """The cut of a column: at the given edges, or as its values ask for."""
        edges = (self.edges or {}).get(attribute.name)
        return learn(column, attribute.discrete) if edges is None else fixed(edges)


def attributes_of(kind: str, examples: Examples | None = None, convention: Convention = "script") -> list[Attribute]:
    """Every attribute of a kind of task; those of entities are told by this package's own rows."""
    of_example = attributes_for(kind, examples, convention)
    of_entity = list(tagging.ATTRIBUTES) if kind == "tagging" else []
    taken = {found.name for found in of_entity}
    of_answer = [RANK] if kind in RANK.kinds else []
    return [*of_entity, *(found for found in of_example if found.name not in taken), *of_answer]


def choose(words: Sequence[str] | None, kinds: Sequence[str]) -> Chosen:
    """Attributes in a user's words: `aLen`, with edges `aLen=2:5:13`, or from a file `mine@values.jsonl`.

    `fertility@vocab.txt` and `fertility@tokenizer.json` name a tokenizer.
    """
    if words is None:
        return Chosen()
    known = {found.name.casefold(): found for kind in kinds for found in attributes_of(kind)}
    names: list[str] = []
    edges: dict[str, tuple[float, ...]] = {}
    own: list[Attribute] = []
    for word in words:
        if "@" in word:
            name, _, path = word.partition("@")
            own.append(_from_file(name, path))
            continue
        name, _, given = word.partition("=")
        if name.casefold() == FERTILITY:
            fix = "Write fertility@tokenizer.json, or fertility@vocab.txt"
            raise PredictionError("fertility is that of a tokenizer, and none is named", fix=fix)
        if name.casefold() not in known:
            raise unknown("attribute", name, [found.name for found in known.values()])
        found = known[name.casefold()]
        names.append(found.name)
        if given:
            edges[found.name] = _edges(found, given)
    return Chosen(tuple(names), edges, tuple(own))


def _from_file(name: str, path: str) -> Attribute:
    of_tokenizer = name.casefold() == FERTILITY and not path.endswith(".jsonl")
    return fertility(path) if of_tokenizer else from_jsonl(path, name)


def _edges(attribute: Attribute, text: str) -> tuple[float, ...]:
    if attribute.discrete:
        raise PredictionError(f"{attribute.name} has values, not numbers: it cannot be cut at edges")
    try:
        return tuple(float(edge) for edge in text.split(":"))
    except ValueError:
        fix = f"Write them as {attribute.name}=2:5:13"
        raise PredictionError(f"{text!r} is not a list of edges", where=attribute.name, fix=fix) from None


@dataclass(frozen=True)
class Sheet:
    """One cell of some systems.

    Attributes:
        example: the example each row belongs to.
        counted: the rows that make the size of a bucket (the gold entities of a tagging task); all if None.
        metrics: for each system its statistics by metric; the first metric is the one the task is known by.
        entities: the entities behind the rows, for tagging.
        data: the data folder, for the training set.
        systems: the places of these systems among all that were asked for.
    """

    task: Task
    examples: Examples
    values: tuple[Values, ...]
    example: IntArray
    metrics: tuple[dict[str, Statistics], ...]
    counted: npt.NDArray[np.bool_] | None = None
    entities: tagging.Entities | None = None
    data: Path | None = None
    systems: tuple[int, ...] = (0,)

    @property
    def name(self) -> str:
        """The cell, `task/language`."""
        return f"{self.task.id}/{self.examples.language}"

    @property
    def main(self) -> str:
        """The metric the task is known by."""
        return next(iter(self.metrics[0]))

    @cached_property
    def _entity_columns(self) -> dict[str, Column]:
        if self.entities is None:
            return {}
        return self.entities.columns(self.examples["tokens"], tagging.training(self.task, self.data))

    def column(self, attribute: Attribute) -> Column | None:
        """The attribute of every row; None where this cell has not what it is made from."""
        if attribute.level == "entity":
            return self._entity_columns.get(attribute.name)
        values = attribute.values(self.examples) if attribute.values is not None else None
        return None if values is None else values[self.example]

    def ranks(self, system: int = 0) -> npt.NDArray[np.str_]:
        """For each query, where in a system's ranking the first target stands: one of `RANKS`."""
        upto = (1, 5, 20)
        found = np.full(len(self.examples), len(upto))
        for row, (ranked, targets) in enumerate(zip(self.values[system], self.examples["targets"], strict=True)):
            hits = (place for place, one in enumerate((ranked or ())[: upto[-1]], 1) if one in targets)
            found[row] = np.searchsorted(upto, next(hits, upto[-1] + 1))
        names: npt.NDArray[np.str_] = np.array(RANKS)[found]
        return names

    def rows(self, chosen: Chosen, metric: str, system: int = 0) -> Rows:
        """The rows of one metric of one system with the attributes that were chosen."""
        columns = {found.name: self.column(found) for found in chosen.of(self.task.kind, self.examples)}
        known = {name: column for name, column in columns.items() if column is not None}
        return Rows(metric, self.metrics[system][metric], self.example, known)

    @cached_property
    def scores(self) -> list[FloatArray]:
        """For each system the main score of every example, 0..1.

        A sentence in which there is nothing to find, and nothing was found, is right.
        """
        return [self._example_scores(metrics[self.main]) for metrics in self.metrics]

    def _example_scores(self, statistics: Statistics) -> FloatArray:
        if self.entities is None:
            return statistics.value(statistics.rows, 1.0)
        sums = [np.bincount(self.example, weights=part, minlength=len(self.examples)) for part in statistics.rows.T]
        empty = (sums[1] + sums[2]) == 0
        return np.where(empty, 1.0, statistics.value(np.stack(sums, axis=1), 1.0))


def sheets(systems: Sequence[Path], request: Request, progress: Callable[[str], None] | None = None) -> Iterator[Sheet]:
    """The cells that any of the systems has, one after the other, with all those systems."""
    for row in answered_cells(systems, request, progress):
        present = {place: answered for place, answered in enumerate(row) if answered is not None}
        yield replace(_sheet(list(present.values()), request.data), systems=tuple(present))


def _sheet(answered: Sequence[Answered], data: Path | None) -> Sheet:
    first = answered[0]
    of, examples = first.task, first.examples
    for other in answered[1:]:
        same = other.examples.ids == examples.ids and other.cell.judgement.dialect == first.cell.judgement.dialect
        if not same:
            what = f"the systems were scored on different examples of {of.id}/{examples.language}"
            raise PredictionError(what, fix="Score all on the same split, with the same kind of answers")
    values = tuple(each.values for each in answered)
    if of.kind == "tagging" and first.cell.judgement.dialect == of.dialect:
        found = tagging.entities(of, examples, values)
        entity_metrics = tuple({"f1": found.statistics(system)} for system in range(len(values)))
        return Sheet(of, examples, values, found.example, entity_metrics, found.gold, found, data)
    rows = np.arange(len(examples))
    metrics = tuple(_main_metrics(of, each.cell.metrics) for each in answered)
    return Sheet(of, examples, values, rows, metrics, data=data)


def _main_metrics(of: Task, metrics: Mapping[str, Statistics]) -> dict[str, Statistics]:
    """The metrics the task is known by; where there are two their mean stands first."""
    main = {name: metrics[name] for name in of.main}
    if len(main) == 1:
        return main
    rows = np.mean([statistics.rows for statistics in main.values()], axis=0)
    return {SCORE: replace(next(iter(main.values())), rows=rows), **main}
