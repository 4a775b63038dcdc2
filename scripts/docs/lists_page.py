"""Page of the tasks, suites, metrics, systems, analyses and languages of the papers, as `isogloss list` prints them."""

import isogloss
from isogloss.escaping import markdown_text

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
        lines = [[str(row[name]) for name in head] for row in rows]
        table = [head, ["---"] * len(head), *([markdown_text(cell) for cell in line] for line in lines)]
        parts += [f"## {what.capitalize()}", "\n".join(f"| {' | '.join(line)} |" for line in table)]
    return "\n\n".join(parts) + "\n"
