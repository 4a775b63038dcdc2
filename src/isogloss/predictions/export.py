"""The inputs of a task with the ids to answer, for any system that takes part from outside."""

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from isogloss.data.files import atomic_write
from isogloss.errors import IsoglossError
from isogloss.predictions.write import prediction_path
from isogloss.tasks.examples import Examples
from isogloss.tasks.kinds import kind_of
from isogloss.tasks.loading import load
from isogloss.tasks.registry import task as find_task
from isogloss.tasks.task import Task


def export(
    task: str | Task,
    out: str | os.PathLike[str],
    split: str = "test",
    languages: Sequence[str] | None = None,
    data: str | os.PathLike[str] | None = None,
) -> list[tuple[Path, int]]:
    """Write the inputs of a task with the ids to answer; gold is never written.

    Retrieval tasks get their candidates beside the queries.

    Args:
        task: a task or its name.
        out: a folder, for one file a language, or one .jsonl or .parquet file for all.
        split: "test", "dev" or "train".
        languages: only these; default all that are in the task's average.
        data: the data folder; default ISOGLOSS_DATA or the user's cache.

    Returns:
        The files that were written, each with its number of rows.

    Raises:
        UnknownNameError: no such task, language or split.
        DataError: the data folder lacks the inputs.
        IsoglossError: `out` is another sort of file, or pyarrow is missing.
    """
    found = task if isinstance(task, Task) else find_task(task)
    target = Path(out)
    codes = found.languages if languages is None else languages
    if target.suffix in (".jsonl", ".parquet"):
        return _one_file(found, target, [load(found, code, split, data) for code in codes])
    if target.suffix and not target.is_dir():
        raise IsoglossError(f"{target} is neither a folder nor a .jsonl or .parquet file")
    return _one_file_a_language(found, target, (load(found, code, split, data) for code in codes))


def _one_file(task: Task, out: Path, sets: Sequence[Examples]) -> list[tuple[Path, int]]:
    rows = [row for examples in sets for row in _inputs(task, examples)]
    pool = [row for examples in _distinct_pools(sets) for row in _candidates(examples)]
    written = [(_write(out, rows), len(rows))]
    if pool:
        beside = out.with_name(f"{out.stem}-candidates{out.suffix}")
        written.append((_write(beside, pool), len(pool)))
    return written


def _one_file_a_language(task: Task, out: Path, sets: Iterable[Examples]) -> list[tuple[Path, int]]:
    written: dict[Path, int] = {}
    for examples in sets:
        path = prediction_path(out, task, examples.language, examples.split)
        written[_write(path, _inputs(task, examples))] = len(examples)
        if examples.pool is not None:
            ending = "" if kind_of(task).shared_pool else f"-{examples.language}"
            path = prediction_path(out, task, f"candidates{ending}", examples.split)
            if path not in written:
                written[_write(path, _candidates(examples))] = len(examples.pool)
    return list(written.items())


def _inputs(task: Task, examples: Examples) -> Iterator[dict[str, Any]]:
    names = [name for name in kind_of(task).inputs if name in examples.columns]
    columns = [examples.column(name) for name in names]
    for identifier, *values in zip(examples.ids, *columns, strict=True):
        yield {"id": identifier, "language": examples.language, **dict(zip(names, values, strict=True))}


def _candidates(examples: Examples) -> Iterator[dict[str, Any]]:
    pool = examples.pool
    if pool is not None:
        for identifier, language, text in zip(pool.ids, pool.languages, pool.text, strict=True):
            yield {"id": identifier, "language": language, "text": text}


def _distinct_pools(sets: Sequence[Examples]) -> list[Examples]:
    return list({id(examples.pool): examples for examples in sets if examples.pool is not None}.values())


def _write(path: Path, rows: Iterable[dict[str, Any]]) -> Path:
    if path.suffix == ".parquet":
        try:
            import pyarrow as pa
            import pyarrow.parquet as pq
        except ImportError:
            raise IsoglossError(
                "Parquet needs pyarrow", fix="pip install 'isogloss[tables]', or write .jsonl"
            ) from None
        with atomic_write(path) as stream:
            pq.write_table(pa.Table.from_pylist(list(rows)), stream.buffer)
        return path
    encoder = msgspec.json.Encoder()
    with atomic_write(path) as stream:
        for row in rows:
            stream.write(encoder.encode(row).decode() + "\n")
    return path
