"""Page of the tasks, suites, metrics, systems, analyses and languages of the papers, as `isogloss list` prints them."""

import isogloss
from isogloss.escaping import markdown_text
from markdown_table import table

_HEAD = """\
# Tasks, suites, metrics, systems

As `isogloss list` prints them. Plug-ins and tasks of your own appear there, too; `isogloss list NAME` shows all facts
about a task or a language, with licence and citation.
"""
_LISTS = ("tasks", "suites", "metrics", "systems", "analyses", "languages")


def page() -> str:
    """Return the page."""
    parts = [_HEAD]
    for what in _LISTS:
        rows = isogloss.list(what)
        head = list(rows[0])
        lines = ([markdown_text(str(row[name])) for name in head] for row in rows)
        parts += [f"## {what.capitalize()}", table(head, lines)]
    return "\n\n".join(parts) + "\n"
