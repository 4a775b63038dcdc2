"""Power of the tests: textbook sample sizes, the noncentral t distribution, exact McNemar, and simulated studies."""

from dataclasses import replace
from functools import cache
from itertools import count
from math import lgamma, log, sqrt

import numpy as np
import pytest

from isogloss.metrics.estimate import Estimate, SourceErrors
from isogloss.metrics.power import PlannedTest, exchange_test, largest_variance, t_test
from isogloss.metrics.significance import sign_test
from isogloss.metrics.statistics import FloatArray
from isogloss.metrics.variance_components import MeanSquare

SEEDS = frozenset({"seed"})


@pytest.mark.parametrize(("effect", "power", "n"), [(0.5, 0.8, 34), (0.2, 0.8, 199), (0.8, 0.8, 15), (0.5, 0.95, 54)])
def test_textbook_size_of_a_paired_t_test(effect: float, power: float, n: int) -> None:
    # Cohen (1988), as G*Power prints it.
    enough = next(size for size in count(2) if t_test([MeanSquare(1 / size, size - 1)], 0.05).power(effect) >= power)
    assert enough == n


def test_noncentral_t() -> None:
    stats = pytest.importorskip("scipy.stats")
    for freedom in (1, 2, 4, 10, 100):
        test, critical = t_test([MeanSquare(1.0, freedom)], 0.05), stats.t.ppf(0.975, freedom)
        for shift in (0.5, 2, 4):
            exact = stats.nct.sf(critical, freedom, shift) + stats.nct.cdf(-critical, freedom, shift)
            assert test.power(shift) == pytest.approx(exact, abs=0.001)


def test_power_of_no_difference_is_the_level() -> None:
    for freedom in (1, 3, 50):
        assert t_test([MeanSquare(1.0, freedom)], 0.05).power(0) == pytest.approx(0.05, abs=0.001)


def test_detectable_is_the_inverse_of_power() -> None:
    test = t_test([MeanSquare(0.3, 200), MeanSquare(0.2, 2, SEEDS, 0), MeanSquare(0.1, 2, SEEDS, 1)], 0.05)
    for power in (0.5, 0.8, 0.99):
        assert test.power(test.detectable(power, is_share=False) or 0) == pytest.approx(power, abs=1e-4)


@pytest.mark.parametrize(("seeds", "share"), [(2, 0.3), (2, 0.9), (3, 0.5), (5, 0.9)])
def test_studies_with_few_seeds(seeds: int, share: float) -> None:
    """Seeds of two systems and examples: draw variances, and test each difference by `Estimate`."""
    parts = [MeanSquare(1 - share, 300), *(MeanSquare(share / 2, seeds - 1, SEEDS, side) for side in (0, 1))]
    difference = t_test(parts, 0.05).detectable(0.8, is_share=False)
    rng = np.random.default_rng(0)
    significant = []
    for _ in range(1000):
        examples = {"examples": SourceErrors(_contributions(parts[0], rng), np.ones(301, dtype=bool))}
        runs = tuple(replace(part, variance=float((_contributions(part, rng) ** 2).sum())) for part in parts[1:])
        value = (difference or 0.0) + rng.standard_normal()
        estimate = Estimate(errors=examples, unseen=0.0, value=value, centre=value, n=301, runs=runs)
        significant.append(estimate.t_test < 0.05)
    assert np.mean(significant) == pytest.approx(0.8, abs=0.04)


def _contributions(part: MeanSquare, rng: np.random.Generator) -> FloatArray:
    """Return contributions of levels or sources to an error, with this variance on average."""
    values = rng.standard_normal(int(part.freedom) + 1)
    return (values - values.mean()) * sqrt(part.variance / part.freedom)


@pytest.mark.parametrize(("first", "second"), [(0.15, 0.05), (0.12, 0.08), (0.4, 0.3)])
def test_exchange_test_of_right_and_wrong_answers(first: float, second: float) -> None:
    """The planned number of examples has a power of 80 %, enumerated over all outcomes of McNemar's exact test."""
    difference, differing = first - second, first + second

    def test(n: int) -> PlannedTest:
        return exchange_test((differing - difference**2) / n, n - 1, 0.05, 1 / n, 1 / n)

    n = next(size for size in count(20, 5) if test(size).power(difference) >= 0.8)
    textbook = (1.96 * sqrt(differing) + 0.8416 * sqrt(differing - difference**2)) ** 2 / difference**2
    assert textbook < n < 1.2 * textbook  # the textbook ignores that the exact test has steps
    power = 0.0
    for number in range(int(n * differing / 2), min(n, int(2 * n * differing)) + 1):
        significant = _mcnemar(number) < 0.05
        power += _binomial(n, differing)[number] * _binomial(number, first / differing)[significant].sum()
    assert power == pytest.approx(0.8, abs=0.03)


@cache
def _binomial(n: int, share: float) -> FloatArray:
    """Return the chances of 0 to n successes."""
    k = np.arange(n + 1)
    choices = np.array([lgamma(n + 1) - lgamma(each + 1) - lgamma(n - each + 1) for each in k.tolist()])
    return np.exp(choices + k * log(share) + (n - k) * log(1 - share))


def _mcnemar(differing: int) -> FloatArray:
    """Return the p-value if 0 to all of the differing examples are gained."""
    tails = np.cumsum(_binomial(differing, 0.5))
    return np.minimum(1, 2 * np.minimum(tails, tails[::-1]))


def test_mcnemar_is_the_package_test() -> None:
    assert _mcnemar(12)[9] == pytest.approx(sign_test([1] * 9 + [-1] * 3))


def test_too_few_sources_for_the_level() -> None:
    assert exchange_test(0.01, 19, 1e-6, 1 / 20).detectable(0.8) is None


def test_one_seed_cannot_be_tested() -> None:
    test = t_test([MeanSquare(0.1, 100), MeanSquare(0.1, 0, SEEDS, 0)], 0.05)
    assert test.power(1) == 0
    assert test.detectable(0.8) is None


def test_without_variance_any_difference_is_seen() -> None:
    test = t_test([MeanSquare(0.0, 0)], 0.05)
    assert test.power(0.001) == 1
    assert test.detectable(0.8) == 0


@pytest.mark.parametrize(("freedom", "quantile"), [(1, 0.06418), (2, 0.44629), (4, 1.64878), (100, 87.9453)])
def test_upper_limit_of_a_variance(freedom: float, quantile: float) -> None:
    assert largest_variance(freedom, 0.8) == pytest.approx(freedom / quantile, rel=1e-3)


def test_differences_beyond_the_scale_are_not_detectable() -> None:
    test = t_test([MeanSquare(0.01, 1, SEEDS, 0)], 0.05)
    assert test.detectable(0.8) is None
    assert (test.detectable(0.8, is_share=False) or 0) > 1


@pytest.mark.parametrize(("prompts", "seeds"), [(4, 3), (8, 3)])
def test_studies_with_prompts_and_seeds(prompts: int, seeds: int) -> None:
    """Shared prompts, seeds of each system, and noise of single runs: simulated studies, tested by `Estimate`."""
    of_prompts, of_seeds, noise = 0.02, 0.01, 0.03  # variances of one level
    shared, both = frozenset({"prompt"}), frozenset({"prompt", "seed"})
    single = noise / (prompts * seeds)
    squares = [
        MeanSquare(of_prompts / prompts + 2 * single, prompts - 1, shared),
        *(MeanSquare(of_seeds / seeds + single, seeds - 1, SEEDS, side) for side in (0, 1)),
        *(MeanSquare(single, (prompts - 1) * (seeds - 1), both, side) for side in (0, 1)),
    ]
    planned = t_test(squares, 0.05)
    assert planned.error == pytest.approx(sqrt(of_prompts / prompts + 2 * of_seeds / seeds + 2 * single))
    difference, rng = planned.detectable(0.8), np.random.default_rng(0)
    assert difference is not None
    significant = []
    for _ in range(1000):
        value = difference + planned.error * rng.standard_normal()
        drawn = tuple(
            replace(part, variance=part.variance * rng.chisquare(part.freedom) / part.freedom) for part in squares
        )
        estimate = Estimate(errors={}, unseen=0.0, value=value, centre=value, n=100, runs=drawn)
        significant.append(estimate.t_test < 0.05)
    assert np.mean(significant) == pytest.approx(0.8, abs=0.04)
