"""Dispersion over languages: planted noise, raw figures without intervals, and errors shared by parallel languages."""

from dataclasses import replace

import numpy as np
import pytest

from isogloss.analysis.dispersion import dispersion
from isogloss.analysis.finding import AnalysisError, Finding
from isogloss.analysis.ranking_views import gini
from isogloss.languages import CODES, known_language
from isogloss.results.system import CellResult, SystemResult
from isogloss.results.views import ScoreView, score_view
from isogloss.scoring.results import Number
from isogloss.tasks.registry import task
from results.made_results import made_system

pytestmark = pytest.mark.filterwarnings("error")
LANGUAGES = sorted(CODES)[:30]


def measured(
    name: str, values: np.ndarray, errors: np.ndarray, task_name: str = "udpos", average: Number | None = None
) -> SystemResult:
    """Return a system with these scores and 95 % intervals."""
    cells = {}
    for code, value, error in zip(LANGUAGES, values.tolist(), errors.tolist(), strict=False):
        number = Number(value, value - 1.96 * error, value + 1.96 * error, 100)
        scored = task(task_name)
        cells[scored.id, code] = CellResult(
            task=scored, code=code, language=known_language(code), metrics={scored.main[0]: number}
        )
    averages = {} if average is None else {task(task_name).id: average}
    return SystemResult(name=name, regime="zero-shot", cells=cells, averages=averages)


@pytest.fixture(scope="module")
def truth() -> np.ndarray:
    return np.random.default_rng(1).normal(65, 6, 30).clip(0, 100)


@pytest.fixture(scope="module")
def noisy(truth: np.ndarray) -> ScoreView:
    rng = np.random.default_rng(2)
    errors = np.where(np.arange(30) % 3 == 0, 8.0, 0.5)
    return score_view([measured(name, truth + errors * rng.normal(size=30), errors) for name in ("one", "two")])


def row_of(finding: Finding, table: str, system: str = "one") -> dict[str, object]:
    return next(row for row in finding.table(table).records() if row["system"] == system)


def test_noise_is_removed_from_the_gini_coefficient(noisy: ScoreView, truth: np.ndarray) -> None:
    finding = dispersion(noisy)
    row = row_of(finding, "systems")
    values = np.array(list(noisy.values("one", "udpos").values()))
    assert row["gini"] == pytest.approx(float(gini(values)))
    true = float(gini(truth))
    assert abs(float(str(row["corrected"])) - true) < abs(float(str(row["gini"])) - true)
    assert float(str(row["corrected_low"])) < true < float(str(row["corrected_high"]))
    assert row["worst_mean"] == pytest.approx(np.sort(values)[:10].mean())
    assert float(str(row["worst_corrected"])) > float(str(row["worst_mean"]))  # the lowest are too low
    assert 0.1 < float(str(row["noise"])) < 0.8
    [chart] = finding.figures
    assert (chart.looks, chart.x, chart.y) == ("scatter", "raw", "shrunk")


def test_membership_among_the_worst_is_a_probability(noisy: ScoreView) -> None:
    finding = dispersion(noisy)
    worst = [row for row in finding.table("worst").records() if row["system"] == "one"]
    assert len(worst) >= 10
    assert sum(float(str(row["probability"])) for row in worst) <= 10 + 1e-9
    ranks = {int(str(row["rank"])) for row in worst}
    assert ranks >= set(range(1, 11))
    assert {int(str(row["shrunk_rank"])) for row in worst} >= set(range(1, 11))
    # Precise low scores are surely among the worst, noisy ones are not.
    cells = {row["language"]: row for row in finding.table("cells").records() if row["system"] == "one"}
    sure = [cells[row["language"]]["error"] for row in worst if float(str(row["probability"])) > 0.95]
    assert sure
    assert sure == pytest.approx([0.5] * len(sure))


def test_scores_without_intervals_stay_raw() -> None:
    values = {code: float(40 + row) for row, code in enumerate(LANGUAGES)}
    finding = dispersion(score_view([made_system("copied", {"xnli": values})]))
    row = row_of(finding, "systems", "copied")
    assert row["gini"] == pytest.approx(float(gini(np.array([*values.values()]))))
    assert (row["corrected"], row["true_deviation"], row["worst_corrected"]) == (None, None, None)
    assert "raw figures only, no intervals: xnli" in finding.notes
    assert "not corrected for noise" in finding.reading
    assert not finding.figures
    few = dispersion(score_view([made_system("few", {"xnli": {"en": 80.0, "de": 70.0}}, margin=1.0)]))
    assert "raw figures only, fewer than 5 languages: xnli" in few.notes


def test_a_missing_interval_is_named(noisy: ScoreView) -> None:
    system = noisy.results["one"]
    first = next(iter(system.cells))
    cell = system.cells[first]
    without = replace(
        cell, metrics={name: Number(number.value, None, None, 5) for name, number in cell.metrics.items()}
    )
    finding = dispersion(score_view([replace(system, cells={**system.cells, first: without}), noisy.results["two"]]))
    assert f"raw figures only, no interval in {first[1]}: udpos" in finding.notes
    assert row_of(finding, "systems", "two")["corrected"] is not None


def test_parallel_languages_share_their_errors(truth: np.ndarray) -> None:
    """If all errors are shared, the average varies as much as a language, and nothing is noise."""
    errors = np.full(30, 4.0)
    mean = float(truth.mean())
    alike = measured("alike", truth, errors, "xnli", Number(mean, mean - 1.96 * 3.99, mean + 1.96 * 3.99, 100))
    apart = measured("apart", truth, errors, "xnli", Number(mean, mean - 1.96 * 0.73, mean + 1.96 * 0.73, 100))
    other = measured("other", truth, errors, "xnli", Number(mean - 9, mean - 20, mean + 2, 100))  # other languages
    noise = [
        float(str(row_of(dispersion(score_view([system])), "systems", system.name)["noise"]))
        for system in (alike, apart, other)
    ]
    assert noise[0] < 0.05
    assert noise[1] > 0.2
    assert noise[2] == noise[1]


def test_error_rates_are_turned_around(truth: np.ndarray) -> None:
    errors = np.full(30, 1.0)
    rates = dispersion(score_view([measured("m", 100 - truth, errors, "checklist-comparisons")]))
    shares = dispersion(score_view([measured("m", truth, errors)]))
    assert row_of(rates, "systems", "m")["gini"] == pytest.approx(row_of(shares, "systems", "m")["gini"])
    assert row_of(rates, "worst", "m")["language"] == row_of(shares, "worst", "m")["language"]


@pytest.mark.parametrize("options", [{"correlation": 1.0}, {"correlation": -0.1}, {"seed": -1}])
def test_invalid_options_are_refused(noisy: ScoreView, options: dict[str, float]) -> None:
    with pytest.raises(AnalysisError, match="must be"):
        dispersion(noisy, **options)


def test_equal_scores_have_no_inequality() -> None:
    """Rounding errors are not shown, and scores that differ less than their errors are mostly noise."""
    values = np.full(30, 72.3)
    exact = row_of(dispersion(score_view([measured("one", values, np.zeros(30))])), "systems")
    assert (exact["gini"], exact["corrected"], exact["corrected_low"], exact["noise"]) == (0, 0, 0, 0)
    noisy = dispersion(score_view([measured("one", values, np.full(30, 2.0))]))
    row = row_of(noisy, "systems")
    assert row["gini"] == 0
    assert float(str(row["noise"])) > 0.8
    assert "-0.000" not in noisy.reading


def test_an_uneven_system_does_not_make_others_uneven() -> None:
    rng = np.random.default_rng(3)
    errors = np.full(30, 4.0)
    even = 70 + errors * rng.normal(size=30)
    uneven = 70 + 15 * rng.normal(size=30)
    alone, beside = (
        row_of(dispersion(score_view([measured("one", even, errors), *others])), "systems")
        for others in ([], [measured("other", uneven, errors)])
    )
    for row in (alone, beside):
        assert float(str(row["corrected"])) < float(str(row["gini"]))
        assert float(str(row["noise"])) > 0.5
