"""Comparisons of systems."""

import shutil
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isogloss.errors import PredictionError
from isogloss.figures import difference_interval_text
from isogloss.metrics.registry import Metric
from isogloss.metrics.significance import holm
from isogloss.metrics.student import normal_quantile, normal_tail
from isogloss.scoring import main_score
from isogloss.scoring import tested_on as words
from isogloss.scoring.compare import compare, compare_request
from isogloss.scoring.comparison import Comparison, SystemsComparison
from isogloss.scoring.contrast import SystemContrast, corrected
from isogloss.scoring.names import distinct_names
from isogloss.scoring.request import Request
from isogloss.scoring.score import score_request
from isogloss.tables.comparison_tables import comparison_tables, systems_tables
from isogloss.tasks.suites import suite
from sample import write_gold, write_system


@pytest.fixture(scope="module")
def systems(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("systems")
    for size, where in ((60, root),):
        write_gold(where / "gold", suite("xtreme"), size)
        write_system(where / "good", suite("xtreme"), size, "good", 0.95)
        write_system(where / "bad", suite("xtreme"), size, "bad", 0.60)
        write_system(where / "twin", suite("xtreme"), size, "twin", 0.95, seed=0)
    return root


def run(root: Path, *names: str, tasks: list[str] | None = None) -> SystemsComparison:
    request = Request.of("xtreme", tasks=tasks, gold=root / "gold")
    return compare_request([root / name for name in names], request)


def test_clear_winner_is_significant_at_all_levels(systems: Path) -> None:
    [found] = run(systems, "good", "bad")
    assert found.overall is not None
    assert found.overall.significant
    assert found.overall.difference > 10
    assert found.overall.low > 0
    assert all(contrast.significant for contrast in found.tasks)
    assert found.verdict().startswith("good is the better checkpoint: ")
    assert found.skipped == []


def test_comparison_is_antisymmetric(systems: Path) -> None:
    [one] = run(systems, "good", "bad", tasks=["xnli", "udpos", "tydiqa", "bucc"])
    [other] = run(systems, "bad", "good", tasks=["xnli", "udpos", "tydiqa", "bucc"])
    for a, b in zip([*one.cells, *one.tasks, one.overall], [*other.cells, *other.tasks, other.overall], strict=True):
        assert a is not None and b is not None
        assert (a.difference, a.p) == (-b.difference, b.p)
        if a.low is not None and b.low is not None:
            assert (a.low, a.high) == pytest.approx((-b.high, -b.low))


def test_system_is_tied_with_itself(systems: Path) -> None:
    [found] = run(systems, "good", "good")
    assert found.overall is not None
    assert (found.overall.difference, found.overall.p) == (0, 1)
    assert "are not significantly different" in found.verdict()
    assert (found.first, found.second) == ("good (1)", "good (2)")


def test_three_systems_give_three_pairs(systems: Path) -> None:
    found = run(systems, "good", "bad", "twin", tasks=["xnli"])
    assert [(c.first, c.second) for c in found] == [("good", "bad"), ("good", "twin"), ("bad", "twin")]
    assert found[0].overall is None  # a single task has no overall score


def test_tests_are_named(systems: Path) -> None:
    [found] = run(systems, "good", "bad", tasks=["xnli", "xquad", "udpos"])
    tests = {contrast.name.partition("/")[0]: contrast.test for contrast in found.cells}
    assert tests == {
        "xnli": "McNemar",
        "xquad": "randomisation",
        "udpos": "randomisation",
    }


def test_one_folder_raises(systems: Path) -> None:
    with pytest.raises(PredictionError, match="at least two"):
        run(systems, "good")


def test_third_system_only_changes_the_correction(systems: Path) -> None:
    tasks = ["xnli", "udpos", "tydiqa"]
    [alone] = run(systems, "good", "bad", tasks=tasks)
    together = run(systems, "good", "bad", "twin", tasks=tasks)
    assert run(systems, "twin", "good", "bad", tasks=tasks)[2] == together[0]
    for one, other in zip(
        [*alone.cells, *alone.averages()], [*together[0].cells, *together[0].averages()], strict=True
    ):
        assert (one.difference, one.low, one.high, one.n) == (other.difference, other.low, other.high, other.n)
        assert one.p <= other.p
        assert other.adjusted_low <= one.adjusted_low


def test_order_of_several_systems(systems: Path) -> None:
    found = run(systems, "good", "bad", "twin", tasks=["xnli", "udpos"])
    assert [order.level for order in found.orders[-3:]] == ["task", "task", "overall"]
    assert len(found.orders) == len(found[0].cells) + 3
    top = found.orders[-1]
    assert set(top.systems[:2]) == {"good", "twin"} and top.systems[2] == "bad"
    assert (top.low, top.high, top.letters) == ([1, 1, 3], [2, 2, 3], ["a", "a", "b"])
    assert found.verdict() in {
        f"{names} could each be the best of 3 systems overall: {words.tested_on(words.EXAMPLES)}"
        for names in ("good, twin", "twin, good")
    }
    # p-values are Holm's over the three pairs.
    raw = {
        (one, other): run(systems, one, other, tasks=["xnli", "udpos"])[0].overall.p
        for one, other in combinations(("good", "bad", "twin"), 2)
    }
    adjusted = holm(list(raw.values())).tolist()
    assert [pair.overall.p for pair in found] == pytest.approx(adjusted)


def test_table_of_several_systems(systems: Path) -> None:
    found = run(systems, "good", "bad", "twin", tasks=["xnli", "udpos"])
    ranks, matrix, pairs, cells = systems_tables(found)
    assert ranks.header == ("", found.orders[-1].label, "rank", "xnli", "udpos")
    best, _, worst = ranks.rows
    assert (best[2], worst[2]) == ("1–2", "3")
    assert best[1].endswith(" a") and worst[1].endswith(" b")
    assert rf"{worst[1][:-2]}\textsuperscript{{b}}" in ranks.latex()
    assert [row[index + 1] for index, row in enumerate(matrix.rows)] == ["", "", ""]
    assert matrix.rows[0][3].endswith("●") and not matrix.rows[0][2].endswith("●")
    assert [row[1:5] for row in pairs.rows] == [
        (*pair.overall.texts()[2:], "●" * pair.overall.significant) for pair in found
    ]
    assert len(cells.rows) == len(found[0].cells)


def test_several_systems_without_an_overall_are_ranked_on_every_task(
    systems: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(main_score, "find_metric", lambda name: Metric(name, name, lower_is_better=name == "accuracy"))
    found = run(systems, "good", "bad", "twin", tasks=["xnli", "udpos"])
    assert found.verdict().startswith("bad is the best of 3 systems on xnli; ")
    ranks, on_xnli, on_udpos, pairs, _ = systems_tables(found)
    assert ranks.header == ("", "xnli", "rank", "udpos", "rank")
    assert {row[0]: row[2] for row in ranks.rows} == {"bad": "1", "good": "2–3", "twin": "2–3"}
    assert [table.title for table in (on_xnli, on_udpos)] == ["Row minus column, xnli", "Row minus column, udpos"]
    assert [row[:2] for row in pairs.rows[:2]] == [("good − bad", "xnli"), ("good − bad", "udpos")]


def test_several_systems_with_a_margin(systems: Path) -> None:
    request = Request.of("xtreme", tasks=["xnli", "udpos"], gold=systems / "gold")
    folders = [systems / name for name in ("good", "bad", "twin")]
    wide = compare_request(folders, request, margin=99.0)
    every = "equivalent within ±99.0 points: good and bad, good and twin, bad and twin"
    assert every in wide.verdict()
    matrix = systems_tables(wide)[1]
    assert matrix.rows[0][3].endswith("●≈")
    assert matrix.rows[0][2].endswith(" ≈")
    assert "is the better checkpoint, but equivalent to bad within ±99.0 points" in wide[0].verdict()
    assert "no pair is equivalent within ±0.1 points" in compare_request(folders, request, margin=0.1).verdict()


@given(st.lists(st.floats(-5, 5).filter(bool), min_size=1, max_size=8))
def test_simultaneous_intervals_agree_with_corrected_p(differences: list[float]) -> None:
    """An interval holds 0 if and only if the corrected p is not significant."""
    margin = normal_quantile(1 - 0.025 / len(differences))  # Bonferroni, with a standard error of 1
    contrasts = [
        SystemContrast(
            50.0 + each,
            50.0,
            each,
            low=None,
            high=None,
            p=2 * normal_tail(abs(each)),
            adjusted_low=each - margin,
            adjusted_high=each + margin,
        )
        for each in differences
    ]
    for before, after in zip(contrasts, corrected(contrasts), strict=True):
        low, high = after.interval_for_all
        assert (low <= 0 <= high) == (not after.significant)
        assert before.adjusted_low <= low <= after.difference <= high <= before.adjusted_high


def test_verdict_prints_the_interval_of_its_p(systems: Path) -> None:
    """Of several pairs, p is corrected, and so is the interval next to it."""
    pair = run(systems, "good", "bad", "twin", tasks=["xnli", "udpos"])[0]
    low, high = pair.overall.interval_for_all
    assert f"(95 % {low:.1f} to {high:.1f}, p" in pair.verdict()
    assert low < pair.overall.low


def test_languages_outside_the_suite_have_no_average(tmp_path: Path) -> None:
    wider = replace(suite("xtreme-r"), tasks=("wikiann",))
    write_gold(tmp_path / "gold", wider, 60)
    for name, accuracy in (("good", 0.95), ("bad", 0.6), ("seeds/seed-0", 0.8), ("seeds/seed-1", 0.8)):
        write_system(tmp_path / name, wider, 60, name.partition("/")[0], accuracy)
    request = Request.of("xtreme", tasks=["wikiann"], languages=["pl", "uk"], gold=tmp_path / "gold")
    found = compare_request([tmp_path / name for name in ("good", "bad", "seeds")], request)
    [cells] = systems_tables(found)
    assert [row[0] for row in cells.rows] == ["wikiann/pl", "wikiann/uk"]
    assert cells.notes[0].startswith("2 of 2 cells favour good, 0 favour bad; ")
    tasks, _ = comparison_tables(found[2])
    assert any("2 seeds" in note for note in tasks.notes)


def test_equivalence_needs_a_margin(systems: Path) -> None:
    request = Request.of("xtreme", tasks=["xnli", "udpos"], gold=systems / "gold")
    folders = [systems / name for name in ("good", "twin")]
    [wide] = compare_request(folders, request, margin=20.0)
    assert wide.overall.verdict == "equivalent"
    assert "are equivalent within ±20.0 points (p " in wide.verdict()
    [narrow] = compare_request(folders, request, margin=0.01)
    assert narrow.overall.verdict == "cannot tell"
    assert narrow.verdict().startswith("cannot tell which checkpoint is better, or whether they are equivalent within")
    [plain] = compare_request(folders, request)
    assert plain.overall.p_equivalent is None
    [far] = compare_request([systems / "good", systems / "bad"], request, margin=1.0)
    assert far.overall.verdict == "better"
    shown, _ = comparison_tables(far)
    assert shown.rows[-1][-1] == "●"
    for margin in (0.0, -1.0, 101.0, float("nan"), "1"):
        with pytest.raises(PredictionError, match="the margin must be a number above 0 and at most 100 points"):
            compare_request(folders, request, margin=margin)


def test_systems_are_compared_on_cells_that_all_have(systems: Path, tmp_path: Path) -> None:
    shutil.copytree(systems / "twin", tmp_path / "part")
    shutil.rmtree(tmp_path / "part" / "udpos")
    request = Request.of("xtreme", tasks=["xnli", "udpos"], gold=systems / "gold")
    found = compare_request([systems / "good", systems / "bad", tmp_path / "part"], request)
    assert {contrast.name.partition("/")[0] for pair in found for contrast in pair.cells} == {"xnli"}
    assert "udpos/en" in found[0].skipped


def test_intervals_and_p_values_are_simultaneous(systems: Path) -> None:
    [found] = run(systems, "good", "bad", tasks=["xnli", "udpos"])
    for contrast in found.cells:
        assert contrast.adjusted_low < contrast.low < contrast.high < contrast.adjusted_high
        assert contrast.detectable > 0
    # A family of one is not corrected.
    assert (found.overall.adjusted_low, found.overall.adjusted_high) == (found.overall.low, found.overall.high)


def test_one_example_per_language_is_not_significant(tmp_path: Path) -> None:
    write_gold(tmp_path / "gold", suite("xtreme-r"), 1)
    write_system(tmp_path / "right", suite("xtreme-r"), 1, "right", 9.0)
    write_system(tmp_path / "wrong", suite("xtreme-r"), 1, "wrong", -9.0)
    request = Request.of("xtreme-r", tasks=["xcopa"], languages=["et", "ht"], gold=tmp_path / "gold")
    [found] = compare_request([tmp_path / "right", tmp_path / "wrong"], request)
    [task] = found.tasks
    assert (task.difference, task.low, task.high, task.winner) == (100, None, None, "")
    # The two languages share their only example, so there is one source.
    assert [cell.p for cell in found.cells] == [1, 1]
    assert task.p == 1


def test_function_returns_one_comparison_for_two_systems(systems: Path) -> None:
    options = {"suite": "xtreme", "gold": systems / "gold", "tasks": ["xnli", "udpos"]}
    found = compare(str(systems / "good"), systems / "bad", **options)
    assert isinstance(found, Comparison)
    assert found == run(systems, "good", "bad", tasks=["xnli", "udpos"])[0]
    assert repr(found) == f"<Comparison: {found.verdict()}>"
    html = found._repr_html_()
    assert all(word in html for word in ("xnli", "udpos", "overall", "good is the better checkpoint"))
    # The command shows the same figures, with intervals that match the corrected p.
    shown, _ = comparison_tables(found)
    for row in shown.rows:
        assert f">{'</td><td>'.join(row[:-1])}</td>" in html
    assert difference_interval_text(*found.tasks[0].interval_for_all) in html
    assert difference_interval_text(found.tasks[0].low, found.tasks[0].high) not in html
    several = compare(*(systems / name for name in ("good", "bad", "twin")), **options)
    assert isinstance(several, SystemsComparison)
    assert len(several) == 3
    with pytest.raises(PredictionError, match="at least two"):
        compare(systems / "good", **options)


def test_a_comparison_is_a_data_frame(systems: Path) -> None:
    pytest.importorskip("pandas", reason="data frames need pandas")
    [found] = run(systems, "good", "bad", tasks=["xnli", "udpos"])
    frame = found.to_pandas()
    assert len(frame) == len(found.cells) + 3
    assert set(frame["level"]) == {"cell", "task", "overall"}
    assert set(frame["first_system"]) == {"good"}


def test_lower_score_wins_if_lower_is_better(systems: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(main_score, "find_metric", lambda name: Metric(name, name, lower_is_better=name == "accuracy"))
    [found] = run(systems, "good", "bad", tasks=["xnli", "pawsx"])
    assert found.overall is not None
    assert found.overall.difference > 0  # first minus second, whichever is better
    assert found.overall.winner == "second"
    assert found.verdict().startswith("bad is the better checkpoint: ")
    count = sum(contrast.significant for contrast in found.cells)
    assert f"0 of {len(found.cells)} cells favour good, {count} favour bad" in found.verdict()
    assert msgspec.to_builtins(found.overall)["lower_is_better"]


def test_tasks_with_mixed_directions_have_no_overall(systems: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(main_score, "find_metric", lambda name: Metric(name, name, lower_is_better=name == "accuracy"))
    [found] = run(systems, "good", "bad", tasks=["xnli", "pawsx", "udpos", "wikiann"])
    assert found.overall is None
    assert "higher is better for some tasks, lower for others" in found.verdict()
    request = Request.of("xtreme", tasks=["xnli", "pawsx", "udpos"], gold=systems / "gold")
    results = score_request(systems / "good", request)
    assert results.overall.score is None
    assert "higher is better for some tasks" in results.overall.note
    # All tasks of a category have the same direction.
    assert [average.name for average in results.categories] == ["classification", "structured"]
    assert repr(results) == "<Results: good on xtreme (test): no overall, 3 tasks>"


def test_records_omit_direction_if_higher_is_better(systems: Path) -> None:
    [found] = run(systems, "good", "bad", tasks=["xnli"])
    keys = {"level", "name", "first", "second", "difference", "low", "high", "p", "test", "n"}
    keys |= {"adjusted_low", "adjusted_high", "detectable"}
    record = msgspec.to_builtins(found)
    assert record.keys() == {"first", "second", "cells", "tasks", "overall", "rule", "skipped", "resample"}
    assert {frozenset(cell) for cell in record["cells"]} == {frozenset(keys)}


def test_distinct_system_names() -> None:
    assert distinct_names(["a", "b"]) == ["a", "b"]
    assert distinct_names(["a", "b", "a"]) == ["a (1)", "b", "a (3)"]
    assert distinct_names(["a", "a", "a (1)"]) == ["a (1) (1)", "a (2)", "a (1)"]
