"""Contamination probes beside scores: in reports and as footnotes of boards, without changing a score."""

from pathlib import Path
from typing import Any

import pytest

from isogloss.board.build import make_board
from isogloss.errors import DataError
from isogloss.results.contamination import (
    CONTAMINATION_FILE,
    ContaminationFinding,
    ContaminationRecord,
    contamination_footnotes,
)
from isogloss.results.readers import read_results
from isogloss.scoring.results import write_json
from isogloss.site.sections import report_sections
from isogloss.site.write import read_inputs
from isogloss.tasks.suites import SUITES
from report.made_records import results


def finding(task: str, language: str, difference: float, verdict: Any) -> ContaminationFinding:
    return ContaminationFinding(
        task=task,
        language=language,
        split="test",
        n=100,
        sources=100,
        skipped=3,
        withheld=0,
        exact=12,
        exact_control=0,
        overlap=difference + 0.01,
        control=0.01,
        difference=difference,
        low=difference - 0.03,
        high=difference + 0.03,
        verdict=verdict,
    )


FINDINGS = (
    finding("xnli", "en", 0.4, "memorised"),
    finding("xnli", "th", 0.0, "no sign"),
    finding("xnli", "ur", 0.001, "no sign"),
    finding("xquad", "en", 0.05, "undecided"),
)
NOTES = (
    (
        "xnli",
        "test for memorised examples: memorised in en +40.0 (+37.0 to +43.0); no sign in th, ur",
    ),
    ("xquad", "test for memorised examples: undecided in en"),
)


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    folder = tmp_path / "mine/none"
    write_json(folder / "prompt-short/seed-0/results.json", results("mine"))
    write_json(folder / CONTAMINATION_FILE, ContaminationRecord(model="m", settings={}, findings=list(FINDINGS)))
    return folder


def test_notes_name_the_languages_by_verdict() -> None:
    assert contamination_footnotes(FINDINGS) == NOTES
    assert contamination_footnotes(()) == ()


@pytest.mark.parametrize("folder", ["", "prompt-short/seed-0"])
def test_systems_have_the_findings_of_their_runs(runs: Path, folder: str) -> None:
    [system] = read_results([runs / folder])
    (runs / CONTAMINATION_FILE).unlink()
    [plain] = read_results([runs / folder])
    assert (system.contamination, system.footnotes) == (FINDINGS, NOTES)
    assert (plain.contamination, plain.footnotes) == ((), ())
    assert (system.cells, system.averages) == (plain.cells, plain.averages)


def test_reports_have_a_section(runs: Path) -> None:
    inputs = read_inputs([runs / "prompt-short/seed-0"])
    [section] = [each for each in report_sections(inputs) if each.id == "contamination"]
    table = section.tables["contamination"]
    assert list(table.rows[0]) == [
        "xnli",
        "English",
        "memorised",
        "100",
        "12",
        "0",
        "41.0",
        "1.0",
        "+40.0",
        "+37.0 to +43.0",
    ]
    assert len(table.rows) == 4
    assert table.strong == {0}
    assert any("12 examples passed over" in note for note in table.notes)
    (runs / CONTAMINATION_FILE).unlink()
    sections = report_sections(read_inputs([runs / "prompt-short/seed-0"]))
    assert "contamination" not in [each.id for each in sections]


def test_boards_have_footnotes(runs: Path) -> None:
    beyond = [*FINDINGS, finding("masakhaner", "ha", 0.0, "no sign")]
    write_json(runs / CONTAMINATION_FILE, ContaminationRecord(model="m", settings={}, findings=beyond))
    board = make_board(read_results([runs], SUITES["xtreme-r"]), SUITES["xtreme-r"])
    assert tuple((note.task, note.text) for note in board.data.footnotes) == NOTES


def test_a_damaged_record_is_an_error(runs: Path) -> None:
    (runs / CONTAMINATION_FILE).write_text("{}", encoding="utf-8")
    with pytest.raises(DataError, match="contamination"):
        read_results([runs])
