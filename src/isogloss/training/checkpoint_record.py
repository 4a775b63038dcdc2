"""Record of checkpoints: dev scores and test predictions per language during training.

A few hundred examples per language show how a run develops, but do not suffice to choose a checkpoint: dev sets used
for selection are predicted whole. Predictions are small, unlike weights, and allow any selection rule to be applied
later. During training each checkpoint is a separate file, which appears when complete; at the end they are combined
into `checkpoints.csv` and `checkpoints.npz`.
"""

import csv
import zlib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from isogloss.data.arrays import read_arrays
from isogloss.data.files import atomic_write
from isogloss.decoding import decode_json
from isogloss.errors import DataError, IsoglossError, MissingDataError
from isogloss.tasks.examples import Examples
from isogloss.tasks.kinds import judge, kind_of
from isogloss.tasks.loading import unusable_gold
from isogloss.tasks.task import Task
from isogloss.training.recipes import ALL
from isogloss.training.selection import LOSS, CheckpointScore

SCORES, ANSWERS, SHARDS = "checkpoints.csv", "checkpoints.npz", "checkpoints"
# Larger pools (Mewsli-X has a million candidates) would take longer to encode at every checkpoint than the training.
LARGEST_POOL = 50_000


def subset(examples: Examples, limit: int | str) -> Examples:
    """Return at most `limit` examples in order, or `all`; the same in every run, and in parallel languages."""
    if limit == ALL or len(examples) <= int(limit):
        return examples
    rng = np.random.default_rng(zlib.crc32(f"{examples.task}/{examples.split}".encode()))
    drawn = examples.keep(sorted(rng.choice(len(examples), size=int(limit), replace=False).tolist()))
    for name in drawn.columns:
        drawn.column(name)  # load now, to release the other examples
    return drawn


def probe_sets(
    find: Callable[[str, str], Examples], wanted: Mapping[tuple[str, str], int | str]
) -> tuple[list[Examples], dict[tuple[str, str], str]]:
    """Load the wanted number of examples per language and split, for every checkpoint to predict.

    Return also the reasons for omissions: errors of `find`, except for a damaged dev file, which would change the
    chosen checkpoint. A damaged test file is an error of that language's cells.
    """
    subsets: list[Examples] = []
    left_out: dict[tuple[str, str], str] = {}
    for (language, split), limit in wanted.items():
        problem = "" if limit else "not predicted at checkpoints"
        try:
            if limit:
                examples = find(language, split)
                size = 0 if examples.pool is None else len(examples.pool)
                if size > LARGEST_POOL:
                    problem = f"the pool of {size:,} candidates is too large to search at every checkpoint"
                elif split == "dev" and not examples.has_gold:  # test predictions are kept even without gold labels
                    problem = "no gold labels"
        except IsoglossError as error:
            if split == "dev" and is_damaged(error):
                raise
            problem = error.what
        if problem:
            left_out[language, split] = f"{language} {split}: {problem}"
        else:
            subsets.append(subset(examples, limit))
    return subsets, left_out


def is_damaged(error: IsoglossError) -> bool:
    """Return True for data that exists but cannot be used."""
    return isinstance(error, DataError) and not isinstance(error, MissingDataError)


class _StoredCheckpoint(msgspec.Struct, frozen=True):
    """A checkpoint in its file: its dev scores, and its predictions by `<split>/<language>`."""

    step: int
    rows: list[CheckpointScore]
    answers: dict[str, list[Any]]


@dataclass
class CheckpointRecord:
    """The record of a run in progress; raise a DataError if its existing checkpoints predicted other examples."""

    folder: Path
    task: Task  # judges the predictions
    seed: int
    probes: Sequence[Examples]  # predicted by every checkpoint
    _: KW_ONLY
    selecting_languages: Collection[str] = ()  # with dev sets that choose a checkpoint, required of all checkpoints
    loss_languages: Collection[str] = ()  # with dev sets that have a loss at every checkpoint
    dev_task: Task | None = None  # task of the dev sets, if different

    def __post_init__(self) -> None:
        sizes = {_key(examples): len(examples) for examples in self.probes}
        deciding = {f"dev/{language}" for language in self.selecting_languages} & sizes.keys()
        # Dev scores of each checkpoint, and its number of predictions by `<split>/<language>`: the predictions of whole
        # dev sets at hundreds of checkpoints would fill the memory.
        self._known: dict[int, tuple[list[CheckpointScore], dict[str, int]]] = {}
        # Existing checkpoints of this run may have fewer predictions if languages were added since.
        for path in sorted((self.folder / SHARDS).glob("*.json")):
            if (stored := _read_stored(path)) is None:
                continue
            answered = self._remember(stored)
            losses = {row.language for row in stored.rows if row.metric == LOSS}
            same_examples = answered.items() <= sizes.items() and deciding <= answered.keys()
            if not same_examples or losses != {*self.loss_languages}:
                fix = "Remove the folder to start over, or use the dev and test sets the run started with"
                raise DataError("the checkpoints of this run predicted other examples", where=str(self.folder), fix=fix)

    def _remember(self, stored: _StoredCheckpoint) -> dict[str, int]:
        answered = {key: len(answers) for key, answers in stored.answers.items()}
        self._known[stored.step] = stored.rows, answered
        return answered

    @property
    def steps(self) -> list[int]:
        """Checkpoints so far, in order."""
        return sorted(self._known)

    @property
    def rows(self) -> list[CheckpointScore]:
        """Dev scores so far."""
        return [row for step in self.steps for row in self._known[step][0]]

    def add(
        self, step: int, answer: Callable[[Examples], Sequence[Any]], losses: Mapping[str, tuple[float, int]] = {}
    ) -> None:
        """Predict all probes at a checkpoint; store scores, predictions, and losses (mean and items by language)."""
        # This checkpoint and later ones belong to a killed run, and its model may have differed.
        for other in [other for other in self._known if other >= step]:
            self._path(other).unlink(missing_ok=True)
            del self._known[other]
        answers = {_key(examples): list(answer(examples)) for examples in self.probes}
        dev = (examples for examples in self.probes if examples.split == "dev")
        rows = [row for examples in dev for row in self._scored(step, examples, answers[_key(examples)])]
        rows += [CheckpointScore(step, self.seed, code, "dev", LOSS, *values) for code, values in losses.items()]
        stored = _StoredCheckpoint(step, rows, answers)
        with atomic_write(self._path(step)) as stream:
            stream.write(msgspec.json.encode(stored).decode())
        self._remember(stored)

    @property
    def notes(self) -> list[str]:
        """Remarks on probes that some checkpoints did not predict."""
        notes = []
        for examples in self.probes:
            answered = [step for step in self.steps if _key(examples) in self._known[step][1]]
            if len(answered) < len(self._known):
                since = f"predicted only from update {answered[0]} on" if answered else "predicted at no checkpoint"
                notes.append(f"{examples.language} {examples.split}: {since} (added later)")
        return notes

    def finish(self) -> "Checkpoints":
        """Score the test predictions, and combine the checkpoints into two files."""
        scored = [
            (_key(examples), examples)
            for examples in self.probes
            if examples.split == "test" and not unusable_gold(self.task, examples)
        ]
        rows: list[CheckpointScore] = []
        # Indices into the distinct predictions (most checkpoints agree on most examples), -1 without a prediction.
        codes = {_key(examples): np.full((len(self._known), len(examples)), -1, np.int32) for examples in self.probes}
        distinct: dict[str, dict[bytes, int]] = {key: {} for key in codes}
        for number, step in enumerate(self.steps):
            stored = _read_stored(self._path(step))
            if stored is None:
                raise DataError("damaged checkpoint file", where=str(self._path(step)), fix="Train again")
            rows += stored.rows
            for key, answers in stored.answers.items():
                numbers, texts = distinct[key], map(msgspec.json.encode, answers)
                codes[key][number] = [numbers.setdefault(text, len(numbers)) for text in texts]
            for key, examples in scored:
                if key in stored.answers:
                    rows += self._scored(step, examples, stored.answers[key])
        arrays: dict[str, Any] = {"steps": np.array(self.steps, np.int64)}
        for key, examples in zip(codes, self.probes, strict=True):
            arrays[f"{key}/ids"] = np.frombuffer(msgspec.json.encode(examples.ids), np.uint8)
            arrays[f"{key}/answers"] = np.frombuffer(b"[" + b",".join(distinct[key]) + b"]", np.uint8)
            arrays[f"{key}/codes"] = codes[key]
        with atomic_write(self.folder / ANSWERS) as stream:
            np.savez_compressed(stream.buffer, **arrays)
        with atomic_write(self.folder / SCORES) as stream:
            csv.writer(stream, lineterminator="\n").writerows([CheckpointScore._fields, *rows])
        return read_checkpoints(self.folder)

    def _path(self, step: int) -> Path:
        return self.folder / SHARDS / f"{step:08}.json"

    def _scored(self, step: int, examples: Examples, values: Sequence[Any]) -> list[CheckpointScore]:
        task = (self.dev_task if examples.split == "dev" else None) or self.task
        answers = [None if value is None else kind_of(task).normalize(value) for value in values]
        return [
            CheckpointScore(step, self.seed, examples.language, examples.split, name, 100 * metric.score, len(examples))
            for name, metric in judge(task, examples, answers).metrics.items()
        ]


@dataclass(frozen=True)
class Checkpoints:
    """A complete record."""

    folder: Path
    rows: tuple[CheckpointScore, ...]

    @cached_property
    def steps(self) -> tuple[int, ...]:
        """Checkpoints, in order."""
        with read_arrays(self.folder / ANSWERS) as arrays:
            return tuple(arrays["steps"].tolist())

    def answers(self, step: int, language: str, split: str = "test") -> dict[str, Any]:
        """Return the predictions of a checkpoint, by id; raise a DataError if they are not in the record."""
        ids, by_step = self.answers_by_step(language, split)
        if step not in by_step:
            what = f"no predictions of step {step} for {language} {split}"
            raise DataError(what, where=str(self.folder / ANSWERS))
        return dict(zip(ids, by_step[step], strict=True))

    def answers_by_step(self, language: str, split: str = "test") -> tuple[list[str], dict[int, list[Any]]]:
        """Return the ids of a set and the predictions of all checkpoints that predicted it, in the order of the ids."""
        key = f"{split}/{language}"
        with read_arrays(self.folder / ANSWERS) as arrays:
            if f"{key}/ids" not in arrays:
                return [], {}
            ids, answers = (msgspec.json.decode(arrays[f"{key}/{part}"].tobytes()) for part in ("ids", "answers"))
            rows = zip(self.steps, arrays[f"{key}/codes"].tolist(), strict=True)
            return ids, {step: [answers[code] for code in row] for step, row in rows if min(row, default=-1) >= 0}


def read_checkpoints(folder: Path) -> Checkpoints:
    """Read the record in a folder; raise a DataError if it is missing or damaged."""
    path = folder / SCORES
    try:
        with path.open(encoding="utf-8", newline="") as stream:
            _, *lines = csv.reader(stream)
        rows = (CheckpointScore(int(a), int(b), c, d, e, float(f), int(g)) for a, b, c, d, e, f, g in lines)
        return Checkpoints(folder, tuple(rows))
    except FileNotFoundError:
        raise DataError("missing checkpoints.csv", where=str(folder), fix="Run isogloss train to create it") from None
    except (ValueError, csv.Error) as error:
        raise DataError(f"damaged checkpoint record ({error})", where=str(path)) from None


def _key(examples: Examples) -> str:
    return f"{examples.split}/{examples.language}"


def _read_stored(path: Path) -> _StoredCheckpoint | None:
    try:
        stored: _StoredCheckpoint = decode_json(path.read_bytes(), "", _StoredCheckpoint)
    except DataError:
        return None  # damaged by a power loss; the checkpoint is repeated
    return stored
