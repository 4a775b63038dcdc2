"""Do 95 % intervals hold the truth in 95 % of all data sets? Simulated worlds whose true score is known.

4,000 data sets give a Monte-Carlo error of 0.35 points, so a right interval stays within 94..96 %. The
percentiles are order statistics out of resamples + 1, so fewer resamples make intervals noisier but not
narrower, and few are enough here.
"""

from collections.abc import Callable

import numpy as np
import pytest

from isogloss.metrics.intervals import interval, percentile_interval
from isogloss.metrics.resampling import joint_replicates, replicates, stream
from isogloss.metrics.significance import approximate_randomisation, paired_bootstrap
from isogloss.metrics.statistics import F1, MEAN, Statistics

pytestmark = pytest.mark.slow

DATA_SETS = 4000
RESAMPLES = 199
QA_SCORES = np.array([0.0, 0.4, 0.5, 0.57, 0.67, 0.8, 1.0])
QA_SHARES = np.array([0.25, 0.05, 0.1, 0.05, 0.06, 0.04, 0.45])


def coverage(
    one_world: Callable[[np.random.Generator, int], tuple[float, float, float]], data_sets: int = DATA_SETS
) -> float:
    """The share of worlds (truth, low, high) whose interval holds the truth."""
    rng = np.random.default_rng(20)
    worlds = np.array([one_world(rng, seed) for seed in range(data_sets)])
    return float(((worlds[:, 1] <= worlds[:, 0]) & (worlds[:, 0] <= worlds[:, 2])).mean())


def holds_its_level(covered: float) -> bool:
    return 0.94 <= covered <= 0.96


@pytest.mark.parametrize("n", [200, 1000])
def test_accuracy(n: int) -> None:
    def world(rng: np.random.Generator, seed: int) -> tuple[float, float, float]:
        truth = rng.uniform(0.3, 0.95)
        right = (rng.random((n, 1)) < truth).astype(float)
        return truth, *interval(Statistics(right, MEAN), RESAMPLES, seed)

    assert holds_its_level(coverage(world))


@pytest.mark.parametrize("n", [50, 200])
def test_question_answering_f1(n: int) -> None:
    truth = float(QA_SCORES @ QA_SHARES)

    def world(rng: np.random.Generator, seed: int) -> tuple[float, float, float]:
        scores = rng.choice(QA_SCORES, size=(n, 1), p=QA_SHARES)
        return truth, *interval(Statistics(scores, MEAN), RESAMPLES, seed)

    assert holds_its_level(coverage(world))


def test_entity_f1_of_sentences_that_are_easy_or_hard_as_a_whole() -> None:
    # Entities per sentence 1 + Poisson(1.5); each found with the sentence's own chance, Beta(3, 1), mean 3/4;
    # Poisson(0.4) spurious ones. So E[correct] = 1.875, E[predicted] = 2.275, E[gold] = 2.5.
    truth = 2 * 1.875 / (2.275 + 2.5)

    def world(rng: np.random.Generator, seed: int) -> tuple[float, float, float]:
        gold = 1 + rng.poisson(1.5, 300)
        correct = rng.binomial(gold, rng.beta(3, 1, 300))
        predicted = correct + rng.poisson(0.4, 300)
        rows = np.stack([correct, predicted, gold], axis=1).astype(float)
        return truth, *interval(Statistics(rows, F1), RESAMPLES, seed)

    assert holds_its_level(coverage(world))


def test_rows_that_share_a_unit() -> None:
    # A unit has 1 to 4 rows, all asked about the same thing: half the time they stand or fall together.
    def world(rng: np.random.Generator, seed: int) -> tuple[float, float, float]:
        units = np.repeat(np.arange(120), rng.integers(1, 5, 120))
        shared = rng.random(120)[units]
        own = rng.random(len(units))
        right = np.where(rng.random(len(units)) < 0.5, shared, own) < 0.7
        return 0.7, *interval(Statistics(right[:, None].astype(float), MEAN, units), RESAMPLES, seed)

    assert holds_its_level(coverage(world))


ACCURACIES = np.array([0.85, 0.75, 0.7, 0.65, 0.5])


def parallel_languages(rng: np.random.Generator, n: int = 100) -> list[Statistics]:
    """Five languages over the same n examples, each answered by its own luck or, mostly, by the example's."""
    luck = np.where(rng.random((n, 5)) < 0.8, rng.random((n, 1)), rng.random((n, 5)))
    right = (luck < ACCURACIES).astype(float)
    return [Statistics(right[:, [language]], MEAN, np.arange(n)) for language in range(5)]


def test_average_over_parallel_languages() -> None:
    def world(rng: np.random.Generator, seed: int) -> tuple[float, float, float]:
        averages = joint_replicates(parallel_languages(rng), RESAMPLES, seed).mean(axis=1)
        return float(ACCURACIES.mean()), *percentile_interval(averages, units=100)

    assert holds_its_level(coverage(world))


def test_average_over_parallel_languages_is_too_sure_when_they_are_drawn_apart() -> None:
    def world(rng: np.random.Generator, seed: int) -> tuple[float, float, float]:
        cells = parallel_languages(rng)
        apart = [replicates(cell, RESAMPLES, stream(seed, str(i))) for i, cell in enumerate(cells)]
        return float(ACCURACIES.mean()), *percentile_interval(np.mean(apart, axis=0), units=100)

    assert coverage(world, data_sets=1000) < 0.85


def test_average_over_languages_that_are_not_parallel() -> None:
    shares = [QA_SHARES, QA_SHARES[::-1]]
    truth = float(np.mean([QA_SCORES @ share for share in shares]))

    def world(rng: np.random.Generator, seed: int) -> tuple[float, float, float]:
        cells = [Statistics(rng.choice(QA_SCORES, size=(150, 1), p=share), MEAN) for share in shares]
        apart = [replicates(cell, RESAMPLES, stream(seed, str(i))) for i, cell in enumerate(cells)]
        return truth, *percentile_interval(np.mean(apart, axis=0), units=150)

    assert holds_its_level(coverage(world))


def two_systems(rng: np.random.Generator, n: int = 150) -> tuple[Statistics, Statistics]:
    """Two equally good systems: half of the examples get the same score from both."""
    first = rng.choice(QA_SCORES, size=(n, 1), p=QA_SHARES)
    second = np.where(rng.random((n, 1)) < 0.5, first, rng.choice(QA_SCORES, size=(n, 1), p=QA_SHARES))
    return Statistics(first, MEAN), Statistics(second, MEAN)


def test_paired_difference_and_its_false_alarms() -> None:
    p_values = []

    def world(rng: np.random.Generator, seed: int) -> tuple[float, float, float]:
        found = paired_bootstrap(*two_systems(rng), RESAMPLES, seed)
        p_values.append(found.p)
        return 0.0, found.low, found.high

    assert holds_its_level(coverage(world))
    assert 0.04 <= np.mean(np.array(p_values) <= 0.05) <= 0.06


def test_approximate_randomisation_false_alarms() -> None:
    rng = np.random.default_rng(3)
    p_values = [approximate_randomisation(*two_systems(rng), RESAMPLES, seed) for seed in range(DATA_SETS)]
    assert 0.04 <= np.mean(np.array(p_values) <= 0.05) <= 0.06
