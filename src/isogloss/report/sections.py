"""Which sections a page has, in their order: a whole report, an analysis by itself, a survey of the data by itself."""

from isogloss.explain.analysis import Analysis
from isogloss.explain.bias import DatasetBias
from isogloss.report.bias_section import BIAS_INTRO, bias_section
from isogloss.report.bias_tables import bias_tables
from isogloss.report.calibration_tables import ON_PAGE, calibration_tables
from isogloss.report.explain_io import explain_records
from isogloss.report.explain_section import explain_intro, explain_section
from isogloss.report.explain_tables import analysis_tables
from isogloss.report.finding_section import finding_sections
from isogloss.report.inputs import ReportInputs
from isogloss.report.pairwise_section import pairwise_section
from isogloss.report.score_sections import provenance_section, score_sections
from isogloss.report.section import Section


def report_sections(inputs: ReportInputs) -> list[Section]:
    """Everything there is to show, the most important first."""
    explained = inputs.explained
    parts = [*score_sections(inputs.systems), *finding_sections(inputs.systems)]
    if explained.pairs:
        parts.append(pairwise_section(explained.pairs))
    if explained.explanations:
        parts.append(explain_section(explained, inputs.systems))
    if explained.bias is not None:
        parts.append(bias_section(explained.bias))
    return [*parts, provenance_section(inputs.systems)]


def analysis_sections(analysis: Analysis) -> list[Section]:
    """An analysis by itself: what to choose from, and the tables in full."""
    tables = {f"analysis-{place}": table for place, table in enumerate(analysis_tables(analysis), 1)}
    found = calibration_tables(explain_records(analysis).explanations)
    calibrated = {ON_PAGE: found[ON_PAGE]} if found else {}
    intro = "What isogloss explain prints: buckets, differences between systems, and the examples that were kept."
    return [
        Section("explain", "Explain", explain_intro(analysis.edges), calibrated, panel="explain", files=False),
        Section("tables", "Tables", intro, tables, reference=True, files=False),
    ]


def bias_sections(bias: DatasetBias) -> list[Section]:
    """A survey of the data by itself."""
    tables = {f"survey-{place}": table for place, table in enumerate(bias_tables(bias), 1)}
    return [
        Section("survey", "Data", BIAS_INTRO, panel="survey", files=False),
        Section("tables", "Tables", "What isogloss explain --bias prints.", tables, reference=True, files=False),
    ]
