"""The tasks and suites there are: explicit tuples, loaded one file at a time."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import cache
from importlib import import_module

from isogloss.errors import UnknownNameError, unknown
from isogloss.languages import all_languages
from isogloss.metrics.aggregate import ALIASES as ALIASES  # noqa: PLC0414 - until it lives here
from isogloss.metrics.aggregate import DEFAULT_RULE
from isogloss.metrics.aggregate import SUITES as SUITE_TASKS
from isogloss.tasks.task import Task

TASKS = (
    "xnli",
    "xcopa",
    "udpos",
    "wikiann",
    "xquad",
    "mlqa",
    "tydiqa",
    "tatoeba",
    "mewslix",
    "lareqa",
    "pawsx",
    "bucc",
    "mldoc",
)
# With the small editions that the suite `mini` has of some of them.
EVERY_TASK = (*TASKS, *SUITE_TASKS["mini"])


@dataclass(frozen=True)
class Suite:
    """A set of tasks with the rule that makes one number of them."""

    id: str
    title: str
    # Where a suite's language list for a task is not the task's own.
    languages: tuple[tuple[str, tuple[str, ...]], ...] = ()

    @property
    def tasks(self) -> tuple[str, ...]:
        """The ids of its tasks."""
        return SUITE_TASKS[self.id]

    @property
    def rule(self) -> str:
        """The rule of its overall figure, if nobody names another."""
        return DEFAULT_RULE[self.id]

    def languages_of(self, task_id: str) -> tuple[str, ...]:
        """The languages that make the task's average in this suite."""
        return dict(self.languages).get(task_id) or task(task_id).languages


_XTREME_NER = (
    "ar he vi id jv ms tl eu ml ta te af nl en de el bn hi mr ur fa fr it pt es bg ru ja ka ko th sw yo my zh kk tr "
    "et fi hu"
)
_XTREME_POS = "af ar bg de el en es et eu fa fi fr he hi hu id it ja kk ko mr nl pt ru ta te th tl tr ur vi yo zh"
_XTREME_TATOEBA = (
    "ar he vi id jv tl eu ml ta te af nl de el bn hi mr ur fa fr it pt es bg ru ja ka ko th sw zh kk tr et fi hu"
)

SUITES = (
    Suite("xtreme-r", "XTREME-R (Ruder et al., 2021)"),
    Suite(
        "xtreme",
        "XTREME (Hu et al., 2020)",
        (
            ("wikiann", tuple(_XTREME_NER.split())),
            ("udpos", tuple(_XTREME_POS.split())),
            ("tatoeba", tuple(_XTREME_TATOEBA.split())),
        ),
    ),
    Suite("mldoc", "MLDoc, as in Keung et al. (2020)"),
    Suite("mini", "XTREME-R in small, made up and shipped: for trying, testing and timing"),
)


def canonical(name: str) -> str:
    """The id behind a name or alias, with the nearest names where there is none."""
    lowered = name.lower()
    found = ALIASES.get(lowered, lowered)
    if found not in EVERY_TASK:
        raise unknown("task", name, EVERY_TASK)
    return found


@cache
def _declared(task_id: str) -> Task:
    if task_id.startswith("mini-"):
        from isogloss.tasks import mini

        return mini.declared(task_id)
    declared = import_module(f"isogloss.tasks.{task_id}").TASK
    if not isinstance(declared, Task):
        raise TypeError(f"isogloss.tasks.{task_id}.TASK is not a Task")
    return declared


def task(name: str) -> Task:
    """The task of that name (aliases are understood)."""
    return _declared(canonical(name))


def suite(name: str) -> Suite:
    """The suite of that name."""
    for candidate in SUITES:
        if candidate.id == name.lower():
            return candidate
    raise unknown("suite", name, [known.id for known in SUITES])


def chosen(names: Iterable[str] | None, default: Iterable[str]) -> tuple[str, ...]:
    """Task ids as a user named them (comma-separated words are split), or the default."""
    if names is None:
        return tuple(default)
    words = [word for name in names for word in name.split(",") if word]
    return tuple(dict.fromkeys(canonical(word) for word in words))


def no_language(of: str, code: str, known: Collection[str]) -> UnknownNameError:
    """An error for a language that a task does not have; only what is no language at all may be misspelt."""
    if code not in {language.code for language in all_languages()}:
        return unknown(f"language of {of}", code, known)
    return UnknownNameError(f"{of} has no {code}", fix=f"It has {', '.join(sorted(known))}")
