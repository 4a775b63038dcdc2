"""Suites: explicit sets of tasks and languages, and the rule for their overall score."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from isogloss.checked_settings import checked_setting, checked_settings
from isogloss.errors import DataError, UnknownNameError, unknown
from isogloss.grouping import group_by
from isogloss.metrics.aggregate import RULES
from isogloss.notebooks import short_repr
from isogloss.plugins import Registry
from isogloss.tasks import registry
from isogloss.tasks.registry import canonical, given_task, given_task_id, no_language, task
from isogloss.tasks.task import Task
from isogloss.tasks.task_sources import is_task_file


@dataclass(frozen=True, kw_only=True)
class Suite:
    """A set of tasks with the rule for its overall score.

    Attributes:
        id: unique name.
        title: one-line description.
        tasks: task ids, in table order.
        rule: rule for the overall score: "category" or "flat" (see `isogloss.metrics.aggregate`).
        languages: languages in a task's average, by task, if they differ from the task's own.
        weights: task weights in averages over tasks; default 1.
        tables: `module:function` that makes additional tables for `isogloss score` from a result record, "" for none.
    """

    id: str
    title: str
    tasks: tuple[str, ...]
    rule: str = "category"
    languages: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    weights: Mapping[str, float] = field(default_factory=dict)
    tables: str = ""

    __repr__ = short_repr

    def languages_of(self, task_id: str) -> tuple[str, ...]:
        """Return the languages in the task's average in this suite."""
        return self.languages.get(task_id) or (self.members.get(task_id) or task(task_id)).languages

    @cached_property
    def members(self) -> Mapping[str, Task]:
        """Tasks by id."""
        return {name: task(name) for name in self.tasks}

    @property
    def categories(self) -> dict[str, tuple[str, ...]]:
        """Return the tasks by category."""
        by_category = group_by(self.members, lambda name: self.members[name].category)
        return {category: tuple(names) for category, names in by_category.items()}


def _in_xtreme(name: str, added: str) -> tuple[str, ...]:
    """Return the languages of a task without those that XTREME-R added."""
    return tuple(code for code in task(name).languages if code not in added.split())


_SHIPPED = (
    Suite(id="xtreme-r", title="XTREME-R (Ruder et al., 2021)", tasks=registry.XTREME_R_TASKS),
    Suite(
        id="xtreme",
        title="XTREME (Hu et al., 2020)",
        tasks=("xnli", "pawsx", "udpos", "wikiann", "xquad", "mlqa", "tydiqa", "bucc", "tatoeba"),
        rule="flat",
        languages={
            "wikiann": _in_xtreme("wikiann", "qu pl uk az lt pa gu ro"),
            "udpos": _in_xtreme("udpos", "lt pl ro uk wo"),
            "tatoeba": _in_xtreme("tatoeba", "az lt pl uk ro"),
        },
    ),
    Suite(id="mldoc", title="MLDoc, as in Keung et al. (2020)", tasks=("mldoc",), rule="flat"),
    Suite(id="conll", title="CoNLL-2002/2003, as in Keung et al. (2020)", tasks=("conll",), rule="flat"),
    Suite(id="living", title="Beyond XTREME-R: five tasks in 217 languages and scripts", tasks=registry.LIVING_TASKS),
    Suite(
        id="mini", title="Small generated version of XTREME-R, for demos, tests and timing", tasks=registry.MINI_TASKS
    ),
    Suite(
        id="checklist",
        title="Basic abilities: template tests in 51 languages; error rates, lower is better",
        tasks=registry.CHECKLIST_TASKS,
        rule="flat",
        tables="isogloss.tables.checklist:checklist_tables",
    ),
    Suite(
        id="checklist-released",
        title="MultiCheckList as released, scored by the paper's rule; error rates, lower is better",
        tasks=registry.RELEASED_TASKS,
        rule="flat",
        tables="isogloss.tables.checklist_released:released_tables",
    ),
    Suite(
        id="checklist-invariance",
        title="Robustness: the same tests with other names or after an unrelated sentence; error rates",
        tasks=registry.INVARIANCE_TASKS,
        rule="flat",
    ),
)

_ORIGINS = {shipped.id: "isogloss.tasks.suites:shipped_suite" for shipped in _SHIPPED}
SUITES: Registry[Suite] = Registry("suite", Suite, _ORIGINS, "isogloss.suites", named_by="id")


def shipped_suite(name: str) -> Suite:
    """Return a built-in suite."""
    return next(shipped for shipped in _SHIPPED if shipped.id == name)


_KEYS = {"title": str, "tasks": tuple[str, ...], "rule": str, "languages": tuple[str, ...] | dict, "weights": dict}


def suite(name: str) -> Suite:
    """Return a suite by name or from a TOML file.

    Args:
        name: id such as "xtreme-r", or path of a TOML file with `tasks` (names, or task files relative to it) and
            optional `title`, `rule`, `languages` (for all tasks, or a table by task) and `weights` (a table by task).

    Raises:
        UnknownNameError: unknown suite, or the file has an unknown task, language or rule.
        DataError: the file is missing or invalid.
    """
    if not name.endswith(".toml"):
        return SUITES[name.lower()]
    try:
        return from_toml(Path(name))
    except UnknownNameError as error:
        error.where = name
        raise


def from_toml(path: Path) -> Suite:
    """Read a user's suite, or a task file as a suite of one task; its id is the file's name, which must be unique."""
    if path.stem.lower() in SUITES:
        raise DataError(f"suite {path.stem!r} already exists", where=str(path), fix="Rename the file")
    from isogloss.data.files import read_toml

    table = read_toml(path)
    if {"kind", "based_on"} & {*table} and "tasks" not in table:  # a task file is a suite of one task
        alone = given_task(str(path))
        return Suite(id=alone.id, title=alone.title, tasks=(alone.id,))
    table = checked_settings(table, _KEYS, "key of a suite", str(path), error=DataError)
    names = table.get("tasks")
    if not names:
        raise DataError("missing tasks", where=str(path), fix='Write tasks = ["xquad", "xnli"]')
    # Task files are relative to the suite's.
    names = [str(path.parent / Path(name).expanduser()) if is_task_file(name) else name for name in names]
    tasks = tuple(dict.fromkeys(map(given_task_id, names)))
    rule = table.get("rule", "category")
    if rule not in RULES:
        raise unknown("rule", rule, RULES)
    title, languages = table.get("title", path.stem), _languages(table, tasks, path)
    weights = {name: _weight(item, path) for name, item in _by_task(table, "weights", tasks, path).items()}
    return Suite(id=path.stem, title=title, tasks=tasks, rule=rule, languages=languages, weights=weights)


def _languages(table: dict[str, Any], tasks: tuple[str, ...], path: Path) -> dict[str, tuple[str, ...]]:
    """Return languages by task; a plain list applies to each task that has them."""
    members = {name: task(name).every_language for name in tasks}
    value = table.get("languages", {})
    if isinstance(value, tuple):
        every = {code for codes in members.values() for code in codes}
        for code in value:
            if code not in every:
                raise no_language(path.stem, code, every)
        languages = {name: tuple(code for code in value if code in codes) for name, codes in members.items()}
        for name, codes in languages.items():
            if not codes:
                raise DataError(f"{name} has none of the languages", where=str(path), fix="Leave the task out")
        return languages
    languages = {
        name: checked_setting("languages", codes, tuple[str, ...], str(path), error=DataError)
        for name, codes in _by_task(table, "languages", tasks, path).items()
    }
    for name, codes in languages.items():
        for code in codes:
            if code not in members[name]:
                raise no_language(name, code, members[name])
    return languages


def _weight(item: Any, path: Path) -> float:
    if isinstance(item, bool) or not isinstance(item, int | float) or not 0 < item < float("inf"):
        what = f"weight {item!r} is not a positive number"
        raise DataError(what, where=str(path), fix="Omit the task from the suite instead")
    return float(item)


def _by_task(table: dict[str, Any], key: str, tasks: tuple[str, ...], path: Path) -> dict[str, Any]:
    by_task = {canonical(name): item for name, item in table.get(key, {}).items()}
    for name in by_task:
        if name not in tasks:
            raise DataError(f"{key} has {name}, which is not one of the suite's tasks", where=str(path))
    return by_task
