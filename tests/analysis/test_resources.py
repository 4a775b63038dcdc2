"""Correlations planted in made-up scores, and those of the papers' tables."""

from pathlib import Path

import numpy as np
import pytest

from isogloss.analysis.api import analyze
from isogloss.analysis.finding import AnalysisError, Finding
from isogloss.analysis.resources import ALL_TASKS, resources
from isogloss.data.uriel import uriel_folder
from isogloss.languages import CODES, language
from isogloss.results.views import ScoreView, score_view
from results.made_results import made_system
from uriel_files import write_uriel

pytestmark = pytest.mark.filterwarnings("error")


def made_up(values: dict[str, dict[str, float]], system: str = "mine") -> ScoreView:
    return score_view([made_system(system, values)])


def planted(slope: float, noise: float, seed: int = 0) -> dict[str, float]:
    rng = np.random.default_rng(seed)
    known = {code: size for code in CODES if (size := language(code).wikipedia_articles)}
    return {code: 60 + slope * np.log10(size) + noise * rng.normal() for code, size in known.items()}


def correlation(finding: Finding, task: str, column: str) -> dict[str, object]:
    return next(
        row for row in finding.table("correlations").records() if (row["task"], row["column"]) == (task, column)
    )


def test_a_planted_correlation_is_found(tmp_path: Path) -> None:
    finding = resources(made_up({"xnli": planted(10, 2), "udpos": planted(0, 2, seed=1)}), data=tmp_path)
    strong, none = correlation(finding, "xnli", "log_articles"), correlation(finding, "udpos", "log_articles")
    assert strong["languages"] == 49  # without English; Hausa has no value
    assert strong["pearson"] > 0.9
    assert strong["pearson_low"] > 0.8
    assert none["pearson_low"] < 0 < none["pearson_high"]
    assert correlation(finding, "xnli", "articles")["languages"] == 50
    assert ALL_TASKS in {row["task"] for row in finding.table("correlations").records()}
    assert any("isogloss fetch uriel" in note for note in finding.notes)
    [figure] = finding.figures
    assert (figure.x, figure.y, figure.log_x, figure.fit) == ("articles", "score", True, True)
    # The line fits the points used for the correlation with the logarithm.
    points = [
        point
        for point in finding.table("points").records()
        if point["task"] == "xnli" and point["articles"] is not None
    ]
    assert figure.fitted == "fitted"
    assert [point["language"] for point in points if not point["fitted"]] == ["en"]
    assert sum(point["fitted"] is True for point in points) == strong["languages"]
    explained = {row["task"]: row["explained"] for row in finding.table("regression").records()}
    assert explained["xnli"] > 0.7
    assert explained["udpos"] < 0.2


def test_own_columns_are_correlated_and_predict(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    own = {code: rng.normal() for code in CODES}
    (tmp_path / "own.csv").write_text("language,luck\n" + "".join(f"{code},{value}\n" for code, value in own.items()))
    scores = {code: 50 + 10 * value + rng.normal() for code, value in own.items()}
    finding = resources(made_up({"xnli": scores}), columns=str(tmp_path / "own.csv"), data=tmp_path)
    assert correlation(finding, "xnli", "luck")["pearson"] > 0.95
    parts = {row["column"]: row for row in finding.table("coefficients").records()}
    assert set(parts) == {"log_articles", "luck"}
    assert parts["luck"]["low"] > 0.8
    assert parts["log_articles"]["low"] < 0 < parts["log_articles"]["high"]
    assert "of the variance in held-out families" in finding.reading


def test_reading_counts_significance_over_families(tmp_path: Path) -> None:
    finding = analyze("resources", "published:mBERT, zero-shot", tasks=["udpos", "wikiann"], data=tmp_path)
    # Plain articles, and even their logarithm on POS, depend on too few families for an interval.
    assert finding.reading.startswith("2 of 6 Pearson correlations have an interval over families; in 0 it excludes 0")
    assert "log_articles explains -" in finding.reading
    assert "the mean predicts better" in finding.reading


def test_error_rates_are_converted_before_pooling(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    good = {code: 40 + rng.uniform(0, 20) for code in CODES}
    errors = {code: 100 - value for code, value in good.items()}
    twice = resources(made_up({"xnli": good, "xcopa": good}), data=tmp_path)
    mixed = resources(made_up({"xnli": good, "checklist-comparisons": errors}), data=tmp_path)
    assert correlation(mixed, "all tasks", "log_articles")["pearson"] == pytest.approx(
        correlation(twice, "all tasks", "log_articles")["pearson"]
    )


def test_the_reading_stays_a_paragraph(tmp_path: Path) -> None:
    finding = analyze("resources", "published:further", tasks=["xnli", "xcopa"], data=tmp_path)
    assert len(finding.table("regression").rows) > 8
    assert len(finding.reading.split()) < 300


def test_the_papers_figures_for_mbert(tmp_path: Path) -> None:
    finding = analyze("resources", "published", data=tmp_path)
    rows = {str(row["task"]): row for row in finding.table("printed").records()}
    here = {task: round(float(row["pearson"]), 2) for task, row in rows.items()}
    assert here == {
        "xnli": 0.77,
        "xquad": 0.80,
        "mlqa": 0.91,
        "tydiqa": 0.69,
        "tatoeba": 0.81,
        "udpos": 0.45,
        "wikiann": 0.35,
    }
    # XTREME prints "about 0.8" and "about 0.35".
    assert all(abs(float(row["pearson"]) - float(row["printed"])) <= 0.12 for row in rows.values())
    # A few large Wikipedias, English among them, carry nearly all the weight: no interval.
    assert {row["low"] for row in rows.values()} == {None}


def test_correlations_are_scipy_s(tmp_path: Path) -> None:
    stats = pytest.importorskip("scipy.stats")
    finding = analyze("resources", "published:XLM-R Large", data=tmp_path, tasks=["udpos"])
    row = correlation(finding, "udpos", "log_articles")
    points = [point for point in finding.table("points").records() if point["language"] != "en"]
    x, y = ([point[name] for point in points] for name in ("log_articles", "score"))
    assert row["pearson"] == pytest.approx(stats.pearsonr(x, y).statistic)
    assert row["spearman"] == pytest.approx(stats.spearmanr(x, y).statistic)
    assert len(points) == row["languages"] == 37


def test_files_without_places_give_the_other_distances(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    codes = sorted({iso3 for code in CODES for iso3 in (language(code).iso3, language(code).individual)})
    names = [f"{kind}_{n}" for kind in ("S", "P", "INV") for n in range(5)]
    features = {code: [1, *rng.integers(0, 2, len(names) - 1).tolist()] for code in codes}
    places = {code: (float(rng.uniform(-60, 60)), float(rng.uniform(-180, 180))) for code in codes}
    write_uriel(tmp_path, names, features, places=places)
    (tmp_path / "uriel").rename(tmp_path / "lang2vec")
    scores = made_up({"xnli": planted(5, 1)})
    assert "geographic" in {row["column"] for row in resources(scores, data=tmp_path).table("correlations").records()}
    (tmp_path / "lang2vec/geocoord_features.npz").unlink()
    finding = resources(scores, data=tmp_path)
    named = {row["column"] for row in finding.table("correlations").records()}
    assert {"syntactic", "featural"} <= named
    assert "geographic" not in named
    assert any(
        note.startswith("No geographic distance: the data folder's URIEL has no geocoord") for note in finding.notes
    )


def test_the_real_distances(data_dir: Path) -> None:
    if uriel_folder(data_dir) is None:
        pytest.skip("URIEL is not in the data folder: run `isogloss fetch uriel`")
    finding = analyze("resources", "published:mBERT", data=data_dir, tasks=["udpos", "wikiann", "tatoeba"])
    syntactic = {row["task"]: row for row in finding.table("correlations").records() if row["column"] == "syntactic"}
    assert all(float(syntactic[task]["pearson"]) < -0.5 for task in ("udpos", "wikiann"))
    # Most of it is Indo-European against the rest, a single comparison of families.
    assert all(float(syntactic[task]["pearson_high"]) > 0 for task in ("udpos", "wikiann"))
    inflated = {row["column"]: row["inflation"] for row in finding.table("coefficients").records()}
    assert inflated["featural"] > 100
    assert inflated["log_articles"] < 5


@pytest.mark.parametrize(
    "values",
    [
        {"xnli": {"en": 80.0}},
        {"xnli": {"en": 80.0, "de": 70.0, "fr": 71.0}},
        {"xnli": dict.fromkeys(CODES, 50.0)},
        {"xnli": {"ha": 20.0}},
    ],
)
def test_too_few_scores_are_refused(values: dict[str, dict[str, float]], tmp_path: Path) -> None:
    with pytest.raises(
        AnalysisError, match=r"no correlation can be computed: .* \(mine\)\. Add scores in more languages"
    ):
        resources(made_up(values), data=tmp_path)


def test_a_task_without_correlations_is_left_out_and_named(tmp_path: Path) -> None:
    finding = resources(made_up({"xnli": planted(5, 1), "xcopa": {"et": 50.0, "ht": 51.0}}), data=tmp_path)
    assert "xcopa" not in {row["task"] for row in finding.table("correlations").records()}
    assert "No correlation of xcopa: a correlation needs 5 languages, got 2 (mine)." in finding.notes
    apart = resources(
        made_up({"xnli": {c: planted(5, 1)[c] for c in CODES[:8]}, "xcopa": {"vi": 5.0, "zh": 6.0}}), data=tmp_path
    )
    assert any("share no language" in note for note in apart.notes)


def test_many_systems_are_not_drawn(tmp_path: Path) -> None:
    systems = [made_system(f"s{n}", {"xnli": planted(5, 1)}) for n in range(7)]
    finding = resources(score_view(systems), data=tmp_path)
    assert finding.figures == []
