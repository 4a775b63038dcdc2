"""Selection rules over hand-written records."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from isogloss.errors import UnknownNameError
from isogloss.training.selection import (
    RULES,
    CheckpointScore,
    ChosenCheckpoint,
    check_rule,
    choose,
    dev_scores,
    selecting_languages,
)

STEPS = [10, 20, 30, 40]


def rows(language: str, values: list[float], split: str = "dev", metric: str = "accuracy") -> list[CheckpointScore]:
    return [
        CheckpointScore(step, 0, language, split, metric, value, 100) for step, value in zip(STEPS, values, strict=True)
    ]


RECORD = [
    *rows("en", [70.0, 80.0, 80.0, 75.0]),
    *rows("sw", [40.0, 41.0, 42.0, 43.0]),
    *rows("de", [60.0, 50.0, 50.0, 50.0]),
    *rows("en", [0.0, 0.0, 0.0, 100.0], "test"),
    *rows("en", [2.0, 1.5, 0.5, 0.7], metric="loss"),
]


@pytest.mark.parametrize(
    ("rule", "language", "step", "by"),
    [
        ("english-dev", "sw", 20, "en dev"),
        ("english-dev", "en", 20, "en dev"),
        ("target-dev", "sw", 40, "sw dev"),
        ("target-dev", "de", 10, "de dev"),
        ("target-dev", "ta", 40, "last"),
        ("single-target:de", "sw", 10, "de dev"),
        ("single-target:ta", "sw", 40, "last"),
        ("last", "sw", 40, "last"),
        ("training-dev", "sw", 20, "en dev"),
        ("dev-loss", "sw", 30, "en dev loss"),
    ],
)
def test_rules(rule: str, language: str, step: int, by: str) -> None:
    assert choose(RECORD, STEPS, rule, language, ["accuracy"]) == ChosenCheckpoint(step, by)


def test_score_is_the_mean_of_the_main_metrics() -> None:
    found = [*rows("en", [80, 60, 0, 0], metric="f1"), *rows("en", [10, 40, 0, 0], metric="em")]
    found += rows("en", [0, 0, 99, 0], metric="other")
    assert dev_scores(found, "en", ["f1", "em"]) == {10: 45.0, 20: 50.0, 30: 0.0, 40: 0.0}
    assert choose(found, STEPS, "english-dev", "sw", ["f1", "em"]).step == 20


@given(st.lists(st.integers(0, 5), min_size=1, max_size=30))
def test_earliest_best_checkpoint_is_chosen(values: list[int]) -> None:
    steps = list(range(1, len(values) + 1))
    record = [
        CheckpointScore(step, 0, "en", "dev", "accuracy", value, 1) for step, value in zip(steps, values, strict=True)
    ]
    step, _ = choose(record[::-1], steps, "english-dev", "en", ["accuracy"])
    assert values[step - 1] == max(values)
    assert max(values) not in values[: step - 1]


def test_training_languages_may_choose() -> None:
    def by(rule: str, *languages: str) -> ChosenCheckpoint:
        return choose(RECORD, STEPS, rule, "sw", ["accuracy"], languages)

    assert by("training-dev", "de") == ChosenCheckpoint(10, "de dev")
    # 55, 60.5, 61, 59: the best mean, though not the best in either language.
    assert by("training-dev", "en", "sw") == ChosenCheckpoint(30, "en+sw dev")
    assert by("training-dev", "en", "ta") == ChosenCheckpoint(20, "en dev")
    assert by("training-dev", "ta") == by("dev-loss", "de") == ChosenCheckpoint(40, "last")
    assert by("english-dev", "de") == ChosenCheckpoint(20, "en dev")


def test_dev_sets_used_by_each_rule() -> None:
    assert selecting_languages("training-dev", ["sw", "de"]) == ("en",)
    assert selecting_languages("training-dev", ["sw"], ["fi", "de"]) == ("fi", "de")
    assert selecting_languages("dev-loss", ["sw"], ["fi"]) == ("fi",)
    assert selecting_languages("english-dev", ["sw", "de"]) == ("en",)
    assert selecting_languages("target-dev", ["sw", "de", "sw"]) == ("sw", "de")
    assert selecting_languages("single-target:fi", ["sw"]) == ("fi",)
    assert selecting_languages("last", ["sw"]) == ()


def test_rules_are_checked() -> None:
    for rule in ("training-dev", "english-dev", "target-dev", "single-target:sw", "dev-loss", "last"):
        check_rule(rule)
    for rule in ("", "english", "single-target", "single-target:", "single-target:xx", "last:sw", RULES[3]):
        with pytest.raises(UnknownNameError, match="unknown"):
            check_rule(rule)


def test_choosing_without_checkpoints_raises() -> None:
    with pytest.raises(ValueError, match="no checkpoint"):
        choose([], [], "last", "en", ["accuracy"])
