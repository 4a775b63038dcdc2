"""Paired differences: contributions of sources, intervals that agree with the test, equivalence."""

from math import sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isogloss.metrics.exchange import Exchange, exchange
from isogloss.metrics.significance import sign_test
from isogloss.metrics.statistics import F1, MEAN, Statistics, Value
from isogloss.metrics.student import t_quantile


def scores(*values: float, units: list[int] | None = None) -> Statistics:
    return Statistics(np.array(values, dtype=float)[:, None], MEAN, None if units is None else np.array(units))


def contributions(found: Exchange) -> np.ndarray:
    (part,) = found.parts.values()
    return part.values


def test_source_contributions_to_difference_of_means() -> None:
    a, b = scores(1, 1, 0, 1, units=[0, 0, 1, 2]), scores(0, 1, 1, 0, units=[0, 0, 1, 2])
    found = exchange(a, b)
    (part,) = found.parts.values()
    assert part.values == pytest.approx([0.25, -0.25, 0.25])
    assert part.weights == pytest.approx([0.5, 0.25, 0.25])
    assert found.value == pytest.approx(0.25)
    with pytest.raises(ValueError, match="cannot pair"):
        exchange(scores(1, 0), scores(1))


def test_source_contributions_sum_to_difference_of_f1() -> None:
    rng = np.random.default_rng(0)
    gold = 1 + rng.poisson(1.5, 200)
    sides = []
    for share in (0.8, 0.74):
        right = rng.binomial(gold, share)
        sides.append(Statistics(np.stack([right, right + rng.poisson(0.4, 200), gold], axis=1).astype(float), F1))
    found, back = exchange(*sides), exchange(*sides[::-1])
    assert contributions(found).sum() == pytest.approx(found.value, rel=1e-3)
    assert back.p == found.p
    assert back.interval() == pytest.approx([-end for end in reversed(found.interval() or ())])
    # As exchanging the rows themselves: the share of random exchanges that move the scores as far apart.
    coins = rng.random((20_000, 200)) < 0.5
    moves = coins.astype(float) @ (sides[1].rows - sides[0].rows)
    drawn = F1(sides[0].sums + moves, 200) - F1(sides[1].sums - moves, 200)
    share = (np.abs(drawn) >= abs(found.value)).mean()
    assert found.p == pytest.approx(share, rel=0.1, abs=0.003)


def test_interval_is_students_for_sources_of_equal_weight() -> None:
    """(n - 1) z² / (n - z²) is the square of Student's quantile, nearly; the further examples add little."""
    rng = np.random.default_rng(5)
    gaps = rng.normal(0.02, 0.1, 400)
    base = np.full(400, 0.5)
    found = exchange(scores(*(base + gaps)), scores(*base))
    margin = t_quantile(0.975, 399) * sqrt(gaps.var(ddof=1) / 400)
    assert found.interval() == pytest.approx((gaps.mean() - margin, gaps.mean() + margin), rel=0.03, abs=1e-4)


def test_interval_by_hand() -> None:
    """Six examples of 100 in favour of the first system, none of the second: McNemar's p is 2 / 64."""
    first = [1.0] * 6 + [0.0] * 94
    found = exchange(scores(*first), scores(*[0.0] * 100))
    assert found.p == pytest.approx(2 / 64)
    assert found.test == "McNemar"
    assert found.further == pytest.approx(2 / 102**2)
    low, high = found.interval() or (0, 0)
    for end in (low, high):  # |difference - end| is 1.96 standard errors under a shift by that end
        shifted = np.array(first) / 100 - end / 100
        assert abs(0.06 - end) == pytest.approx(1.959964 * sqrt((shifted**2).sum() + 2 / 102**2), rel=1e-6)
    assert 0 < low < 0.06 < high


@settings(deadline=None)
@given(
    st.lists(st.sampled_from([-1.0, -0.5, 0.0, 0.0, 0.0, 0.5, 1.0]), min_size=20, max_size=80),
    st.sampled_from([0.9, 0.95, 0.999]),
)
def test_interval_and_p_agree(gaps: list[float], level: float) -> None:
    first = [max(gap, 0.0) for gap in gaps]
    second = [max(-gap, 0.0) for gap in gaps]
    found = exchange(scores(*first), scores(*second))
    interval = found.interval(level)
    assert interval is not None
    low, high = interval
    assert -1 <= low <= found.value <= high <= 1
    assert (low <= 0 <= high) == (found.p >= 1 - level)


def test_correlated_articles_are_not_padded_by_whole_articles() -> None:
    """Differences spread over 24 articles: the padding is that of two questions, not of two articles."""
    rng = np.random.default_rng(1)
    units = np.repeat(np.arange(24), 50).tolist()
    base = (rng.random(1200) < 0.8).astype(float)
    other = np.where(rng.random(1200) < 0.95, base, 1 - base)
    found = exchange(scores(*base, units=units), scores(*other, units=units))
    assert found.further < 2 / 800**2
    # Differences that come in whole articles: an article is one example.
    whole = np.repeat((np.arange(24) < 5).astype(float), 50)
    found = exchange(scores(*whole, units=units), scores(*np.zeros(1200), units=units))
    assert found.further == pytest.approx(2 / 26**2)
    assert found.p == pytest.approx(2 / 32)
    low, high = found.interval() or (1, 1)
    assert low <= 0 < high


def test_interval_is_never_a_point() -> None:
    ones, zeros = scores(*[1.0] * 40), scores(*[0.0] * 40)
    low, high = exchange(ones, zeros).interval() or (0, 0)
    assert 0.8 < low < 1 == high
    low, high = exchange(ones, ones).interval() or (0, 0)
    assert -0.15 < low == -high < 0
    few = exchange(scores(1, 1), scores(0, 0))
    assert few.interval() is None and few.detectable is None and few.equivalence(0.5) == 1


def test_non_share_scores_are_unbounded_and_unpadded() -> None:
    plain = Value("mean of anything", ("score",), MEAN.function, is_share=False)
    rng = np.random.default_rng(0)
    sides = [Statistics(rng.normal(level, 1, (60, 1)), plain) for level in (55, 50)]
    low, high = exchange(*sides).interval() or (0, 0)
    assert 4 < low < 5.3 and 4.7 < high < 6.5
    constant = Statistics(np.full((60, 1), 7.0), plain)
    assert exchange(constant, constant).interval() is None


def test_detectable_difference_is_found_four_times_in_five() -> None:
    rng = np.random.default_rng(0)
    found = 0
    reach = 0.0
    for _ in range(400):
        base = rng.random(300) < 0.6
        flip = rng.random(300)
        better = np.where(base, flip > 0.05, flip < 0.2125)
        apart = exchange(scores(*better.astype(float)), scores(*base.astype(float)))
        reach += (apart.detectable or 0) / 400
        found += apart.p < 0.05
    truth = 0.4 * 0.2125 - 0.6 * 0.05
    assert reach == pytest.approx(truth, abs=0.003)
    assert 0.74 < found / 400 < 0.86


def test_means_add_up_shared_sources() -> None:
    rng = np.random.default_rng(2)
    sides = [scores(*(rng.random(50) < 0.7).astype(float)) for _ in range(4)]
    codes = np.arange(50)
    shared = [exchange(*sides[:2], codes, 50, "articles"), exchange(*sides[2:], codes, 50, "articles")]
    found = Exchange.mean(shared, [1, 3])
    (part,) = found.parts.values()
    one, other = (contributions(each) for each in shared)
    assert part.values == pytest.approx(0.25 * one + 0.75 * other)
    assert part.weights.sum() == pytest.approx(1)
    assert found.value == pytest.approx(0.25 * shared[0].value + 0.75 * shared[1].value)
    assert found.p == sign_test(part.values)
    assert found.further == pytest.approx((0.25**2 + 0.75**2) * shared[0].further)
    apart = Exchange.mean([shared[0], exchange(*sides[2:], codes, 50, "others")])
    assert apart.sources == 100 and found.sources == 50


def test_equivalence_by_two_one_sided_tests() -> None:
    """Equal systems that differ on a tenth of 2,000 examples: equivalent within 3 points, not within 1."""
    gaps = np.zeros(2000)
    gaps[:100], gaps[100:200] = 1, -1
    found = exchange(scores(*np.maximum(gaps, 0)), scores(*np.maximum(-gaps, 0)))
    assert found.equivalence(0.03) < 0.001
    assert 0.05 < found.equivalence(0.005) < 0.5
    # Equivalent at the 5 % level if and only if the 90 % interval lies within the margin.
    low, high = found.interval(0.9) or (0, 0)
    assert found.equivalence(max(-low, high) * 1.01) < 0.05 < found.equivalence(max(-low, high) * 0.99)


def test_equivalence_rarely_holds_at_the_margin() -> None:
    """Systems that differ by the margin are called equivalent in at most 5 % of data sets."""
    rng = np.random.default_rng(3)
    said = 0
    for _ in range(500):
        gaps = rng.choice([1.0, -1.0, 0.0], p=[0.12, 0.08, 0.8], size=500)
        said += exchange(scores(*np.maximum(gaps, 0)), scores(*np.maximum(-gaps, 0))).equivalence(0.04) < 0.05
    assert 5 <= said <= 35


def test_identical_answers_have_the_narrowest_interval() -> None:
    """Change answers one by one, wholly or partly, in 48 articles of 25 questions: no interval is narrower."""
    rng = np.random.default_rng(0)
    units = np.repeat(np.arange(48), 25).tolist()
    base = (rng.random(1200) < 0.8).astype(float)

    def width(other: np.ndarray) -> float:
        found = exchange(scores(*base, units=units), scores(*other, units=units))
        low, high = found.interval() or (1, -1)
        assert (low <= 0 <= high) == (found.p >= 0.05)
        return high - low if found.p >= 0.05 else 1.0  # that of a significant difference is cut at 0

    identical = width(base)
    assert identical == pytest.approx(2 * 1.96 * sqrt(2) / 602, rel=0.1)
    for step in (1.0, 0.5, 0.05):
        other, widths = base.copy(), [identical]
        for row in rng.permutation(1200)[:40]:
            other[row] += step if base[row] == 0 else -step
            widths.append(width(other))
        assert min(widths) == pytest.approx(identical, rel=0.01)
    # Two differences that cancel within an article are no evidence of differences between articles.
    other = base.copy()
    right, wrong = (int(np.flatnonzero(base[:25] == value)[0]) for value in (1, 0))
    other[right], other[wrong] = 0, 1
    assert width(other) == pytest.approx(identical, rel=0.01)


def test_only_right_and_wrong_answers_make_mcnemars_test() -> None:
    right = [1.0] * 6 + [0.0] * 94
    assert exchange(scores(*right), scores(*[0.0] * 100)).test == "McNemar"
    half = exchange(scores(*right), scores(*[0.5, *right[1:]]))  # one difference, of an answer that is partly right
    assert half.test == "randomisation"
    assert exchange(scores(*[0.5] * 30), scores(*[0.5] * 30)).test == "randomisation"
    articles = np.repeat(np.arange(50), 2).tolist()
    assert exchange(scores(*right, units=articles), scores(*[0.0] * 100, units=articles)).test == "randomisation"
