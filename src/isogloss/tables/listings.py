"""Lists of tasks, languages, suites, metrics, systems, analyses and doubts. Imports nothing heavy, to stay fast."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any, overload

from isogloss.errors import UnknownNameError, unknown
from isogloss.languages import UNKNOWN, Language, all_languages, listed_language, world_languages
from isogloss.languages.published import doubts
from isogloss.metrics.registry import SHIPPED, plugin_metrics
from isogloss.notebooks import arrow_table, data_frame, html_table
from isogloss.tasks.registry import ALIASES, TASKS, given_task, listed_tasks, task
from isogloss.tasks.suites import SUITES, Suite
from isogloss.tasks.task_sources import is_task_file

Rows = list[dict[str, Any]]
# Names in a short representation.
_NAMES_SHOWN = 20
# Facts about languages from the table of all languages.
FACTS = ("glottocode", "latitude", "longitude", "speakers", "wikipedia_articles")


def _tasks() -> Rows:
    rows: Rows = []
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


def _languages() -> Rows:
    return _language_rows(all_languages(), SUITES["xtreme-r"])


def _all_languages() -> Rows:
    return _language_rows(world_languages(), SUITES["xtreme-r"], SUITES["living"])


def _language_rows(entries: Iterable[Language], *suites: Suite) -> Rows:
    """Return rows of languages, with the number of tasks in some suites that have them."""
    names = ("code", "iso3", "name", "autonym", "family", "branch", "script")
    tasks = Counter(code for suite in suites for name in suite.tasks for code in task(name).languages)
    return [
        {name: getattr(entry, name) for name in names}
        | {"tasks": tasks[entry.code]}
        | {name: getattr(entry, name) for name in FACTS}
        for entry in entries
    ]


def _suites() -> Rows:
    suites = SUITES.loadable().values()
    return [{"suite": s.id, "title": s.title, "rule": s.rule, "tasks": " ".join(s.tasks)} for s in suites]


def _metrics() -> Rows:
    added = [(metric.name, " ".join(metric.kinds), metric.title) for metric in plugin_metrics()]
    return [{"metric": name, "tasks": tasks, "definition": text} for name, tasks, text in (*SHIPPED, *added)]


def _systems() -> Rows:
    from isogloss.systems.base import ABOUT, systems

    return [{"system": name, "is": ABOUT.get(name, ""), "from": where} for name, where in systems().items()]


def _analyses() -> Rows:
    from isogloss.analysis.registry import ANALYSES

    return [{"analysis": entry.name, "answers": entry.about, "takes": entry.takes} for entry in ANALYSES.values()]


def _doubts() -> Rows:
    return [{"about": doubt.about, "printed": doubt.printed, "elsewhere": doubt.elsewhere} for doubt in doubts()]


LISTS: dict[str, tuple[str, Callable[[], Rows]]] = {
    "tasks": ("benchmark tasks, with suites, scores and test sizes", _tasks),
    "languages": ("the 51 languages of the papers, with family, branch and script", _languages),
    "all-languages": ("these and all other languages, tab-separated, with coordinates and speakers", _all_languages),
    "suites": ("sets of tasks and the rule of their overall score", _suites),
    "metrics": ("metrics and their definitions", _metrics),
    "systems": ("systems for isogloss run, train and predict", _systems),
    "analyses": ("analyses for isogloss analyze", _analyses),
    "doubts": ("figures in print that others contradict", _doubts),
}


class Listing(Sequence[dict[str, Any]]):
    """Rows of a list, as dictionaries, with a title."""

    def __init__(self, title: str, rows: Rows) -> None:
        self.title = title
        self._rows = rows

    @overload
    def __getitem__(self, index: int) -> dict[str, Any]: ...

    @overload
    def __getitem__(self, index: slice) -> Rows: ...

    def __getitem__(self, index: int | slice) -> dict[str, Any] | Rows:
        return self._rows[index]

    def __len__(self) -> int:
        return len(self._rows)

    def __repr__(self) -> str:
        names = [str(next(iter(row.values()))) for row in self._rows[:_NAMES_SHOWN]]
        return f"<Listing: {self.title}: {', '.join(names)}{', …' * (len(self) > _NAMES_SHOWN)} ({len(self):,})>"

    def _repr_html_(self) -> str:
        return html_table(self.title, list(self[0]), ([*map(str, row.values())] for row in self._rows))

    def to_arrow(self) -> Any:
        """Return the rows as an Arrow table."""
        return arrow_table(self._rows)

    def to_pandas(self) -> Any:
        """Return the rows as a pandas data frame."""
        return data_frame(self._rows)


def rows_of(what: str | None) -> Listing:
    """Return the rows of a list, the fields of one task or language, or what can be listed."""
    if what is None:
        rows: Rows = [{"list": name, "contents": about} for name, (about, _) in LISTS.items()]
        rows.append({"list": "NAME", "contents": "all fields of one task or language, e.g. xquad or sw"})
        return Listing("Lists", rows)
    if not isinstance(what, str):
        raise unknown("list", what, ())
    if what in LISTS:
        return Listing(what.capitalize(), LISTS[what][1]())
    fields = _fields(what)
    return Listing(str(fields[0]["value"]) if is_task_file(what) else ALIASES.get(what.lower(), what), fields)


def _fields(name: str) -> Rows:
    """Return all fields of one task or language, as field and value."""
    from dataclasses import asdict

    try:
        entry = given_task(name)
        about = [str(doubt) for doubt in doubts() if doubt.task == entry.id and not doubt.system]
        fields = asdict(entry) | {"doubts": "; ".join(about)}
    except UnknownNameError:
        listed = listed_language(name)
        if listed is None:
            names = (*LISTS, *TASKS, *(entry.code for entry in all_languages()))
            raise unknown("name", name, names) from None
        facts = {name: getattr(listed, name) for name in (*FACTS, "sources")}
        fields = asdict(listed) | {name: value for name, value in facts.items() if value not in (None, UNKNOWN)}
    return [{"field": key, "value": _plain(value)} for key, value in fields.items() if value not in ("", (), {})]


def _plain(value: object) -> str:
    if isinstance(value, (tuple, list)):
        records = bool(value) and isinstance(value[0], dict)
        return "\n".join(map(_plain, value)) if records else " ".join(map(str, value))
    if isinstance(value, dict):
        return ", ".join(f"{key} {_plain(inner)}" for key, inner in value.items() if inner not in ("", None))
    return str(value)
