"""The least that a board can show: the systems on it, in a plain page, and their figures as JSON."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

import msgspec

from isogloss.escaping import html_text
from isogloss.figures import score_text
from isogloss.scoring.results import Results

_PAGE = """<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{title}</title>
<h1>{title}</h1><p>Suite {suite}. <a href="submit.html">Submit</a></p>
<table><tr><th>System<th>Team<th>Overall</tr>{rows}</table></html>
"""


class SystemOnBoard(Protocol):
    """What the pages need to know of a system."""

    @property
    def id(self) -> str:
        """Its name in addresses."""

    @property
    def team(self) -> str:
        """Who submitted it."""

    @property
    def system(self) -> dict[str, Any]:
        """Its public metadata."""

    @property
    def results(self) -> Results:
        """Its newest result record."""


def build_site(folder: Path, systems: Sequence[SystemOnBoard], *, title: str, suite: str) -> None:
    """Write the pages of a board into a new folder."""
    folder.mkdir(parents=True)
    rows = "".join(
        f"<tr><td>{html_text(each.system['name'])}<td>{html_text(each.team)}<td>{_overall(each.results)}</tr>"
        for each in systems
    )
    page = _PAGE.format(title=html_text(title), suite=html_text(suite), rows=rows)
    (folder / "index.html").write_text(page, encoding="utf-8")
    figures = [{"id": each.id, "name": each.system["name"], "results": each.results} for each in systems]
    (folder / "data.js").write_bytes(b"globalThis.isoglossBoardData = " + msgspec.json.encode(figures) + b";\n")


def _overall(results: Results) -> str:
    return "–" if results.overall.score is None else score_text(results.overall.score.value)
