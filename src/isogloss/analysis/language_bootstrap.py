"""Drawing languages again: how far a figure depends on which languages a test happens to have."""

from collections.abc import Sequence

import numpy as np

from isogloss.metrics.intervals import bootstrap
from isogloss.metrics.statistics import IntArray

# Fewer languages do not tell how languages differ.
ENOUGH_LANGUAGES = 5
RESAMPLES = 1000


def interval_over_languages(values: Sequence[float], seed: int = 0) -> tuple[float | None, float | None]:
    """The 95 % interval of a mean of scores, 0..100, for languages like these; none for fewer than five of them.

    The project's bootstrap (corrected for bias and skewness, with Student's quantile), a language being the unit.
    """
    if len(values) < ENOUGH_LANGUAGES:
        return None, None
    low, high = bootstrap(np.asarray(values, dtype=np.float64) / 100, "mean", resamples=RESAMPLES, seed=seed)
    return 100 * low, 100 * high


def language_draws(count: int, resamples: int = RESAMPLES, seed: int = 0) -> IntArray:
    """For each resample how often each language is drawn, as `resamples` rows of `count` numbers."""
    rng = np.random.default_rng(seed)
    return rng.multinomial(count, np.full(count, 1 / count), size=resamples).astype(np.int64)
