"""What an analysis found, as a section of a page: the reading, the charts, the tables."""

from isogloss.analysis.api import analyze
from isogloss.analysis.finding import AnalysisError, Finding
from isogloss.report.finding_charts import finding_charts
from isogloss.report.finding_tables import ROWS_ON_PAGE, finding_tables
from isogloss.report.flat_rows import Systems
from isogloss.report.section import Section, file_name
from isogloss.report.tables import Table

# What a report asks of the records it is given.
IN_REPORTS = ("families", "rankings", "saturation")


def finding_sections(systems: Systems) -> list[Section]:
    """The analyses that the records of a report have enough for."""
    sections = []
    for name in IN_REPORTS:
        try:
            found = analyze(name, *systems.values())
        except AnalysisError:
            continue
        sections.append(finding_section(found))
    return sections


def gap_ceilings(systems: Systems) -> dict[str, Table]:
    """Transfer gaps beside what people, or training in each language, reach; nothing where there are none."""
    try:
        found = analyze("transfer-gap", *systems.values())
    except AnalysisError:
        return {}
    return {"gap-ceilings": finding_tables(found, most=len(found.table("gaps").rows))[0]}


def finding_section(finding: Finding, *, files: bool = True) -> Section:
    """The section of a finding: files beside it have the long tables; without files the page has their beginning."""
    taken: set[str] = set()
    names = [file_name(f"{finding.analysis}-{table.name}", taken) for table in finding.tables]
    longest = max((len(table.rows) for table in finding.tables), default=0)
    long = [name for name, table in zip(names, finding.tables, strict=True) if len(table.rows) > ROWS_ON_PAGE]
    return Section(
        finding.analysis,
        finding.title,
        finding.reading,
        dict(zip(names, finding_tables(finding, most=max(ROWS_ON_PAGE, longest * files)), strict=True)),
        finding_charts(finding),
        only_files=tuple(long) if files else (),
        notes=tuple(finding.notes),
        files=files,
    )
