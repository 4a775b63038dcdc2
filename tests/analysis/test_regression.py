"""What columns explain, against simulated truth and against a plain reference made with loops."""

import numpy as np
import pytest

from isogloss.analysis.finding import AnalysisError
from isogloss.analysis.regression import PENALTIES, explain_by_columns, inflation


def study(rng, languages=40, families=14, slope=0.0, luck=0.0, noise=1.0, columns=7):  # type: ignore[no-untyped-def]
    """Columns and scores of languages of one large family and many small ones, which share columns and luck."""
    sizes = rng.multinomial(languages - families, [0.4, *[0.6 / (families - 1)] * (families - 1)]) + 1
    of = np.repeat(np.arange(families), sizes)
    x = rng.normal(size=(languages, columns)) + 0.7 * rng.normal(size=(families, columns))[of]
    return x, slope * x[:, 0] + luck * rng.normal(size=families)[of] + noise * rng.normal(size=languages), of.tolist()


def reference(x, y, families):  # type: ignore[no-untyped-def]
    """The share explained in families left out, one fit after the other."""
    x, y, of = (x - x.mean(0)) / x.std(0), (y - y.mean()) / y.std(), np.array(families)

    def error(inside, out, penalty):  # type: ignore[no-untyped-def]
        centre, middle = x[inside].mean(0), y[inside].mean()
        z = x[inside] - centre
        beta = np.linalg.solve(z.T @ z + penalty * inside.sum() * np.eye(x.shape[1]), z.T @ (y[inside] - middle))
        return ((y[out] - middle - (x[out] - centre) @ beta) ** 2).sum()

    wrong = total = 0.0
    for family in set(families):
        inner = [
            sum(error((of != family) & (of != other), of == other, penalty) for other in set(families) - {family})
            for penalty in PENALTIES
        ]
        wrong += error(of != family, of == family, PENALTIES[int(np.argmin(inner))])
        total += ((y[of == family] - y[of != family].mean()) ** 2).sum()
    return 1 - wrong / total


def test_the_share_is_that_of_fits_made_one_by_one() -> None:
    for seed in range(3):
        given = study(np.random.default_rng(seed), 25, 8, slope=1.0)
        assert explain_by_columns(*given).explained == pytest.approx(reference(*given))


def test_coefficients_are_scipy_s_least_squares_where_the_penalty_is_small() -> None:
    linalg = pytest.importorskip("scipy.linalg")
    x, y, families = study(np.random.default_rng(3), 40, 14, slope=2.0, noise=0.05, columns=3)
    found = explain_by_columns(x, y, families)
    z, w = (x - x.mean(0)) / x.std(0), (y - y.mean()) / y.std()
    assert found.penalty == PENALTIES[0]
    assert found.coefficients == pytest.approx(linalg.lstsq(z, w)[0].tolist(), abs=0.01)
    assert found.fitted > found.explained > 0.95


def test_noise_explains_nothing_and_its_interval_says_so() -> None:
    rng = np.random.default_rng(0)
    for luck in (0.0, 1.0):
        found = [explain_by_columns(*study(rng, luck=luck)) for _ in range(30)]
        assert np.mean([each.explained for each in found]) < 0.02
        assert np.mean([each.fitted for each in found]) > 0.04  # which is why it is not what is told
        assert sum(each.low > 0 for each in found) <= 1


@pytest.mark.parametrize(("slope", "luck"), [(0.0, 0.0), (1.0, 0.0), (1.0, 0.5)])
def test_intervals_hold_what_studies_find_on_average(slope: float, luck: float) -> None:
    rng = np.random.default_rng(7)
    found = [explain_by_columns(*study(rng, slope=slope, luck=luck)) for _ in range(60)]
    expected = float(np.mean([each.explained for each in found]))
    held = sum(each.low <= expected <= each.high for each in found)
    assert held >= 52  # 95 % of 60 with three standard errors
    if slope:
        assert 0.3 < expected < 1.49 / (1.49 + 1 + luck**2)  # what the true line would explain


def test_columns_that_are_made_up_of_others_are_told() -> None:
    rng = np.random.default_rng(2)
    x, y, families = study(rng, columns=3, slope=1.0)
    z = (x - x.mean(0)) / x.std(0)
    correlation = np.corrcoef(z.T)
    assert inflation(z) == pytest.approx(np.diag(np.linalg.inv(correlation)).tolist())
    found = explain_by_columns(np.column_stack([x, x[:, 0] + x[:, 1]]), y, families)
    assert found.inflation[0] is found.inflation[1] is found.inflation[3] is None
    assert found.inflation[2] is not None
    assert all(np.isfinite(found.coefficients))


def test_a_column_that_varies_in_one_family_alone_blows_nothing_up() -> None:
    rng = np.random.default_rng(4)
    x, y, families = study(rng, slope=1.0)
    x[:, 1] = np.where(np.array(families) == 0, rng.normal(size=len(y)), 5)
    x[-1, 1] = 4.99  # nearly constant in all others
    found = explain_by_columns(x, y, families)
    assert found.explained > 0.1


@pytest.mark.filterwarnings("error")
def test_what_cannot_be_fitted_is_said() -> None:
    rng = np.random.default_rng(0)
    x, y, families = study(rng)
    with pytest.raises(AnalysisError, match="needs 12 languages of 5 families, and there are 11 of"):
        explain_by_columns(x[:11], y[:11], families[:11])
    with pytest.raises(AnalysisError, match="and there are 40 of 1"):
        explain_by_columns(x, y, ["one"] * 40)
    with pytest.raises(AnalysisError, match="the same for all"):
        explain_by_columns(x, np.ones(40), families)
    with pytest.raises(AnalysisError, match="the same for all"):
        explain_by_columns(np.column_stack([x, np.ones(40)]), y, families)
    x[3, 2] = np.nan
    with pytest.raises(AnalysisError, match="NaN"):
        explain_by_columns(x, y, families)
    with pytest.raises(AnalysisError, match="and there are 0 of 0"):
        explain_by_columns(np.zeros((0, 2)), np.zeros(0), [])
