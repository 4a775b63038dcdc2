"""Load examples: try the layouts of a task in order and check the counts."""

import os
from collections.abc import Callable
from contextlib import suppress
from itertools import product
from pathlib import Path

from isogloss.data.location import default_data_dir
from isogloss.errors import DataError, MissingDataError, NoGoldError, unknown
from isogloss.plugins import load_object
from isogloss.tasks.examples import Examples
from isogloss.tasks.held_out import dev_of_training
from isogloss.tasks.kinds import kind_of
from isogloss.tasks.pseudo_sets import ORIGINAL_SPLITS, PIVOT, is_pseudo, read_pseudo
from isogloss.tasks.readers.split_files import SplitFiles
from isogloss.tasks.registry import given_task as find_task
from isogloss.tasks.registry import no_language
from isogloss.tasks.task import SPLITS, Layout, Task
from isogloss.tasks.task_sources import use_tasks_of

DataPath = str | os.PathLike[str] | None


def data_folder(data: DataPath) -> Path:
    """Return the data folder: the argument, ISOGLOSS_DATA, or the user's cache."""
    return Path(data) if data is not None else default_data_dir()


def load(
    task: str | Task, language: str, split: str = "test", data: DataPath = None, *, allow_partial: bool = False
) -> Examples:
    """Load the examples of a task in a language.

    Args:
        task: task or task name.
        language: tag of one of its languages, or any with a pseudo set.
        split: "test" (what XTREME-R scores), "dev", "train", or "pseudo" or "pseudo-dev" for the English test or dev
            set in another language (see `isogloss.translate`).
        data: data folder; default ISOGLOSS_DATA or the user's cache folder.
        allow_partial: True to accept another number of dev or test examples than expected.

    Returns:
        Ids and columns, without the gold column if the files have no gold.

    Raises:
        UnknownNameError: unknown task, language or split.
        DataError: no file in an accepted layout, a damaged file, or an unexpected number of examples.

    Example:
        examples = isogloss.load("xquad", "sw", data="data")
        examples["question"], examples.to_pandas()
    """
    if not isinstance(task, Task):
        use_tasks_of(data)
        task = find_task(task)
    if is_pseudo(split):
        return read_pseudo(task, language, split, data, lambda original: load_gold(task, PIVOT, original, data))
    if language not in task.every_language:
        raise no_language(task.id, language, task.every_language)
    if split not in SPLITS:
        raise unknown("split", split, (*SPLITS, *ORIGINAL_SPLITS))
    if split == "dev" and task.dev_from_train:
        return dev_of_training(task, load(task, language, "train", data))
    root = load_object(task.made_by)() if task.made_by else data_folder(data)
    candidates: list[Examples] = []
    for folder, layout in product((Path(task.folder), root) if task.folder else (root,), task.layouts):
        if pattern := getattr(layout, split):
            files = SplitFiles(
                task=task, language=language, split=split, root=folder, pattern=pattern, table=layout.table, data=root
            )
            if (examples := reader_of(layout)(files)) is not None:
                candidates.append(examples)
                if examples.has_gold and _is_full(task, examples):
                    return examples
    if not candidates:
        raise _no_files(task, language, split, root)
    return _best(task, candidates, allow_partial)


def reader_of(layout: Layout) -> Callable[[SplitFiles], Examples | None]:
    """Return the function that reads a layout."""
    name = layout.reader if ":" in layout.reader else f"isogloss.tasks.readers.{layout.reader.replace('.', ':')}"
    reader: Callable[[SplitFiles], Examples | None] = load_object(name)
    return reader


def _count(task: Task, examples: Examples) -> tuple[str, int, int | None]:
    """Return the unit counted (examples, or gold pairs in bitext mining), the actual and the expected count."""
    pairs = task.expected(examples.language, f"{examples.split}-pairs") if examples.has_gold else None
    if pairs is not None:
        return "gold pairs", sum(map(len, examples[examples.gold])), pairs
    return "examples", len(examples), task.expected(examples.language, examples.split)


def _is_full(task: Task, examples: Examples) -> bool:
    _, count, expected = _count(task, examples)
    return expected in (None, count)


def _best(task: Task, candidates: list[Examples], allow_partial: bool) -> Examples:
    """Choose among layouts when none has both gold and the full count."""
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
    if allow_partial and short.split != "train":  # without gold: to be predicted
        short.partial = True
        return short
    # Training sets are never partial.
    part = "" if short.split == "train" else ", or use --allow-partial"
    what = f"{count} {counted}, but {task.id}/{short.language} {short.split} has {expected}"
    cause = f"{count} {counted}, but {task.id} {short.split} has {expected}"
    raise DataError(what, where=", ".join(short.sources), fix=f"Fetch the files again{part}", cause=cause)


def _no_files(task: Task, language: str, split: str, root: Path) -> MissingDataError:
    patterns = [getattr(layout, split) for layout in task.layouts if getattr(layout, split)]
    if not patterns:
        others = [s for s in SPLITS if any(getattr(layout, s) for layout in task.layouts)]
        return MissingDataError(f"{task.id} has no {split} split", fix=f"Use {' or '.join(others)}")
    from isogloss.data.fetch.catalog import datasets_with  # imports the downloaders

    files = SplitFiles(task=task, language=language, split=split, root=root, pattern=patterns[0])
    fetch = " or ".join(f"isogloss fetch {name}" for name in datasets_with(map(files.relative, patterns)))
    folder = f"--data at a folder with one of: {', '.join(patterns)}"
    fix = f"Run {fetch}, or point {folder}" if fetch else f"Point {folder}"
    if task.folder:
        fix = f"Put it there, or below --data: {', '.join(patterns)}"
        root = Path(task.folder)
    if task.made_by:
        fix = f"Choose another language or split: {task.id} is generated without {language} {split} examples"
    what, cause = f"no {split} file of {task.id}/{language} in {root}", f"no {split} file in {root}"
    return MissingDataError(what, fix=fix, cause=cause)


def unusable_gold(task: Task, examples: Examples) -> str:
    """Return why the gold of examples cannot be scored with, or "": placeholders, or undeclared labels."""
    if not examples.has_gold:
        return f"the {examples.split} file has no gold answers"
    if reason := kind_of(task).placeholder(examples):
        return reason
    declared = {*task.labels, None}
    for identifier, gold in zip(examples.ids, examples[examples.gold] if task.labels else (), strict=False):
        for label in gold if isinstance(gold, list | tuple) else (gold,):
            if label not in declared:
                return f"gold label {label!r:.60} of {identifier} is not one of {', '.join(task.labels)}"
    return ""


def load_gold(task: Task, language: str, split: str, data: DataPath, *, allow_partial: bool = False) -> Examples:
    """Load examples with gold; if there are none, the error names the split with gold."""
    examples = load(task, language, split, data, allow_partial=allow_partial)
    reason = unusable_gold(task, examples)
    if not reason:
        return examples
    other = _split_with_gold(task, language, split, data)
    has = f"The {other} split has gold: use --split {other}" if other else "No other split has gold"
    partial = ""
    if not examples.has_gold and not allow_partial:
        with suppress(DataError):
            part = load(task, language, split, data, allow_partial=True)
            if part.has_gold:
                partial = f"{len(part)} examples have gold: use --allow-partial to score those. "
    fix = f"{partial}{has}; or pass the labels with --gold DIR"
    raise NoGoldError(reason, where=", ".join(examples.sources), fix=fix)


def _split_with_gold(task: Task, language: str, split: str, data: DataPath) -> str:
    for other in (name for name in ("test", "dev") if name != split):
        with suppress(DataError):
            examples = load(task, language, other, data)
            if not unusable_gold(task, examples):
                return other
    return ""
