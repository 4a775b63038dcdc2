"""Test figures with too few examples for an interval: a dash in tables, no interval in charts."""

from typing import Any

import msgspec
import pytest

from isogloss.explain.analysis import Analysis
from isogloss.scoring.compare import Comparison, ScoreContrast
from isogloss.site.page_data import explain_data
from isogloss.site.page_parts import ReportInputs
from isogloss.site.sections import report_sections
from isogloss.site.write import read_inputs
from isogloss.tables.comparison_tables import comparison_tables
from isogloss.tables.explain_tables import analysis_tables
from isogloss.tables.vega import svg
from report.made_records import explanation, pair_made, results


def bare(record: Any) -> Any:
    """Return the same record without any bounds."""
    if isinstance(record, msgspec.Struct):
        changed = {name: bare(getattr(record, name)) for name in record.__struct_fields__}
        is_interval = {"low", "high"} <= changed.keys() and {"value", "difference"} & changed.keys()
        return type(record)(**changed | ({"low": None, "high": None} if is_interval else {}))
    if isinstance(record, list):
        return [bare(each) for each in record]
    if isinstance(record, dict):
        return {key: bare(each) for key, each in record.items()}
    return record


@pytest.fixture(scope="module")
def inputs() -> ReportInputs:
    analysis = Analysis(explanations=[explanation("a"), explanation("b")], pairs=[pair_made("a", "b")])
    return read_inputs([bare(results("a")), bare(results("b"))], [bare(analysis)])


def test_tables_have_a_dash_and_a_reason(inputs: ReportInputs) -> None:
    tables = {name: table for part in report_sections(inputs) for name, table in part.tables.items()}
    for name in ("overview", "gap", "explain", "differences-by-bucket"):
        column = tables[name].header.index("95 %")
        assert {row[column] for row in tables[name].rows} == {"—"}
        assert any(note.startswith("— no interval: ") for note in tables[name].notes)
    assert tables["pairs"].rows[0][3] == "44.0 [—]"
    pair = msgspec.structs.replace(pair_made("a", "b"), cells=[])
    analysis = bare(Analysis(explanations=[explanation("a"), explanation("b")], pairs=[pair]))
    assert all("None" not in table.plain() for table in analysis_tables(analysis))


def test_a_comparison_has_a_dash() -> None:
    scores = {"first": 50, "second": 40, "difference": 10, "low": 5, "high": 15, "p": 0.5}
    contrast = bare(ScoreContrast(**scores, level="cell", name="xnli", test="McNemar", n=9))
    names = {"first": "a", "second": "b", "rule": "flat"}
    compared = Comparison(**names, cells=[contrast], tasks=[contrast, contrast], overall=None, skipped=[])
    tasks, cells = comparison_tables(compared)
    assert [row[4] for row in (*tasks.rows, *cells.rows)] == ["—"] * 3


def test_charts_have_dots_and_bars_without_intervals(inputs: ReportInputs) -> None:
    pytest.importorskip("vl_convert", reason="charts need vl-convert-python")
    drawn = {chart.name: svg(chart) for part in report_sections(inputs) for chart in part.charts}
    for name in ("overview", "gap", "explain-xnli-score-qLen"):
        assert 'aria-roledescription="rule"' not in drawn[name]
    assert drawn["overview"].count('aria-roledescription="point"') == 10
    assert all("NaN" not in drawing and "null" not in drawing for drawing in drawn.values())


def test_the_page_data_marks_missing_intervals(inputs: ReportInputs) -> None:
    data = explain_data(inputs.explained)
    assert data["facets"][0][3][:3] == [800, None, None]
    assert data["pairs"][0]["facets"][0][2][:6] == [920, 800, 120, None, None, 1]
