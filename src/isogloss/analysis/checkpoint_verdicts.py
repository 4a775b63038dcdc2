"""Verdicts on the languages of a checkpoint selection, each question corrected for the number of languages."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from isogloss.analysis.language_selection import CHANCE, LanguageSelection, corrected, dev_of, p_over_runs
from isogloss.metrics.student import ALPHA

CORRECTION = (
    "Verdicts are corrected for the number of languages (Holm), separately for each question; each interval is for one "
    "language alone."
)


@dataclass(frozen=True, kw_only=True)
class LanguageVerdicts:
    """Languages with a significant result, by question, and the corrected p-values of differences between runs."""

    above_chance: list[str]  # source dev agrees with test in more than half of the pairs
    below_chance: list[str]  # in less than half
    better_tracking: list[str]  # the language's own dev set agrees more often
    better_choice: list[str]  # and selects a checkpoint with a higher test score
    runs_p: Mapping[str, float]  # of any two runs being equally good; empty without numbers of examples

    def runs_differ(self, language: str) -> bool | None:
        """Return True if two runs are significantly different, None if not tested."""
        return None if language not in self.runs_p else self.runs_p[language] < ALPHA

    def guide(self, selection: LanguageSelection, source: str) -> str:
        """Describe how well source dev tracks test scores, regardless of cost."""
        if selection.by_source is None:
            return "test scores do not change"
        if selection.by_source.interval is None:
            return "unknown"
        if selection.language in self.below_chance:
            return f"{dev_of(source)} misleads"
        if selection.language not in self.above_chance:
            return f"{dev_of(source)} is not significantly better than chance"
        better = selection.language in self.better_tracking
        return "target dev tracks test better" if better else f"{dev_of(source)} tracks test"


def language_verdicts(selections: Sequence[LanguageSelection], source: str) -> LanguageVerdicts:
    """Return the verdicts on all languages; those about source dev are on the other languages."""
    targets = [selection for selection in selections if selection.language != source]
    shares = {each.language: each.by_source for each in targets if each.by_source is not None}
    excess = {code: agreement.share - CHANCE for code, agreement in shares.items()}
    chance = {code: agreement.p_chance for code, agreement in shares.items()}
    tracked = {each.language: each.gain for each in targets if each.gain is not None}
    chosen = {each.language: gains for each in targets if (gains := each.oracle_gains(source)) is not None}
    return LanguageVerdicts(
        above_chance=_positive(chance, excess),
        below_chance=_positive(chance, {code: -value for code, value in excess.items()}),
        better_tracking=_positive(
            {code: gain.p for code, gain in tracked.items()},
            {code: gain.low + gain.high for code, gain in tracked.items()},
        ),
        better_choice=_positive(
            {code: p_over_runs(gains) for code, gains in chosen.items()},
            {code: float(gains.mean()) for code, gains in chosen.items()},
        ),
        runs_p=corrected({each.language: each.spread.p_any for each in selections}),
    )


def _positive(p_values: Mapping[str, float | None], gains: Mapping[str, float]) -> list[str]:
    """Return the languages with a positive gain that is significant after the correction."""
    return [code for code, p in corrected(p_values).items() if p < ALPHA and gains[code] > 0]
