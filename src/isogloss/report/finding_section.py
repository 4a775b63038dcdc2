"""What an analysis found, as a section of a page: the reading, the charts, the tables."""

from isogloss.analysis.finding import Finding
from isogloss.report.finding_charts import finding_charts
from isogloss.report.finding_tables import ROWS_ON_PAGE, finding_tables
from isogloss.report.section import Section, file_name


def finding_section(finding: Finding, *, files: bool = True) -> Section:
    """The section of a finding; where it stands by itself there are no files beside it."""
    taken: set[str] = set()
    names = [file_name(f"{finding.analysis}-{table.name}", taken) for table in finding.tables]
    return Section(
        finding.analysis,
        finding.title,
        finding.reading,
        dict(zip(names, finding_tables(finding, most=ROWS_ON_PAGE), strict=True)),
        finding_charts(finding),
        notes=tuple(finding.notes),
        files=files,
    )
