"""Languages of the top candidates: by hand, and for language-blind rankings."""

import numpy as np
import pytest

from isogloss.analysis.language_pairs import found_in_top, top_languages
from isogloss.metrics.estimate import estimate

POOL = {"e1": "en", "e2": "en", "d1": "de", "s1": "sw"}


def test_shares_by_hand() -> None:
    tops = top_languages([["e1", "e1", "d1", "e2"], ["s1", "e2", "d1"], None], POOL, k=2)
    assert list(tops.pool) == ["de", "en", "sw"]
    # Duplicate candidates count once; a query without a ranking has zeros.
    assert tops.counts.tolist() == [[1, 1, 0], [0, 1, 1], [0, 0, 0]]
    assert tops.share("en").score == 0.5
    assert (tops.pool["en"], tops.pool["sw"]) == (0.5, 0.25)


def test_a_short_ranking_has_fewer_places() -> None:
    assert top_languages([["e1"], ["d1", "s1", "e2"]], POOL, k=3).share("en").score == 0.5


def test_targets_in_the_first_places() -> None:
    rankings = [["e1", "d1", "s1"], None, ["s1"]]
    assert found_in_top(rankings, [["d1", "s1"], ["e1"], ["s1"]], 2) == [[True, False], [False], [True]]


def test_a_language_blind_ranking_has_a_ratio_of_one() -> None:
    rng = np.random.default_rng(0)
    languages = np.repeat(["en", "de", "sw"], [100, 60, 40])
    pool = {str(number): str(code) for number, code in enumerate(languages)}
    inside = []
    ratios = []
    for _ in range(300):
        rankings = [rng.choice(200, 20, replace=False).astype(str).tolist() for _ in range(60)]
        tops = top_languages(rankings, pool, 20)
        share = estimate(tops.share("de"))
        low, high = share.score_interval() or (1, 0)
        ratios.append(share.value / tops.pool["de"])
        inside.append(low <= 0.3 <= high)
    assert np.mean(ratios) == pytest.approx(1, abs=0.01)
    assert 0.93 <= np.mean(inside) <= 0.99


def test_a_twofold_preference_has_a_ratio_of_two() -> None:
    rng = np.random.default_rng(1)
    pool = {str(number): "en" if number < 50 else "de" for number in range(200)}
    chances = np.where(np.arange(200) < 50, 2, 2 / 3) / 200
    rankings = [[str(rng.choice(200, p=chances))] for _ in range(4000)]
    tops = top_languages(rankings, pool, 1)
    share = estimate(tops.share("en"))
    low, high = share.score_interval() or (1, 0)
    assert low / 0.25 <= 2 <= high / 0.25
