"""A suite: the tasks of one overall score, and their weights."""

from isogloss.tasks import Suite

SUITE = Suite(
    id="outside", title="Two tasks from outside", tasks=("likeness", "subjects"), rule="flat", weights={"likeness": 3.0}
)
