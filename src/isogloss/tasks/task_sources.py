"""Sources of task files: ISOGLOSS_TASKS, `tasks/` in the data folder, and paths named by the user.

Files that a command or a program names are added to ISOGLOSS_TASKS, so that worker processes and cluster jobs find the
same tasks.
"""

import os
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING
from warnings import warn

from isogloss.errors import DataError, IsoglossError

if TYPE_CHECKING:
    from isogloss.tasks.task import Task

# Environment variable with task files and folders of them, separated as in PATH.
TASKS_VARIABLE = "ISOGLOSS_TASKS"
# Folder of task files in the data folder.
_IN_DATA = "tasks"


def is_task_file(name: str) -> bool:
    """Return True if a task's name is the path of a file."""
    return name.lower().endswith(".toml")


def task_files() -> Mapping[str, Path]:
    """Return the task files by id."""
    from isogloss.data.location import default_data_dir

    return _found(os.environ.get(TASKS_VARIABLE, ""), default_data_dir() / _IN_DATA)


@lru_cache(maxsize=1)
def _found(named: str, in_data: Path) -> dict[str, Path]:
    files: dict[str, Path] = {}
    for word in (*filter(None, named.split(os.pathsep)), str(in_data)):
        for path in _toml_files(Path(word)):
            name = _id_of(path)
            if files.setdefault(name, path) != path:
                warn(f"{path} skipped: {files[name]} declares the task {name!r}", stacklevel=2)
    return files


def _toml_files(source: Path) -> list[Path]:
    if source.is_file():
        return [source.resolve()]
    return sorted(path.resolve() for path in source.glob("*.toml")) if source.is_dir() else []


def _id_of(path: Path) -> str:
    """Return the id of a task file; a damaged file has its own name, so that its task's error explains the damage."""
    from isogloss.data.files import read_toml
    from isogloss.tasks.task_file import task_id

    try:
        return task_id(read_toml(path), path)
    except IsoglossError:
        return path.stem


def add_tasks(source: Path) -> list[str]:
    """Make the task of a file, or all tasks of a folder, available in this process and those it starts.

    Returns:
        The ids of the tasks.

    Raises:
        DataError: no task file, or another task has its id.
    """
    source = source.expanduser().absolute()
    paths = _toml_files(source)
    if not paths:
        what = "has no task files (*.toml)" if source.is_dir() else "no such task file or folder"
        raise DataError(what, where=str(source), fix="See docs/tasks.md")
    from isogloss.tasks.registry import TASKS

    names = [_id_of(path) for path in paths]
    known = task_files()
    for name, path in zip(names, paths, strict=True):
        if name in TASKS.shipped or known.get(name, path) != path or names.count(name) > 1:
            other = "of this package" if name in TASKS.shipped else f"in {known.get(name, source)}"
            fix = 'Write another id = "…" in the file, or rename it'
            raise DataError(f"there is a task {name!r} {other}", where=str(path), fix=fix)
        TASKS.forget(name)
    words = os.environ.get(TASKS_VARIABLE, "").split(os.pathsep)
    os.environ[TASKS_VARIABLE] = os.pathsep.join(dict.fromkeys(filter(None, [*words, str(source)])))
    _found.cache_clear()
    return names


def tasks_from(source: str | os.PathLike[str]) -> list[str]:
    """Make task files available by name, here and in processes started from here.

    Args:
        source: folder of task files (`*.toml`), or one file.

    Returns:
        The ids of the tasks.

    Raises:
        DataError: no task file, or another task has its id.
    """
    return add_tasks(Path(source))


def file_task(name: str) -> "Task":
    """Return the task that a file declares, by id."""
    from isogloss.tasks.task_file import read_task_file

    return read_task_file(task_files()[name])
