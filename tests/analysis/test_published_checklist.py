"""Published error rates of MultiCheckList in analyses: lower is better, tests with defects can be left out."""

import csv
from pathlib import Path
from statistics import fmean

import pytest

import isogloss
from isogloss.languages import language, published
from isogloss.results.published_scores import published_scores, read_published
from isogloss.scoring.main_score import lower_is_better
from isogloss.tasks.registry import task


def printed() -> list[dict[str, str]]:
    with (Path(published.__file__).parent / "checklist_error_rates.csv").open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_every_rate_is_a_score_of_a_task_of_which_less_is_better() -> None:
    scores = published_scores("published:checklist")
    assert [score.value for score in scores] == [float(row["error_rate"]) for row in printed()]
    assert {score.metric for score in scores} == {"error_paper"}
    assert {score.regime for score in scores} == {"zero-shot"}
    assert len({score.task for score in scores}) == 6
    for score in scores:
        assert lower_is_better(score.task, score.metric)
        assert score.language in task(score.task).languages
    assert {system.source for system in read_published("published:checklist")} == {
        "XTREME-R Table 10",
        "XTREME-R Table 11",
    }


def test_tests_with_defects_can_be_left_out() -> None:
    rates = published.checklist()
    defects = [rate for rate in rates if rate.defect]
    assert len(defects) == 36
    assert {rate.error_rate for rate in defects if rate.system == "XLM-R Large"} == {100.0}
    kept = {(score.system, score.language, score.task) for score in published_scores("published:checklist-passable")}
    every = [(score.system, score.language, score.task) for score in published_scores("published:checklist")]
    assert [not rate.defect for rate in rates] == [key in kept for key in every]


def test_scripts_and_resources_by_hand() -> None:
    """XTREME-R's section 5.1: worst in languages with little data and in other than Latin scripts."""
    finding = isogloss.analyze("families", "published:checklist")
    rows = {(row["contrast"], row["system"]): row for row in finding.table("contrasts").records()}
    for system in ("XLM-R Large", "mBERT"):
        by_language: dict[str, list[float]] = {}
        for row in printed():
            if row["system"] == system:
                by_language.setdefault(row["language"], []).append(float(row["error_rate"]))
        means = {code: fmean(rates) for code, rates in by_language.items() if code != "en"}
        large = {code: (language(code).wikipedia_articles or 0) >= 0.1 for code in means if code != "ha"}
        latin = {code: language(code).script == "Latn" for code in means}
        sides = {
            "100k articles or more - fewer": large,
            "Latin script - other scripts": latin,
            "the same, 100k articles or more": {code: latin[code] for code in large if large[code]},
        }
        for contrast, groups in sides.items():
            row = rows[contrast, system]
            apart = [fmean(means[code] for code in groups if groups[code] is side) for side in (False, True)]
            assert row["difference"] == pytest.approx(apart[0] - apart[1])
            assert (row["first"], row["second"]) == (sum(groups.values()), len(groups) - sum(groups.values()))
    low, high = (rows["Latin script - other scripts", "XLM-R Large"][f"difference_{end}"] for end in ("low", "high"))
    assert low < 0 < high
    assert rows["100k articles or more - fewer", "XLM-R Large"]["difference_low"] > 0
    assert "-22.0 to +24.7, not significant" in finding.reading


@pytest.mark.parametrize("name", ["families", "resources", "rankings", "saturation", "transfer-gap"])
def test_analyses_take_error_rates(name: str, tmp_path: Path) -> None:
    finding = isogloss.analyze(name, "published:checklist", data=tmp_path)
    assert all(table.rows for table in finding.tables)


def test_more_resources_go_with_fewer_errors(tmp_path: Path) -> None:
    """Correlations with error rates are negative, those with all tasks, turned around, are positive."""
    rows = isogloss.analyze("resources", "published:checklist", data=tmp_path).table("correlations").records()
    logs = {row["task"]: row for row in rows if (row["column"], row["system"]) == ("log_articles", "XLM-R Large")}
    assert logs["all tasks"]["pearson"] == pytest.approx(0.53, abs=0.005)
    assert all(row["pearson"] < 0.2 for name, row in logs.items() if name != "all tasks")
