"""Keung et al.'s Tables 1 and 5 to 8 by command, and the spread of other results."""

import csv
import io
from pathlib import Path

import pytest

import isogloss
from isogloss.analysis.finding import AnalysisError, Finding
from isogloss.languages.published import table
from isogloss.results.published_scores import published_scores

ROWS = table("keung")


def found(task: str, **options: object) -> Finding:
    return isogloss.analyze("spread", "published:keung", tasks=[task], **options)


@pytest.mark.parametrize(
    ("number", "task", "metric"),
    [(5, "mldoc", ""), (6, "xnli", ""), (7, "mlqa", "f1"), (7, "mlqa", "em"), (8, "conll", "")],
)
def test_tables_are_reproduced(number: int, task: str, metric: str) -> None:
    finding = found(task, **({"metric": metric} if metric else {}))
    printed = [row for row in ROWS if row["source_table"] == f"Keung et al. Table {number}"]
    printed = [row for row in printed if not metric or row["metric"] == metric]
    results = {(row["system"], row["language"]): row["value"] for row in finding.table("results").records()}
    assert results == {
        (f"{row['system']} [{row['row']}]", row["language"]): float(row["value"])
        for row in printed
        if row["row"] != "Δ"
    }
    spreads = {(row["model"], row["language"]): row for row in finding.table("spread").records()}
    stated = {(row["system"], row["language"]): float(row["value"]) for row in printed if row["row"] == "Δ"}
    assert spreads.keys() == stated.keys()
    # Two misprints of Table 6, which the table's own rows contradict.
    wrong = {("mBERT", "hi"): 1.4, ("XLM-R Large", "th"): 0.7} if task == "xnli" else {}
    for key, row in spreads.items():
        assert row["spread"] == pytest.approx(wrong.get(key, stated[key]), abs=0.001)
        assert (row["printed"], row["differs"]) == (stated[key], key in wrong)


def test_table_1_is_a_part_of_table_5() -> None:
    languages = ["en", "fr", "ja", "ru", "zh"]
    spreads = found("mldoc", languages=languages).table("spread").records()
    printed = {
        row["language"]: float(row["value"]) for row in ROWS if row["source_table"].endswith("1") and row["row"] == "Δ"
    }
    assert {row["language"]: pytest.approx(row["spread"], abs=0.001) for row in spreads} == printed


def test_reading_names_the_largest_spread_and_misprints() -> None:
    assert "differ by up to 16.7 points (ja), and by 2.5 or more in 7 of 8 languages" in found("mldoc").reading
    assert found("xnli").reading.endswith("differs from their rows in xnli/hi, xnli/th.")


def test_own_results_are_grouped_by_name_or_together(tmp_path: Path) -> None:
    stream = io.StringIO()
    csv.writer(stream).writerows(
        [("task", "system", "language", "value"), ("mldoc", "mine", "ja", 80), ("mldoc", "mine", "en", 94)]
    )
    path = tmp_path / "mine.csv"
    path.write_text(stream.getvalue())
    apart = isogloss.analyze("spread", "published:keung", str(path), tasks=["mldoc"])
    assert "mine has a single result" in apart.notes
    joined = isogloss.analyze("spread", "published:keung", str(path), tasks=["mldoc"], together=True)
    [japanese] = [row for row in joined.table("spread").records() if row["language"] == "ja"]
    assert (japanese["results"], japanese["largest"], japanese["model"]) == (5, 80, "all")
    with pytest.raises(AnalysisError, match="no model has two results"):
        isogloss.analyze("spread", str(path))


def test_repeated_results_are_not_among_all_systems() -> None:
    assert not any("Dredze" in score.system for score in published_scores("published:all"))
