"""Bootstrap over languages: variation due to the choice of languages."""

from collections.abc import Sequence

import numpy as np

from isogloss.metrics.intervals import bootstrap
from isogloss.metrics.statistics import IntArray

# Fewer languages do not show how languages differ.
ENOUGH_LANGUAGES = 5
RESAMPLES = 1000


def interval_over_languages(values: Sequence[float], seed: int = 0) -> tuple[float | None, float | None]:
    """Return the 95 % interval of a mean of scores, 0..100, for similar languages; (None, None) below five languages.

    Uses the project's bootstrap (corrected for bias and skewness, with Student's quantile), with languages as units.
    """
    if len(values) < ENOUGH_LANGUAGES:
        return None, None
    low, high = bootstrap(np.asarray(values, dtype=np.float64) / 100, "mean", resamples=RESAMPLES, seed=seed)
    return 100 * low, 100 * high


def language_draws(count: int, resamples: int = RESAMPLES, seed: int = 0) -> IntArray:
    """Return the number of times each language is drawn, as `resamples` rows of `count` numbers."""
    rng = np.random.default_rng(seed)
    return rng.multinomial(count, np.full(count, 1 / count), size=resamples).astype(np.int64)
