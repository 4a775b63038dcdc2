"""Export the inputs of a task with the ids to answer, for systems outside of Isogloss."""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from isogloss.data.files import atomic_write
from isogloss.errors import DataError, IsoglossError, MissingDataError, named
from isogloss.predictions.draw import draw_examples
from isogloss.predictions.folder import SUBSET_FILE
from isogloss.predictions.guide import Guides, names_of, open_guides
from isogloss.predictions.subset import CellSubset, SubsetFile
from isogloss.predictions.write import prediction_path, split_prefix
from isogloss.tasks.examples import Examples
from isogloss.tasks.kinds import kind_of
from isogloss.tasks.loading import load
from isogloss.tasks.pseudo_sets import is_pseudo, pseudo_languages
from isogloss.tasks.registry import given_task as find_task
from isogloss.tasks.task import Task
from isogloss.tasks.task_sources import use_tasks_of


def export(
    task: str | Task,
    out: str | os.PathLike[str],
    split: str = "test",
    languages: Sequence[str] | None = None,
    data: str | os.PathLike[str] | None = None,
    *,
    subset: int | None = None,
    seed: int = 0,
    guide: "Guides" = None,
) -> list[tuple[Path, int]]:
    """Write the inputs of a task with the ids to answer, without gold.

    For retrieval tasks, also write the candidates. For a subset, also write the file that `score` needs to estimate
    the score on all examples; it depends on the gold labels, so hide it from the system that answers.

    Args:
        task: task or its name.
        out: folder for one file per language, or one .jsonl or .parquet file for all.
        split: "test", "dev", "train", "pseudo" or "pseudo-dev".
        languages: languages to export; default all languages of the task's average.
        data: data folder; default ISOGLOSS_DATA or the user's cache.
        subset: number of examples to draw per language; default all.
        seed: another seed draws other examples; with the same seed, a smaller subset is part of a larger one.
        guide: predictions of a cheap system for all examples, or of several; informative
            examples are drawn more often.

    Returns:
        The written files with their numbers of rows.

    Raises:
        UnknownNameError: unknown task, language or split.
        DataError: the inputs of some languages are missing from the data folder or invalid; in a folder, the files of
            all other languages are written first.
        PredictionError: a guide has no answers to all examples, or invalid ones.
        IsoglossError: unsupported file type of `out`, or pyarrow is missing; the subset is too small.

    Example:
        isogloss.export("xquad", "inputs", languages=["en", "sw"], data="data")
    """
    use_tasks_of(data)
    chosen = task if isinstance(task, Task) else find_task(task)
    target = Path(out)
    languages = named("language", languages)
    every = pseudo_languages(chosen, split, data) if is_pseudo(split) else chosen.languages
    if not every and languages is None:
        what = f"{chosen.id} has no pseudo test set"
        raise MissingDataError(what, fix=f"Run isogloss translate {chosen.id} --pseudo -l LANGUAGES --with …")
    codes = every if languages is None else languages
    is_file = target.suffix in (".jsonl", ".parquet")
    if target.suffix and not is_file and not target.is_dir():
        raise IsoglossError("expected a folder or a .jsonl or .parquet file", where=str(target))
    failed: dict[str, DataError] = {}
    # A single file has all languages or is not written.
    sets = _loaded((chosen, split, data), codes, None if is_file else failed)
    cells: dict[str, CellSubset] = {}
    systems = open_guides(guide)
    if subset is not None:
        sets = _drawn(sets, partial(draw_examples, chosen, size=subset, seed=seed, guides=systems), cells)
    elif systems:
        raise IsoglossError("a guide is for subsets", fix="Set the size of the subset, or leave out the guide")
    written = _one_file(chosen, target, list(sets)) if is_file else _file_per_language(chosen, target, sets)
    if subset is not None:
        file = SubsetFile(task=chosen.id, split=split, size=subset, seed=seed, guide=names_of(systems), languages=cells)
        inside = target / chosen.id / f"{split_prefix(split)}{SUBSET_FILE}"
        path = target.with_name(f"{target.stem}-{SUBSET_FILE}") if is_file else inside
        file.write(path)
        written.append((path, sum(len(cell.ids) for cell in cells.values())))
    if failed:
        raise _left_out(failed, chosen)
    return written


def _loaded(
    source: tuple[Task, str, str | os.PathLike[str] | None], codes: Sequence[str], failed: dict[str, DataError] | None
) -> Iterator[Examples]:
    """Yield the examples of each language; record errors in `failed`, if given, unless all languages have one."""
    task, split, data = source
    for code in codes:
        try:
            yield load(task, code, split, data)
        except DataError as error:
            if failed is None:
                raise
            failed[code] = error
    if failed and len(failed) == len(codes):
        raise next(iter(failed.values()))


def _left_out(failed: dict[str, DataError], task: Task) -> DataError:
    first = next(iter(failed.values()))
    if len(failed) == 1:
        return first
    others = ", ".join([*failed][1:])
    return DataError(f"{first.what}; {task.id} is also incomplete in {others}", where=first.where, fix=first.fix)


def _drawn(
    sets: Iterable[Examples], draw: Callable[[Examples], CellSubset], cells: dict[str, CellSubset]
) -> Iterator[Examples]:
    """Yield the drawn examples of each set, and record the draw by language."""
    for examples in sets:
        cells[examples.language] = draw(examples)
        yield cells[examples.language].kept(examples)


def _one_file(task: Task, out: Path, sets: Sequence[Examples]) -> list[tuple[Path, int]]:
    rows = [row for examples in sets for row in _inputs(task, examples)]
    distinct = {id(examples.pool): examples for examples in sets if examples.pool is not None}
    pool = [row for examples in distinct.values() for row in _candidates(examples)]
    written = [(_write(out, rows), len(rows))]
    if pool:
        path = out.with_name(f"{out.stem}-candidates{out.suffix}")
        written.append((_write(path, pool), len(pool)))
    return written


def _file_per_language(task: Task, out: Path, sets: Iterable[Examples]) -> list[tuple[Path, int]]:
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


def _write(path: Path, rows: Iterable[dict[str, Any]]) -> Path:
    if path.suffix == ".parquet":
        try:
            import pyarrow as pa
            import pyarrow.parquet as pq
        except ImportError:
            from isogloss.installation import install_command

            fix = f"Run {install_command('tables')}, or write .jsonl"
            raise IsoglossError("Parquet needs pyarrow", fix=fix) from None
        with atomic_write(path) as stream:
            pq.write_table(pa.Table.from_pylist(list(rows)), stream.buffer)
        return path
    encoder = msgspec.json.Encoder()
    with atomic_write(path) as stream:
        for row in rows:
            stream.write(encoder.encode(row).decode() + "\n")
    return path
