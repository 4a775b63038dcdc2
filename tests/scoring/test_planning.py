"""Plans from variance components: what each factor can and cannot do."""

from dataclasses import replace
from math import ceil, sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from isogloss.metrics.student import normal_quantile
from isogloss.scoring.planning import (
    EXAMPLE,
    LANGUAGE,
    PilotStudy,
    StudyGoal,
    VarianceComponent,
    assumed_pilot,
    at_best,
    combinations,
    detectable,
    needed,
    reached,
)

REACH = normal_quantile(0.975) + normal_quantile(0.8)
GOAL = StudyGoal(difference=0.01)


def pilot(
    examples: float = 0.2, seeds: float = 0.0001, mixed: float = 0.0, numbers: tuple[float, float] = (3, 3)
) -> PilotStudy:
    """Return a pilot of 1,000 examples in one language, with seeds of both systems."""
    components = [VarianceComponent(frozenset({EXAMPLE}), examples)]
    for side in (0, 1):
        components.append(VarianceComponent(frozenset({"seed"}), seeds, side))
        components.append(VarianceComponent(frozenset({"seed", EXAMPLE}), mixed, side))
    levels = {EXAMPLE: (1000, 1000), LANGUAGE: (1, 1), "seed": numbers}
    return PilotStudy(components=tuple(components), numbers=levels, freedom=999, weight=0.001)


def test_examples_alone_follow_the_textbook() -> None:
    only = assumed_pilot([0.5], 1000)
    textbook = (REACH / 0.05) ** 2 * 2 * 0.25
    assert needed(only, EXAMPLE, only.numbers, StudyGoal(difference=0.05)) == pytest.approx(textbook, rel=0.03)
    assert detectable(only, only.numbers, GOAL) == pytest.approx(REACH * sqrt(0.5 / 1000), rel=0.03)


def test_correlated_systems_need_fewer_examples() -> None:
    sizes = [
        needed(one, EXAMPLE, one.numbers, GOAL) or 0
        for one in (assumed_pilot([0.8], 1000, correlation=share) for share in (0, 0.5))
    ]
    assert sizes[0] == pytest.approx(2 * sizes[1], rel=0.02)


def test_many_seeds_follow_the_textbook() -> None:
    one = pilot(examples=0.0, seeds=0.0004)
    assert needed(one, "seed", one.numbers, StudyGoal(difference=0.004)) == pytest.approx(
        ceil((REACH / 0.004) ** 2 * 2 * 0.0004) + 1, abs=1
    )


def test_more_examples_do_not_remove_the_variance_of_seeds() -> None:
    one = pilot(examples=0.2, seeds=0.0004)
    assert needed(one, EXAMPLE, one.numbers, GOAL) is None
    best = at_best(one, EXAMPLE, one.numbers, GOAL)
    assert best is not None
    assert best > sqrt(2 * 0.0004 / 3) * REACH
    assert not reached(one, one.with_levels(one.numbers, example=10**9), GOAL)


def test_more_seeds_do_not_remove_the_variance_of_examples() -> None:
    one = pilot(examples=0.5, seeds=0.0001)
    assert needed(one, "seed", one.numbers, GOAL) is None
    assert needed(one, EXAMPLE, one.with_levels(one.numbers, seed=20), GOAL) is not None


def test_examples_that_differ_by_seed_shrink_with_either() -> None:
    one = pilot(examples=0.0, seeds=0.0, mixed=0.3)
    more_seeds, more_examples = (
        one.test(one.with_levels(one.numbers, **{factor: count})) for factor, count in (("seed", 30), (EXAMPLE, 10_000))
    )
    assert more_seeds.error == pytest.approx(more_examples.error) == pytest.approx(sqrt(2 * 0.3 / 30 / 1000))


def test_needed_is_the_smallest_number() -> None:
    one = pilot(examples=0.05, seeds=0.0001, mixed=0.05)
    for factor in ("seed", EXAMPLE):
        base = one.with_levels(one.numbers, seed=10)
        number = needed(one, factor, base, StudyGoal(difference=0.02))
        assert number is not None
        assert reached(one, one.with_levels(base, **{factor: number}), StudyGoal(difference=0.02))
        assert not reached(one, one.with_levels(base, **{factor: number - 1}), StudyGoal(difference=0.02))


def test_one_seed_sees_nothing() -> None:
    one = pilot(numbers=(1, 1))
    assert detectable(one, one.numbers, GOAL) is None
    assert (needed(one, "seed", one.numbers, StudyGoal(difference=0.05)) or 0) >= 2


def test_differences_above_100_points_do_not_exist() -> None:
    pilot = assumed_pilot([0.5], 20, deviations={frozenset({"seed"}): 0.9}, runs={"seed": 3})
    goal = StudyGoal(difference=0.5)
    assert (pilot.test(pilot.numbers).detectable(goal.power, is_share=False) or 0) > 1
    assert detectable(pilot, pilot.numbers, goal) is None
    assert (detectable(pilot, pilot.with_levels(pilot.numbers, seed=50), goal) or 0) < 1


def test_systems_may_have_different_numbers_of_seeds() -> None:
    one = pilot(examples=0.0, seeds=0.0001, numbers=(2, 8))
    assert one.test(one.numbers).error == pytest.approx(sqrt(0.0001 / 2 + 0.0001 / 8))


def test_comparisons_need_more() -> None:
    one = assumed_pilot([0.8], 1000)
    alone, together = (needed(one, EXAMPLE, one.numbers, replace(GOAL, alpha=alpha)) or 0 for alpha in (0.05, 0.005))
    reach = normal_quantile(0.9975) + normal_quantile(0.8)
    assert together / alone == pytest.approx((reach / REACH) ** 2, rel=0.02)


def test_shared_examples_limit_what_languages_can_do() -> None:
    parallel, separate = (assumed_pilot([0.8] * 5, 1000, parallel=shared) for shared in (True, False))
    assert needed(parallel, LANGUAGE, parallel.numbers, GOAL) is None
    assert needed(separate, LANGUAGE, separate.numbers, GOAL) == ceil((REACH / 0.01) ** 2 * 0.32 / 1000)
    assert parallel.test(parallel.numbers).error == pytest.approx(sqrt(5) * separate.test(separate.numbers).error)


def test_a_sample_of_languages_is_limited_by_their_number() -> None:
    fixed = assumed_pilot([0.8] * 6, 5000)
    between = VarianceComponent(frozenset({LANGUAGE}), 0.02**2)
    sampled = replace(fixed, components=(*fixed.components, between), language_freedom=3.0)
    assert needed(fixed, EXAMPLE, fixed.numbers, GOAL) is not None
    assert needed(sampled, EXAMPLE, sampled.numbers, GOAL) is None
    assert (needed(sampled, LANGUAGE, sampled.numbers, GOAL) or 0) > 30
    assert sampled.least(LANGUAGE) == 4  # two degrees of freedom, the fewest of an interval
    assert fixed.least(LANGUAGE) == 1
    assert sampled.shares(sampled.numbers)[LANGUAGE] > 0.4


def test_interactions_of_two_factors_count_as_in_the_test() -> None:
    both = VarianceComponent(frozenset({"seed", "prompt"}), 0.0009, 0)
    numbers = {EXAMPLE: (1000, 1000), LANGUAGE: (1, 1), "seed": (3, 1), "prompt": (3, 1)}
    one = PilotStudy(components=(both,), numbers=numbers, freedom=999)
    assert one.test(numbers).error == pytest.approx(sqrt(0.0009 / 9))
    # The mean squares of seeds and prompts contain it, and they have two degrees of freedom each.
    assert (detectable(one, numbers, GOAL) or 0) > 3.6 * one.test(numbers).error
    assert one.shares(numbers) == pytest.approx({EXAMPLE: 0, "prompt": 0.5, "seed": 0.5})


def test_combinations_reach_the_goal() -> None:
    one, goal = pilot(examples=0.05, seeds=0.00005), StudyGoal(difference=0.02)
    designs = combinations(one, goal)
    assert [design["seed"][0] for design in designs] == [5, 10, 20, 50]
    assert all(reached(one, design, goal) for design in designs)
    examples = [design[EXAMPLE][0] for design in designs]
    assert examples == sorted(examples, reverse=True)
    assert combinations(assumed_pilot([0.8], 100), goal) == []


def test_cautious_numbers_of_small_pilots_are_larger() -> None:
    goal = StudyGoal(difference=0.02)
    ratios = []
    for seeds in (2, 3, 10):
        one = pilot(examples=0.01, seeds=0.0003, numbers=(seeds, seeds))
        usual, cautious = (needed(each, "seed", one.numbers, goal) or 0 for each in (one, one.cautious()))
        ratios.append(cautious / usual)
    assert ratios[0] > ratios[1] > ratios[2] > 1


@given(
    examples=st.floats(0, 1),
    seeds=st.floats(0, 0.01),
    mixed=st.floats(0, 1),
    counts=st.tuples(st.integers(2, 20), st.integers(20, 10**5)),
)
def test_power_is_a_chance_and_the_detectable_difference_has_it(
    examples: float, seeds: float, mixed: float, counts: tuple[int, int]
) -> None:
    one = pilot(examples, seeds, mixed)
    numbers = one.with_levels(one.numbers, seed=counts[0], example=counts[1])
    power = [one.test(numbers).power(difference) for difference in (0.001, 0.01, 0.1)]
    assert 0 <= power[0] <= power[1] + 1e-12
    assert power[1] <= power[2] + 1e-12
    assert power[2] <= 1 + 1e-12
    limit = one.test(numbers).detectable(GOAL.power, is_share=False)
    assert limit is not None
    assert detectable(one, numbers, GOAL) == (limit if limit <= 1 else None)
    if limit:
        assert one.test(numbers).power(limit) == pytest.approx(0.8, abs=0.01)
