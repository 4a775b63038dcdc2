"""Content of a page, before rendering: its inputs and sections."""

from dataclasses import dataclass, field
from typing import Literal

from isogloss.results.averages import Systems
from isogloss.tables.charts import Chart
from isogloss.tables.explain_io import ExplainRecords
from isogloss.tables.table import Table


@dataclass(frozen=True)
class ReportInputs:
    """Content of a report.

    Attributes:
        systems: systems with result records, by the name they are shown under.
        subtitle: subtitle of a page without systems.
        languages: languages to offer in the search of a page without systems.
    """

    systems: Systems = field(default_factory=dict)
    explained: ExplainRecords = field(default_factory=ExplainRecords)
    subtitle: str = ""
    languages: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Section:
    """A section of the report.

    Attributes:
        tables: tables by file name.
        panel: interactive panel of the section; its charts are only files.
        only_files: tables that are too long for the page.
        notes: lines below the tables.
        reference: True to keep long tables folded in print.
        files: True to link to tables and charts as files.
        pictures: True to write charts as files as well.
    """

    id: str
    title: str
    intro: str
    tables: dict[str, Table] = field(default_factory=dict)
    charts: list[Chart] = field(default_factory=list)
    panel: Literal["", "explain", "bias"] = ""
    only_files: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    reference: bool = False
    files: bool = True
    pictures: bool = True
