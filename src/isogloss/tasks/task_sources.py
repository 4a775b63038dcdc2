"""Sources of task files: ISOGLOSS_TASKS, `tasks/` in the data folder, and paths named by the user.

Files that a command or a program names are added to ISOGLOSS_TASKS, so that worker processes and cluster jobs find the
same tasks.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
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
    return isinstance(name, str) and name.lower().endswith(".toml")


@dataclass(frozen=True)
class TaskFile:
    """A task file; calling it reads the task, again only if the file has changed."""

    path: Path

    def __call__(self) -> "Task":
        """Return the task."""
        try:
            status = self.path.stat()
        except OSError as error:
            raise DataError(f"cannot be read ({error.strerror})", where=str(self.path)) from None
        return _read(self.path, status.st_mtime_ns, status.st_size)


@lru_cache(maxsize=256)
def _read(path: Path, _changed: int, _size: int) -> "Task":
    from isogloss.tasks.task_file import read_task_file

    return read_task_file(path)


def task_files() -> Mapping[str, TaskFile]:
    """Return the task files by id."""
    # Not in the user's cache, if no data folder is named: finding it would take longer than reading all tasks.
    return _found(os.environ.get(TASKS_VARIABLE, ""), os.environ.get("ISOGLOSS_DATA", ""))


@lru_cache(maxsize=1)
def _found(named: str, data: str) -> dict[str, TaskFile]:
    files: dict[str, TaskFile] = {}
    in_data = [Path(data).expanduser() / _IN_DATA] if data else []
    for source in (*map(Path, filter(None, named.split(os.pathsep))), *in_data):
        for name, path in _tasks_in(source):
            if files.setdefault(name, TaskFile(path)).path != path:
                warn(f"{path} skipped: {files[name].path} declares the task {name!r}", stacklevel=2)
    return files


def _tasks_in(source: Path) -> list[tuple[str, Path]]:
    """Return ids and paths of a task file, or of those in a folder, where files of other things may be, too.

    A damaged file has its own name, so that the error of its task explains the damage.
    """
    paths = sorted(source.glob("*.toml")) if source.is_dir() else [source] if source.is_file() else []
    if not paths:
        return []
    from isogloss.data.files import read_toml
    from isogloss.tasks.task_file import task_id

    tasks: list[tuple[str, Path]] = []
    for path in paths:
        try:
            table = read_toml(path)
        except IsoglossError:
            table = {"kind": ""}
        if source == path or {"kind", "files", "based_on"} & {*table}:
            tasks.append((task_id(table, path), path.resolve()))
    return tasks


def add_tasks(source: Path) -> list[str]:
    """Make the task of a file, or all tasks of a folder, available in this process and those it starts.

    Returns:
        The ids of the tasks.

    Raises:
        DataError: no task file, or another task has its id.
    """
    source = source.expanduser().absolute()
    tasks = _tasks_in(source)
    if not tasks:
        what = "has no task files (*.toml)" if source.is_dir() else "no such task file or folder"
        raise DataError(what, where=str(source), fix="See docs/tasks.md")
    from isogloss.tasks.registry import TASKS

    names, known = [name for name, _ in tasks], task_files()
    for name, path in tasks:
        other = known[name].path if name in known else path
        if name in TASKS.origins or (other != path and other.exists()) or names.count(name) > 1:
            place = "of an installed package" if name in TASKS.origins else f"in {other if other != path else source}"
            fix = 'Write another id = "…" in the file, or rename it'
            raise DataError(f"there is a task {name!r} {place}", where=str(path), fix=fix)
    words = os.environ.get(TASKS_VARIABLE, "").split(os.pathsep)
    os.environ[TASKS_VARIABLE] = os.pathsep.join(dict.fromkeys(filter(None, [*words, str(source)])))
    _found.cache_clear()
    _read.cache_clear()  # there may be files of further languages
    return names


def use_tasks_of(data: str | os.PathLike[str] | None) -> None:
    """Make the tasks in a data folder available, as those in ISOGLOSS_DATA are; ones with a taken id are skipped.

    Args:
        data: data folder, None for the default.
    """
    folder = None if data is None else Path(data).expanduser().absolute() / _IN_DATA
    words = os.environ.get(TASKS_VARIABLE, "").split(os.pathsep)
    if folder is not None and str(folder) not in words and folder.is_dir():
        os.environ[TASKS_VARIABLE] = os.pathsep.join(filter(None, [*words, str(folder)]))


def tasks_from(source: str | os.PathLike[str]) -> list[str]:
    """Make task files available by name, here and in processes started from here.

    Args:
        source: folder of task files (`*.toml`), or one file.

    Returns:
        The ids of the tasks.

    Raises:
        DataError: no task file, or another task has its id.

    Example:
        isogloss.tasks_from("my-tasks")
    """
    return add_tasks(Path(source))
