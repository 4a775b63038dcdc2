"""Public function for tasks."""

from isogloss.tasks.registry import given_task
from isogloss.tasks.task import Task


def task(name: str) -> Task:
    """Return a task.

    Args:
        name: id such as "xquad", alias such as "panx", or path of a task file such as "my-task.toml".

    Raises:
        UnknownNameError: unknown task; the message has the nearest names.
        PluginError: the task comes from an installed package and cannot be loaded.
        DataError: the task file is missing or wrong.

    Example:
        isogloss.task("xquad").languages
    """
    return given_task(name)
