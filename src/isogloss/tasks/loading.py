"""Loading examples: the layouts of a task are tried in order, and the counts checked."""

import os
from pathlib import Path
from typing import Any

from isogloss.data.location import default_data_dir
from isogloss.errors import DataError, unknown
from isogloss.plugins import load_object
from isogloss.tasks.examples import Examples
from isogloss.tasks.kinds import kind_of
from isogloss.tasks.readers.split_files import SplitFiles
from isogloss.tasks.registry import no_language
from isogloss.tasks.registry import task as find_task
from isogloss.tasks.task import SPLITS, Task


def data_folder(data: str | os.PathLike[str] | None) -> Path:
    """The folder with the datasets: as given, or from ISOGLOSS_DATA, or the user's cache."""
    return Path(data) if data is not None else default_data_dir()


def load(
    task: str | Task,
    language: str,
    split: str = "test",
    data: str | os.PathLike[str] | None = None,
    *,
    allow_partial: bool = False,
) -> Examples:
    """The examples of a task in a language.

    Args:
        task: a task or its name.
        language: two-letter code.
        split: "test" (what XTREME-R scores), "dev" or "train".
        data: the data folder; default ISOGLOSS_DATA or the user's cache folder.
        allow_partial: accept fewer examples than the task is known to have.

    Returns:
        Ids and columns; the column of gold is missing where the files have none.

    Raises:
        UnknownNameError: no such task, language or split.
        DataError: no file in any accepted layout, a damaged file, or a count that is not the task's.
    """
    found = task if isinstance(task, Task) else find_task(task)
    if language not in found.every_language:
        raise no_language(found.id, language, found.every_language)
    if split not in SPLITS:
        raise unknown("split", split, SPLITS)
    root = load_object(found.made_by)() if found.made_by else data_folder(data)
    candidates: list[Examples] = []
    for layout in found.layouts:
        pattern = getattr(layout, split)
        if pattern:
            examples: Examples | None = _reader(layout.reader)(SplitFiles(found, language, split, root, pattern))
            if examples is not None:
                candidates.append(examples)
                if examples.has_gold and _is_full(found, examples):
                    return examples
    if not candidates:
        raise _no_files(found, language, split, root)
    return _best(found, candidates, allow_partial)


def _reader(name: str) -> Any:
    if ":" in name:
        return load_object(name)
    module, _, function = name.partition(".")
    return load_object(f"isogloss.tasks.readers.{module}:{function}")


def _count(task: Task, examples: Examples) -> tuple[str, int, int | None]:
    """What is counted, how many there are and should be: examples, or for bitext mining the gold pairs."""
    pairs = task.expected(examples.language, f"{examples.split}-pairs") if examples.has_gold else None
    if pairs is not None:
        return "gold pairs", sum(map(len, examples[examples.gold])), pairs
    return "examples", len(examples), task.expected(examples.language, examples.split)


def _is_full(task: Task, examples: Examples) -> bool:
    _, count, expected = _count(task, examples)
    return expected in (None, count)


def _best(task: Task, candidates: list[Examples], allow_partial: bool) -> Examples:
    """The one to use when no layout has both gold and the full count."""
    with_gold = [examples for examples in candidates if examples.has_gold]
    full = [examples for examples in candidates if _is_full(task, examples)]
    if with_gold and allow_partial:
        overlaid = kind_of(task).overlay(full[0], with_gold[0]) if full else None
        if overlaid is not None:
            return overlaid
        with_gold[0].partial = not _is_full(task, with_gold[0])
        return with_gold[0]
    if full:
        return full[0]
    short = (with_gold or candidates)[0]
    counted, count, expected = _count(task, short)
    # Only scoring takes a part: systems are neither trained on one nor run on one.
    part = "" if short.split == "train" else "; score, compare and analyze take what is there with --allow-partial"
    raise DataError(
        f"{count} {counted}, but {task.id}/{short.language} {short.split} has {expected}",
        where=", ".join(short.sources),
        fix=f"Fetch the files again{part}",
    )


def _no_files(task: Task, language: str, split: str, root: Path) -> DataError:
    looked = [getattr(layout, split) for layout in task.layouts if getattr(layout, split)]
    if not looked:
        others = [s for s in SPLITS if any(getattr(layout, s) for layout in task.layouts)]
        return DataError(f"{task.id} has no {split} split", fix=f"There is {' and '.join(others)}")
    from isogloss.data.fetch.catalog import datasets_with  # with it come the downloaders

    paths = (SplitFiles(task, language, split, root, pattern).relative(pattern) for pattern in looked)
    fetch = " or ".join(f"isogloss fetch {name}" for name in datasets_with(paths))
    there = f"oint --data at a folder with one of: {', '.join(looked)}"
    fix = f"{fetch}, or p{there}" if fetch else f"P{there}"
    if task.made_by:
        fix = f"{task.id} is made here, and with none; isogloss list {task.id} says what it has"
    return DataError(f"no {split} file of {task.id}/{language} in {root}", fix=fix)


def load_gold(
    task: Task, language: str, split: str, data: str | os.PathLike[str] | None, *, allow_partial: bool = False
) -> Examples:
    """Examples with gold.

    Raises:
        DataError: there are none, or no gold; the error says which split has it.
    """
    examples = load(task, language, split, data, allow_partial=allow_partial)
    missing = "" if examples.has_gold else f"the {split} file has no gold answers"
    reason = missing or kind_of(task).placeholder(examples)
    if not reason:
        return examples
    other = _split_with_gold(task, language, split, data)
    has = (
        f"The {other} split has gold: answer that one, with --split {other}" if other else "No other split here has it"
    )
    partial = _partial_hint(task, language, split, data) if missing and not allow_partial else ""
    fix = f"{partial}{has}; or give the labels with --gold DIR"
    raise DataError(reason, where=", ".join(examples.sources), fix=fix)


def _split_with_gold(task: Task, language: str, split: str, data: str | os.PathLike[str] | None) -> str:
    for other in ("test", "dev"):
        if other != split:
            try:
                examples = load(task, language, other, data)
            except DataError:
                continue
            if examples.has_gold and not kind_of(task).placeholder(examples):
                return other
    return ""


def _partial_hint(task: Task, language: str, split: str, data: str | os.PathLike[str] | None) -> str:
    try:
        part = load(task, language, split, data, allow_partial=True)
    except DataError:
        return ""
    return f"{len(part)} examples have gold: --allow-partial scores those. " if part.has_gold else ""
