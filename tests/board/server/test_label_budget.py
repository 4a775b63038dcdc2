"""A year of submissions within the default budgets reveals few of the hidden labels; docs/hidden-labels.md."""

import logging
from statistics import fmean

import numpy as np
import pytest

from board.server.label_attack import attack, guesses_beyond_chance, steps_of_a_year
from isogloss.board.server.board import BoardSettings

EXAMPLES, LANGUAGES = 500, 11
LOG = logging.getLogger("isogloss.tests")


def test_the_best_known_attack_recovers_few_labels(pytestconfig: pytest.Config) -> None:
    """Few labels for every size of block; `--label-attacks 10 --log-cli-level info` reports the figures of the docs."""
    steps = steps_of_a_year(BoardSettings(), EXAMPLES, LANGUAGES)
    assert steps.count(1.0) == 12, "a preview is worth whole points"
    assert steps.count(3.0) == 44, "four publications of eleven cells"
    count = pytestconfig.getoption("--label-attacks")
    for block in (6, 10) if count <= 3 else (4, 6, 8, 10, 12, 14, 16, 18):
        results = [attack(steps, block, EXAMPLES, np.random.default_rng(seed)) for seed in range(count)]
        named, right = (fmean(getattr(each, name) for each in results) for name in ("named", "right"))
        most = max(each.right for each in results)
        LOG.info("blocks of %s: %.1f labels named, %.1f right; at most %s", block, named, right, most)
        assert most <= EXAMPLES // 20
        assert named <= 0.04 * EXAMPLES


def test_guesses_of_all_labels_are_as_good_as_the_docs_say() -> None:
    """Rounding protects single labels, not the whole set: for that a board needs a private part."""
    steps = steps_of_a_year(BoardSettings(), EXAMPLES, LANGUAGES)
    rng = np.random.default_rng(0)
    gain = fmean(guesses_beyond_chance(steps, EXAMPLES, rng) for _ in range(100))
    assert 56 < gain < 66  # 61 of 250: 62 % of all labels


def test_exact_scores_would_reveal_many_labels() -> None:
    """Sanity check of the attack: the scores of a few submissions without rounding tell far more."""
    exact = 100 / EXAMPLES
    recovered = attack([exact] * (5 * LANGUAGES), 8, EXAMPLES, np.random.default_rng(0))
    assert recovered.right > 60
    assert recovered.right >= 0.95 * recovered.named


@pytest.mark.parametrize(("settings", "least"), [({"yearly_submissions": 60, "cell_step": 5.0}, 20)])
def test_larger_budgets_reveal_more(settings: dict[str, float], least: int) -> None:
    generous = BoardSettings(**settings)  # type: ignore[arg-type]
    steps = steps_of_a_year(generous, EXAMPLES, LANGUAGES)
    assert attack(steps, 8, EXAMPLES, np.random.default_rng(0)).right > least
