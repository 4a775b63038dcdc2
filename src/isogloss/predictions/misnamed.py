"""Report misnamed files and folders in a prediction folder, which would silently be ignored."""

from collections.abc import Iterable
from pathlib import Path

from isogloss.data.files import unpacked_name
from isogloss.errors import DataError, UnknownNameError, near_names
from isogloss.languages import language as find_language
from isogloss.predictions.folder import PredictionFolder, file_names
from isogloss.predictions.problems import Problem, ProblemCode
from isogloss.tasks.kinds import kind_of
from isogloss.tasks.registry import ALIASES, TASKS
from isogloss.tasks.registry import task as find_task
from isogloss.tasks.task import Task

# Files that may accompany the task folders.
_COMPANIONS = {"system.toml", "results.json", "scores.csv", "README.md"}


def tasks_in(root: Path) -> list[str]:
    """Return the tasks in a folder, without loading any other task."""
    present = {ALIASES.get(name, name) for name in map(_task_name, root.iterdir())}
    return [name for name in TASKS if name in present]


def misnamed_entries(folder: PredictionFolder, tasks: Iterable[str]) -> list[Problem]:
    """Report entries that are not named after a task, and files of some tasks that are not named after a language.

    An entry with no similar task name is a warning.
    """
    inside = [problem for name in tasks for problem in _in_task(folder, find_task(name))]
    return [*_outside_tasks(folder.root), *inside]


def _task_name(entry: Path) -> str:
    return entry.name.partition(".json")[0]


def _outside_tasks(root: Path) -> list[Problem]:
    problems: list[Problem] = []
    task_names = {*TASKS, *ALIASES}
    for entry in sorted(root.iterdir()):
        name = _task_name(entry)
        if entry.name.startswith(".") or entry.name in _COMPANIONS or (name in task_names and entry.is_dir()):
            continue
        if name in task_names:
            task = find_task(name)
            # One file may have the answers in all languages.
            if not (kind_of(task).one_file_for_all and unpacked_name(entry) == f"{task.id}.json"):
                code = ProblemCode.FILE_INSTEAD_OF_FOLDER
                problems.append(Problem(code=code, task=task.id, file=str(entry)))
            continue
        close = near_names(name, task_names, 1)
        problem = Problem(
            code=ProblemCode.UNKNOWN_TASK,
            file=str(entry),
            detail="not the name of a task",
            advice=f"Did you mean {close[0]}?" if close else "See isogloss list tasks",
            warning=not close,
        )
        problems.append(problem)
    return problems


def _in_task(folder: PredictionFolder, task: Task) -> list[Problem]:
    code = ProblemCode.UNKNOWN_LANGUAGE
    problems = [
        Problem(code=code, task=task.id, file=str(path), advice=_name_hint(path, task))
        for path in folder.unknown_files(task)
    ]
    try:
        for name in folder.unknown_languages(task):
            file = f"{folder.root / task.id}.json ({name!r})"
            advice = f"Languages are {' '.join(task.every_language)}"
            problems.append(Problem(code=code, task=task.id, file=file, advice=advice))
    except DataError:
        pass  # reported when its answers are read
    return problems


def _name_hint(path: Path, task: Task) -> str:
    """Suggest a name for a misnamed file in a task's folder."""
    name = unpacked_name(path)
    word = _language_part(name)
    try:
        code = find_language(word).code
    except UnknownNameError:
        code = next(iter(near_names(word, task.every_language, 1)), "")
    is_dev = name.startswith("dev-")
    accepted = (option for option in sorted(file_names(task)) if option.startswith("dev-") == is_dev)
    candidates = [option for option in accepted if _language_part(option) == code]
    alike = [option for option in candidates if Path(option).suffix == Path(name).suffix] or candidates
    close = near_names(name, alike, 1) or alike
    codes = " ".join(task.every_language)
    if close:
        return f"Did you mean {close[0]}? Languages are {codes}"
    return f"Name it <language>.jsonl; languages are {codes}"


def _language_part(name: str) -> str:
    """Return `en` for `test-en.tsv`."""
    return name.partition(".")[0].rpartition("-")[2]
