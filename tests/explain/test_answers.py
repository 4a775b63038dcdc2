"""Error types and calibration, compared with hand-computed values."""

import json
from math import erf, exp, pi, sqrt
from pathlib import Path

import numpy as np
import pytest

from e2e.command import isogloss
from isogloss.explain.analysis import explain
from isogloss.explain.calibration import calibration
from isogloss.explain.cell_table import CellTable
from isogloss.explain.measure import ERROR_TYPES, error_types, rows_by_answer
from isogloss.explain.selection import choose_attributes
from isogloss.explain.single import attribute_scores
from isogloss.metrics.statistics import MEAN, Statistics
from isogloss.metrics.student import t_quantile
from isogloss.predictions.formats import json_lines
from isogloss.tasks.examples import Examples
from isogloss.tasks.kinds import judge, kind_of
from isogloss.tasks.registry import task
from predictions.made import xquad


def asked(language: str, golds: list[list[str]], said: list[str | None]) -> CellTable:
    n = len(golds)
    columns = {"question": ["q"] * n, "context": ["c"] * n, "answers": golds}
    examples = Examples("xquad", language, "test", [str(row) for row in range(n)], columns, "answers")
    metrics = judge(task("xquad"), examples, said).metrics
    return CellTable.of_examples(task("xquad"), examples, (said,), (metrics,))


ERRORS: dict[str, list[tuple[str, str | None]]] = {
    "right": [("the Broncos", "Broncos!")],  # the scorer ignores articles and ASCII punctuation
    "punctuation only": [("20–18", "20 – 18")],  # a dash that is not ASCII
    "wrong boundary": [("Denver Broncos", "Broncos of Denver")],
    "wrong span, right type": [
        ("in 1999", "2001"),
        ("Peyton Manning", "Von Miller"),
        ("gold and silver", "a linebacker"),
    ],
    "no overlap": [("Peyton Manning", "in 1999"), ("Peyton Manning", "a linebacker")],
    "no answer": [("308", ""), ("308", "–"), ("308", None)],
}


@pytest.mark.parametrize(("gold", "said", "expected"), [(*pair, kind) for kind in ERRORS for pair in ERRORS[kind]])
def test_error_types(gold: str, said: str | None, expected: str) -> None:
    found = error_types(asked("en", [[gold]], [said]))
    assert found is not None
    assert found.tolist() == [expected]


def test_several_golds_and_scripts_without_blanks() -> None:
    found = error_types(asked("en", [["x y", "20–18"], ["no", "in 1999"]], ["20 – 18", "5 May"]))
    assert found is not None
    assert found.tolist() == ["punctuation only", "wrong span, right type"]
    # Without blanks no token is shared, but one answer lies within the other.
    found = error_types(asked("zh", [["丹佛野马队"], ["丹佛野马队"]], ["野马队", "黑豹队"]))
    assert found is not None
    assert found.tolist() == ["wrong boundary", "wrong span, right type"]


def test_answer_buckets_have_fixed_order_and_no_finding() -> None:
    cell = asked("en", [["Ada Byron"]] * 4, ["Ada", "in 1815", "Ada Byron", "Ada Lovelace"])
    (cut,) = rows_by_answer(cell, choose_attributes(["errorType"], ["qa"]))
    assert [(bucket.name, bucket.n) for bucket in cut.buckets] == [
        ("right", 1),
        ("wrong boundary", 2),
        ("no overlap", 1),
    ]
    assert [name for name in ERROR_TYPES if name in {bucket.name for bucket in cut.buckets}] == [
        bucket.name for bucket in cut.buckets
    ]
    facets = {facet.metric: facet for facet in attribute_scores(cell, [cut], claims=False)}
    # F1 of "Ada" is 2/3, of "Ada Lovelace" 1/2.
    assert facets["f1"].buckets[1].value == pytest.approx(100 * (2 / 3 + 1 / 2) / 2)
    assert {tuple(facet.claims) for facet in facets.values()} == {()}


# -------------------------------------------------------------------------------------------------------- confidences


def judged(confidences: list[float], right: list[int]) -> CellTable:
    n = len(right)
    columns = {"text_a": ["a"] * n, "text_b": ["b"] * n, "label": ["neutral"] * n}
    examples = Examples("xnli", "en", "test", [str(row) for row in range(n)], columns, "label")
    metrics = ({"accuracy": Statistics(np.array(right, dtype=float)[:, None], MEAN)},)
    sure = np.array(confidences)
    return CellTable.of_examples(task("xnli"), examples, (["neutral"] * n,), metrics, confidences=(sure,))


def test_calibration_by_hand() -> None:
    found = calibration(judged([0.95, 0.9, 0.35, 0.3, 1.0, np.nan], [1, 0, 1, 0, 1, 0]))
    assert found is not None
    assert (found.n, found.confidence, found.score) == (5, pytest.approx(70), pytest.approx(60))
    assert found.gap == pytest.approx(10)
    assert (found.gap_low, found.gap_high) == (None, None)  # five sources are too few
    # 0.3 and 0.35: mean 32.5 against 50; 0.9, 0.95 and 1: mean 95 against 66.7.
    assert [(each.low, each.high, each.n) for each in found.bins] == [(0.3, 0.4, 2), (0.9, 1.0, 3)]
    assert [each.confidence for each in found.bins] == pytest.approx([32.5, 95])
    assert found.ece == pytest.approx((2 * 17.5 + 3 * (95 - 200 / 3)) / 5)
    assert (found.ece_debiased, found.ece_low, found.ece_high) == (None, None, None)
    assert calibration(judged([np.nan, np.nan], [1, 0])) is None


def test_calibration_error_without_its_bias_by_hand() -> None:
    # One bin: 100 answers of confidence 0.75, of which 70 are right. The gap is 0.05, its standard error
    # sqrt(0.7 * 0.3 / 99) by the jackknife, and z = 1.0856.
    found = calibration(judged([0.75] * 100, [1] * 70 + [0] * 30))
    assert found is not None
    spread = np.sqrt(0.7 * 0.3 / 99)
    z = 0.05 / spread
    certainty, density = erf(sqrt(2) * z), exp(-2 * z * z) / sqrt(2 * pi)
    debiased = 0.05 * certainty - 4 * spread * density
    reach = t_quantile(0.975, 99) * spread
    assert found.ece == pytest.approx(5)
    assert found.ece_debiased == pytest.approx(100 * debiased)
    assert (found.ece_low, found.ece_high) == (0, pytest.approx(100 * (0.05 + reach)))
    # A large gap is hardly biased, and its lower end is as far away as the upper one.
    sure = calibration(judged([0.95] * 100, [1] * 50 + [0] * 50))
    assert sure is not None
    assert sure.ece_debiased == pytest.approx(45)
    assert sure.ece_low == pytest.approx(90 - (sure.ece_high or 0))
    # Nothing varies: no bias, no width.
    exact = calibration(judged([1.0] * 30, [1] * 30))
    assert exact is not None
    assert (exact.ece, exact.ece_debiased, exact.ece_low, exact.ece_high) == (0, 0, 0, 0)


def test_calibrated_system_has_no_calibration_error_on_average() -> None:
    rng = np.random.default_rng(0)
    observed, covered, estimates = [], [], []
    for _ in range(200):
        sure = rng.random(300)
        found = calibration(judged(sure.tolist(), (rng.random(300) < sure).astype(int).tolist()))
        assert found is not None
        observed.append(found.ece)
        estimates.append(found.ece_debiased)
        covered.append(found.ece_low == 0)
    # Clipping at 0 leaves a part of the noise.
    assert np.mean(observed) > 5 > 3 * np.mean(estimates)
    assert np.mean(covered) > 0.95


def test_only_an_overconfident_system_has_a_gap() -> None:
    rng = np.random.default_rng(3)
    sure = rng.random(2000)
    right = (rng.random(2000) < sure).astype(int).tolist()
    honest, boaster = (calibration(judged(given, right)) for given in (sure.tolist(), (sure**0.5).tolist()))
    assert honest is not None
    assert boaster is not None
    assert honest.gap_low is not None
    assert honest.gap_high is not None
    assert honest.gap_low < 0 < honest.gap_high
    assert boaster.gap_low is not None
    assert boaster.gap_low > 10  # E[√u] - E[u] = 1/6
    assert honest.ece < 5 < boaster.ece


def lines(path: Path, *rows: dict[str, object]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def test_confidences_come_with_predictions(tmp_path: Path) -> None:
    kind = kind_of(task("xquad"))
    first = {"id": "a", "prediction": "x"}
    some = json_lines(lines(tmp_path / "s.jsonl", {**first, "confidence": 1}, {**first, "id": "b"}), kind)
    assert (some.confidences, some.problems) == ([1, None], [])
    assert json_lines(lines(tmp_path / "n.jsonl", first), kind).confidences is None
    for value in ("high", 1.5, -3.2, True):
        found = json_lines(lines(tmp_path / "w.jsonl", first, {**first, "id": "b", "confidence": value}), kind)
        assert found.confidences is None
        assert len(found.ids) == 2
        (problem,) = found.problems
        assert problem.warning
        assert problem.where.endswith("w.jsonl:2")
        assert "expected a confidence from 0 to 1" in problem.what
    # A wrong line does not shift the others' confidences.
    path = lines(tmp_path / "m.jsonl", {**first, "confidence": 0.1}, {"id": 7}, {**first, "id": "c", "confidence": 0.3})
    assert json_lines(path, kind).confidences == [0.1, 0.3]


def test_confidences_reach_the_analysis_and_its_tables(tmp_path: Path) -> None:
    answers = xquad(tmp_path / "data", "en")
    rows = [
        {"id": key, "prediction": text if place % 2 else "no", "confidence": 0.9 if place % 2 else 0.2}
        for place, (key, text) in enumerate(answers.items())
    ]
    lines(tmp_path / "system/xquad/en.jsonl", *reversed(rows))
    found = explain(tmp_path / "system", data=tmp_path / "data", tasks=["xquad"], languages=["en"]).explanations[0]
    cell = found.calibration["xquad/en"]
    assert (cell.n, cell.score, cell.confidence) == (1190, pytest.approx(50), pytest.approx(55))
    assert [(each.low, each.n, each.score) for each in cell.bins] == [(0.2, 595, 0), (0.9, 595, 100)]
    by_confidence = next(facet for facet in found.facets if facet.attribute == "confidence")
    assert [(score.bucket.high, score.value) for score in by_confidence.buckets] == [(0.2, 0), (0.9, 100)]
    words = ("explain", tmp_path / "system", "-d", tmp_path / "data", "-t", "xquad", "-l", "en", "-a", "confidence")
    printed = isogloss(*words).out
    assert "system on xquad/en: calibration" in printed
    assert "mean confidence minus mean score: +5.0" in printed
    assert "expected calibration error over ten bins: 15.0" in printed
