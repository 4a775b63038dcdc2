"""Tasks, their kinds, the suites they form, and the readers of their files."""

from typing import TYPE_CHECKING

from isogloss.lazy import submodules
from isogloss.tasks.api import task
from isogloss.tasks.examples import Examples
from isogloss.tasks.registry import TASKS
from isogloss.tasks.suites import SUITES, Suite, suite
from isogloss.tasks.task import Layout, Task

__all__ = ["SUITES", "TASKS", "Examples", "Layout", "Suite", "Task", "lareqa", "mewslix", "suite", "task"]

if TYPE_CHECKING:
    from isogloss.tasks import lareqa, mewslix
else:
    __getattr__ = submodules(__name__, ("lareqa", "mewslix"))
