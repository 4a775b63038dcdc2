"""Do 95 % intervals hold the truth in 95 % of all data sets, and tests err in 5 %? Worlds whose truth is known.

The full table is made by `benchmarks/coverage.py`; these are the cases in which other intervals were too narrow.
"""

from collections.abc import Callable

import numpy as np
import pytest

from isogloss.metrics.crossed import Design, MethodDifference, RunEstimates
from isogloss.metrics.estimate import Estimate, estimate, mean
from isogloss.metrics.exchange import exchange
from isogloss.metrics.statistics import F1, MEAN, Statistics

pytestmark = pytest.mark.slow

DATA_SETS = 2000


def covered(world: Callable[[np.random.Generator], tuple[float, tuple[float, float] | None]]) -> float:
    """The share of worlds (truth, interval) whose interval holds the truth."""
    rng = np.random.default_rng(20)
    held = 0
    for _ in range(DATA_SETS):
        truth, (low, high) = world(rng)  # type: ignore[misc]
        held += low <= truth <= high
    return held / DATA_SETS


def answers(rng: np.random.Generator, right: float, wrong: float, n: int) -> np.ndarray:
    """F1 of answers: some are right, some wrong, the rest between."""
    between = np.round(rng.beta(2, 2, n) * 12) / 12
    kind = rng.random(n)
    return np.where(kind < right, 1.0, np.where(kind < right + wrong, 0.0, between))


def of(values: np.ndarray, units: np.ndarray | None = None) -> Statistics:
    return Statistics(values.astype(float)[:, None], MEAN, units)


@pytest.mark.parametrize("n", [20, 50, 200])
@pytest.mark.parametrize(("right", "wrong"), [(0.35, 0.35), (0.85, 0.05), (0.95, 0.02), (0.02, 0.9)])
def test_question_answering_f1_at_the_ends_of_the_scale(right: float, wrong: float, n: int) -> None:
    truth = right + (1 - right - wrong) / 2
    share = covered(lambda rng: (truth, estimate(of(answers(rng, right, wrong, n))).score_interval()))
    assert 0.935 <= share <= 0.985


@pytest.mark.parametrize("share_right", [0.6, 0.95])
def test_entity_f1(share_right: float) -> None:
    def rows(rng: np.random.Generator, n: int) -> np.ndarray:
        gold = rng.poisson(1.4, n)
        found = rng.binomial(gold, rng.beta(3 * share_right, 3 * (1 - share_right), n))
        return np.stack([found, found + rng.poisson(1.4 * (1 - share_right), n), gold], axis=1).astype(float)

    truth = Statistics(rows(np.random.default_rng(1), 1_000_000), F1).score
    assert 0.935 <= covered(lambda rng: (truth, estimate(Statistics(rows(rng, 50), F1)).score_interval())) <= 0.98


def clustered(rng: np.random.Generator, truth: float, count: int = 48, size: int = 25) -> Statistics:
    """Answers of articles that are easy or hard as a whole, in articles of different length."""
    sizes = 1 + rng.poisson(size - 1, count)
    easy = np.repeat(rng.beta(8 * truth, 8 * (1 - truth), count), sizes)
    return of(rng.random(len(easy)) < easy, np.repeat(np.arange(count), sizes))


@pytest.mark.parametrize("truth", [0.5, 0.9])
def test_questions_about_articles(truth: float) -> None:
    assert 0.93 <= covered(lambda rng: (truth, estimate(clustered(rng, truth)).score_interval())) <= 0.97
    # Taken one by one, the same questions promise too much.
    naive = covered(lambda rng: (truth, estimate(of(clustered(rng, truth).rows[:, 0])).score_interval()))
    assert naive < 0.85


def test_average_over_languages_that_share_their_articles() -> None:
    truth = 0.7

    def world(rng: np.random.Generator) -> tuple[float, tuple[float, float] | None]:
        easy = np.repeat(rng.beta(8 * truth, 8 * (1 - truth), 60), 5)
        languages = [estimate(of(rng.random(300) < easy), np.arange(300) // 5, 60, "all") for _ in range(8)]
        return truth, mean(languages).score_interval()

    assert 0.93 <= covered(world) <= 0.97


def two_equal(rng: np.random.Generator, n: int, truth: float) -> tuple[Statistics, Statistics]:
    """Two systems that are right equally often, and mostly on the same examples."""
    easy = rng.beta(2 * truth, 2 * (1 - truth), n)
    return of(rng.random(n) < easy), of(rng.random(n) < easy)


@pytest.mark.parametrize(("n", "truth"), [(20, 0.5), (50, 0.9), (300, 0.97), (1000, 0.6)])
def test_equal_systems_rarely_differ_significantly(n: int, truth: float) -> None:
    rng = np.random.default_rng(3)
    said = held = 0
    for _ in range(DATA_SETS):
        a, b = two_equal(rng, n, truth)
        found = exchange(a, b)
        said += found.p < 0.05
        low, high = found.interval() or (1, -1)
        held += low <= 0 <= high
    assert said / DATA_SETS <= 0.06
    assert held / DATA_SETS >= 0.935


@pytest.mark.parametrize("seeds", [3, 5, 10])
def test_mean_of_a_method_over_new_seeds_and_new_articles(seeds: int) -> None:
    truth = 0.7

    def world(rng: np.random.Generator) -> tuple[float, tuple[float, float] | None]:
        return truth, method(rng, truth, seeds).score_interval()

    assert 0.925 <= covered(world) <= 0.98


def method(rng: np.random.Generator, truth: float, seeds: int) -> Estimate:
    """Runs that differ by their seed, on 60 articles of 5 questions that are hard for all of them."""
    hard = np.repeat(rng.normal(0, 0.15, 60), 5)
    runs = [np.clip(truth + rng.normal(0, 0.02) + hard, 0, 1) for _ in range(seeds)]
    estimates = tuple(estimate(of(rng.random(300) < run), np.arange(300) // 5, 60, "a") for run in runs)
    return RunEstimates(estimates, design(seeds)).combined


def design(seeds: int) -> Design:
    return Design.of([{"seed": str(seed)} for seed in range(seeds)])


def test_equal_methods_rarely_differ_significantly() -> None:
    rng = np.random.default_rng(4)
    said = 0
    for _ in range(DATA_SETS):
        hard = np.repeat(rng.normal(0, 0.15, 60), 5)
        pair = []
        for _ in range(2):
            runs = [np.clip(0.7 + rng.normal(0, 0.03) + hard, 0, 1) for _ in range(3)]
            found = tuple(estimate(of(rng.random(300) < run), np.arange(300) // 5, 60, "x") for run in runs)
            pair.append(RunEstimates(found, design(3)))
        said += MethodDifference.of(*pair, 0.0).p < 0.05
    assert said / DATA_SETS <= 0.06


@pytest.mark.parametrize("seeds", [3, 5])
def test_average_of_languages_over_seeds(seeds: int) -> None:
    """A seed moves all ten languages together."""
    truth = 0.7

    def world(rng: np.random.Generator) -> tuple[float, tuple[float, float] | None]:
        levels = truth + rng.normal(0, 0.02, seeds)
        languages = []
        for code in "abcdefghij":
            runs = tuple(estimate(of(rng.random(100) < level), space=code) for level in levels)
            languages.append(RunEstimates(runs, design(seeds)))
        return truth, RunEstimates.mean(languages).combined.score_interval()

    assert 0.93 <= covered(world) <= 0.975
