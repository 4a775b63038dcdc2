"""Variance explained by columns, compared with simulated truth and a reference implementation with loops."""

import numpy as np
import pytest

from isogloss.analysis.correlation import PENALTIES, explain_by_columns, inflation
from isogloss.analysis.finding import AnalysisError


def study(rng, languages=40, families=14, slope=0.0, luck=0.0, noise=1.0, columns=7):  # type: ignore[no-untyped-def]
    """Simulate columns and scores for one large family and many small ones with shared family effects."""
    sizes = rng.multinomial(languages - families, [0.4, *[0.6 / (families - 1)] * (families - 1)]) + 1
    family = np.repeat(np.arange(families), sizes)
    x = rng.normal(size=(languages, columns)) + 0.7 * rng.normal(size=(families, columns))[family]
    return (
        x,
        slope * x[:, 0] + luck * rng.normal(size=families)[family] + noise * rng.normal(size=languages),
        family.tolist(),
    )


def reference(x, y, families):  # type: ignore[no-untyped-def]
    """Return the share explained in held-out families, one fit at a time."""
    x, y, groups = (x - x.mean(0)) / x.std(0), (y - y.mean()) / y.std(), np.array(families)

    def error(inside, out, penalty):  # type: ignore[no-untyped-def]
        centre, middle = x[inside].mean(0), y[inside].mean()
        z = x[inside] - centre
        beta = np.linalg.solve(z.T @ z + penalty * inside.sum() * np.eye(x.shape[1]), z.T @ (y[inside] - middle))
        return ((y[out] - middle - (x[out] - centre) @ beta) ** 2).sum()

    wrong = total = 0.0
    for family in set(families):
        inner = [
            sum(
                error((groups != family) & (groups != other), groups == other, penalty)
                for other in set(families) - {family}
            )
            for penalty in PENALTIES
        ]
        wrong += error(groups != family, groups == family, PENALTIES[int(np.argmin(inner))])
        total += ((y[groups == family] - y[groups != family].mean()) ** 2).sum()
    return 1 - wrong / total


def test_explained_equals_the_reference() -> None:
    for seed in range(3):
        data = study(np.random.default_rng(seed), 25, 8, slope=1.0)
        assert explain_by_columns(*data).explained == pytest.approx(reference(*data))


def test_coefficients_are_scipy_s_least_squares_where_the_penalty_is_small() -> None:
    linalg = pytest.importorskip("scipy.linalg")
    x, y, families = study(np.random.default_rng(3), 40, 14, slope=2.0, noise=0.05, columns=3)
    fit = explain_by_columns(x, y, families)
    z, w = (x - x.mean(0)) / x.std(0), (y - y.mean()) / y.std()
    assert fit.penalty == PENALTIES[0]
    assert fit.coefficients == pytest.approx(linalg.lstsq(z, w)[0].tolist(), abs=0.01)
    assert fit.fitted > fit.explained > 0.95


def test_noise_explains_nothing() -> None:
    rng = np.random.default_rng(0)
    for luck in (0.0, 1.0):
        fits = [explain_by_columns(*study(rng, luck=luck)) for _ in range(30)]
        assert np.mean([fit.explained for fit in fits]) < 0.02
        assert np.mean([fit.fitted for fit in fits]) > 0.04  # so it is not reported as the result
        assert sum(fit.low > 0 for fit in fits) <= 1


@pytest.mark.parametrize(("slope", "luck"), [(0.0, 0.0), (1.0, 0.0), (1.0, 0.5)])
def test_intervals_cover_the_mean_over_studies(slope: float, luck: float) -> None:
    rng = np.random.default_rng(7)
    fits = [explain_by_columns(*study(rng, slope=slope, luck=luck)) for _ in range(60)]
    expected = float(np.mean([fit.explained for fit in fits]))
    covered = sum(fit.low <= expected <= fit.high for fit in fits)
    assert covered >= 52  # 95 % of 60 with three standard errors
    if slope:
        assert 0.3 < expected < 1.49 / (1.49 + 1 + luck**2)  # share explained by the true line


def test_collinear_columns_have_no_inflation_factor() -> None:
    rng = np.random.default_rng(2)
    x, y, families = study(rng, columns=3, slope=1.0)
    z = (x - x.mean(0)) / x.std(0)
    correlation = np.corrcoef(z.T)
    assert inflation(z) == pytest.approx(np.diag(np.linalg.inv(correlation)).tolist())
    fit = explain_by_columns(np.column_stack([x, x[:, 0] + x[:, 1]]), y, families)
    assert fit.inflation[0] is fit.inflation[1] is fit.inflation[3] is None
    assert fit.inflation[2] is not None
    assert all(np.isfinite(fit.coefficients))


def test_a_column_that_varies_in_only_one_family() -> None:
    rng = np.random.default_rng(4)
    x, y, families = study(rng, slope=1.0)
    x[:, 1] = np.where(np.array(families) == 0, rng.normal(size=len(y)), 5)
    x[-1, 1] = 4.99  # nearly constant in all others
    fit = explain_by_columns(x, y, families)
    assert fit.explained > 0.1


@pytest.mark.filterwarnings("error")
def test_invalid_input_is_refused() -> None:
    rng = np.random.default_rng(0)
    x, y, families = study(rng)
    with pytest.raises(AnalysisError, match="needs 12 languages of 5 families, got 11 of"):
        explain_by_columns(x[:11], y[:11], families[:11])
    with pytest.raises(AnalysisError, match="got 40 of 1"):
        explain_by_columns(x, y, ["one"] * 40)
    with pytest.raises(AnalysisError, match="that vary between languages"):
        explain_by_columns(x, np.ones(40), families)
    with pytest.raises(AnalysisError, match="that vary between languages"):
        explain_by_columns(np.column_stack([x, np.ones(40)]), y, families)
    x[3, 2] = np.nan
    with pytest.raises(AnalysisError, match="NaN"):
        explain_by_columns(x, y, families)
    with pytest.raises(AnalysisError, match="got 0 of 0"):
        explain_by_columns(np.zeros((0, 2)), np.zeros(0), [])
