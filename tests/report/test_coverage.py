"""Test the coverage of systems, and comparisons on shared cells."""

from itertools import pairwise
from typing import Any

import msgspec

from isogloss.site.html import html_page
from isogloss.site.page_parts import ReportInputs
from isogloss.site.sections import overview_section, report_sections
from isogloss.tables.coverage import coverage, coverage_table, same_cells, shared_scores, shared_table
from isogloss.tables.score_tables import mark_legend
from isogloss.tasks.suites import SUITES
from report.made_records import as_systems, results, scored
from report.page_reader import Reader

XNLI = {("xnli", code): score for code, score in (("en", 80.0), ("de", 70.0), ("sw", 60.0))}
XQUAD = {("xquad", "en"): 90.0, ("xquad", "de"): 50.0}
WHOLE = scored("whole", {**XNLI, **XQUAD})
PART = scored("part", {("xnli", "en"): 50.0, ("xnli", "sw"): 40.0}, missing=("xnli/de", "xquad/en", "xquad/de"))


def test_coverage_counts_cells_tasks_and_languages_of_the_suite() -> None:
    covered = coverage(PART)
    assert (covered.cells, covered.tasks, covered.languages, covered.complete) == ("2 of 5", "1 of 2", "2 of 3", False)
    assert coverage(WHOLE).complete


def test_a_missing_task_counts_with_all_its_languages() -> None:
    made = scored("a", XNLI, missing=("xquad",), suite="xtreme-r")
    assert coverage(made).cells == f"3 of {3 + len(SUITES['xtreme-r'].languages_of('xquad'))}"
    # In an unknown suite a task has its own languages; an unknown task is still missing.
    assert coverage(msgspec.structs.replace(made, suite="../elsewhere.toml")).cells == coverage(made).cells
    unknown = coverage(scored("a", XNLI, missing=("nowhere",)))
    assert (unknown.complete, unknown.tasks, unknown.languages) == (False, "1 of 2", "3 of 3")


def test_cells_with_partial_gold_are_not_counted() -> None:
    assert ("xquad", "th") not in coverage(results("a")).scored


def test_only_cells_of_the_same_split_and_data_are_shared() -> None:
    shared = shared_scores(as_systems({"whole": WHOLE, "part": PART}))
    assert shared.places == [("xnli", "en"), ("xnli", "sw")]
    assert shared.words == "2 of 5 cells (1 of 2 tasks)"
    assert (shared.mean("whole"), shared.mean("part")) == (70.0, 45.0)
    dev = [msgspec.structs.replace(WHOLE.cells[0], split="dev"), *WHOLE.cells[1:]]
    assert ("xnli", "en") not in shared_scores(
        as_systems({"a": WHOLE, "b": msgspec.structs.replace(WHOLE, cells=dev)})
    ).places
    assert shared_scores(as_systems({"a": WHOLE, "b": scored("b", XNLI, data="newer")})).places == []


def test_reports_of_different_cells_begin_with_the_shared_ones() -> None:
    systems = {"whole": WHOLE, "part": PART}
    assert not same_cells(as_systems(systems))
    section = overview_section(as_systems(systems))
    assert list(section.tables) == ["coverage", "shared", "overview"]
    assert [chart.name for chart in section.charts] == ["shared", "overview"]
    assert section.charts[1].title == "Averages over each system's own cells"
    assert shared_table(shared_scores(as_systems(systems))).rows == [
        ("xnli", "2", "70.0", "45.0"),
        ("mean over tasks", "", "70.0", "45.0"),
    ]
    assert coverage_table(as_systems(systems)).rows[1] == ("part", "2 of 5", "1 of 2", "2 of 3", "not ranked")


def test_identical_coverage_is_not_repeated() -> None:
    assert list(overview_section(as_systems({"a": WHOLE})).tables) == ["overview"]
    assert list(overview_section(as_systems({"a": WHOLE, "b": WHOLE})).tables) == ["coverage", "overview"]
    assert list(overview_section(as_systems({"a": PART})).tables) == ["coverage", "overview"]
    # Systems without shared cells are not compared.
    apart = {"a": scored("a", XNLI), "b": scored("b", XQUAD)}
    assert list(overview_section(as_systems(apart)).tables) == ["coverage", "overview"]


def test_the_legend_explains_only_marks_that_occur() -> None:
    assert mark_legend(["67.5*", "7.0†", "+3.0*", "33.3* (2)", "*", "a*"]) == (
        "* partial: some of its languages or tasks are missing; † partial gold, not averaged"
    )
    assert mark_legend(["67.5", "name*", "* partial"]) == ""


def page_of(**systems: Any) -> Reader:
    made = ReportInputs(as_systems(systems))
    return Reader(html_page(made, report_sections(made), "t"))


def texts(read: Reader, tag: str) -> str:
    return " ".join(text for element, text in read.texts if element == tag)


def test_the_page_shows_headline_legend_and_coverage() -> None:
    read = page_of(whole=WHOLE, part=PART)
    assert [a.get("class") for a in read.all("p")][:4] == ["soft", "headline", "soft", "legend"]
    assert "that both systems share, the means over tasks are" in texts(read, "p")
    assert "Not ranked because incomplete:" in texts(read, "p")
    bars = [(a["value"], a["max"]) for a in read.all("progress")]
    assert bars == [("5", "5"), ("2", "2"), ("3", "3"), ("2", "5"), ("1", "2"), ("2", "3")]
    assert "legend" not in [a.get("class") for a in page_of(whole=WHOLE).all("p")]


def test_tables_have_captions_and_headings_in_both_directions() -> None:
    read = page_of(whole=WHOLE, part=PART)
    assert len(read.all("caption")) == len(read.all("table"))
    assert {a.get("scope") for a in read.all("th")} == {"col", "row"}
    levels = [int(tag[1]) for tag, _ in read.elements if tag in ("h1", "h2", "h3")]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))
