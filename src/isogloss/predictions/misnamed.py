"""What lies in a prediction folder under a name that says no cell: nobody reads it, so it must be said."""

from collections.abc import Iterable
from pathlib import Path

from isogloss.data.files import unpacked_name
from isogloss.errors import DataError, UnknownNameError, near_names
from isogloss.languages import language as find_language
from isogloss.predictions.folder import PredictionFolder, file_names
from isogloss.predictions.problems import Problem
from isogloss.tasks.kinds import kind_of
from isogloss.tasks.registry import ALIASES, TASKS
from isogloss.tasks.registry import task as find_task
from isogloss.tasks.task import Task

# What may lie beside the task folders.
_COMPANIONS = {"system.toml", "results.json", "scores.csv", "README.md"}


def tasks_in(root: Path) -> list[str]:
    """The tasks that a folder has anything of; others are not even loaded."""
    present = {ALIASES.get(name, name) for name in map(_task_name, root.iterdir())}
    return [name for name in TASKS if name in present]


def misnamed_entries(folder: PredictionFolder, tasks: Iterable[str]) -> list[Problem]:
    """Everything in a prediction folder that is named after no task, or in some tasks' folders after no language.

    What nobody could have meant for answers is a warning.
    """
    inside = [problem for name in tasks for problem in _of_task(folder, find_task(name))]
    return [*_beside_tasks(folder.root), *inside]


def _task_name(entry: Path) -> str:
    return entry.name.partition(".json")[0]


def _beside_tasks(root: Path) -> list[Problem]:
    problems: list[Problem] = []
    known = {*TASKS, *ALIASES}
    for entry in sorted(root.iterdir()):
        name = _task_name(entry)
        if entry.name.startswith(".") or entry.name in _COMPANIONS or (name in known and entry.is_dir()):
            continue
        if name in known:
            problems += _in_place_of_folder(entry, find_task(name))
            continue
        close = near_names(name, known, 1)
        hint = f"Did you mean {close[0]}?" if close else "isogloss list tasks shows their names"
        problems.append(Problem(str(entry), "is not named after a task", hint, warning=not close))
    return problems


def _in_place_of_folder(file: Path, task: Task) -> list[Problem]:
    """A file that is called as a task is, unless it is the one that may have the answers in all languages."""
    if kind_of(task).one_file_for_all and unpacked_name(file) == f"{task.id}.json":
        return []
    return [
        Problem(str(file), f"is a file where the folder of {task.id} is expected", f"Write {task.id}/<language>.jsonl")
    ]


def _of_task(folder: PredictionFolder, task: Task) -> list[Problem]:
    belongs = f"belongs to no language of {task.id}"
    problems = [Problem(str(path), belongs, _name_hint(path, task)) for path in folder.unknown_files(task)]
    try:
        for code in folder.unknown_languages(task):
            where = f"{folder.root / task.id}.json ({code!r})"
            problems.append(Problem(where, belongs, f"Languages are {' '.join(task.every_language)}"))
    except DataError:
        pass  # said where its answers are read
    return problems


def _name_hint(path: Path, task: Task) -> str:
    """What a file in a task's folder may have been meant to be called."""
    name = unpacked_name(path)
    code = _meant_language(_language_part(name), task)
    of_dev = name.startswith("dev-")
    of_split = (known for known in sorted(file_names(task)) if known.startswith("dev-") == of_dev)
    meant = [known for known in of_split if _language_part(known) == code]
    alike = [known for known in meant if Path(known).suffix == Path(name).suffix] or meant
    close = near_names(name, alike, 1) or alike
    codes = " ".join(task.every_language)
    if close:
        return f"Did you mean {close[0]}? Languages are {codes}"
    return f"Name it <language>.jsonl; languages are {codes}"


def _language_part(name: str) -> str:
    """`en` of `test-en.tsv`."""
    return name.partition(".")[0].rpartition("-")[2]


def _meant_language(word: str, task: Task) -> str:
    """The nearest language of a task, "" for none: a language that the task lacks is no slip of the pen."""
    try:
        code = find_language(word).code
    except UnknownNameError:
        return next(iter(near_names(word, task.every_language, 1)), "")
    return code if code in task.every_language else ""
