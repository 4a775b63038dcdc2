"""Registry of tasks: built-in and from installed packages, loaded on first use."""

from collections.abc import Collection, Iterable, Mapping
from pathlib import Path

from isogloss.errors import DataError, UnknownNameError, named, near_names, unknown
from isogloss.languages import codes_meant_by, listed_language
from isogloss.plugins import Registry
from isogloss.tasks.shipped import SHIPPED
from isogloss.tasks.task import Task
from isogloss.tasks.task_sources import add_tasks, is_task_file, task_files

XTREME_R_TASKS = tuple("xnli xcopa udpos wikiann xquad mlqa tydiqa mewslix lareqa tatoeba".split())
MINI_TASKS = tuple(f"mini-{name}" for name in XTREME_R_TASKS)
_ABILITIES = "comparisons intensifiers properties job-vs-nationality animal-vs-vehicle animal-vs-vehicle-2"
CHECKLIST_TASKS = tuple(f"checklist-{name}" for name in _ABILITIES.split())
# The same tests as released by the authors of XTREME-R, from their sheet.
RELEASED_TASKS = tuple(f"checklist-released-{name}" for name in _ABILITIES.split())
LIVING_TASKS = tuple("sib200 masakhaner masakhapos americasnli nusax".split())
# Invariance tests: answers must not change with a name or an unrelated sentence. Properties of things have no names.
INVARIANCE_TASKS = (
    *(f"{name}-names" for name in CHECKLIST_TASKS if name != "checklist-properties"),
    *(f"{name}-unrelated" for name in CHECKLIST_TASKS),
)

_ORIGINS = {
    **dict.fromkeys(SHIPPED, "isogloss.tasks.shipped:declared"),
    **dict.fromkeys((*CHECKLIST_TASKS, *INVARIANCE_TASKS), "isogloss.checklist.tasks:declared"),
    **dict.fromkeys(RELEASED_TASKS, "isogloss.checklist.tasks:released"),
    **dict.fromkeys(MINI_TASKS, "isogloss.tasks.mini:declared"),
    **dict.fromkeys(LIVING_TASKS, "isogloss.tasks.task_file:shipped_task"),
}
TASKS: Registry[Task] = Registry("task", Task, _ORIGINS, "isogloss.tasks", named_by="id", from_files=task_files)

# Aliases: accepted everywhere, never printed.
ALIASES: Mapping[str, str] = {"panx": "wikiann", "bucc2018": "bucc", "conll2002": "conll", "conll2003": "conll"}


def canonical(name: str) -> str:
    """Return the id for a name or alias; the error for an unknown name has the nearest names."""
    if not isinstance(name, str):
        raise unknown("task", name, ())
    lowered = name.lower()
    task_id = ALIASES.get(lowered, lowered)
    if task_id not in TASKS:
        error = unknown("task", name, TASKS)
        if not near_names(name, TASKS):
            error.fix = f"{error.fix}. If a file declares it, pass --tasks-from FOLDER"
        raise error
    return task_id


def given_task_id(name: str) -> str:
    """Return the id for a name, alias or path of a task file that a user passes; names in files are never paths."""
    if not is_task_file(name):
        return canonical(name)
    if not Path(name).expanduser().is_file():
        raise DataError("no such task file", where=name, fix="See docs/tasks.md")
    return add_tasks(Path(name))[0]


def given_task(name: str) -> Task:
    """Return a task by name, alias or path of a task file that a user passes."""
    return TASKS[given_task_id(name)]


def task(name: str) -> Task:
    """Return a task by name.

    Args:
        name: id such as "xquad", or alias such as "panx".

    Raises:
        UnknownNameError: unknown task; the message has the nearest names.
        DataError: its task file is wrong.
        PluginError: the task comes from an installed package and cannot be loaded.
    """
    return TASKS[canonical(name)]


def category_of(name: str) -> str:
    """Return the category of a task."""
    return task(name).category


def listed_tasks() -> list[Task]:
    """List the loadable tasks, without small and invariance editions of others."""
    return list(TASKS.loadable(but=(*MINI_TASKS, *INVARIANCE_TASKS)).values())


def chosen_tasks(names: Iterable[str] | None, default: Iterable[str]) -> tuple[str, ...]:
    """Return the ids of the tasks that a user names (comma-separated names are split), or the default."""
    names = named("task", names)
    if names is None:
        return tuple(default)
    words = [word for name in names for word in name.split(",") if word]
    return tuple(dict.fromkeys(given_task_id(word) for word in words))


def no_language(task_id: str, code: str, known: Collection[str]) -> UnknownNameError:
    """Return an error for a language that a task or suite lacks; suggest the code of an unknown tag or name."""
    listed = listed_language(code) if isinstance(code, str) else None
    if listed is None or listed.code != code:
        close = codes_meant_by(code, known) if isinstance(code, str) else None
        return unknown(f"language of {task_id}", code, known, close=close)
    return UnknownNameError(f"{task_id} has no {code}", fix=f"It has {', '.join(sorted(known))}")
