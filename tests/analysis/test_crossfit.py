"""The cross-fitted best checkpoint: halves by hand, identical checkpoints, and recorded predictions."""

import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import isogloss
from analysis.checkpoint_files import runs_of, write_csv
from isogloss.analysis.checkpoint_scores import CheckpointScores, SeedScores
from isogloss.analysis.checkpoint_selection import checkpoint_selection, select
from isogloss.analysis.crossfit import SPLITS, crossfitted, half_scores, source_halves
from isogloss.analysis.finding import Finding
from isogloss.analysis.language_selection import BEST, CROSSFITTED, p_over_runs
from isogloss.metrics.statistics import MEAN, Statistics
from isogloss.systems.neural.fit_log import FitLog, write_fit_log
from isogloss.tasks.registry import task
from isogloss.training.checkpoint_record import CheckpointRecord


def test_halves_keep_sources_together_and_ignore_order() -> None:
    sources = [f"article {number // 3}" for number in range(30)]
    halves = source_halves(sources, 4)
    assert halves.shape == (4, 30)
    assert (halves.sum(axis=1) == 15).all()
    assert (halves.reshape(4, 10, 3).std(axis=2) == 0).all()
    assert len({tuple(row) for row in halves.tolist()}) == 4
    assert (source_halves(sources[::-1], 4) == halves[:, ::-1]).all()


def test_any_name_of_a_source_is_halved() -> None:
    assert source_halves(["\ud800", "b"]).sum(axis=1).tolist() == [1] * SPLITS


def test_half_scores_by_hand() -> None:
    statistics = Statistics(np.array([[1.0], [0.0], [1.0], [1.0]]), MEAN)
    halves = np.array([[True, True, False, False], [True, False, True, False]])
    assert half_scores(statistics, halves).tolist() == [[50, 100], [100, 50]]
    # Two rows per example.
    pairs = Statistics(statistics.rows, MEAN, np.array([0, 0, 1, 1]))
    assert half_scores(pairs, np.array([[True, False]])).tolist() == [[50], [100]]


def test_crossfitted_by_hand() -> None:
    """One half chooses the first checkpoint (ties go to the earliest), the other the second."""
    first, second = [[90.0], [40.0]], [[90.0], [60.0]]
    assert crossfitted(np.array([first, second])) == (40 + 90) / 2
    unknown = np.full((1, 2, 1), np.nan)
    assert crossfitted(np.concatenate([unknown, [first]])) == 65  # the only checkpoint, on both halves
    assert crossfitted(unknown) is None


def identical(runs: int = 4, checkpoints: int = 25, n: int = 500) -> CheckpointScores:
    """Return checkpoints that are all right in 70 % of new examples."""
    rng = np.random.default_rng(0)
    halves = source_halves([f"example {row}" for row in range(n)])
    made = []
    for seed in range(runs):
        values, by_half = {}, {}
        for code in ("en", "de", "sw"):
            right = (rng.random((checkpoints, n)) < 0.7).astype(float)
            values[code, "test"] = 100 * right.mean(axis=1)
            values[code, "dev"] = 100 * (rng.random((checkpoints, n)) < 0.7).mean(axis=1)
            by_half[code] = np.stack([half_scores(Statistics(row[:, None], MEAN), halves) for row in right])
        made.append(SeedScores(seed, tuple(range(1, checkpoints + 1)), values, by_half))
    return CheckpointScores(tuple(made), {(code, "test"): n for code in ("en", "de", "sw")})


def rules(finding: Finding) -> dict[object, dict[str, object]]:
    return {row["rule"]: row for row in finding.table("rules").records()}


def test_identical_checkpoints_gain_nothing_when_crossfitted() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        finding = checkpoint_selection(identical())
    found = rules(finding)
    best, fitted = found[BEST], found[CROSSFITTED]
    assert float(str(best["gain"])) > 3  # the winner's curse of 25 checkpoints
    assert (best["low"], best["p"]) == (None, None)
    assert float(str(fitted["low"])) < 0 < float(str(fitted["high"]))
    assert abs(float(str(fitted["gain"]))) < 1
    assert "which chance alone raises; cross-fitted it is" in finding.reading
    assert "No rule that selects one checkpoint for all languages is significantly better" in finding.reading
    # Checkpoints left out by --from-step are not chosen either.
    later = checkpoint_selection(identical(), from_step=24)
    assert float(str(rules(later)[BEST]["test"])) < float(str(best["test"]))


def test_a_rule_is_recommended_only_after_correction() -> None:
    rng = np.random.default_rng(4)
    runs = []
    for _ in range(5):
        dev, other = rng.normal(80, 1, (2, 20))
        last = np.zeros(20)
        last[-1] = 3
        test = {(code, "test"): 60 + rng.normal(0, 0.5, 20) + last for code in ("en", "de", "sw")}
        runs.append(test | {("en", "dev"): dev, ("de", "dev"): other, ("sw", "dev"): rng.normal(80, 1, 20)})
    finding = checkpoint_selection(runs_of(*runs))
    row = rules(finding)["last"]
    tests = {
        (choice["rule"], choice["language"], choice["seed"]): float(str(choice["test"]))
        for choice in finding.table("choices").records()
    }
    gains = [
        np.mean([tests["last", code, seed] - tests["English dev", code, seed] for code in ("de", "sw")])
        for seed in range(5)
    ]
    # The smallest p of four rules (target, one other, mean, last) counts four times.
    assert row["p"] == pytest.approx(4 * float(str(p_over_runs(np.array(gains)))))
    assert float(str(row["p"])) < 0.05
    assert "Select one checkpoint for all languages by last: +" in finding.reading
    assert "without answers it cannot be corrected by cross-fitting" in finding.reading
    two = checkpoint_selection(runs_of(*runs[:2]))
    assert {row["p"] for row in rules(two).values()} == {None}
    assert "No advice: testing other rules against English dev needs 3 runs" in two.reading


def test_p_over_runs_is_students() -> None:
    values = np.array([1.0, 2.0, 4.0])
    stats = pytest.importorskip("scipy.stats")
    assert p_over_runs(values) == pytest.approx(stats.ttest_1samp(values, 0).pvalue)
    assert p_over_runs(np.zeros(3)) == 1
    assert p_over_runs(np.ones(3)) is None
    assert p_over_runs(values[:2]) is None


def write_fit(folder: Path, seed: int) -> None:
    """Record three checkpoints with test predictions of mini-xnli in English and German."""
    mini, rng = task("mini-xnli"), np.random.default_rng(seed)
    codes = ("en", "de")
    tests = [isogloss.load(mini, code) for code in codes]
    probes = [*tests, *(replace(examples, split="dev") for examples in tests)]  # the task has no dev set
    record = CheckpointRecord(folder, mini, seed, probes)
    for step in (10, 20, 30):
        share = 0.5 + step / 100
        record.add(
            step,
            lambda asked, share=share: [gold if rng.random() < share else "neutral" for gold in asked[asked.gold]],
        )
    record.finish()
    learnt = {"task": "mini-xnli", "language": "en", "examples": 60}
    log = FitLog(
        fingerprint="",
        task="mini-xnli",
        seed=seed,
        model="made",
        recipe={},
        learnt_from=learnt,
        languages=[*codes],
        stages=[],
    )
    write_fit_log(folder, log)


def test_recorded_predictions_are_judged_again(tmp_path: Path) -> None:
    for seed in range(3):
        write_fit(tmp_path / f"seed-{seed}", seed)
    finding = select(tmp_path, data=tmp_path)
    found = rules(finding)
    assert float(str(found[CROSSFITTED]["test"])) < float(str(found[BEST]["test"]))
    assert found[CROSSFITTED]["low"] is not None
    assert not [note for note in finding.notes if "cross-fitted" in note]
    table = write_csv(tmp_path / "table.csv", runs_of(*([{("en", "dev"): [50.0, 60], ("de", "test"): [40.0, 45]}] * 3)))
    copied = select(table)
    assert CROSSFITTED not in rules(copied)
    assert any("No cross-fitted best score: the scores come from a table" in note for note in copied.notes)
    (tmp_path / "seed-1" / "checkpoints.npz").unlink()
    lacking = select(tmp_path, data=tmp_path)
    assert CROSSFITTED not in rules(lacking)
    assert any("No cross-fitted best score: de: no such file" in note for note in lacking.notes)
