"""A section of the report: its tables and charts, before they are written as HTML or files."""

import re
from dataclasses import dataclass, field
from typing import Literal

from isogloss.report.charts import Chart
from isogloss.report.tables import Table

PanelName = Literal["", "explain", "survey"]


@dataclass(frozen=True)
class Section:
    """A section of the report.

    Attributes:
        tables: by the names of their files.
        panel: what the page draws from embedded data, as its reader chooses; its charts go only into files.
        only_files: tables that are too long to be read on the page.
        notes: lines below the tables: choices that were made, and what was left out.
        reference: whether its tables are too long to stand open, or to be printed.
        files: whether its tables and charts also lie beside the page as files.
        pictures: whether its charts do.
    """

    id: str
    title: str
    intro: str
    tables: dict[str, Table] = field(default_factory=dict)
    charts: list[Chart] = field(default_factory=list)
    panel: PanelName = ""
    only_files: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    reference: bool = False
    files: bool = True
    pictures: bool = True


# Bytes of a file's name: with a suffix and a number it stays below what file systems take.
LONGEST_NAME = 180


def file_name(text: str, taken: set[str] | None = None) -> str:
    """A file name for any text, and not one of those taken, to which it is added."""
    tame = re.sub(r"[^\w.]+", "-", text).encode()[:LONGEST_NAME].decode(errors="ignore")
    name = tame.strip("-.") or "x"
    if taken is not None:
        while name.casefold() in taken:
            name += "-2"
        taken.add(name.casefold())
    return name
