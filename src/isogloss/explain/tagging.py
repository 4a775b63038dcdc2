"""Entities of tagged sentences: one row for each chunk that the gold or a system has, with its attributes.

A row is (correct, predicted, gold) of that one chunk, so the sums over a bucket give its F1, and the sums over all
rows are those of the task's score. A chunk of a part-of-speech task is a run of equal tags, as it is scored. Where the
answers are character spans, the entities are spans too, and what is counted in tokens elsewhere is in characters.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain
from operator import itemgetter
from pathlib import Path

import numpy as np
import numpy.typing as npt

from isogloss.errors import DataError
from isogloss.explain.model import Attribute, Column
from isogloss.metrics.chunks import extract
from isogloss.metrics.statistics import F1, IntArray, Statistics, distinct, sizes
from isogloss.tasks.examples import Examples
from isogloss.tasks.kinds import Values
from isogloss.tasks.kinds.tagging import gold_spans, marks_entities, predicted_spans
from isogloss.tasks.loading import load
from isogloss.tasks.registry import task as find_task
from isogloss.tasks.task import Task

BoolArray = npt.NDArray[np.bool_]
# Sentences as tokens, or, for spans, as texts, whose parts are characters.
Sentences = Sequence[Sequence[str]]
# Type, first and last part of the chunks of every sentence.
Chunks = Sequence[Sequence[tuple[str, int, int]]]


def _entity_attribute(name: str, title: str, *, discrete: bool = False) -> Attribute:
    return Attribute(name, title, ("tokens", "tags", "entities"), discrete, level="entity")


TAG = _entity_attribute("tag", "type of the entity", discrete=True)
ENTITY_ATTRIBUTES = (
    _entity_attribute("eLen", "entity length in tokens"),
    _entity_attribute("tLen", "entity length in characters, blanks not counted"),
    _entity_attribute("rPos", "position of the entity: its first token over the sentence length"),
    _entity_attribute("eDen", "entity density: share of the sentence's tokens that are in a gold entity"),
    _entity_attribute("seen", "whether the entity occurs in the English training set", discrete=True),
    _entity_attribute("eCon", "label consistency: share of its training occurrences that have its type"),
    _entity_attribute("eFre", "how often the entity occurs in the English training set"),
)
_SPAN_TITLES = {
    "eLen": "entity length in characters",
    "rPos": "position of the entity: its first character over the length of the text",
    "eDen": "entity density: share of the text's characters that are in a gold entity",
}


def described(attribute: Attribute, task: Task, *, spans: bool) -> Attribute:
    """An attribute of chunks in the words that suit a task.

    Character spans are not counted in tokens, and a chunk of a task without entities is a span.
    """
    title = _SPAN_TITLES.get(attribute.name, attribute.title) if spans else attribute.title
    return replace(attribute, title=title if marks_entities(task) else title.replace("entity", "span"))


@dataclass(frozen=True)
class TrainingEntities:
    """The entities of a training set: how often each surface form occurs, and with which types."""

    forms: Counter[str]
    typed: Counter[tuple[str, str]]


@dataclass(frozen=True)
class Entities:
    """The chunks of a cell, gold's and all systems', each once, ordered by where they end.

    Attributes:
        example: the sentence of each chunk.
        first: its first token within the sentence, or the first character of a span.
        last: its last token, or character.
        kind: the number of its type in `names`.
        names: the types there are.
        gold: whether the gold has it.
        predicted: for each system, whether it has it.
        spans: whether these are character spans.
    """

    example: IntArray
    first: IntArray
    last: IntArray
    kind: IntArray
    names: npt.NDArray[np.str_]
    gold: BoolArray
    predicted: tuple[BoolArray, ...]
    spans: bool = False

    @property
    def types(self) -> npt.NDArray[np.str_]:
        """The type of each chunk."""
        return self.names[self.kind]

    def statistics(self, system: int) -> Statistics:
        """Rows (correct, predicted, gold) of a system; the sentence is what resampling draws."""
        found = self.predicted[system]
        rows = np.column_stack([self.gold & found, found, self.gold]).astype(np.float64)
        return Statistics(rows, F1, self.example)

    def columns(self, examples: Examples, trained: TrainingEntities | None) -> dict[str, Column]:
        """The attributes of every chunk."""
        sentences: Sentences = examples["text" if self.spans else "tokens"]
        lengths = sizes(sentences)
        width = self.last - self.first + 1
        inside = np.bincount(self.example[self.gold], weights=width[self.gold], minlength=len(sentences))
        columns: dict[str, Column] = {
            "tag": self.types,
            "eLen": width.astype(np.float64),
            "tLen": self._characters(sentences, lengths),
            "rPos": self.first / np.maximum(lengths, 1)[self.example],
            "eDen": (inside / np.maximum(lengths, 1))[self.example],
        }
        return columns | ({} if trained is None else self._seen_in(sentences, trained))

    def forms(self, sentences: Sentences) -> list[str]:
        """Each chunk as it is looked up in training, whatever its case and the blanks in it."""
        bounds = zip(self.example.tolist(), self.first.tolist(), self.last.tolist(), strict=True)
        return [_form(sentences[row][first : last + 1]) for row, first, last in bounds]

    def _characters(self, sentences: Sentences, lengths: IntArray) -> npt.NDArray[np.float64]:
        parts = map(str.strip, chain.from_iterable(sentences)) if self.spans else chain.from_iterable(sentences)
        widths = np.fromiter(map(len, parts), np.int64, int(lengths.sum()))
        before = np.concatenate([[0], np.cumsum(widths)])
        start = (np.cumsum(lengths) - lengths)[self.example]
        counted: npt.NDArray[np.float64] = (before[start + self.last + 1] - before[start + self.first]).astype(float)
        return counted

    def _seen_in(self, sentences: Sentences, trained: TrainingEntities) -> dict[str, Column]:
        forms = self.forms(sentences)
        often = np.array([trained.forms.get(form, 0) for form in forms], dtype=np.float64)
        alike = np.array(
            [trained.typed.get(pair, 0) for pair in zip(forms, self.types.tolist(), strict=True)], dtype=np.float64
        )
        consistency = np.divide(alike, often, out=np.full(len(often), np.nan), where=often > 0)
        return {"seen": np.where(often > 0, "seen", "unseen"), "eCon": consistency, "eFre": often}


def entities(task: Task, examples: Examples, systems: Sequence[Values], *, spans: bool = False) -> Entities:
    """The chunks of the gold and of every system's tags, or spans; a sentence without an answer has none."""
    types: dict[str, int] = {}
    sides = [_flat(side, types) for side in (_spans if spans else _chunks)(task, examples, systems)]
    longest = int(sizes(examples["text" if spans else "tags"]).max(initial=0)) + 1
    shape = (len(examples) + 1, longest, longest, len(types) + 1)
    # One number a chunk, ordered by sentence, end, first part and type; equal ones are one entity.
    packed = [np.ravel_multi_index(tuple(side.T), shape) for side in sides]
    every = distinct(np.concatenate(packed))
    example, end, first, kinds = np.unravel_index(every, shape)
    held = np.zeros((len(packed), len(every)), dtype=bool)
    for side, marks in zip(packed, held, strict=True):
        marks[np.searchsorted(every, side)] = True
    names = np.array([*types, ""], dtype=np.str_)
    return Entities(example, first, end - 1, kinds, names, held[0], tuple(held[1:]), spans)


def _chunks(task: Task, examples: Examples, systems: Sequence[Values]) -> Iterator[Chunks]:
    """The chunks of the gold tags, then those of every system's."""
    gold: Sentences = examples["tags"]
    yield extract(gold, dialect=task.dialect)
    for values in systems:
        given = [tags if tags is not None else ["O"] * len(right) for tags, right in zip(values, gold, strict=True)]
        yield extract(given, dialect=task.dialect)


def _spans(task: Task, examples: Examples, systems: Sequence[Values]) -> Iterator[Chunks]:
    """The character spans of the gold, then those of every system."""
    for side in (gold_spans(task, examples), *(predicted_spans(examples, values) for values in systems)):
        yield [[(kind, start, end - 1) for start, end, kind in found] for found in side]


def _flat(found: Chunks, types: dict[str, int]) -> IntArray:
    """Chunks as rows (sentence, end, first part, type number); `types` grows by what is new."""
    flat = list(chain.from_iterable(found))
    for kind in dict.fromkeys(map(itemgetter(0), flat)):
        types.setdefault(kind, len(types))
    columns = (map(itemgetter(2), flat), map(itemgetter(1), flat), map(types.__getitem__, map(itemgetter(0), flat)))
    table = np.empty((len(flat), 4), dtype=np.int64)
    table[:, 0] = np.repeat(np.arange(len(found)), sizes(found))
    for place, column in enumerate(columns, 1):
        table[:, place] = np.fromiter(column, np.int64, len(flat))
    table[:, 1] += 1  # a span of blanks alone is empty: it ends where it begins
    return table


def confusion(found: Entities, system: int) -> dict[str, dict[str, int]]:
    """Gold type -> predicted type -> count over entities with the same bounds; "O" where one side has none there."""
    new = np.ones(len(found.example), dtype=bool)
    if len(new):
        new[1:] = np.any([np.diff(part) != 0 for part in (found.example, found.last, found.first)], axis=0)
    span = np.cumsum(new) - 1
    outside = len(found.names)
    sides = np.full((2, int(new.sum())), outside)
    for side, inside in zip(sides, (found.gold, found.predicted[system]), strict=True):
        side[span[inside]] = found.kind[inside]
    counts = np.bincount(sides[0] * (outside + 1) + sides[1], minlength=(outside + 1) ** 2).reshape(outside + 1, -1)
    names = [*found.names.tolist(), "O"]
    table: dict[str, dict[str, int]] = {}
    for gold, answer in zip(*np.nonzero(counts), strict=True):
        table.setdefault(names[gold], {})[names[answer]] = int(counts[gold, answer])
    return table


@lru_cache(maxsize=4)
def training_entities(name: str, data: Path | None) -> TrainingEntities | None:
    """The entities of a task's English training split, from which XTREME-R's systems transfer; None if it has none."""
    task = find_task(name)
    try:
        examples = load(task, "en", "train", data, allow_partial=True)
    except DataError:
        return None
    if not examples.has_gold:
        return None
    typed: Counter[tuple[str, str]] = Counter()
    for tokens, chunks in zip(examples["tokens"], extract(examples["tags"], dialect=task.dialect), strict=True):
        typed.update((_form(tokens[first : last + 1]), kind) for kind, first, last in chunks)
    forms: Counter[str] = Counter()
    for (form, _), count in typed.items():
        forms[form] += count
    return TrainingEntities(forms, typed)


def _form(parts: Sequence[str]) -> str:
    """An entity as it is looked up in training: its characters, whatever their case and the blanks between them."""
    return "".join("".join(parts).split()).casefold()
