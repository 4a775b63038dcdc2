"""Choice of each selection rule, and its loss."""

import numpy as np
import pytest

from analysis.checkpoint_files import runs_of
from isogloss.analysis.language_selection import best_place, rule_outcomes

NAN = float("nan")


def test_each_rule_chooses_its_own_checkpoint() -> None:
    [run] = runs_of(
        {
            ("en", "dev"): [90, 80, 70, 60],
            ("sw", "dev"): [10, 40, 20, 30],
            ("de", "dev"): [10, 20, 80, 30],
            ("sw", "test"): [31, 32, 33, 34],
        }
    ).seeds
    outcomes = rule_outcomes(run, "sw", "en")
    # The means of the three dev sets are 36.7, 46.7, 56.7 and 40.
    expected = {"English dev": (10, 31), "target dev": (20, 32), "one other dev": (30, 33), "mean dev": (30, 33)}
    expected |= {"last": (40, 34), "best test": (40, 34)}
    assert {rule: (outcome.step, outcome.test) for rule, outcome in outcomes.items()} == expected
    assert outcomes["English dev"].lost == 3
    assert outcomes["last"].lost == 0
    assert rule_outcomes(run, "sw", "en", "en")["only English dev"].step == 10


def test_other_languages_choose_in_turn() -> None:
    [run] = runs_of(
        {
            ("en", "dev"): [3, 2, 1],
            ("sw", "dev"): [3, 2, 1],
            ("de", "dev"): [1, 2, 3],
            ("ja", "dev"): [1, 3, 2],
            ("sw", "test"): [50, 60, 80],
        }
    ).seeds
    outcome = rule_outcomes(run, "sw", "en")["one other dev"]
    assert (outcome.step, outcome.test, outcome.lost) == (None, 70, 10)


def test_ties_go_to_the_earliest_checkpoint_with_both_scores() -> None:
    assert best_place(np.array([1.0, 5.0, 5.0]), np.array([1.0, 1.0, 2.0])) == 1
    assert best_place(np.array([9.0, 5.0, NAN]), np.array([NAN, 1.0, 2.0])) == 1
    assert best_place(np.array([NAN, 1.0]), np.array([1.0, NAN])) is None
    assert best_place(np.array([]), np.array([])) is None


def test_rules_without_their_dev_set_are_left_out() -> None:
    [run] = runs_of({("en", "dev"): [1, 2], ("kk", "test"): [5, 6], ("th", "test"): [NAN, NAN]}).seeds
    assert list(rule_outcomes(run, "kk", "en")) == ["English dev", "mean dev", "last", "best test"]
    assert rule_outcomes(run, "th", "en") == {}


@pytest.mark.parametrize("seed", range(5))
def test_no_loss_if_dev_equals_test(seed: int) -> None:
    rng = np.random.default_rng(seed)
    english, swahili = rng.normal(60, 5, (2, 40))
    [run] = runs_of({("en", "dev"): english, ("sw", "dev"): swahili, ("sw", "test"): swahili}).seeds
    outcomes = rule_outcomes(run, "sw", "en")
    assert outcomes["target dev"].lost == 0
    assert outcomes["best test"].lost == 0
    assert all(outcome.lost >= 0 for outcome in outcomes.values())
