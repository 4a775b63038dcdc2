"""Facts of one language and split; texts are kept as hashes, so that memory does not grow with their length."""

import unicodedata
from array import array
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from isogloss.tasks.checking.defects import Defect
from isogloss.tasks.checking.text_faults import TextFaults, text_faults
from isogloss.tasks.examples import Examples
from isogloss.tasks.kinds import Kind, kind_of
from isogloss.tasks.task import Task

# Examples named in a defect.
_NAMED = 3
# Shorter texts may be equal in two languages: names, numbers, loan words.
_LEAST_SHARED = 25
# A column with as many distinct values at most is the same in translations: "cause" and "effect".
_CLOSED = 10
_FEWEST_FOR_CLOSED = 50


@dataclass(kw_only=True)
class CellFacts:
    """Facts of one language and split.

    Attributes:
        ids: all ids.
        labels: number of examples by label, or of tokens by tag.
        inputs: hash of each example's inputs.
        gold: hash of each example's gold, None without gold.
        units: hash of each example's unit, None if the examples are not parallel.
        texts: hashes of the distinct texts that are long enough to be told apart.
        closed: hashes of the values of columns that have few, by name.
        faults: faults of the texts.
        sources: files read.
    """

    language: str
    split: str
    ids: list[str]
    labels: Counter[str]
    inputs: "array[int]"
    gold: "array[int] | None"
    units: "array[int] | None"
    texts: frozenset[int]
    closed: dict[str, "array[int]"] = field(default_factory=dict)
    faults: TextFaults
    defects: list[Defect] = field(default_factory=list)
    sources: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.ids)

    def defect(self, code: str, rows: Sequence[int] = (), **fields: Any) -> Defect:
        """Return a defect of some rows."""
        named = tuple(f"{self.ids[row]:.40}" for row in rows[:_NAMED])
        return Defect(
            **{"count": len(rows), "total": len(self), **fields},
            code=code,
            language=self.language,
            split=self.split,
            ids=named,
        )


def cell_facts(task: Task, examples: Examples) -> CellFacts:
    """Return the facts of examples, with the defects that show in them alone."""
    kind = kind_of(task)
    columns = {name: _texts(examples[name]) for name in _input_columns(kind, examples)}
    texts, seen = _distinct_texts(columns)
    language = kind.text_language(examples)
    faults = text_faults(texts, language)
    gold = list(examples[examples.gold]) if examples.has_gold else None
    inputs = array("q", map(hash, map(_normal_row, zip(*columns.values(), strict=True))))
    facts = CellFacts(
        language=examples.language,
        split=examples.split,
        ids=examples.ids,
        labels=_labels(gold, kind),
        inputs=inputs,
        gold=None if gold is None else array("q", map(_hashed, gold)),
        units=None if examples.units is None else array("q", map(hash, examples.units)),
        # Queries in another language than the candidates are shared by design.
        texts=frozenset(seen if language == examples.language else ()),
        closed={name: array("q", map(hash, values)) for name, values in columns.items() if _is_closed(values)},
        faults=faults,
        sources=examples.sources,
    )
    facts.defects += _own_defects(task, kind, examples, facts)
    return facts


def _input_columns(kind: Kind, examples: Examples) -> list[str]:
    """Return the input columns that the files have; texts of tagging are computed from the tokens."""
    present = [name for name in kind.inputs if name in examples.columns]
    return ["tokens"] if "tokens" in present else present


def _hashed(gold: Any) -> int:
    """Return a hash of any gold: a label, a number, or a list."""
    try:
        return hash(tuple(gold) if isinstance(gold, list) else gold)
    except TypeError:  # a list of lists
        return hash(str(gold))


def _texts(values: Sequence[Any]) -> list[str]:
    return [value if isinstance(value, str) else " ".join(map(str, value or ())) for value in values]


def _normal_row(texts: tuple[str, ...]) -> tuple[str, ...]:
    """Return inputs without differences of blanks and Unicode normalization."""
    return tuple(" ".join((text if text.isascii() else unicodedata.normalize("NFC", text)).split()) for text in texts)


def _distinct_texts(columns: dict[str, list[str]]) -> tuple[list[list[tuple[int, str]]], set[int]]:
    """Return the texts of each column once, with their first rows, and the hashes of those with several words."""
    shared: set[int] = set()
    distinct: list[list[tuple[int, str]]] = []
    for values in columns.values():
        if _is_closed(values):
            continue
        seen: set[int] = set()
        texts: list[tuple[int, str]] = []
        for row, text in enumerate(values):
            key = hash(text)
            if text and key in seen:
                continue
            seen.add(key)
            texts.append((row, text))
            if len(text) >= _LEAST_SHARED and any(map(str.isalpha, text)):
                shared.add(key)
        distinct.append(texts)
    return distinct, shared


def _is_closed(values: Sequence[str]) -> bool:
    return len(values) >= _FEWEST_FOR_CLOSED and len(set(values)) <= _CLOSED


def _labels(gold: Sequence[Any] | None, kind: Kind) -> Counter[str]:
    """Return the number of examples per label; answers that are texts or numbers are not counted."""
    if gold is None or kind.form not in ("label", "labels", "tags", "option"):
        return Counter()
    counts: Counter[Any] = Counter()
    counts.update(chain.from_iterable(value if isinstance(value, list | tuple) else (value,) for value in gold))
    return Counter({str(label): count for label, count in counts.items() if label is not None})


def _own_defects(task: Task, kind: Kind, examples: Examples, facts: CellFacts) -> Iterator[Defect]:
    """Yield the defects that show in one language and split."""
    expected = task.expected(facts.language, facts.split)
    if expected is not None and expected != len(facts):
        detail = f"{len(facts):,} examples, but {expected:,} are declared"
        yield facts.defect("wrong-count", error=True, count=len(facts), detail=detail)
    if not examples.has_gold:
        yield facts.defect("no-gold", count=len(facts))
    elif reason := kind.placeholder(examples):
        yield facts.defect("placeholder-gold", count=len(facts), detail=reason)
    for note in examples.notes:
        yield facts.defect("reader-note", detail=note)
    yield from _repetitions(facts)
    for code, faulty in facts.faults.rows.items():
        named = facts.faults.details.get(code, Counter()).most_common(3)
        yield facts.defect(code, sorted(faulty), detail=", ".join(name for name, _ in named))
    if examples.has_gold:
        by_code: dict[tuple[str, bool], list[int]] = {}
        for fault in kind.gold_faults(examples):
            by_code.setdefault((fault.code, fault.error), []).append(fault.row)
        for (code, error), rows in by_code.items():
            yield facts.defect(code, list(dict.fromkeys(rows)), error=error)


def _repetitions(facts: CellFacts) -> Iterator[Defect]:
    first: dict[int, int] = {}
    repeated: list[int] = []
    conflicting: list[int] = []
    for row, key in enumerate(facts.inputs):
        earlier = first.setdefault(key, row)
        if earlier != row:
            differs = facts.gold is not None and facts.gold[earlier] != facts.gold[row]
            (conflicting if differs else repeated).append(row)
    if repeated:
        yield facts.defect("duplicate", repeated)
    if conflicting:
        yield facts.defect("conflict", conflicting)
