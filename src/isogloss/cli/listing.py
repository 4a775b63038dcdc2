"""isogloss list: what there is. This file imports nothing heavy: listing answers at once."""

import json as json_module
import sys
from collections.abc import Callable
from typing import Annotated

import typer

from isogloss.errors import unknown
from isogloss.languages import all_languages, language
from isogloss.metrics.registry import SHIPPED, plugin_metrics
from isogloss.tasks.registry import ALIASES, TASKS, listed_tasks, task
from isogloss.tasks.suites import SUITES

app = typer.Typer(add_completion=False)

Listing = list[dict[str, object]]  # one row a task, language, …


def _tasks() -> Listing:
    found: Listing = []
    suites = SUITES.loadable().values()
    for one in listed_tasks():
        counts = one.counts.get("test", 0)
        sizes = [counts] if isinstance(counts, int) else sorted(counts.values()) or [0]
        size = f"{sizes[0]:,}" if sizes[0] == sizes[-1] else f"{sizes[0]:,}–{sizes[-1]:,}"
        found.append(
            {
                "task": one.id,
                "title": one.title.partition(": ")[2],
                "score": "+".join(one.main),
                "suites": " ".join(suite.id for suite in suites if one.id in suite.tasks),
                "test size": size if sizes[0] else "",
                "languages": len(one.languages),
            }
        )
    return found


def _languages() -> Listing:
    names = ("code", "iso3", "name", "autonym", "family", "branch", "script")
    tasks = [task(name) for name in SUITES["xtreme-r"].tasks]
    return [
        {name: getattr(one, name) for name in names} | {"tasks": sum(one.code in task.languages for task in tasks)}
        for one in all_languages()
    ]


def _suites() -> Listing:
    return [
        {"suite": s.id, "title": s.title, "rule": s.rule, "tasks": " ".join(s.tasks)}
        for s in SUITES.loadable().values()
    ]


def _metrics() -> Listing:
    added = [(found.name, " ".join(found.kinds), found.title) for found in plugin_metrics()]
    return [{"metric": name, "tasks": tasks, "definition": text} for name, tasks, text in (*SHIPPED, *added)]


def _systems() -> Listing:
    from isogloss.systems.base import ABOUT, systems

    return [{"system": name, "is": ABOUT.get(name, ""), "from": where} for name, where in systems().items()]


def _analyses() -> Listing:
    from isogloss.analysis.registry import ANALYSES

    return [{"analysis": each.name, "answers": each.about, "takes": each.takes} for each in ANALYSES.values()]


_LISTS: dict[str, Callable[[], Listing]] = {
    "tasks": _tasks,
    "languages": _languages,
    "suites": _suites,
    "metrics": _metrics,
    "systems": _systems,
    "analyses": _analyses,
}

# Columns for which a terminal has no room, or only from a width on; `isogloss list NAME` shows everything about one.
_NEVER = 10_000
_FROM_WIDTH = {
    ("tasks", "suites"): _NEVER,
    ("tasks", "test size"): 90,
    ("suites", "rule"): 90,
    ("languages", "iso3"): _NEVER,
    ("languages", "branch"): _NEVER,
    ("systems", "from"): _NEVER,
}


@app.command(name="list")
def listing(
    what: Annotated[
        str, typer.Argument(help="tasks, languages, suites, metrics, systems or analyses; or one task or language.")
    ],
    json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> None:
    """Show what there is: tasks, languages, suites, metrics, systems, analyses; or all about one task or language.

    \b
    Examples:
      isogloss list tasks
      isogloss list xquad
      isogloss list languages --json
    """
    rows = _LISTS[what]() if what in _LISTS else _everything_about(what)
    if json:
        sys.stdout.write(json_module.dumps(rows, ensure_ascii=False, indent=2) + "\n")
        return
    from rich.console import Console

    from isogloss.report.tables import Table

    console = Console()
    header = [name for name in rows[0] if console.width >= _FROM_WIDTH.get((what, name), 0)]
    shown = Table(
        what.capitalize() if what in _LISTS else ALIASES.get(what.lower(), what),
        header,
        words=sum(not isinstance(rows[0][name], int) for name in header),
    )
    for row in rows:
        shown.add(*(str(row[name]) for name in header))
    shown.print(console)


def _everything_about(name: str) -> Listing:
    """Everything about one task or one language, as field and value."""
    from dataclasses import asdict

    from isogloss.errors import UnknownNameError

    try:
        fields = asdict(task(name))
    except UnknownNameError:
        try:
            fields = asdict(language(name))
        except UnknownNameError:
            known = (*_LISTS, *TASKS, *(one.code for one in all_languages()))
            raise unknown("name", name, known) from None
    return [{"field": key, "value": _plain(value)} for key, value in fields.items() if value not in ("", (), {})]


def _plain(value: object) -> str:
    if isinstance(value, (tuple, list)):
        return (
            "\n".join(_plain(v) for v in value) if value and isinstance(value[0], dict) else " ".join(map(str, value))
        )
    if isinstance(value, dict):
        return ", ".join(f"{key} {_plain(inner)}" for key, inner in value.items() if inner not in ("", None))
    return str(value)
