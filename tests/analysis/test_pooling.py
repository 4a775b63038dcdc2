"""Language effects are separated from task effects."""

import numpy as np
import pytest

from isogloss.analysis.finding import AnalysisError
from isogloss.analysis.resources import pooled_over_tasks


def test_language_order_is_recovered_from_incomplete_tasks() -> None:
    rng = np.random.default_rng(0)
    truth = dict(zip("abcdefghijkl", rng.normal(size=12), strict=True))
    tasks = {}
    for number in range(12):
        some = rng.permutation(list(truth))[:8]
        tasks[f"t{number}"] = {code: 50 + 7 * number + 10 * truth[code] + rng.normal(0, 0.3) for code in some}
    effects = pooled_over_tasks(tasks)
    assert np.corrcoef([effects[code] for code in truth], list(truth.values()))[0, 1] > 0.98
    assert sum(effects.values()) == pytest.approx(0, abs=1e-9)


def test_one_task_gives_its_own_scores_standardised() -> None:
    effects = pooled_over_tasks({"a": {"en": 10.0, "de": 20.0, "fr": 30.0}, "same": {"en": 5.0, "de": 5.0}})
    assert effects == pytest.approx({"en": -(1.5**0.5), "de": 0, "fr": 1.5**0.5})


def test_easy_tasks_give_no_advantage() -> None:
    hard, easy = {"en": 20.0, "de": 10.0, "sw": 0.0}, {"sw": 80.0, "wo": 70.0, "yo": 60.0}
    effects = pooled_over_tasks({"hard": hard, "easy": easy})
    assert effects["en"] > effects["de"] > effects["sw"] > effects["wo"] > effects["yo"]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    ("scores", "words"),
    [
        ({}, "no task"),
        ({"a": {"en": 1.0}}, "no task"),
        ({"a": {"en": 1.0, "de": 1.0}}, "no task"),
        ({"a": {"en": 1.0, "de": 2.0}, "b": {"fr": 1.0, "es": 2.0}}, "share no language"),
    ],
)
def test_scores_that_cannot_be_pooled_are_refused(scores, words) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(AnalysisError, match=words):
        pooled_over_tasks(scores)
