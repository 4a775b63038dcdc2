"""Means of scores over languages that stand for others, with intervals over families."""

from collections.abc import Callable, Hashable, Mapping

from isogloss.metrics.language_sample import LanguageFigure, mean_over_languages
from isogloss.scoring.names import family_of


def mean_score(scores: Mapping[str, float], relatives: Callable[[str], Hashable] = family_of) -> LanguageFigure:
    """Return the mean of scores by language, 0..100, with its interval over families or other groups of relatives."""
    mean, low, high = mean_over_languages(list(scores.values()), [relatives(code) for code in scores])
    least = 0.0 if min(scores.values(), default=0.0) >= 0 else -100.0  # correlations may be negative
    return LanguageFigure(mean, None if low is None else max(least, low), None if high is None else min(100.0, high))
