"""A part of the report before it has a form."""

import re
from dataclasses import dataclass, field
from typing import Literal

from isogloss.report.charts import Chart
from isogloss.report.tables import Table

PanelName = Literal["", "explain", "survey"]


@dataclass(frozen=True)
class Section:
    """A part of the report: `tables` and `charts` by the names of their files.

    A section with a `panel` is drawn by the page from embedded data, as its reader chooses; its charts, and those of
    its tables that are named in `only_files`, go only into files.
    """

    id: str
    title: str
    intro: str
    tables: dict[str, Table] = field(default_factory=dict)
    charts: list[Chart] = field(default_factory=list)
    panel: PanelName = ""
    # Tables that are too long to be read on the page.
    only_files: tuple[str, ...] = ()
    # Tables that are too long to stand open, or to be printed.
    reference: bool = False
    # Whether its tables and charts also lie beside the page as files.
    files: bool = True
    pictures: bool = True


def file_name(text: str, taken: set[str] | None = None) -> str:
    """A file name for any text, and not one of those taken, to which it is added."""
    name = re.sub(r"[^\w.]+", "-", text).strip("-.") or "x"
    if taken is not None:
        while name.casefold() in taken:
            name += "-2"
        taken.add(name.casefold())
    return name
