"""Tests between systems: hand-computed p-values, parity with plain loops, and symmetry."""

from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isogloss.metrics import significance
from isogloss.metrics.intervals import percentile_interval
from isogloss.metrics.resampling import joint_replicates, replicates
from isogloss.metrics.significance import (
    approximate_randomisation,
    holm,
    mcnemar,
    paired,
    paired_bootstrap,
)
from isogloss.metrics.statistics import F1, MEAN, Statistics


def answers(*values: float) -> Statistics:
    return Statistics(np.array(values, dtype=float)[:, None], MEAN)


def discordant(only_a: int, only_b: int, both: int = 3) -> tuple[Statistics, Statistics]:
    """Two systems of which exactly one is right `only_a` and `only_b` times."""
    return answers(*[1] * (only_a + both) + [0] * only_b), answers(*[0] * only_a + [1] * (both + only_b))


def two_taggers(n: int = 400, seed: int = 0, skill: float = 0.7) -> tuple[Statistics, Statistics]:
    rng = np.random.default_rng(seed)
    gold = 1 + rng.poisson(1.5, n)
    systems = []
    for chance in (0.7, skill):
        correct = rng.binomial(gold, chance)
        rows = np.stack([correct, correct + rng.poisson(0.4, n), gold], axis=1)
        systems.append(Statistics(rows.astype(float), F1))
    return systems[0], systems[1]


# paired bootstrap


def test_a_clear_difference_is_found() -> None:
    a, b = two_taggers(skill=0.5)
    found = paired_bootstrap(a, b)
    assert found.difference == a.score - b.score
    assert 0 < found.low < found.difference < found.high
    assert found.p == 1 / 1001


def test_a_system_does_not_differ_from_itself() -> None:
    a, _ = two_taggers()
    found = paired_bootstrap(a, a)
    assert (found.difference, found.low, found.high, found.p) == (0, 0, 0, 1)


def test_exchanging_the_systems_turns_the_sign() -> None:
    a, b = two_taggers(n=2000, skill=0.69)
    there, back = paired_bootstrap(a, b, resamples=4000), paired_bootstrap(b, a, resamples=4000)
    assert back.difference == -there.difference
    assert back.p == pytest.approx(there.p, abs=0.05)
    assert (-back.high, -back.low) == pytest.approx((there.low, there.high), abs=0.003)


def test_pairing_is_tighter_than_two_intervals_where_systems_agree() -> None:
    rng = np.random.default_rng(0)
    right = (rng.random(500) < 0.6).astype(float)
    changed = np.where(rng.random(500) < 0.05, 1 - right, right)
    found = paired_bootstrap(answers(*right), answers(*changed))
    apart = replicates(answers(*right), seed=1) - replicates(answers(*changed), seed=2)
    low, high = percentile_interval(apart)
    assert found.high - found.low < (high - low) / 2


def test_p_is_that_of_a_plain_loop() -> None:
    a, b = two_taggers(n=150, seed=1, skill=0.65)
    rng = np.random.default_rng(5)
    observed = a.score - b.score
    drawn = [rng.integers(150, size=150) for _ in range(4000)]
    moved = np.array([a.select(index).score - b.select(index).score - observed for index in drawn])
    expected = (np.abs(moved) >= abs(observed)).mean()
    assert 0.02 < expected < 0.9
    assert paired_bootstrap(a, b, resamples=4000).p == pytest.approx(expected, abs=0.04)


def test_units_are_drawn_whole() -> None:
    a, b = two_taggers(n=100, skill=0.6)
    repeated = [Statistics(np.repeat(s.rows, 3, axis=0), F1, np.repeat(np.arange(100), 3)) for s in (a, b)]
    whole, alone = paired_bootstrap(*repeated), paired_bootstrap(a, b)
    assert (whole.low, whole.high, whole.p) == pytest.approx((alone.low, alone.high, alone.p), abs=1e-12)


# joint replicates of two systems


def test_the_same_seed_pairs_two_systems() -> None:
    a, b = two_taggers(n=100)
    replicates_a, replicates_b = (joint_replicates([s], resamples=100, seed=4)[:, 0] for s in (a, b))
    together = joint_replicates([a, b], resamples=100, seed=4)
    assert replicates_a == pytest.approx(together[:, 0], abs=1e-14)
    assert replicates_b == pytest.approx(together[:, 1], abs=1e-14)
    assert not np.allclose(replicates_a, joint_replicates([a], resamples=100, seed=5)[:, 0])


def test_paired_averages_over_languages() -> None:
    languages = [two_taggers(n=200, seed=seed, skill=0.6) for seed in range(4)]
    observed = float(np.mean([a.score - b.score for a, b in languages]))
    drawn_a = joint_replicates([a for a, _ in languages]).mean(axis=1)
    drawn_b = joint_replicates([b for _, b in languages]).mean(axis=1)
    found = paired(drawn_a, drawn_b, observed, units=200)
    assert 0 < found.low < found.difference < found.high
    assert found.p < 0.01
    assert paired(drawn_b, drawn_a, -observed, units=200).p == found.p


def test_paired_counts_by_hand() -> None:
    # Differences 0, 1, 2, 3 less the observed 1.5 are 1.5, 0.5, 0.5, 1.5 in size: two of four are as extreme.
    found = paired(np.array([0.0, 1, 2, 3]), np.zeros(4), 1.5)
    assert found.p == 3 / 5
    assert (found.low, found.high) == (0, 3)


# approximate randomisation


def test_randomisation_by_hand() -> None:
    # a is right where b is wrong in 3 examples: |difference| is as large in 2 of 8 exchanges.
    a, b = discordant(3, 0)
    assert approximate_randomisation(a, b, trials=20_000) == pytest.approx(0.25, abs=0.015)


def test_randomisation_agrees_with_the_exact_test() -> None:
    a, b = discordant(9, 1, both=40)
    assert approximate_randomisation(a, b, trials=20_000) == pytest.approx(mcnemar(a, b), abs=0.004)


def test_equal_rows_are_exchanged_as_single_ones_would_be(monkeypatch: pytest.MonkeyPatch) -> None:
    a, b = two_taggers(n=1500, skill=0.68)
    monkeypatch.setattr(significance, "BINOMIAL_COST", 0)
    collapsed = approximate_randomisation(a, b, trials=5000)
    monkeypatch.setattr(significance, "BINOMIAL_COST", 1500)
    single = approximate_randomisation(a, b, trials=5000)
    assert 0.01 < single < 0.99
    assert collapsed != single
    assert collapsed == pytest.approx(single, abs=0.04)


def test_systems_with_equal_rows_cannot_be_told_apart() -> None:
    a, _ = two_taggers()
    assert approximate_randomisation(a, a) == 1.0


def test_a_clear_difference_has_the_smallest_p() -> None:
    assert approximate_randomisation(*two_taggers(skill=0.4), trials=999) == 0.001


def test_rows_of_one_unit_are_exchanged_together() -> None:
    # Three units of four rows each: 2 of 8 exchanges, where twelve free rows would give 2 of 4096.
    a, b = discordant(12, 0, both=0)
    units = np.arange(12) // 4
    a, b = Statistics(a.rows, MEAN, units), Statistics(b.rows, MEAN, units)
    assert approximate_randomisation(a, b, trials=20_000) == pytest.approx(0.25, abs=0.015)


# McNemar


def test_mcnemar_by_hand() -> None:
    # Ten discordant pairs, one of them for a: 2 (1 + 10) / 1024, and mid-p 2 (1 + 10 / 2) / 1024.
    a, b = discordant(1, 9)
    assert mcnemar(a, b) == pytest.approx(22 / 1024, rel=1e-12)
    assert mcnemar(a, b, mid_p=True) == pytest.approx(12 / 1024, rel=1e-12)


def test_mcnemar_without_a_difference() -> None:
    assert mcnemar(*discordant(0, 0)) == 1.0
    assert mcnemar(*discordant(5, 5)) == 1.0
    assert mcnemar(*discordant(5, 5), mid_p=True) == pytest.approx(1.0)


def test_mcnemar_of_thousands_neither_overflows_nor_drifts() -> None:
    only_a, only_b = 2100, 1900
    total = only_a + only_b
    exact = 2 * sum(comb(total, k) for k in range(only_b + 1)) / 2**total
    assert mcnemar(*discordant(only_a, only_b)) == pytest.approx(exact, rel=1e-9)


@given(st.integers(0, 60), st.integers(0, 60), st.booleans())
@settings(deadline=None)
def test_mcnemar_is_symmetric_and_exact(only_a: int, only_b: int, mid_p: bool) -> None:
    a, b = discordant(only_a, only_b)
    p = mcnemar(a, b, mid_p=mid_p)
    assert p == mcnemar(b, a, mid_p=mid_p)
    total, fewer = only_a + only_b, min(only_a, only_b)
    ways = 2 * sum(comb(total, k) for k in range(fewer + 1)) - mid_p * comb(total, fewer)
    assert p == pytest.approx(min(1.0, ways / 2**total), rel=1e-12)


def test_mcnemar_refuses_what_it_cannot_test() -> None:
    with pytest.raises(ValueError, match="0/1"):
        mcnemar(answers(0.5, 1), answers(0, 1))
    with pytest.raises(ValueError, match="0/1"):
        mcnemar(*two_taggers())
    shared = np.array([0, 0])
    with pytest.raises(ValueError, match="independent rows"):
        mcnemar(Statistics(np.ones((2, 1)), MEAN, shared), Statistics(np.zeros((2, 1)), MEAN, shared))


# families of tests


def test_holm_by_hand() -> None:
    # Sorted 0.01, 0.02, 0.03, 0.04 times 4, 3, 2, 1 is 0.04, 0.06, 0.06, 0.04; the last may not fall to 0.04.
    assert holm([0.02, 0.04, 0.01, 0.03]) == pytest.approx([0.06, 0.06, 0.04, 0.06])
    assert holm([0.5, 0.9]) == pytest.approx([1.0, 1.0])
    assert holm([0.03]) == pytest.approx([0.03])
    assert holm([]).shape == (0,)


@given(st.lists(st.floats(0, 1), max_size=20), st.randoms(use_true_random=False))
def test_holm_keeps_order_and_only_raises(p_values: list[float], random: object) -> None:
    adjusted = holm(p_values)
    given_p = np.array(p_values)
    assert ((adjusted >= given_p) & (adjusted <= 1)).all()
    assert (adjusted <= np.minimum(1, given_p * len(p_values))).all()
    assert (np.diff(adjusted[np.argsort(given_p, kind="stable")]) >= 0).all()
    order = np.arange(len(p_values))
    random.shuffle(order)  # type: ignore[attr-defined]
    assert np.array_equal(holm(given_p[order]), adjusted[order])


@pytest.mark.parametrize("p_values", [[0.5, 1.5], [-0.1], [float("nan")], [[0.1]]])
def test_holm_refuses_what_is_no_p_value(p_values: list[float]) -> None:
    with pytest.raises(ValueError, match=r"within 0\.\.1"):
        holm(p_values)


# what can be paired


@pytest.mark.parametrize("test", [paired_bootstrap, approximate_randomisation, mcnemar])
def test_only_aligned_rows_can_be_paired(test: object) -> None:
    one, two, three = np.zeros((4, 1)), np.zeros((3, 1)), np.zeros((4, 3))
    units = np.array([0, 1, 2, 3])
    for a, b in [
        (Statistics(one, MEAN), Statistics(two, MEAN)),
        (Statistics(one, MEAN), Statistics(three, F1)),
        (Statistics(one, MEAN, units), Statistics(one, MEAN)),
        (Statistics(one, MEAN, units), Statistics(one, MEAN, units[::-1])),
    ]:
        with pytest.raises(ValueError, match="cannot pair"):
            test(a, b)  # type: ignore[operator]


def test_replicates_must_come_in_pairs() -> None:
    with pytest.raises(ValueError, match="differ in shape"):
        paired(np.zeros(10), np.zeros(11), 0.0)


def test_a_row_that_is_not_a_number_is_named() -> None:
    with pytest.raises(ValueError, match="row 1 "):
        paired_bootstrap(answers(1, float("nan")), answers(1, 0))
    with pytest.raises(ValueError, match="row 0 "):
        approximate_randomisation(answers(1, 1), answers(float("nan"), 0))
