"""Calibration on the pages: a row a cell in the report and beside an analysis, the bins in a file."""

from pathlib import Path

import msgspec
import pytest

from isogloss.explain.analysis import Analysis
from isogloss.explain.model import Calibration, CalibrationBin, Explanation
from isogloss.report.calibration_tables import calibration_tables
from isogloss.report.explain_io import ExplainRecords
from isogloss.report.explain_section import explain_section
from isogloss.report.sections import analysis_sections
from isogloss.report.write import write_analysis
from report.made_records import HOSTILE, explanation, pair_made

BINS = [CalibrationBin(0.2, 0.3, 30, 25.0, 10.0), CalibrationBin(0.9, 1.0, 10, 95.0, 100.0)]
SURE = Calibration(40, 42.5, 32.5, 10.0, 4.0, 16.0, 12.5, BINS)
FEW = msgspec.structs.replace(SURE, n=5, gap_low=None, gap_high=None)


def with_confidences(name: str) -> Explanation:
    return msgspec.structs.replace(explanation(name), calibration={"xnli/en": SURE, "xnli/th": FEW})


def test_a_row_a_cell_and_a_row_a_bin() -> None:
    cells, bins = calibration_tables({"mine": with_confidences("mine"), "plain": explanation("plain")}).values()
    assert cells.rows[0] == ("mine", "xnli/en", "40", "42.5", "32.5", "+10.0", "+4.0 to +16.0", "12.5")
    assert len(cells.rows) == 2
    assert any("20" in note for note in cells.notes)  # why there is no interval
    assert bins.rows[0] == ("mine", "xnli/en", "[0.2, 0.3]", "30", "25.0", "10.0", "+15.0")
    assert len(bins.rows) == 4
    assert calibration_tables({"plain": explanation("plain")}) == {}


def test_the_report_has_the_cells_on_its_page_and_the_bins_beside_it() -> None:
    section = explain_section(ExplainRecords({"mine": with_confidences("mine")}), ["mine"])
    assert set(section.tables) - set(section.only_files) == {"calibration"}
    assert "calibration-by-confidence" in section.only_files
    without = explain_section(ExplainRecords({"mine": explanation("mine")}), ["mine"])
    assert set(without.tables) == set(without.only_files)


def test_the_page_of_an_analysis_of_two_systems(tmp_path: Path) -> None:
    pytest.importorskip("vl_convert", reason="pages need vl-convert-python")
    analysis = Analysis(
        [with_confidences("plain"), with_confidences(HOSTILE)], [msgspec.structs.replace(pair_made(), cells=[])]
    )
    assert list(analysis_sections(analysis)[0].tables) == ["calibration"]
    write_analysis(analysis, tmp_path / "a.html")
    page = (tmp_path / "a.html").read_text(encoding="utf-8")
    assert "Calibration, table (4 rows)" in page
    assert "expected calibration error over ten bins" in page
    assert "<img src=x" not in page
    assert "tables/calibration" not in page
