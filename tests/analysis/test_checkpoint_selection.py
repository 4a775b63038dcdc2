"""The finding on simulated runs: English dev tracks one language, misleads in another, and is noise for a third."""

import dataclasses
import warnings
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from analysis.checkpoint_files import runs_of, write_csv
from isogloss.analysis.checkpoint_scores import CheckpointScores
from isogloss.analysis.checkpoint_selection import checkpoint_selection, select
from isogloss.analysis.finding import AnalysisError, Finding, Value
from isogloss.errors import UnknownNameError


def simulated(seeds: int = 10, sizes: Mapping[tuple[str, str], int] | None = None) -> CheckpointScores:
    rng = np.random.default_rng(7)
    runs = []
    for _ in range(seeds):
        english = rng.normal(80, 1, 50)
        truth = {"en": english, "de": english - 10, "ja": 140 - english, "zh": rng.normal(50, 1, 50)}
        run = {(code, "dev"): values for code, values in truth.items()}
        run |= {(code, "test"): values + rng.normal(0, 0.3, 50) for code, values in truth.items()}
        runs.append(run | {("kk", "test"): rng.normal(40, 3, 50)})
    return runs_of(*runs, sizes=sizes)


@pytest.fixture(scope="module")
def finding() -> Finding:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return checkpoint_selection(simulated(sizes={("de", "test"): 4000, ("ja", "test"): 4000}))


def rows(finding: Finding, table: str, key: str = "language") -> dict[Value, dict[str, Value]]:
    return {row[key]: row for row in finding.table(table).records()}


def number(value: Value) -> float:
    assert isinstance(value, int | float)
    return float(value)


def test_agreement_separates_a_proxy_its_opposite_and_noise(finding: Finding) -> None:
    by = {(row["language"], row["dev"]): row for row in finding.table("agreement").records()}
    assert number(by["de", "English dev"]["low"]) > 0.9
    assert number(by["ja", "English dev"]["high"]) < 0.1
    assert number(by["zh", "English dev"]["low"]) < 0.5 < number(by["zh", "English dev"]["high"])
    for code in ("de", "ja", "zh"):
        assert number(by[code, "target dev"]["low"]) > 0.9
    assert ("kk", "target dev") not in by
    assert ("en", "target dev") not in by


def test_guide_follows_the_agreement(finding: Finding) -> None:
    judged = {code: (row["guide"], row["runs"]) for code, row in rows(finding, "languages").items()}
    assert judged["de"] == ("English dev tracks test", "not significantly different")
    assert judged["ja"][0] == "English dev misleads"
    assert judged["zh"] == ("English dev is not significantly better than chance", "not tested")
    assert next(iter(judged)) == "ja"


def test_better_tracking_does_not_imply_better_selection() -> None:
    rng = np.random.default_rng(3)
    runs = []
    for _ in range(6):
        rise = 80 + 0.4 * np.arange(20)
        german = rise + np.cumsum(rng.normal(0, 0.8, 20))
        best = np.zeros(20)
        best[-1] = 50  # the last checkpoint is best everywhere, so every dev set selects it
        run = {("en", "dev"): rise + best, ("en", "test"): rise + best}
        runs.append(run | {("de", "dev"): german + best, ("de", "test"): german + best})
    finding = checkpoint_selection(runs_of(*runs))
    assert rows(finding, "languages")["de"]["guide"] == "target dev tracks test better"
    assert number(rows(finding, "oracle")["de"]["gain"]) == 0
    assert "tracks test scores significantly better in all of them" in finding.reading
    assert "selects a checkpoint with a significantly higher test score in none of them" in finding.reading


def test_rules_are_compared_on_languages_with_all_rules(finding: Finding) -> None:
    rules = rows(finding, "rules", "rule")
    assert list(rules) == ["English dev", "target dev", "one other dev", "mean dev", "last", "best test"]
    assert "mean over 3 languages, 10 runs" in finding.table("rules").title  # not Kazakh, which has no dev set
    assert number(rules["best test"]["lost"]) == 0
    assert number(rules["target dev"]["lost"]) < 0.5
    assert number(rules["target dev"]["low"]) > 0
    gain = number(rules["target dev"]["test"]) - number(rules["English dev"]["test"])
    assert number(rules["target dev"]["gain"]) == pytest.approx(gain)


def test_variation_has_the_flags_and_english_dev_first(finding: Finding) -> None:
    variation = finding.table("variation").records()
    assert [variation[0][name] for name in ("language", "split", "p")] == ["en", "dev", None]
    kazakh = next(row for row in variation if row["language"] == "kk")
    assert (kazakh["large"], kazakh["p"], kazakh["significant"]) == (True, None, None)
    german = next(row for row in variation if row["language"] == "de")
    assert german["n"] == 4000
    # Two languages are tested, and 45 pairs of ten runs.
    assert number(german["p_any"]) == pytest.approx(min(1, 45 * number(german["p"])))
    assert number(german["p_corrected"]) >= number(german["p_any"])
    assert german["significant"] == (number(german["p_corrected"]) < 0.05)
    assert number(german["spread"]) == pytest.approx(number(german["largest"]) - number(german["smallest"]))


def test_oracle_curves_choices_and_published_figures(finding: Finding) -> None:
    assert set(rows(finding, "oracle")) == {"de", "ja", "zh"}
    assert {row["series"] for row in finding.table("curves").records()} >= {"English dev", "ja test", "de test"}
    assert len(finding.table("curves").rows) == 50 * 5
    choices = [row for row in finding.table("choices").records() if row["rule"] == "last"]
    assert {row["step"] for row in choices} == {500}
    published = {(row["figure"], row["language"], row["task"]): row for row in finding.table("published").records()}
    assert published["agreement, English dev", "ja", "mldoc"]["published"] == 0.42
    assert published["spread of the runs", "de", "mldoc"]["published"] == 5.9
    assert published["spread of the runs", "de", "mldoc"]["here"] == rows(finding, "variation")["de"]["spread"]
    # Table 4: 75.5 by the oracle and 67.7 by English dev.
    assert published["gain of the oracle, largest of the runs", "ja", "mldoc"]["published"] == 7.8


def test_reading(finding: Finding) -> None:
    assert "10 runs, 4 languages besides English." in finding.reading
    assert (
        "English dev is significantly better than chance in 1 of them (de), and significantly worse in 1 of them (ja)"
        in (finding.reading)
    )
    assert any("No dev scores, so no oracle: kk." in note for note in finding.notes)
    for figure in finding.figures:
        names = {column.name for column in finding.table(figure.table).columns}
        assert {figure.x, figure.y, figure.colour} <= names


@pytest.mark.parametrize("runs", [1, 2])
def test_agreement_of_one_or_two_runs_has_no_interval(runs: int) -> None:
    finding = checkpoint_selection(simulated(runs))
    assert any("No interval: at least 3 runs are needed" in note for note in finding.notes)
    for row in (*finding.table("agreement").records(), *finding.table("languages").records()):
        assert (row["low"], row["high"]) == (None, None)
    assert {row["guide"] for row in finding.table("languages").records()} == {"unknown"}
    assert "More runs are needed to test whether English dev is better than chance in a language." in finding.reading
    assert "significantly better than chance in" not in finding.reading


def test_chance_gives_no_verdict_about_a_language() -> None:
    """Identical runs differ by chance: not more than 5 % of data sets may call any language different."""
    rng = np.random.default_rng(25)
    judged = {"runs": 0, "chance": 0, "tracking": 0}
    data_sets = 60
    for _ in range(data_sets):
        runs = [
            {
                (code, split): 100 * rng.binomial(n, 0.7, 10) / n
                for code in ("en", "de", "sw", "fr", "th")
                for split, n in (("dev", 300), ("test", 500))
            }
            for _ in range(5)
        ]
        sizes = dict.fromkeys(((code, "test") for code in ("en", "de", "sw", "fr", "th")), 500)
        chance = checkpoint_selection(runs_of(*runs, sizes=sizes))
        languages = chance.table("languages").records()
        judged["runs"] += any(row["significant"] for row in chance.table("variation").records())
        judged["chance"] += any("misleads" in str(row["guide"]) or "tracks" in str(row["guide"]) for row in languages)
        judged["tracking"] += "tracks test scores significantly better in none of them" not in chance.reading
        assert ("report several seeds" in chance.reading) == any(
            row["runs"] == "differ significantly" for row in languages
        )
    # With a true rate of 5 %, 8 of 60 or more happen in less than 1 %.
    assert all(count < 8 for count in judged.values()), judged


def test_runs_that_differ_are_called_different() -> None:
    good, poor = ({("en", "dev"): [70.0, 71.0], ("de", "test"): [score, score]} for score in (70.0, 60.0))
    finding = checkpoint_selection(runs_of(good, good, poor, sizes={("de", "test"): 4000}))
    assert rows(finding, "languages")["de"]["runs"] == "differ significantly"
    assert "Runs are significantly different in all of them" in finding.reading
    assert finding.reading.count("report several seeds, not one") == 1


def test_one_run_has_no_spread() -> None:
    finding = checkpoint_selection(simulated(1))
    assert rows(finding, "rules", "rule")["target dev"]["low"] is None
    assert "several seeds" not in finding.reading


def test_constant_scores_are_noted() -> None:
    flat = {("en", "dev"): [50.0] * 5, ("sw", "dev"): [40.0] * 5, ("sw", "test"): [30.0] * 5}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        finding = checkpoint_selection(runs_of(flat, flat, flat))
    assert "Test scores never changed by 0.5 points: sw." in finding.notes
    assert finding.table("agreement").rows == []
    assert rows(finding, "languages")["sw"]["guide"] == "test scores do not change"


def test_from_step_leaves_out_the_beginning() -> None:
    finding = checkpoint_selection(simulated(3), from_step=260)
    assert min(number(row["step"]) for row in finding.table("curves").records()) == 260
    assert "Checkpoints before step 260 are excluded." in finding.notes


def test_too_few_scores_are_reported() -> None:
    english = {("en", "dev"): [1.0, 2.0], ("en", "test"): [1.0, 2.0]}
    with pytest.raises(AnalysisError, match="only en has test scores in every run"):
        checkpoint_selection(runs_of(english))
    with pytest.raises(AnalysisError, match="no dev scores of fr") as caught:
        checkpoint_selection(runs_of(english), source="fr")
    assert "--source en" in str(caught.value)
    with pytest.raises(UnknownNameError, match="language with dev scores"):
        checkpoint_selection(runs_of(english), single="sw")
    with pytest.raises(AnalysisError, match="seed 0 has fewer than two checkpoints"):
        checkpoint_selection(runs_of(english), from_step=20)


def test_select_reads_files(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "scores.csv", simulated(3), {"metric": "accuracy", "n": "500"})
    finding = select(path, single="de", test_size=1000)
    assert finding.title == "Checkpoint selection: accuracy"
    assert "only German dev" in rows(finding, "rules", "rule")
    assert rows(finding, "variation")["zh"]["n"] == 1000
    table = select(pd.read_csv(path), single="de", test_size=1000)
    assert (table.tables, table.reading) == (finding.tables, finding.reading)
    assert table.command.startswith("isogloss select '<scores in memory>'")


@pytest.mark.parametrize("size", [-1, 10**12])
def test_invalid_test_size(size: int) -> None:
    with pytest.raises(AnalysisError, match=rf"invalid test size {size}\. Pass 1 to 1000000"):
        checkpoint_selection(runs_of({("en", "dev"): [1.0], ("en", "test"): [1.0]}), test_size=size)


def test_sizes_are_stated_and_samples_are_named() -> None:
    scores = simulated(2, {("en", "dev"): 2490, ("de", "dev"): 300, ("ja", "dev"): 300, ("de", "test"): 500})
    whole = {("en", "dev"): 2490, ("de", "dev"): 2490, ("ja", "dev"): 2490, ("de", "test"): 5010}
    found = checkpoint_selection(dataclasses.replace(scores, whole=whole))
    stated = "English dev has 2,490 examples, target dev 300 of 2,490, test 500 of 5,010."
    assert stated in found.reading
    assert 'train with dev_examples = "all"' in found.reading
    german = rows(found, "sizes")["de"]
    assert [german[name] for name in ("dev", "dev_whole", "test", "test_whole")] == [300, 2490, 500, 5010]
    [english] = [row for row in found.table("variation").records() if row["split"] == "dev"]
    assert english["n"] == 2490
    equal = {(code, split): 1000 for code in ("en", "de", "ja", "zh") for split in ("dev", "test")}
    found = checkpoint_selection(simulated(2, equal))
    assert "English dev has 1,000 examples, target dev 1,000, test 1,000." in found.reading
    assert "dev_examples" not in found.reading


def test_kept_weights_are_listed(tmp_path: Path) -> None:
    scores = dataclasses.replace(simulated(1), folders={0: tmp_path})
    assert any('keep them with keep_weights = "oracle"' in note for note in checkpoint_selection(scores).notes)
    for step in range(10, 501, 10):
        (tmp_path / f"weights/step-{step:08}").mkdir(parents=True)
    found = checkpoint_selection(scores)
    assert any(note.endswith("were kept: see the table choices.") for note in found.notes)
    for row in found.table("choices").records():
        assert row["weights"] == (None if row["step"] is None else str(tmp_path / f"weights/step-{row['step']:08}"))
