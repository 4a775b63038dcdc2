"""Cases are the same in all languages and on every machine, in the requested number."""

import os
import subprocess
import sys

import pytest

from isogloss.checklist.shipped import find_case, suite_cases
from isogloss.errors import IsoglossError, UnknownNameError
from isogloss.grammar import CODES, grammar
from isogloss.grammar.cases import TESTS, draw, examples

EXAMPLES = {
    "comparisons": 2,
    "intensifiers": 12,
    "properties": 2,
    "job_vs_nationality": 8,
    "animal_vs_vehicle": 4,
    "animal_vs_vehicle_2": 4,
}


@pytest.mark.slow
@pytest.mark.parametrize("test", TESTS)
def test_draw_returns_requested_number_of_distinct_cases(test: str) -> None:
    cases = suite_cases(test)
    assert len(cases) == len({case.slots for case in cases}) == 200
    assert [case.number for case in cases] == list(range(200))
    for code in CODES:
        made = list(examples(cases[7], grammar(code)))
        assert len(made) == EXAMPLES[test]
        assert len({(e.context, e.question) for e in made}) == EXAMPLES[test]


@pytest.mark.slow
@pytest.mark.parametrize("test", TESTS)
def test_more_cases_begin_with_the_fewer(test: str) -> None:
    assert draw(test, 40) == draw(test, 200)[:40]
    assert draw(test, 40, seed=1) != draw(test, 40, seed=0)


def test_another_seed_draws_other_cases() -> None:
    drawn = suite_cases("comparisons", 5, seed=1)
    assert [case.id for case in drawn] == [f"comparisons-{number:04d}" for number in range(5)]
    assert not {case.slots for case in drawn} & {case.slots for case in suite_cases("comparisons", 5)}


def test_both_genders_and_two_people() -> None:
    for case in draw("comparisons", 100):
        drawn = dict(case.slots)
        assert drawn["a"] != drawn["b"]
        assert drawn["a"][0] == drawn["b"][0]
    assert {dict(case.slots)["a"][0] for case in draw("comparisons", 100)} == {"m", "f"}


def test_same_on_any_hash_seed() -> None:
    code = "from isogloss.grammar.cases import draw; print([c.slots for c in draw('intensifiers', 50)])"
    outputs = {
        subprocess.run(
            [sys.executable, "-c", code], env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, check=True
        ).stdout
        for seed in ("0", "1", "42")
    }
    assert len(outputs) == 1


def test_unknown_tests_and_cases() -> None:
    with pytest.raises(UnknownNameError, match="Did you mean comparisons"):
        draw("comparison")
    with pytest.raises(IsoglossError, match="comparisons has comparisons-0000 to"):
        find_case("comparisons-9999")
