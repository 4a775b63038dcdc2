"""The record of checkpoints: what a model scored on dev and answered on test while it was trained, by language.

A few hundred examples a language are enough to see a run move, but not to choose a checkpoint: where dev scores do
that, the whole dev set is predicted. Answers are small where weights are not: with them any selection rule can be
applied afterwards. While a model learns, every checkpoint is a file of its own that appears when it is complete; at the
end they become two, `checkpoints.csv` and `checkpoints.npz`.
"""

import csv
import zlib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from isogloss.data.arrays import read_arrays
from isogloss.data.files import atomic_write
from isogloss.decoding import decode_json
from isogloss.errors import DataError, IsoglossError
from isogloss.tasks.examples import Examples
from isogloss.tasks.kinds import judge, kind_of
from isogloss.tasks.task import Task
from isogloss.training.recipes import ALL
from isogloss.training.selection import LOSS, CheckpointScore

SCORES, ANSWERS, SHARDS = "checkpoints.csv", "checkpoints.npz", "checkpoints"
# A pool of more candidates (Mewsli-X has a million) would take longer to read at every checkpoint than the training.
LARGEST_POOL = 50_000


def subset(examples: Examples, limit: int | str) -> Examples:
    """At most so many of the examples, or `all`, in their order; the same in every run, and in parallel languages."""
    if limit == ALL or len(examples) <= int(limit):
        return examples
    rng = np.random.default_rng(zlib.crc32(f"{examples.task}/{examples.split}".encode()))
    kept = examples.keep(sorted(rng.choice(len(examples), size=int(limit), replace=False).tolist()))
    for name in kept.columns:
        kept.column(name)  # now, so that the others need not stay in memory
    return kept


@dataclass(frozen=True)
class ProbeSet:
    """The examples that every checkpoint predicts.

    Attributes:
        examples: one subset for every language and split.
        notes: what was left out, and why.
    """

    examples: tuple[Examples, ...]
    notes: tuple[str, ...]

    @classmethod
    def of(cls, find: Callable[[str, str], Examples], wanted: Mapping[tuple[str, str], int | str]) -> "ProbeSet":
        """So many examples of every wanted language and split, or all of them.

        An error of `find` becomes a note, unless it is about a damaged dev file: without it another checkpoint would
        be chosen. A damaged test file is an error of the cells of that language.
        """
        kept, notes = [], []
        for (language, split), limit in wanted.items():
            found = None
            try:
                found = find(language, split) if limit else None
                problem = "not asked at checkpoints" if found is None else _why_left_out(found)
            except IsoglossError as error:
                # An error that names a file is about a damaged one; without, there is none.
                if split == "dev" and isinstance(error, DataError) and error.where:
                    raise
                problem = error.what
            if found is None or problem:
                notes.append(f"{language} {split}: {problem}")
            else:
                kept.append(subset(found, limit))
        return cls(tuple(kept), tuple(notes))


def _why_left_out(examples: Examples) -> str:
    """Why examples have no place in a record, "" where they have: test answers are kept also without gold."""
    if examples.pool is not None and len(examples.pool) > LARGEST_POOL:
        return f"a pool of {len(examples.pool):,} candidates is too large to be asked at every checkpoint"
    return "it has no gold answers" if examples.split == "dev" and not examples.has_gold else ""


class _StoredCheckpoint(msgspec.Struct, frozen=True):
    """A checkpoint as its file has it: its dev scores, and its answers by `<split>/<language>`."""

    step: int
    rows: list[CheckpointScore]
    answers: dict[str, list[Any]]


@dataclass(frozen=True)
class _KnownCheckpoint:
    """What is remembered of a checkpoint: its dev scores, and how many answers it gave by `<split>/<language>`.

    Not the answers: those of whole dev sets at hundreds of checkpoints would fill the memory.
    """

    rows: list[CheckpointScore]
    answered: dict[str, int]

    @classmethod
    def of(cls, stored: _StoredCheckpoint) -> "_KnownCheckpoint":
        return cls(stored.rows, {key: len(answers) for key, answers in stored.answers.items()})


class CheckpointRecord:
    """The record of a run that is going on.

    Args:
        folder: where it lies; checkpoints of this run that are there already are taken over. They may have predicted
            fewer examples, if languages were added since.
        task: whose kind judges the answers.
        seed: of the run.
        probes: the examples that every checkpoint predicts.
        selecting_languages: those whose dev sets choose a checkpoint, which all checkpoints must have predicted.
        loss_languages: those of the dev sets whose loss every checkpoint must have.
        dev_task: the task of the dev sets, where it is not the same.

    Raises:
        DataError: the checkpoints that are there have answered other questions.
    """

    def __init__(
        self,
        folder: Path,
        task: Task,
        seed: int,
        probes: Sequence[Examples],
        selecting_languages: Collection[str] = (),
        loss_languages: Collection[str] = (),
        *,
        dev_task: Task | None = None,
    ) -> None:
        self.folder = folder
        self.task = task
        self.dev_task = dev_task or task
        self.seed = seed
        self.probes = probes
        sizes = {_key(examples): len(examples) for examples in probes}
        deciding = {
            _key(examples)
            for examples in probes
            if examples.split == "dev" and examples.language in selecting_languages
        }
        self._known: dict[int, _KnownCheckpoint] = {}
        for path in sorted((folder / SHARDS).glob("*.json")):
            if (stored := _read_stored(path)) is None:
                continue
            known = self._known[stored.step] = _KnownCheckpoint.of(stored)
            losses = {row.language for row in known.rows if row.metric == LOSS}
            asked_the_same = known.answered.items() <= sizes.items() and deciding <= known.answered.keys()
            if not asked_the_same or losses != {*loss_languages}:
                fix = "Remove the folder to begin anew, or give the dev and test sets the run began with"
                raise DataError("the checkpoints of this run have answered other questions", where=str(folder), fix=fix)

    @property
    def steps(self) -> list[int]:
        """The checkpoints so far, in order."""
        return sorted(self._known)

    @property
    def rows(self) -> list[CheckpointScore]:
        """The dev scores so far."""
        return [row for step in self.steps for row in self._known[step].rows]

    def add(
        self,
        step: int,
        answer: Callable[[Examples], Sequence[Any]],
        losses: Mapping[str, tuple[float, int]] | None = None,
    ) -> None:
        """Predict all probes at a checkpoint, and keep scores and answers.

        What is there of this checkpoint and of later ones is forgotten: it is of a run that was killed, and may have
        been another model by then.

        Args:
            step: updates before it.
            answer: gives an answer for every example.
            losses: on dev sets of what it learns from, by language: the mean, and over how many items.
        """
        for other in [other for other in self._known if other >= step]:
            self._path(other).unlink(missing_ok=True)
            del self._known[other]
        answers = {_key(examples): list(answer(examples)) for examples in self.probes}
        dev = (examples for examples in self.probes if examples.split == "dev")
        rows = [row for examples in dev for row in self._scored(step, examples, answers[_key(examples)])]
        for language, (loss, n) in (losses or {}).items():
            rows.append(CheckpointScore(step, self.seed, language, "dev", LOSS, loss, n))
        stored = _StoredCheckpoint(step, rows, answers)
        with atomic_write(self._path(step)) as stream:
            stream.write(msgspec.json.encode(stored).decode())
        self._known[step] = _KnownCheckpoint.of(stored)

    @property
    def notes(self) -> list[str]:
        """Which probes not all checkpoints have answered."""
        found = []
        for examples in self.probes:
            answered = [step for step in self.steps if _key(examples) in self._known[step].answered]
            if len(answered) < len(self._known):
                since = f"only from update {answered[0]} on" if answered else "at no checkpoint"
                found.append(f"{examples.language} {examples.split}: asked {since}, having been added late")
        return found

    def finish(self) -> "Checkpoints":
        """Score the test answers, and make two files of the checkpoints.

        Raises:
            DataError: the file of a checkpoint is damaged, or the two cannot be written.
        """
        kind = kind_of(self.task)
        scored = [
            (_key(examples), examples)
            for examples in self.probes
            if examples.split == "test" and examples.has_gold and not kind.placeholder(examples)
        ]
        rows: list[CheckpointScore] = []
        tables = {_key(examples): _AnswerTable(examples, len(self._known)) for examples in self.probes}
        for number, step in enumerate(self.steps):
            stored = _read_stored(self._path(step))
            if stored is None:
                raise DataError("a checkpoint's file is damaged", where=str(self._path(step)), fix="Train again")
            rows += stored.rows
            for key, answers in stored.answers.items():
                tables[key].add(number, answers)
            for key, examples in scored:
                if key in stored.answers:
                    rows += self._scored(step, examples, stored.answers[key])
        self._write_answers(tables)
        with atomic_write(self.folder / SCORES) as stream:
            table = csv.writer(stream, lineterminator="\n")
            table.writerows([CheckpointScore._fields, *rows])
        return read_checkpoints(self.folder)

    def _path(self, step: int) -> Path:
        return self.folder / SHARDS / f"{step:08}.json"

    def _scored(self, step: int, examples: Examples, values: Sequence[Any]) -> list[CheckpointScore]:
        task = self.dev_task if examples.split == "dev" else self.task
        kind = kind_of(task)
        given = [None if value is None else kind.normalize(value) for value in values]
        metrics = judge(task, examples, given).metrics
        return [
            CheckpointScore(step, self.seed, examples.language, examples.split, name, 100 * found.score, len(examples))
            for name, found in metrics.items()
        ]

    def _write_answers(self, tables: "Mapping[str, _AnswerTable]") -> None:
        arrays: dict[str, Any] = {"steps": np.array(self.steps, np.int64)}
        for key, table in tables.items():
            arrays |= {f"{key}/{name}": array for name, array in table.arrays().items()}
        with atomic_write(self.folder / ANSWERS) as stream:
            np.savez_compressed(stream.buffer, **arrays)


class _AnswerTable:
    """The answers of all checkpoints to some examples, as numbers into a list of the different ones.

    Most checkpoints agree about most examples. The number is -1 where a checkpoint has no answer.
    """

    def __init__(self, examples: Examples, checkpoints: int) -> None:
        self._ids = examples.ids
        self._numbers: dict[bytes, int] = {}
        self._table = np.full((checkpoints, len(examples)), -1, np.int32)

    def add(self, checkpoint: int, answers: Sequence[Any]) -> None:
        """The answers of a checkpoint, which is given by its place among them."""
        texts = map(msgspec.json.encode, answers)
        self._table[checkpoint] = [self._numbers.setdefault(text, len(self._numbers)) for text in texts]

    def arrays(self) -> dict[str, Any]:
        """Ids, different answers and numbers, as they are stored."""
        return {
            "ids": np.frombuffer(msgspec.json.encode(self._ids), np.uint8),
            "answers": np.frombuffer(b"[" + b",".join(self._numbers) + b"]", np.uint8),
            "codes": self._table,
        }


@dataclass(frozen=True)
class Checkpoints:
    """A record that is complete."""

    folder: Path
    rows: tuple[CheckpointScore, ...]

    @cached_property
    def steps(self) -> tuple[int, ...]:
        """The checkpoints, in order."""
        with read_arrays(self.folder / ANSWERS) as arrays:
            return tuple(arrays["steps"].tolist())

    def answers(self, step: int, language: str, split: str = "test") -> dict[str, Any]:
        """What was answered at a checkpoint, by id.

        Raises:
            DataError: the checkpoint, language or split is not in the record.
        """
        key = f"{split}/{language}"
        with read_arrays(self.folder / ANSWERS) as arrays:
            recorded = step in self.steps and f"{key}/ids" in arrays
            codes = arrays[f"{key}/codes"][self.steps.index(step)] if recorded else np.array([-1])
            if (codes < 0).any():
                where = str(self.folder / ANSWERS)
                raise DataError(f"no answers of step {step} on {language} {split}", where=where)
            ids, answers = (msgspec.json.decode(arrays[f"{key}/{part}"].tobytes()) for part in ("ids", "answers"))
        return {identifier: answers[code] for identifier, code in zip(ids, codes.tolist(), strict=True)}


def read_checkpoints(folder: Path) -> Checkpoints:
    """The record in a folder.

    Raises:
        DataError: there is none, or a damaged one.
    """
    path = folder / SCORES
    try:
        with path.open(encoding="utf-8", newline="") as stream:
            _, *lines = csv.reader(stream)
        rows = (CheckpointScore(int(a), int(b), c, d, e, float(f), int(g)) for a, b, c, d, e, f, g in lines)
        return Checkpoints(folder, tuple(rows))
    except FileNotFoundError:
        raise DataError(
            "there is no record of checkpoints", where=str(folder), fix="isogloss train makes one"
        ) from None
    except (ValueError, csv.Error) as error:
        raise DataError(f"the record of checkpoints is damaged ({error})", where=str(path)) from None


def _key(examples: Examples) -> str:
    return f"{examples.split}/{examples.language}"


def _read_stored(path: Path) -> _StoredCheckpoint | None:
    try:
        found: _StoredCheckpoint = decode_json(path.read_bytes(), "", _StoredCheckpoint)
    except DataError:
        return None  # from a disk that lost power: that checkpoint is made again
    return found
