"""The inputs of a task with the ids to answer, for systems outside this house."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from isogloss.data.files import atomic_write
from isogloss.errors import IsoglossError
from isogloss.tasks.examples import Examples
from isogloss.tasks.kinds import kind_of
from isogloss.tasks.loading import load
from isogloss.tasks.task import Task


def export(task: Task, languages: Sequence[str], split: str, data: Path | None, out: Path) -> list[tuple[Path, int]]:
    """Write the inputs of some languages: one file each below a folder, or all in one .jsonl or .parquet file.

    Retrieval tasks get their candidates beside the queries. Gold is never written.
    """
    if out.suffix in (".jsonl", ".parquet"):
        sets = [load(task, language, split, data) for language in languages]
        rows = [row for examples in sets for row in _inputs(task, examples)]
        pool = [row for examples in _distinct_pools(sets) for row in _candidates(examples)]
        written = [(_write(out, rows), len(rows))]
        if pool:
            beside = out.with_name(f"{out.stem}-candidates{out.suffix}")
            written.append((_write(beside, pool), len(pool)))
        return written
    if out.suffix and not out.is_dir():
        raise IsoglossError(f"{out} is neither a folder nor a .jsonl or .parquet file")
    written = []
    seen: set[int] = set()
    for language in languages:
        examples = load(task, language, split, data)
        prefix = "" if split == "test" else f"{split}-"
        path = out / task.id / f"{prefix}{language}.jsonl"
        written.append((_write(path, _inputs(task, examples)), len(examples)))
        if examples.pool is not None and id(examples.pool) not in seen:
            seen.add(id(examples.pool))
            shared = kind_of(task).shared_pool
            name = f"{prefix}candidates.jsonl" if shared else f"{prefix}candidates-{language}.jsonl"
            written.append((_write(out / task.id / name, _candidates(examples)), len(examples.pool)))
    return written


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


def _write(path: Path, rows: Sequence[dict[str, Any]] | Iterator[dict[str, Any]]) -> Path:
    if path.suffix == ".parquet":
        try:
            import pyarrow as pa
            import pyarrow.parquet as pq
        except ImportError:
            raise IsoglossError(
                "Parquet needs pyarrow", fix="pip install 'isogloss[tables]', or write .jsonl"
            ) from None
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path.with_name(f".{path.name}.part")
        pq.write_table(pa.Table.from_pylist(list(rows)), temporary)
        return temporary.replace(path)
    encoder = msgspec.json.Encoder()
    with atomic_write(path) as stream:
        for row in rows:
            stream.write(encoder.encode(row).decode() + "\n")
    return path
