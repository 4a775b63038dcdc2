"""Pairwise analysis: hand-computed differences, flips, false discovery rates, and examples only one system solves."""

import numpy as np
import pytest

from isogloss.explain.cell_table import CellTable
from isogloss.explain.correction import corrected_findings
from isogloss.explain.examples import ExampleCollector
from isogloss.explain.measure import bucketed_rows
from isogloss.explain.model import Attribute
from isogloss.explain.pairwise import AttributeContrasts, PairwiseExplanation, attribute_contrasts, disagreement
from isogloss.explain.selection import AttributeSelection, choose_attributes
from isogloss.explain.tagging import entities
from isogloss.metrics.registry import Metric
from isogloss.metrics.significance import sign_test
from isogloss.metrics.statistics import MEAN, Statistics
from isogloss.scoring import main_score
from isogloss.tasks.examples import Examples
from isogloss.tasks.registry import task


def chosen(column: np.ndarray, discrete: bool = False) -> AttributeSelection:
    return AttributeSelection(
        attributes=(Attribute("size", "its size", (), discrete=discrete, values=lambda examples: column),)
    )


def table(*systems: np.ndarray) -> CellTable:
    n = len(systems[0])
    columns = {"text_a": ["a"] * n, "text_b": ["b"] * n, "label": ["neutral"] * n}
    examples = Examples("xnli", "en", "test", [f"e{i}" for i in range(n)], columns, "label")
    metrics = tuple({"accuracy": Statistics(scores.astype(float)[:, None], MEAN)} for scores in systems)
    values = tuple(["neutral"] * n for _ in systems)
    return CellTable.of_examples(task("xnli"), examples, values, metrics)


def compared(cell: CellTable, asked: AttributeSelection, pair: tuple[int, int] = (0, 1)) -> list[AttributeContrasts]:
    facets = attribute_contrasts(cell, bucketed_rows(cell, asked), pair)
    return corrected_findings([], [PairwiseExplanation("a", "b", facets, [])]).pairs[0].facets


def turned() -> tuple[CellTable, np.ndarray]:
    """Return two buckets of 100: the first system has 90 and 40 right, the second 50 and 70."""
    place = np.tile(np.arange(100), 2)
    small = np.repeat([True, False], 100)
    return table(place < np.where(small, 90, 40), place < np.where(small, 50, 70)), np.repeat([1.0, 2], 100)


def test_differences_by_hand_and_flips_of_the_ranking() -> None:
    cell, column = turned()
    (facet,) = compared(cell, chosen(column))
    first, second = facet.buckets
    assert (first.first, first.second, first.difference) == pytest.approx((90, 50, 40))
    assert (second.first, second.second, second.difference) == pytest.approx((40, 70, -30))
    assert (first.flips, second.flips) == (False, True)
    assert first.significant and second.significant
    assert first.low > 25 and first.high < 55 and first.low < 40 < first.high


def test_flip_by_chance_is_not_marked() -> None:
    rng = np.random.default_rng(0)
    marked = turned_by_chance = 0
    for _ in range(60):
        a, b = rng.random(400) < 0.6, rng.random(400) < 0.6
        (facet,) = compared(table(a, b), chosen(rng.random(400)))
        whole = a.mean() - b.mean()
        turned_by_chance += sum(row.difference * whole < 0 for row in facet.buckets)
        marked += sum(row.flips for row in facet.buckets)
    assert turned_by_chance > 40
    assert marked <= 6


def test_flip_needs_both_differences() -> None:
    # The first leads by 30 of 100 in three buckets; in the fourth by -2: not significant, though far from 30.
    place = np.tile(np.arange(100), 4)
    last = np.repeat([False, False, False, True], 100)
    cell = table(place < np.where(last, 60, 80), place < np.where(last, 62, 50))
    (facet,) = compared(cell, chosen(np.repeat([1.0, 2, 3, 4], 100)))
    assert facet.buckets[3].difference == pytest.approx(-2)
    assert [row.significant for row in facet.buckets] == [True, True, True, False]
    assert not any(row.flips for row in facet.buckets)
    # 10 points more, and both are certain.
    again = table(place < np.where(last, 60, 80), place < np.where(last, 74, 50))
    (facet,) = compared(again, chosen(np.repeat([1.0, 2, 3, 4], 100)))
    assert [row.flips for row in facet.buckets] == [False, False, False, True]
    here, elsewhere = sign_test(np.ones(14)), sign_test(np.ones(90))
    assert facet.buckets[3].tests == pytest.approx([here, max(here, elsewhere)])


def test_p_values_are_mcnemars_corrected_over_all_buckets() -> None:
    rng = np.random.default_rng(0)
    a, b = rng.random(80) < 0.7, rng.random(80) < 0.5
    cell, column = table(a, b), np.repeat([1.0, 2], 40)
    (facet,) = compared(cell, chosen(column))
    raw = []
    for half in (slice(0, 40), slice(40, 80)):
        raw.append(sign_test(a[half].astype(float) - b[half].astype(float)))
    smaller, larger = sorted(raw)
    expected = [min(2 * smaller, larger), larger]
    assert sorted(bucket.p for bucket in facet.buckets) == pytest.approx(expected)


def test_exchanging_the_systems_changes_the_sign() -> None:
    cell, column = turned()
    (there,), (back,) = compared(cell, chosen(column)), compared(cell, chosen(column), (1, 0))
    for a, b in zip(there.buckets, back.buckets, strict=True):
        assert (a.difference, a.low, a.high, a.p, a.flips) == pytest.approx(
            (-b.difference, -b.high, -b.low, b.p, b.flips)
        )


def test_examples_only_one_system_answers_correctly() -> None:
    cell = table(np.array([1, 0.5, 0, 0, 1]), np.array([0, 0.4, 1, 0, 1]))
    cases = ExampleCollector(1, ["a", "b"])
    found = disagreement(cell, (0, 1), cases)
    assert (found.first_right, found.second_right, found.n) == (2, 1, 5)
    assert found.first_right_ids == ["e0"]
    assert found.second_right_ids == ["e2"]
    assert found.difference == pytest.approx(2)
    assert cases.examples["xnli/en"]["e0"].scores == {"a": 100, "b": 0}
    assert disagreement(cell, (0, 1)).first_right_ids == []


def test_lower_is_better_makes_the_lower_score_right(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(main_score, "find_metric", lambda name: Metric(name, name, lower_is_better=name == "accuracy"))
    cell, column = turned()
    (facet,) = compared(cell, chosen(column))
    assert facet.lower_is_better
    first, second = facet.buckets
    # Differences keep their sign: the first makes 40 more errors, so it is worse.
    assert first.difference == pytest.approx(40)
    assert [row.favours(facet.lower_is_better) for row in facet.buckets] == ["second", "first"]
    assert (first.flips, second.flips) == (False, True)
    found = disagreement(table(np.array([1, 1, 0]), np.array([0, 0, 1])), (0, 1))
    assert (found.first_right, found.second_right) == (1, 2)


def test_largest_gain_and_loss_of_an_attribute(monkeypatch: pytest.MonkeyPatch) -> None:
    # Three buckets of forty: the first system is ahead by 50 and by 25 points, then behind by 75.
    first = np.repeat([1.0, 0.75, 0.0], 40)
    second = np.repeat([0.5, 0.5, 0.75], 40)
    (facet,) = compared(table(first, second), chosen(np.repeat([1.0, 2, 3], 40)))
    assert (facet.largest_gains, facet.largest_losses) == ([facet.buckets[0]], [facet.buckets[2]])
    (ahead,) = compared(table(first, np.zeros(120)), chosen(np.repeat([1.0, 2, 3], 40)))
    assert (ahead.largest_gains, ahead.largest_losses) == ([ahead.buckets[0]], [])
    (equal,) = compared(table(first, first), chosen(np.repeat([1.0, 2, 3], 40)))
    assert (equal.largest_gains, equal.largest_losses) == ([], [])
    (tied,) = compared(table(np.repeat([1.0, 0.5, 1.0], 40), np.full(120, 0.5)), chosen(np.repeat([1.0, 2, 3], 40)))
    assert (tied.largest_gains, tied.largest_losses) == ([tied.buckets[0], tied.buckets[2]], [])
    monkeypatch.setattr(main_score, "find_metric", lambda name: Metric(name, name, lower_is_better=name == "accuracy"))
    assert (facet.largest_gains, facet.largest_losses) == ([facet.buckets[2]], [facet.buckets[0]])


def test_entities_are_compared_over_the_same_rows() -> None:
    n = 60
    tokens = [["Ada", "ran"], ["in", "Oslo"]] * n
    gold = [["B-PER", "O"], ["O", "B-LOC"]] * n
    # The first predicts only persons, each with a spurious location; the second only locations.
    first = [["B-PER", "B-LOC"], ["O", "O"]] * n
    second = [["O", "O"], ["O", "B-LOC"]] * n
    of = task("wikiann")
    ids = [str(row) for row in range(2 * n)]
    examples = Examples("wikiann", "en", "test", ids, {"tokens": tokens, "tags": gold}, "tags")
    found = entities(of, examples, (first, second))
    metrics = tuple({"f1": found.statistics(system)} for system in (0, 1))
    cell = CellTable.of_examples(
        of, examples, (first, second), metrics, row_example=found.example, counted=found.gold, entities=found
    )
    (facet,) = compared(cell, choose_attributes(["tag"], ["tagging"]))
    by_name = {row.bucket.name: row for row in facet.buckets}
    assert (by_name["PER"].first, by_name["PER"].second, by_name["PER"].bucket.n) == (100, 0, n)
    # Locations: 0 of n correct; n of n correct.
    assert (by_name["LOC"].first, by_name["LOC"].second, by_name["LOC"].bucket.n) == (0, 100, n)
    assert all(row.significant for row in facet.buckets)
    assert cell.scores[0].tolist() == pytest.approx([2 / 3, 0] * n)
    assert disagreement(cell, (0, 1)).second_right == n
