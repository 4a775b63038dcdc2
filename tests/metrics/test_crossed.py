"""Runs of a system: designs, seeds and prompts as sources of error, averages within runs."""

import numpy as np
import pytest

from isogloss.metrics.crossed import Design, MethodDifference, RunEstimates, over_runs, variance_shares
from isogloss.metrics.estimate import Estimate, estimate, mean
from isogloss.metrics.exchange import exchange
from isogloss.metrics.statistics import MEAN, Statistics


def scores(*values: float) -> Statistics:
    return Statistics(np.array(values, dtype=float)[:, None], MEAN)


def seeds(count: int) -> Design:
    return Design.of([{"seed": str(seed)} for seed in range(count)])


def squares(found: Estimate) -> dict[tuple[str, ...], float]:
    """Return the mean squares of runs by factors, summed over both systems."""
    totals: dict[tuple[str, ...], float] = {}
    for part in found.runs:
        key = tuple(sorted(part.factors))
        totals[key] = totals.get(key, 0.0) + part.variance
    return totals


def test_designs() -> None:
    grid = [{"prompt": prompt, "seed": seed} for prompt in "ab" for seed in "012"]
    assert Design.of(grid).factors == {"prompt": tuple("aaabbb"), "seed": tuple("012012")}
    assert Design.of([{"prompt": "a", "seed": seed} for seed in "01"]).factors == {"seed": ("0", "1")}
    assert Design.of([{}]).factors == Design.of([{"seed": "4"}]).factors == {}
    with pytest.raises(ValueError, match="prompt-b/seed-2 is missing"):
        Design.of(grid[:-1])
    with pytest.raises(ValueError, match="seed-1 has no prompt"):
        Design.of([{"prompt": "a", "seed": "0"}, {"seed": "1"}])
    with pytest.raises(ValueError, match="two runs have the same levels"):
        Design.of([{"seed": "0"}, {"seed": "0"}, {"seed": "1"}])


def test_variances_of_two_crossed_factors_by_hand() -> None:
    """The classical two-way layout of seeds and examples, from mean squares."""
    rng = np.random.default_rng(0)
    table = 0.5 + 0.1 * rng.standard_normal((4, 1)) + 0.1 * rng.standard_normal((1, 30))
    table += 0.05 * rng.standard_normal((4, 30))
    found = over_runs([estimate(scores(*row)) for row in table], seeds(4))
    residuals = table - table.mean(axis=1, keepdims=True) - table.mean(axis=0) + table.mean()
    of_seeds = table.mean(axis=1).var(ddof=1) / 4
    of_examples = table.mean(axis=0).var(ddof=1) / 30
    of_both = (residuals**2).sum() / (3 * 29) / (4 * 30)
    assert squares(found) == pytest.approx({("seed",): of_seeds})
    assert [part.by_example for part in found.runs] == pytest.approx([of_both])
    assert found.example_variance == pytest.approx(of_examples - of_both)
    assert found.variance == pytest.approx(of_seeds + of_examples - of_both)
    total = found.variance
    assert found.freedom == pytest.approx(1 / (of_seeds / total / 3 + (of_examples - of_both) / total / 29))
    assert found.levels["seed"] == pytest.approx(dict(zip("0123", table.mean(axis=1), strict=True)))


def test_one_run_is_itself() -> None:
    one = estimate(scores(*np.linspace(0, 1, 30)))
    assert over_runs([one], Design()) is one
    assert RunEstimates((one,)).combined is one


def test_seeds_that_differ_alike_on_all_examples_are_all_seed() -> None:
    base = np.linspace(0.2, 0.6, 40)
    found = over_runs([estimate(scores(*(base + shift))) for shift in (0.0, 0.1, 0.2)], seeds(3))
    assert squares(found) == pytest.approx({("seed",): 0.01 / 3})
    assert found.runs[0].by_example == pytest.approx(0, abs=1e-15)
    assert found.sources == 40  # seeds are not examples
    assert found.n == 40
    few = over_runs([estimate(scores(*np.linspace(0, seed / 9, 12))) for seed in range(9)], seeds(9))
    assert few.score_interval() is None


def test_prompts_and_seeds_are_separate() -> None:
    base = np.linspace(0.2, 0.6, 40)
    design = Design.of([{"prompt": prompt, "seed": seed} for prompt in "ab" for seed in "012"])
    shifts = {"a": 0.0, "b": 0.3}
    runs = [
        estimate(scores(*(base + shifts[prompt] + 0.01 * int(seed))))
        for prompt, seed in zip(design.factors["prompt"], design.factors["seed"], strict=True)
    ]
    found = over_runs(runs, design)
    by_factor = {("prompt",): 0.3**2 / 4, ("seed",): 0.01**2 / 3, ("prompt", "seed"): 0}
    assert squares(found) == pytest.approx(by_factor, abs=1e-15)
    assert variance_shares(found) == pytest.approx(
        {"prompt": 0.3**2 / 4 / found.variance, "seed": 0.01**2 / 3 / found.variance}
    )
    assert found.levels["prompt"] == pytest.approx({"a": 0.41, "b": 0.71})


def test_seed_effect_that_languages_share_is_not_averaged_away() -> None:
    """Ten languages shift together with the seed: the mean has the same variance over seeds as each language."""
    rng = np.random.default_rng(0)
    shifts = [0.0, 0.1, 0.2]
    languages = [rng.random(30) / 2 for _ in range(10)]
    parts = [
        RunEstimates(tuple(estimate(scores(*(values + shift)), space=str(place)) for shift in shifts), seeds(3))
        for place, values in enumerate(languages)
    ]
    average = RunEstimates.mean(parts).combined
    assert squares(average) == pytest.approx({("seed",): 0.01 / 3})
    gap = parts[0].minus(RunEstimates.mean(parts[1:])).combined
    assert squares(gap) == pytest.approx({("seed",): 0}, abs=1e-15)


def test_seeds_of_two_systems_are_different_sources() -> None:
    base = np.linspace(0.2, 0.6, 40)
    sides = [RunEstimates(tuple(estimate(scores(*(base + shift))) for shift in (0.0, 0.1)), seeds(2)) for _ in range(2)]
    further = exchange(scores(*base), scores(*base)).further
    found = MethodDifference.of(*sides, further)
    assert found.value == pytest.approx(0)
    assert squares(found.estimate) == pytest.approx({("seed",): 2 * 0.005 / 2})
    assert (found.p, found.test) == (pytest.approx(1), "t over seeds")
    low, high = found.interval() or (0, 0)
    assert low == pytest.approx(-high)
    assert found.equivalence(0.9) < 0.05 < found.equivalence(0.01)


def test_equal_methods_with_random_seed_differences() -> None:
    rng = np.random.default_rng(1)
    said = 0
    for _ in range(400):
        easy = rng.random(200)
        sides = [
            RunEstimates(tuple(estimate(scores(*(rng.random(200) < easy).astype(float))) for _ in range(5)), seeds(5))
            for _ in range(2)
        ]
        said += MethodDifference.of(*sides, 0.0).p < 0.05
    assert 4 <= said <= 34


def test_detectable_difference_of_methods_is_found_four_times_in_five() -> None:
    """With three seeds each, the usual multiple of the standard error would be found in 7 of 10 studies."""
    rng = np.random.default_rng(2)
    hits, studies = 0, 300

    def study(gap: float) -> MethodDifference:
        sides = [
            RunEstimates(
                tuple(
                    estimate(scores(*(rng.random(400) < 0.6 + shift + rng.normal(0, 0.03)).astype(float)))
                    for _ in range(3)
                ),
                seeds(3),
            )
            for shift in (gap, 0.0)
        ]
        return MethodDifference.of(*sides, 0.0)

    reaches = [study(0.0).detectable or 0.0 for _ in range(100)]
    gap = float(np.sqrt(np.mean(np.square(reaches))))
    hits = sum(study(gap).p < 0.05 for _ in range(studies))
    assert 0.7 < hits / studies < 0.9


def prompts(*names: str, seeds: int = 1) -> Design:
    return Design.of([{"prompt": name, "seed": str(seed)} for name in names for seed in range(seeds)])


def shifted(base: np.ndarray, shifts: dict[str, float], design: Design) -> RunEstimates:
    """Return runs whose prompts shift all examples alike."""
    return RunEstimates(tuple(estimate(scores(*(base + shifts[name]))) for name in design.factors["prompt"]), design)


def test_effects_of_shared_prompts_cancel() -> None:
    base = np.linspace(0.2, 0.6, 40)
    design, shifts = prompts("a", "b", "c"), {"a": 0.0, "b": 0.1, "c": 0.3}
    first, second = shifted(base + 0.05, shifts, design), shifted(base, shifts, design)
    apart = MethodDifference.of(first, second, 0.0)
    assert apart.value == pytest.approx(0.05)
    assert squares(apart.estimate) == pytest.approx({("prompt",): 0}, abs=1e-15)
    assert apart.test == "t over shared prompts"
    # The order of runs does not matter, the names of prompts do.
    turned = RunEstimates(second.runs[::-1], prompts("c", "b", "a"))
    assert squares(MethodDifference.of(first, turned, 0.0).estimate) == pytest.approx({("prompt",): 0}, abs=1e-15)
    other = MethodDifference.of(first, RunEstimates(second.runs, prompts("x", "y", "z")), 0.0)
    of_one = np.var(list(shifts.values()), ddof=1) / 3
    assert squares(other.estimate) == pytest.approx({("prompt",): 2 * of_one})
    assert other.test == "t over different prompts"
    single = MethodDifference.of(first, RunEstimates(second.runs[:1]), 0.0)
    assert squares(single.estimate) == pytest.approx({("prompt",): of_one})
    assert single.test == "t over prompts"


def test_variance_of_shared_prompts_is_that_of_differences_within_prompts() -> None:
    """A crossed layout of prompts and examples, whose values are the differences; seeds stay those of a system."""
    rng = np.random.default_rng(0)
    common = 0.1 * rng.standard_normal((4, 1)) + 0.1 * rng.standard_normal((4, 30))  # also on single examples
    tables = [0.5 + common + 0.05 * rng.standard_normal((4, 30)) for _ in range(2)]
    design = prompts(*"abcd")
    sides = [RunEstimates(tuple(estimate(scores(*row)) for row in table), design) for table in tables]
    apart = MethodDifference.of(*sides, 0.0).estimate
    table = tables[0] - tables[1]
    residuals = table - table.mean(axis=1, keepdims=True) - table.mean(axis=0) + table.mean()
    [part] = apart.runs
    assert part.variance == pytest.approx(table.mean(axis=1).var(ddof=1) / 4)
    assert part.by_example == pytest.approx((residuals**2).sum() / (3 * 29) / (4 * 30))
    assert (part.freedom, part.side) == (3, None)
    alone = max(0.0, table.mean(axis=0).var(ddof=1) / 30 - part.by_example)
    assert apart.variance == pytest.approx(part.variance + alone)


def test_prompts_and_seeds_share_the_noise_of_runs() -> None:
    """Runs that differ by noise only: the mean squares of prompts, seeds and both contain it, the variance once."""
    rng = np.random.default_rng(0)
    design = prompts(*"abcdefgh", seeds=8)
    variances = []
    for _ in range(20):
        runs = [estimate(scores(*(rng.random(100) < 0.5).astype(float))) for _ in range(64)]
        variances.append(over_runs(runs, design).variance)
    assert 1 < np.mean(variances) / (0.25 / 6400) < 1.6  # components below 0 are set to 0


@pytest.mark.parametrize(("count", "interaction"), [(2, 0.0), (4, 0.0), (4, 0.03), (8, 0.03)])
def test_equal_methods_with_shared_prompts(count: int, interaction: float) -> None:
    rng = np.random.default_rng(5)
    significant, widths, design = 0, [], prompts(*map(str, range(count)))
    for _ in range(300):
        shift, easy = rng.normal(0, 0.05, count), 0.2 + 0.6 * rng.random(200)
        sides = [shifted_draws(easy, shift + rng.normal(0, interaction, count), design, rng) for _ in range(2)]
        apart = MethodDifference.of(*sides, 0.0)
        significant += apart.p < 0.05
        low, high = apart.interval() or (0, 0)
        widths.append(high - low)
    assert 5 <= significant <= 24  # 1.7 to 8 %
    if (count, interaction) == (4, 0.0):
        # As independent draws, prompts with a standard deviation of 5 points would give 20 points and more.
        assert np.mean(widths) < 0.14


def shifted_draws(easy: np.ndarray, shifts: np.ndarray, design: Design, rng: np.random.Generator) -> RunEstimates:
    runs = tuple(estimate(scores(*(rng.random(len(easy)) < easy + shift).astype(float))) for shift in shifts)
    return RunEstimates(runs, design)


def test_estimates_are_combined_within_runs() -> None:
    base = np.linspace(0.2, 0.6, 40)
    one = shifted(base, {"a": 0.0, "b": 0.1}, prompts("a", "b")).combined
    with pytest.raises(ValueError, match="within runs first"):
        mean([one, one])


def test_no_difference_within_the_scale_is_detectable_with_two_prompts() -> None:
    base = np.linspace(0.2, 0.6, 40)
    design = prompts("a", "b")
    apart = MethodDifference.of(
        shifted(base, {"a": 0.0, "b": 0.3}, design), shifted(base, {"a": 0.2, "b": 0.0}, design), 0.0
    )
    assert apart.detectable is None
