"""What is asked: tasks as data, the kinds they belong to, and the readers of their files."""

from typing import TYPE_CHECKING

from isogloss.lazy import submodules
from isogloss.tasks.registry import SUITES, TASKS, suite, task

__all__ = ["SUITES", "TASKS", "lareqa", "mewslix", "suite", "task"]

if TYPE_CHECKING:
    from isogloss.tasks import lareqa, mewslix
else:
    __getattr__ = submodules(__name__, TASKS)
