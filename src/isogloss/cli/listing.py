"""isogloss list: tasks, languages, suites, metrics, systems, analyses, doubts. Imports nothing heavy, to stay fast."""

import json as json_module
import sys
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Annotated

import typer

from isogloss.cli.options import Output
from isogloss.errors import unknown
from isogloss.languages import UNKNOWN, Language, all_languages, listed_language, world_languages
from isogloss.languages.published import doubts
from isogloss.metrics.registry import SHIPPED, plugin_metrics
from isogloss.tasks.registry import ALIASES, TASKS, given_task, listed_tasks, task
from isogloss.tasks.suites import SUITES, Suite
from isogloss.tasks.task_sources import is_task_file

app = typer.Typer(add_completion=False)

Listing = list[dict[str, object]]  # one row per task, language, …
# Facts about languages from the table of all languages.
_FACTS = ("glottocode", "latitude", "longitude", "speakers", "wikipedia_articles")


def _tasks() -> Listing:
    rows: Listing = []
    suites = SUITES.loadable().values()
    for entry in listed_tasks():
        counts = entry.counts.get("test", 0)
        sizes = [counts] if isinstance(counts, int) else sorted(counts.values()) or [0]
        size = f"{sizes[0]:,}" if sizes[0] == sizes[-1] else f"{sizes[0]:,}–{sizes[-1]:,}"
        rows.append(
            {
                "task": entry.id,
                "title": entry.title.partition(": ")[2],
                "score": "+".join(entry.main),
                "suites": " ".join(suite.id for suite in suites if entry.id in suite.tasks),
                "test size": size if sizes[0] else "",
                "languages": len(entry.languages),
            }
        )
    return rows


def _languages() -> Listing:
    return _language_rows(all_languages(), SUITES["xtreme-r"])


def _all_languages() -> Listing:
    return _language_rows(world_languages(), SUITES["xtreme-r"], SUITES["living"])


def _language_rows(entries: Iterable[Language], *suites: Suite) -> Listing:
    """Return rows of languages, with the number of tasks in some suites that have them."""
    names = ("code", "iso3", "name", "autonym", "family", "branch", "script")
    tasks = Counter(code for suite in suites for name in suite.tasks for code in task(name).languages)
    return [
        {name: getattr(entry, name) for name in names}
        | {"tasks": tasks[entry.code]}
        | {name: getattr(entry, name) for name in _FACTS}
        for entry in entries
    ]


def _suites() -> Listing:
    suites = SUITES.loadable().values()
    return [{"suite": s.id, "title": s.title, "rule": s.rule, "tasks": " ".join(s.tasks)} for s in suites]


def _metrics() -> Listing:
    added = [(metric.name, " ".join(metric.kinds), metric.title) for metric in plugin_metrics()]
    return [{"metric": name, "tasks": tasks, "definition": text} for name, tasks, text in (*SHIPPED, *added)]


def _systems() -> Listing:
    from isogloss.systems.base import ABOUT, systems

    return [{"system": name, "is": ABOUT.get(name, ""), "from": where} for name, where in systems().items()]


def _analyses() -> Listing:
    from isogloss.analysis.registry import ANALYSES

    return [{"analysis": entry.name, "answers": entry.about, "takes": entry.takes} for entry in ANALYSES.values()]


def _doubts() -> Listing:
    return [{"about": doubt.about, "printed": doubt.printed, "elsewhere": doubt.elsewhere} for doubt in doubts()]


LISTS: dict[str, tuple[str, Callable[[], Listing]]] = {
    "tasks": ("benchmark tasks, with suites, scores and test sizes", _tasks),
    "languages": ("the 51 languages of the papers, with family, branch and script", _languages),
    "all-languages": ("these and all other languages, tab-separated, with coordinates and speakers", _all_languages),
    "suites": ("sets of tasks and the rule of their overall score", _suites),
    "metrics": ("metrics and their definitions", _metrics),
    "systems": ("systems for isogloss run, train and predict", _systems),
    "analyses": ("analyses for isogloss analyze", _analyses),
    "doubts": ("figures in print that others contradict", _doubts),
}

_LONGEST_TABLE = 1000  # rows; longer lists are printed tab-separated, for grep and cut
# Minimum terminal width at which a column is shown; `isogloss list NAME` shows all fields of one task or language.
_NEVER = 10_000
_FROM_WIDTH = {
    ("tasks", "suites"): _NEVER,
    ("tasks", "test size"): 90,
    ("suites", "rule"): 90,
    ("languages", "iso3"): _NEVER,
    ("languages", "branch"): _NEVER,
    ("systems", "from"): _NEVER,
    **{("languages", fact): _NEVER for fact in _FACTS},
}


@app.command(name="list")
def listing(
    what: Annotated[
        str | None,
        typer.Argument(
            help="tasks, languages, all-languages, suites, metrics, systems, analyses or doubts; or the name of one "
            "task or language, or a task file."
        ),
    ] = None,
    json: Annotated[bool, Output("--json", help="Print JSON.")] = False,
) -> None:
    """List tasks, languages, suites, metrics, systems, analyses or doubts, or show all fields of a task or language.

    Without an argument, shows what can be listed.

    \b
    Examples:
      isogloss list
      isogloss list tasks
      isogloss list xquad
      isogloss list languages --json
      isogloss list all-languages | grep Mande
    """
    rows: Listing
    if what is None:
        title, rows = "Lists", [{"list": name, "contents": about} for name, (about, _) in LISTS.items()]
        rows.append({"list": "NAME", "contents": "all fields of one task or language, e.g. xquad or sw"})
    elif what in LISTS:
        title, rows = what.capitalize(), LISTS[what][1]()
    else:
        rows = _fields(what)
        title = str(rows[0]["value"]) if is_task_file(what) else ALIASES.get(what.lower(), what)
    if json:
        sys.stdout.write(json_module.dumps(rows, ensure_ascii=False, indent=2) + "\n")
        return
    if len(rows) > _LONGEST_TABLE:  # laying out a table takes a second per thousand rows
        lines = (rows[0], *(row.values() for row in rows))
        sys.stdout.writelines("\t".join("" if cell is None else str(cell) for cell in line) + "\n" for line in lines)
        return
    from rich.console import Console

    from isogloss.tables.table import Table

    console = Console()
    header = [name for name in rows[0] if console.width >= _FROM_WIDTH.get((title.lower(), name), 0)]
    table = Table(title, header, words=sum(not isinstance(rows[0][name], int) for name in header))
    for row in rows:
        table.add(*(str(row[name]) for name in header))
    if what == "languages":
        table.notes.append("isogloss list all-languages shows all others; isogloss list sw shows all fields of one")
    table.print(console)


def _fields(name: str) -> Listing:
    """Return all fields of one task or language, as field and value."""
    from dataclasses import asdict

    from isogloss.errors import UnknownNameError

    try:
        entry = given_task(name)
        about = [str(doubt) for doubt in doubts() if doubt.task == entry.id and not doubt.system]
        fields = asdict(entry) | {"doubts": "; ".join(about)}
    except UnknownNameError:
        listed = listed_language(name)
        if listed is None:
            names = (*LISTS, *TASKS, *(entry.code for entry in all_languages()))
            raise unknown("name", name, names) from None
        facts = {name: getattr(listed, name) for name in (*_FACTS, "sources")}
        fields = asdict(listed) | {name: value for name, value in facts.items() if value not in (None, UNKNOWN)}
    return [{"field": key, "value": _plain(value)} for key, value in fields.items() if value not in ("", (), {})]


def _plain(value: object) -> str:
    if isinstance(value, (tuple, list)):
        records = bool(value) and isinstance(value[0], dict)
        return "\n".join(map(_plain, value)) if records else " ".join(map(str, value))
    if isinstance(value, dict):
        return ", ".join(f"{key} {_plain(inner)}" for key, inner in value.items() if inner not in ("", None))
    return str(value)
