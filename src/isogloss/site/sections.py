"""Sections of a page in order: a report, an analysis, or dataset bias."""

from isogloss.analysis.api import analyze
from isogloss.analysis.finding import AnalysisError, Finding
from isogloss.errors import DataError
from isogloss.explain.analysis import Analysis
from isogloss.explain.bias import DatasetBias
from isogloss.results.rows import Systems
from isogloss.site.bias_section import BIAS_INTRO, bias_section
from isogloss.site.explain_section import explain_intro, explain_section, pairwise_section
from isogloss.site.score_sections import provenance_section, score_sections
from isogloss.site.section import ReportInputs, Section
from isogloss.tables.charts import file_name
from isogloss.tables.explain_io import explain_records
from isogloss.tables.explain_tables import analysis_tables, bias_tables
from isogloss.tables.findings import ROWS_ON_PAGE, finding_charts, finding_tables
from isogloss.tables.single_tables import ON_PAGE, calibration_tables

# Analyses that a report includes.
IN_REPORTS = ("families", "rankings", "saturation")


def report_sections(inputs: ReportInputs) -> list[Section]:
    """Return all sections of a report, the most important first."""
    explained = inputs.explained
    parts = [*score_sections(inputs.systems), *finding_sections(inputs.systems)]
    if explained.pairs:
        parts.append(pairwise_section(explained.pairs))
    if explained.explanations:
        parts.append(explain_section(explained, inputs.systems))
    if explained.bias is not None:
        parts.append(bias_section(explained.bias))
    return [*parts, provenance_section(inputs.systems)]


def finding_sections(systems: Systems) -> list[Section]:
    """Return the sections of analyses that the records allow."""
    sections = []
    for name in IN_REPORTS:
        try:
            finding = analyze(name, *systems.values())
        except (AnalysisError, DataError):
            continue
        sections.append(finding_section(finding))
    return sections


def finding_section(finding: Finding, *, files: bool = True) -> Section:
    """Return the section of a finding; long tables are files, or cut if the page has no files."""
    taken: set[str] = set()
    names = [file_name(f"{finding.analysis}-{table.name}", taken) for table in finding.tables]
    longest = max((len(table.rows) for table in finding.tables), default=0)
    long = [name for name, table in zip(names, finding.tables, strict=True) if len(table.rows) > ROWS_ON_PAGE]
    return Section(
        id=finding.analysis,
        title=finding.title,
        intro=finding.reading,
        tables=dict(zip(names, finding_tables(finding, most=max(ROWS_ON_PAGE, longest * files)), strict=True)),
        charts=finding_charts(finding),
        only_files=tuple(long) if files else (),
        notes=tuple(finding.notes),
        files=files,
    )


def analysis_sections(analysis: Analysis) -> list[Section]:
    """Return the sections of an analysis: the panel, and all tables."""
    tables = {f"analysis-{number}": table for number, table in enumerate(analysis_tables(analysis), 1)}
    calibration = calibration_tables(explain_records(analysis).explanations)
    calibrated = {ON_PAGE: calibration[ON_PAGE]} if calibration else {}
    intro = "Tables of isogloss explain: buckets, differences between systems, and listed examples."
    return [
        Section(
            id="explain",
            title="Explain",
            intro=explain_intro(analysis.edges),
            tables=calibrated,
            panel="explain",
            files=False,
        ),
        Section(id="tables", title="Tables", intro=intro, tables=tables, reference=True, files=False),
    ]


def bias_sections(bias: DatasetBias) -> list[Section]:
    """Return the sections of dataset bias."""
    tables = {f"bias-{number}": table for number, table in enumerate(bias_tables(bias), 1)}
    return [
        Section(id="bias", title="Dataset bias", intro=BIAS_INTRO, panel="bias", files=False),
        Section(
            id="tables",
            title="Tables",
            intro="Tables of isogloss explain --bias.",
            tables=tables,
            reference=True,
            files=False,
        ),
    ]
