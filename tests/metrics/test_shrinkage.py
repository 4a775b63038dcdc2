"""Shrinkage of noisy scores: limits, an exact case, and simulated truth."""

import numpy as np
import pytest

from isogloss.analysis.ranking_views import gini
from isogloss.metrics.shrinkage import shrink


def test_exact_scores_stay() -> None:
    values = np.array([[50.0, 60, 70, 80, 90], [40, 55, 60, 70, 95]])
    shrunk = shrink(values, np.zeros((2, 5)))
    assert shrunk.values == pytest.approx(values, abs=1e-3)
    assert shrunk.low == pytest.approx(values, abs=1e-2)
    assert shrunk.draws == pytest.approx(np.broadcast_to(values, shrunk.draws.shape), abs=1e-2)


def test_noise_alone_is_removed() -> None:
    """Scores that differ less than their errors are estimated near their mean."""
    values = np.array([[49.0, 50.5, 51, 49.5, 50, 50.2, 49.8, 50]])
    shrunk = shrink(values, np.full((1, 8), 5.0))
    assert np.abs(shrunk.values - 50).max() < 0.2
    assert (shrunk.low < 50).all() and (shrunk.high > 50).all()


def test_small_cells_are_shrunk_most() -> None:
    values, errors = np.linspace(40, 80, 9)[None], np.full((1, 9), 1.0)
    errors[0, 0] = 15.0  # the lowest score has few examples
    shrunk = shrink(values, errors)
    moved = (shrunk.values - values)[0]
    assert moved[0] > 5
    assert np.abs(moved[1:]).max() < 0.5
    assert np.argmin(shrunk.values) == 1


def test_a_language_borrows_from_other_systems() -> None:
    """Three systems agree that a language is low, and one has a noisy score there."""
    values = np.tile(np.array([50.0, 70, 72, 74, 76, 78, 80, 82]), (4, 1)) + np.arange(4)[:, None]
    values[3, 0] = 79.0
    errors = np.full(values.shape, 2.0)
    errors[:, 0] = 8.0
    shrunk = shrink(values, errors, correlation=0.0)
    alone = shrink(values[3:], errors[3:])
    assert shrunk.values[3, 0] < alone.values[0, 0] - 5


def test_the_same_input_gives_the_same_estimates() -> None:
    rng = np.random.default_rng(0)
    values, errors = rng.normal(60, 10, (2, 12)), rng.uniform(1, 5, (2, 12))
    one, two = shrink(values, errors), shrink(values, errors)
    assert (one.draws == two.draws).all()
    order = rng.permutation(12)
    assert shrink(values[:, order], errors[:, order]).values == pytest.approx(one.values[:, order])


def test_errors_shared_by_languages_widen_intervals_only() -> None:
    rng = np.random.default_rng(1)
    values, errors = rng.normal(60, 10, (1, 12)), np.full((1, 12), 3.0)
    alone, shared = shrink(values, errors), shrink(values, errors, shared=8.0)
    assert np.abs(shared.values - values).mean() < np.abs(alone.values - values).mean()  # less noise between languages
    assert (shared.high - shared.low).mean() == pytest.approx((alone.high - alone.low).mean(), rel=0.15)


def test_invalid_input_is_refused() -> None:
    with pytest.raises(ValueError, match="needs 5 languages, got 4"):
        shrink(np.ones((1, 4)), np.ones((1, 4)))
    with pytest.raises(ValueError, match=r"expected scores and errors \(systems, languages\)"):
        shrink(np.ones(6), np.ones(6))
    with pytest.raises(ValueError, match="must be finite"):
        shrink(np.full((1, 6), np.nan), np.ones((1, 6)))
    with pytest.raises(ValueError, match="must be finite"):
        shrink(np.ones((1, 6)), -np.ones((1, 6)))
    with pytest.raises(ValueError, match="correlation must be within"):
        shrink(np.ones((1, 6)), np.ones((1, 6)), correlation=1.0)


@pytest.mark.parametrize(("systems", "languages"), [(1, 10), (1, 40), (3, 40)])
@pytest.mark.filterwarnings("error")
def test_simulated_truth(systems: int, languages: int) -> None:
    rng = np.random.default_rng(languages + systems)
    covered, raw, shrunk, of_raw, of_shrunk = [], [], [], [], []
    for _ in range(40):
        effects = 8 * rng.normal(size=languages) + 3 * rng.normal(size=(systems, languages))
        true = 65 + rng.normal(size=(systems, 1)) + effects
        errors = 45 / np.sqrt(np.exp(rng.uniform(np.log(20), np.log(2000), languages)))
        noise = errors * (rng.normal(size=languages) + rng.normal(size=(systems, languages))) / np.sqrt(2)
        found = shrink(true + noise, np.broadcast_to(errors, true.shape), draws=300)
        covered.append(((found.low <= true) & (true <= found.high)).mean())
        raw.append((noise**2).mean())
        shrunk.append(((found.values - true) ** 2).mean())
        of_raw.append((gini(true + noise) - gini(true)).mean())
        of_shrunk.append(gini(found.draws.reshape(-1, languages)).mean() - gini(true).mean())
    assert 0.92 <= np.mean(covered) <= 0.98
    assert np.mean(shrunk) < 0.8 * np.mean(raw)
    assert abs(np.mean(of_shrunk)) < 0.35 * np.mean(of_raw)


def test_no_difference_at_all() -> None:
    shrunk = shrink(np.full((2, 6), 50.0), np.full((2, 6), 2.0))
    assert shrunk.values == pytest.approx(np.full((2, 6), 50.0), abs=0.2)
    assert np.isfinite(shrunk.draws).all()
    assert (shrunk.low < 49.5).all()  # the noise may hide a difference


@pytest.mark.parametrize("own", [(3.0, 3.0, 3.0), (1.0, 1.0, 10.0)], ids=["alike", "one uneven"])
def test_systems_of_different_evenness(own: tuple[float, ...]) -> None:
    """Every system has its own variance: the intervals of all Gini coefficients hold the truth."""
    rng = np.random.default_rng(8)
    held, bias = [], []
    for _ in range(60):
        true = 75 + 3 * rng.normal(size=40) + np.array(own)[:, None] * rng.normal(size=(3, 40))
        noise = 4 * (rng.normal(size=40) + rng.normal(size=(3, 40))) / np.sqrt(2)
        found = shrink(true + noise, np.full((3, 40), 4.0), draws=200)
        ginis = gini(found.draws.reshape(-1, 40)).reshape(-1, 3)
        low, high = np.quantile(ginis, (0.025, 0.975), axis=0)
        held.append((low <= gini(true)) & (gini(true) <= high))
        bias.append(ginis.mean(axis=0) / gini(true) - 1)
    assert (np.mean(held, axis=0) >= 0.88).all()
    assert np.abs(np.mean(bias, axis=0)).max() < 0.12


def test_an_even_system_stays_even_beside_an_uneven_one() -> None:
    """Nine languages, of which one system fails in two: the evenness of the others is not affected."""
    rng = np.random.default_rng(0)
    true = np.full((3, 9), 80.0)
    true[1, :2], true[2] = 20.0, 50.0
    errors = np.sqrt(true * (100 - true) / 240)
    scores = true + errors * rng.normal(size=true.shape)
    found = shrink(scores, errors)
    ginis = gini(found.draws.reshape(-1, 9)).reshape(-1, 3).mean(axis=0)
    assert ginis[0] < gini(scores)[0]
    assert ginis[2] < gini(scores)[2]
    assert ginis[1] == pytest.approx(gini(scores)[1], rel=0.1)


def test_systems_with_other_errors() -> None:
    """A system near the end of the scale has small errors: its differences between languages are real."""
    rng = np.random.default_rng(1)
    scores = np.stack([97 + rng.normal(size=20), 60 + 5 * rng.normal(size=20)])
    errors = np.stack([np.full(20, 0.1), np.full(20, 5.0)])
    found = shrink(scores, errors)
    assert np.abs(found.values[0] - scores[0]).max() < 0.3
    assert np.abs(found.values[1] - scores[1]).mean() > 1
