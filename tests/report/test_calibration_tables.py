"""Test calibration tables: one row per cell on pages, bins in a file."""

from pathlib import Path

import msgspec

from isogloss.explain.analysis import Analysis
from isogloss.explain.model import Calibration, CalibrationBin, Explanation
from isogloss.site.explain_section import explain_section
from isogloss.site.sections import analysis_sections
from isogloss.site.write import write_analysis
from isogloss.tables.explain_io import ExplainRecords
from isogloss.tables.single_tables import calibration_tables
from report.made_records import HOSTILE, explanation, pair_made

BINS = [
    CalibrationBin(low=0.2, high=0.3, n=30, confidence=25.0, score=10.0),
    CalibrationBin(low=0.9, high=1.0, n=10, confidence=95.0, score=100.0),
]
OLD = Calibration(n=40, confidence=42.5, score=32.5, gap=10.0, gap_low=4.0, gap_high=16.0, ece=12.5, bins=BINS)
SURE = msgspec.structs.replace(OLD, ece_debiased=11.0, ece_low=6.5, ece_high=19.0)
FEW = msgspec.structs.replace(OLD, n=5, gap_low=None, gap_high=None)


def with_confidences(name: str) -> Explanation:
    return msgspec.structs.replace(explanation(name), calibration={"xnli/en": SURE, "xnli/th": FEW})


def test_one_row_per_cell_and_one_row_per_bin() -> None:
    cells, bins = calibration_tables({"mine": with_confidences("mine"), "plain": explanation("plain")}).values()
    assert cells.rows[0] == (
        "mine",
        "xnli/en",
        "40",
        "42.5",
        "32.5",
        "+10.0",
        "+4.0 to +16.0",
        "12.5",
        "11.0",
        "6.5–19.0",
    )
    assert cells.rows[1][-3:] == ("12.5", "·", "—")
    assert len(cells.rows) == 2
    assert any("20" in note for note in cells.notes)  # reason for the missing interval
    assert bins.rows[0] == ("mine", "xnli/en", "[0.2, 0.3]", "30", "25.0", "10.0", "+15.0")
    assert len(bins.rows) == 4
    assert calibration_tables({"plain": explanation("plain")}) == {}


def test_the_report_shows_cells_and_writes_bins_to_a_file() -> None:
    section = explain_section(ExplainRecords(explanations={"mine": with_confidences("mine")}), ["mine"])
    assert set(section.tables) - set(section.only_files) == {"calibration"}
    assert "calibration-by-confidence" in section.only_files
    without = explain_section(ExplainRecords(explanations={"mine": explanation("mine")}), ["mine"])
    assert set(without.tables) == set(without.only_files)


def test_the_analysis_page_of_two_systems(tmp_path: Path) -> None:
    analysis = Analysis(
        explanations=[with_confidences("plain"), with_confidences(HOSTILE)],
        pairs=[msgspec.structs.replace(pair_made(), cells=[])],
    )
    assert list(analysis_sections(analysis)[0].tables) == ["calibration"]
    write_analysis(analysis, tmp_path / "a.html")
    page = (tmp_path / "a.html").read_text(encoding="utf-8")
    assert "Calibration, table (4 rows)" in page
    assert "expected calibration error over ten bins" in page
    assert "<img src=x" not in page
    assert "tables/calibration" not in page
