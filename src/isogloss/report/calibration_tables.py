"""Tables of how far systems' confidences are from their scores: a row a cell, and a row a bin."""

from collections.abc import Mapping

from isogloss.explain.buckets import interval_text as range_text
from isogloss.explain.model import Calibration, CalibrationBin, Explanation
from isogloss.figures import difference_interval_text, difference_text, score_text
from isogloss.report.formatting import interval_notes
from isogloss.report.tables import Table

BIN_HEADER = ("confidence", "n", "mean confidence", "score", "difference")
# The table that is short enough for a page, by the name of its file.
ON_PAGE = "calibration"
TOO_SURE = "difference: mean confidence minus mean score; above 0 the system is too sure of itself"
ECE = "ECE: expected calibration error over ten bins; chance alone keeps it above 0"


def calibration_tables(explanations: Mapping[str, Explanation]) -> dict[str, Table]:
    """The cells of all systems that give confidences, by the names of files; empty where none does."""
    cells = Table(
        "Calibration", ("system", "cell", "n", "mean confidence", "score", "difference", "95 %", "ECE"), words=2
    )
    bins = Table("Calibration by confidence", ("system", "cell", *BIN_HEADER), words=3)
    for system, explanation in explanations.items():
        for cell, found in explanation.calibration.items():
            interval = difference_interval_text(found.gap_low, found.gap_high)
            cells.add(system, cell, str(found.n), *_means(found, found.gap), interval, score_text(found.ece))
            for each in found.bins:
                bins.add(system, cell, *bin_cells(each))
    if not cells.rows:
        return {}
    cells.notes, bins.notes = [TOO_SURE, ECE, *interval_notes(cells)], [TOO_SURE]
    return {ON_PAGE: cells, "calibration-by-confidence": bins}


def bin_cells(found: CalibrationBin) -> tuple[str, ...]:
    """A bin as the cells of a row."""
    means = _means(found, found.confidence - found.score)
    return range_text(found.low, found.high, first=True), str(found.n), *means


def _means(found: Calibration | CalibrationBin, gap: float) -> tuple[str, str, str]:
    return score_text(found.confidence), score_text(found.score), difference_text(gap)
