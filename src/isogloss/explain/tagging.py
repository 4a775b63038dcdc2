"""Entities of tagged sentences: one row per chunk of the gold or a system, with its attributes.

A row is (correct, predicted, gold) of that one chunk, so the sums over a bucket give its F1, and the sums over all
rows match the task's score. A chunk of a part-of-speech task is a run of equal tags. If the
answers are character spans, the entities are spans too, and lengths are in characters instead of tokens.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
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
# Sentences as tokens or, for spans, as texts of characters.
Sentences = Sequence[Sequence[str]]
# Type, first and last index of the chunks of every sentence.
Chunks = Sequence[Sequence[tuple[str, int, int]]]


_entity_attribute = partial(Attribute, needs=("tokens", "tags", "entities"), level="entity")
TAG = _entity_attribute("tag", "type of the entity", discrete=True)
ENTITY_ATTRIBUTES = (
    _entity_attribute("eLen", "entity length in tokens"),
    _entity_attribute("tLen", "entity length in characters, blanks not counted"),
    _entity_attribute("rPos", "position of the entity: its first token over the sentence length"),
    _entity_attribute("eDen", "entity density: share of the sentence's tokens that are in a gold entity"),
    _entity_attribute("seen", "entity occurs in the English training set", discrete=True),
    _entity_attribute("eCon", "label consistency: share of its training occurrences with its type"),
    _entity_attribute("eFre", "frequency of the entity in the English training set"),
)
_SPAN_TITLES = {
    "eLen": "entity length in characters",
    "rPos": "position of the entity: its first character over the length of the text",
    "eDen": "entity density: share of the text's characters that are in a gold entity",
}


def described(attribute: Attribute, task: Task, *, spans: bool) -> Attribute:
    """Return a chunk attribute with the title that suits a task.

    Character spans are not counted in tokens, and chunks of a task without entities are called spans.
    """
    title = _SPAN_TITLES.get(attribute.name, attribute.title) if spans else attribute.title
    return replace(attribute, title=title if marks_entities(task) else title.replace("entity", "span"))


@dataclass(frozen=True)
class TrainingEntities:
    """Entities of a training set: counts and types of each surface form."""

    forms: Counter[str]
    typed: Counter[tuple[str, str]]


@dataclass(frozen=True, kw_only=True)
class Entities:
    """Distinct chunks of a cell, from gold and all systems, ordered by their end."""

    example: IntArray  # the sentence of each chunk
    first: IntArray  # its first token within the sentence, or the first character of a span
    last: IntArray  # its last token, or character
    kind: IntArray  # number of its type in `names`
    names: npt.NDArray[np.str_]
    gold: BoolArray  # True if it is in the gold
    predicted: tuple[BoolArray, ...]  # for each system, True if it predicts the chunk
    spans: bool = False  # True if these are character spans

    @property
    def types(self) -> npt.NDArray[np.str_]:
        """Type of each chunk."""
        return self.names[self.kind]

    def statistics(self, system: int) -> Statistics:
        """Return rows (correct, predicted, gold) of a system; the resampling unit is the sentence."""
        predicted = self.predicted[system]
        rows = np.column_stack([self.gold & predicted, predicted, self.gold]).astype(np.float64)
        return Statistics(rows, F1, self.example)

    def columns(self, examples: Examples, trained: TrainingEntities | None) -> dict[str, Column]:
        """Return the attributes of every chunk."""
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
        """Return each chunk's lookup form in the training set, without case and blanks."""
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
    """Return the chunks of the gold and of every system's tags or spans; unanswered sentences have none."""
    types: dict[str, int] = {}
    if spans:
        spelled = (gold_spans(task, examples), *(predicted_spans(examples, values) for values in systems))
        extracted: Iterable[Chunks] = ([[(kind, a, b - 1) for a, b, kind in row] for row in side] for side in spelled)
    else:
        gold: Sentences = examples["tags"]
        outside = [["O"] * len(tags) for tags in gold]
        answers = (
            [none if tags is None else tags for tags, none in zip(side, outside, strict=True)] for side in systems
        )
        extracted = (extract(side, dialect=task.dialect) for side in chain([gold], answers))
    sides = [_flat(side, types) for side in extracted]
    longest = int(sizes(examples["text" if spans else "tags"]).max(initial=0)) + 1
    shape = (len(examples) + 1, longest, longest, len(types) + 1)
    # One number per chunk, ordered by sentence, end, start and type; equal numbers are the same entity.
    packed = [np.ravel_multi_index(tuple(side.T), shape) for side in sides]
    chunks = distinct(np.concatenate(packed))
    example, end, first, kinds = np.unravel_index(chunks, shape)
    held = np.zeros((len(packed), len(chunks)), dtype=bool)
    for side, marks in zip(packed, held, strict=True):
        marks[np.searchsorted(chunks, side)] = True
    names = np.array([*types, ""], dtype=np.str_)
    gold_chunks, *predicted = held
    return Entities(
        example=example,
        first=first,
        last=end - 1,
        kind=kinds,
        names=names,
        gold=gold_chunks,
        predicted=tuple(predicted),
        spans=spans,
    )


def _flat(chunks: Chunks, types: dict[str, int]) -> IntArray:
    """Return chunks as rows (sentence, end, start, type number), adding new types to `types`."""
    flat = list(chain.from_iterable(chunks))
    for kind in dict.fromkeys(map(itemgetter(0), flat)):
        types.setdefault(kind, len(types))
    columns = (map(itemgetter(2), flat), map(itemgetter(1), flat), map(types.__getitem__, map(itemgetter(0), flat)))
    table = np.empty((len(flat), 4), dtype=np.int64)
    table[:, 0] = np.repeat(np.arange(len(chunks)), sizes(chunks))
    for number, column in enumerate(columns, 1):
        table[:, number] = np.fromiter(column, np.int64, len(flat))
    table[:, 1] += 1  # a span of only blanks is empty: it ends where it begins
    return table


def confusion(entities: Entities, system: int) -> dict[str, dict[str, int]]:
    """Count entities with the same bounds by gold type and predicted type; "O" if one side has none."""
    new = np.ones(len(entities.example), dtype=bool)
    if len(new):
        new[1:] = np.any([np.diff(part) != 0 for part in (entities.example, entities.last, entities.first)], axis=0)
    span = np.cumsum(new) - 1
    outside = len(entities.names)
    sides = np.full((2, int(new.sum())), outside)
    for side, inside in zip(sides, (entities.gold, entities.predicted[system]), strict=True):
        side[span[inside]] = entities.kind[inside]
    counts = np.bincount(sides[0] * (outside + 1) + sides[1], minlength=(outside + 1) ** 2).reshape(outside + 1, -1)
    names = [*entities.names.tolist(), "O"]
    table: dict[str, dict[str, int]] = {}
    for gold, answer in zip(*np.nonzero(counts), strict=True):
        table.setdefault(names[gold], {})[names[answer]] = int(counts[gold, answer])
    return table


@lru_cache(maxsize=4)
def training_entities(name: str, data: Path | None) -> TrainingEntities | None:
    """Return the entities of a task's English training split, which XTREME-R's systems transfer from, or None."""
    task = find_task(name)
    if "en" not in task.every_language:
        return None
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
    """Return an entity's lookup form in the training set, without case and blanks."""
    return "".join("".join(parts).split()).casefold()
