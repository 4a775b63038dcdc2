"""Suites: which tasks make one number, in which languages, by which rule. Membership is explicit."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from isogloss.errors import DataError, UnknownNameError, unknown
from isogloss.metrics.aggregate import RULES
from isogloss.plugins import Registry
from isogloss.tasks import registry
from isogloss.tasks.registry import canonical, no_language, task


@dataclass(frozen=True)
class Suite:
    """A set of tasks with the rule that makes one number of them.

    Attributes:
        id: the name used everywhere.
        title: what it is, in a line.
        tasks: its tasks, in the order of tables.
        rule: of its overall figure: "category" or "flat" (see `isogloss.metrics.aggregate`).
        languages: the languages that make a task's average here, where they are not the task's own.
        weights: of tasks in averages over tasks; 1 by default.
        tables: `module:function` from a result record to further tables that `isogloss score` shows, "" for none.
    """

    id: str
    title: str
    tasks: tuple[str, ...]
    rule: str = "category"
    languages: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    weights: Mapping[str, float] = field(default_factory=dict)
    tables: str = ""

    def languages_of(self, task_id: str) -> tuple[str, ...]:
        """The languages that make the task's average in this suite."""
        return self.languages.get(task_id) or task(task_id).languages

    @property
    def categories(self) -> dict[str, tuple[str, ...]]:
        """Its tasks by category."""
        found: dict[str, tuple[str, ...]] = {}
        for name in self.tasks:
            category = task(name).category
            found[category] = (*found.get(category, ()), name)
        return found


_XTREME_NER = (
    "ar he vi id jv ms tl eu ml ta te af nl en de el bn hi mr ur fa fr it pt es bg ru ja ka ko th sw yo my zh kk tr "
    "et fi hu"
)
_XTREME_POS = "af ar bg de el en es et eu fa fi fr he hi hu id it ja kk ko mr nl pt ru ta te th tl tr ur vi yo zh"
_XTREME_TATOEBA = (
    "ar he vi id jv tl eu ml ta te af nl de el bn hi mr ur fa fr it pt es bg ru ja ka ko th sw zh kk tr et fi hu"
)

XTREME_R = Suite(
    "xtreme-r",
    "XTREME-R (Ruder et al., 2021)",
    ("xnli", "xcopa", "udpos", "wikiann", "xquad", "mlqa", "tydiqa", "mewslix", "lareqa", "tatoeba"),
)
XTREME = Suite(
    "xtreme",
    "XTREME (Hu et al., 2020)",
    ("xnli", "pawsx", "udpos", "wikiann", "xquad", "mlqa", "tydiqa", "bucc", "tatoeba"),
    "flat",
    {
        "wikiann": tuple(_XTREME_NER.split()),
        "udpos": tuple(_XTREME_POS.split()),
        "tatoeba": tuple(_XTREME_TATOEBA.split()),
    },
)
MLDOC = Suite("mldoc", "MLDoc, as in Keung et al. (2020)", ("mldoc",), "flat")
MINI = Suite(
    "mini",
    "XTREME-R in small, made up and shipped: for trying, testing and timing",
    tuple(f"mini-{name}" for name in XTREME_R.tasks),
)
CHECKLIST = Suite(
    "checklist",
    "Can it do the simple things: template tests in 51 languages; error rates, lower is better",
    registry.CHECKLIST_TASKS,
    "flat",
    tables="isogloss.report.checklist:checklist_tables",
)
CHECKLIST_INVARIANCE = Suite(
    "checklist-invariance",
    "Is it steady: the same tests with other names, or after an unrelated sentence; error rates",
    registry.INVARIANCE_TASKS,
    "flat",
)

SUITES: Registry[Suite] = Registry(
    "suite",
    Suite,
    {
        "xtreme-r": "isogloss.tasks.suites:XTREME_R",
        "xtreme": "isogloss.tasks.suites:XTREME",
        "mldoc": "isogloss.tasks.suites:MLDOC",
        "mini": "isogloss.tasks.suites:MINI",
        "checklist": "isogloss.tasks.suites:CHECKLIST",
        "checklist-invariance": "isogloss.tasks.suites:CHECKLIST_INVARIANCE",
    },
    "isogloss.suites",
    named_by="id",
)


def suite(name: str) -> Suite:
    """The suite of that name, or of a user's own file.

    Args:
        name: an id such as "xtreme-r", or the path of a TOML file with `tasks` and, if wanted, `title`, `rule`,
            `languages` (for all tasks, or a table by task) and `weights` (a table by task).

    Raises:
        UnknownNameError: there is none, or the file names a task, language or rule that does not exist.
        DataError: the file is not there, or is not such a file.
    """
    if not name.endswith(".toml"):
        return SUITES[name.lower()]
    try:
        return from_toml(Path(name))
    except UnknownNameError as error:
        error.where = name
        raise


def from_toml(path: Path) -> Suite:
    """A user's own suite; its id is the file's name, which no other suite may have."""
    if path.stem.lower() in SUITES:
        what = f"{path.stem} is the name of another suite, and records would not tell the two apart"
        raise DataError(what, where=str(path), fix="Rename the file")
    from isogloss.data.files import read_toml

    table = read_toml(path)
    known = ("title", "tasks", "rule", "languages", "weights")
    for key in table:
        if key not in known:
            raise unknown("key of a suite", key, known)
    names = _strings(table.get("tasks"), "tasks", path)
    if not names:
        raise DataError("it names no tasks", where=str(path), fix='Write tasks = ["xquad", "xnli"]')
    tasks = tuple(dict.fromkeys(map(canonical, names)))
    rule = table.get("rule", "category")
    if rule not in RULES:
        raise unknown("rule", str(rule), RULES)
    title = str(table.get("title", path.stem))
    languages = _languages(table.get("languages", {}), tasks, path)
    return Suite(path.stem, title, tasks, rule, languages, _weights(table.get("weights", {}), tasks, path))


def _strings(value: Any, key: str, path: Path) -> list[str]:
    if value is None or (isinstance(value, list) and all(isinstance(item, str) for item in value)):
        return value or []
    raise DataError(f"{key} is not a list of strings", where=str(path))


def _languages(value: Any, tasks: tuple[str, ...], path: Path) -> dict[str, tuple[str, ...]]:
    """Languages by task; those for all tasks hold for each task that has them."""
    if isinstance(value, list):
        wanted = _strings(value, "languages", path)
        every = {code for name in tasks for code in task(name).every_language}
        for code in wanted:
            if code not in every:
                raise no_language(path.stem, code, every)
        found = {name: tuple(code for code in wanted if code in task(name).every_language) for name in tasks}
        for name, codes in found.items():
            if not codes:
                raise DataError(f"{name} has none of the languages", where=str(path), fix="Leave the task out")
        return found
    by_task = _table_by_task(value, "languages", tasks, path, lambda item: tuple(_strings(item, "languages", path)))
    for name, codes in by_task.items():
        for code in codes:
            if code not in task(name).every_language:
                raise no_language(name, code, task(name).every_language)
    return by_task


def _weights(value: Any, tasks: tuple[str, ...], path: Path) -> dict[str, float]:
    def weight(item: Any) -> float:
        if isinstance(item, bool) or not isinstance(item, int | float) or not 0 < item < float("inf"):
            raise DataError(
                f"weight {item!r} is not a positive number", where=str(path), fix="Leave a task out instead"
            )
        return float(item)

    return _table_by_task(value, "weights", tasks, path, weight)


def _table_by_task(
    value: Any, key: str, tasks: tuple[str, ...], path: Path, read: Callable[[Any], Any]
) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise DataError(f"{key} is not a table by task", where=str(path), fix=f"Write [{key}] and a line a task")
    found = {canonical(name): read(item) for name, item in value.items()}
    for name in found:
        if name not in tasks:
            raise DataError(f"{key} of {name}, which is not one of its tasks", where=str(path))
    return found
