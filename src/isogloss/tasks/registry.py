"""The registry of tasks: those shipped, and those that installed packages bring; each is loaded on first use."""

from collections.abc import Collection, Iterable, Mapping

from isogloss.errors import UnknownNameError, unknown
from isogloss.languages import all_languages
from isogloss.plugins import Registry
from isogloss.tasks.task import Task

_REAL = "xnli xcopa udpos wikiann xquad mlqa tydiqa tatoeba mewslix lareqa pawsx bucc mldoc".split()
_SMALL_EDITIONS = [
    f"mini-{name}" for name in "xnli xcopa udpos wikiann xquad mlqa tydiqa mewslix lareqa tatoeba".split()
]
CHECKLIST_TASKS = (
    "checklist-comparisons",
    "checklist-intensifiers",
    "checklist-properties",
    "checklist-job-vs-nationality",
    "checklist-animal-vs-vehicle",
    "checklist-animal-vs-vehicle-2",
)
# The same tests for answers that must not change with a name or an unrelated sentence; things have no names.
INVARIANCE_TASKS = (
    *(f"{name}-names" for name in CHECKLIST_TASKS if name != "checklist-properties"),
    *(f"{name}-unrelated" for name in CHECKLIST_TASKS),
)

TASKS: Registry[Task] = Registry(
    "task",
    Task,
    {
        **{name: f"isogloss.tasks.{name}:TASK" for name in _REAL},
        **dict.fromkeys((*CHECKLIST_TASKS, *INVARIANCE_TASKS), "isogloss.checklist.tasks:declared"),
        **dict.fromkeys(_SMALL_EDITIONS, "isogloss.tasks.mini:declared"),
    },
    "isogloss.tasks",
    named_by="id",
)

# Other names of tasks: understood everywhere, printed nowhere.
ALIASES: Mapping[str, str] = {"panx": "wikiann", "bucc2018": "bucc"}


def canonical(name: str) -> str:
    """The id behind a name or alias.

    Raises:
        UnknownNameError: there is none; the message has the nearest names.
    """
    lowered = name.lower()
    found = ALIASES.get(lowered, lowered)
    if found not in TASKS:
        raise unknown("task", name, TASKS)
    return found


def task(name: str) -> Task:
    """The task of that name.

    Args:
        name: an id such as "xquad", or an alias such as "panx".

    Returns:
        The task, as data.

    Raises:
        UnknownNameError: there is none; the message has the nearest names.
        PluginError: an installed package brings it, and it cannot be loaded.
    """
    return TASKS[canonical(name)]


def listed_tasks() -> list[Task]:
    """The tasks that people look for: editions of others are left out, as is what cannot be loaded."""
    return list(TASKS.loadable(but=(*_SMALL_EDITIONS, *INVARIANCE_TASKS)).values())


def chosen_tasks(names: Iterable[str] | None, default: Iterable[str]) -> tuple[str, ...]:
    """Task ids as a user named them (comma-separated words are split), or the default."""
    if names is None:
        return tuple(default)
    words = [word for name in names for word in name.split(",") if word]
    return tuple(dict.fromkeys(canonical(word) for word in words))


def no_language(task_id: str, code: str, known: Collection[str]) -> UnknownNameError:
    """An error for a language that a task or suite does not have; only what is no language at all may be misspelt."""
    if code not in {language.code for language in all_languages()}:
        return unknown(f"language of {task_id}", code, known)
    return UnknownNameError(f"{task_id} has no {code}", fix=f"It has {', '.join(sorted(known))}")
