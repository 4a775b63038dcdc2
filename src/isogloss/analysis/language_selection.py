"""What choosing a checkpoint by different dev sets comes to in one language, over several runs."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from isogloss.analysis.checkpoint_scores import CheckpointScores
from isogloss.analysis.directional_agreement import (
    DirectionalAgreement,
    agreement,
    count_pairs,
    difference_interval,
    mean_agreement,
)
from isogloss.analysis.run_variation import RunSpread, interval_over_runs, run_spread
from isogloss.analysis.selection_rules import TARGET, RuleOutcome, dev_of, rule_names, rule_outcomes
from isogloss.metrics.estimate import Interval
from isogloss.metrics.statistics import FloatArray


@dataclass(frozen=True, eq=False)
class LanguageSelection:
    """What choosing by different dev sets comes to in one language.

    Attributes:
        outcomes: by rule, the outcome in each run; only rules that every run has.
        spread: of the runs' test scores, each at its best source dev.
        by_source: how often source dev and test move the same way; None where test never moved enough.
        by_target: the same for the language's own dev set; None too where there is none.
        gain: the interval of the second minus the first.
    """

    language: str
    n: int
    outcomes: Mapping[str, Sequence[RuleOutcome]]
    spread: RunSpread
    by_source: DirectionalAgreement | None
    by_target: DirectionalAgreement | None
    gain: Interval | None

    def scores(self, rule: str) -> FloatArray:
        """The test scores of the runs by a rule."""
        return np.array([outcome.test for outcome in self.outcomes[rule]])

    def oracle_gain(self, source: str) -> Interval | None:
        """The interval over runs of the test points that target dev gains over source dev, where it is known."""
        known = TARGET in self.outcomes and dev_of(source) in self.outcomes
        return interval_over_runs(self.scores(TARGET) - self.scores(dev_of(source))) if known else None


def language_selections(
    scores: CheckpointScores, source: str, single: str = "", test_size: int = 0
) -> list[LanguageSelection]:
    """The languages that have test scores beside source dev in every run, the source first."""
    languages = sorted(scores.languages("test"), key=lambda code: (code != source, code))
    found = [_selection(scores, code, source, single, test_size) for code in languages]
    return [each for each in found if each is not None]


def _selection(
    scores: CheckpointScores, language: str, source: str, single: str, test_size: int
) -> LanguageSelection | None:
    """What the rules come to in a language; None where a run has no test scores of it beside source dev."""
    runs = [rule_outcomes(run, language, source, single) for run in scores.seeds]
    shared = [rule for rule in runs[0] if all(rule in run for run in runs)]
    if dev_of(source) not in shared:
        return None
    outcomes = {rule: [run[rule] for run in runs] for rule in shared}
    n = test_size or scores.sizes.get(language, 0)
    spread = run_spread(np.array([outcome.test for outcome in outcomes[dev_of(source)]]), n)
    by_source, by_target = (
        agreement([count_pairs(run.of(dev, "dev"), run.of(language, "test")) for run in scores.seeds])
        for dev in (source, language)
    )
    gain = difference_interval(by_target, by_source) if by_source and by_target and language != source else None
    return LanguageSelection(language, n, outcomes, spread, by_source, by_target, gain)


def compared(
    targets: Sequence[LanguageSelection], source: str, single: str
) -> tuple[list[str], list[LanguageSelection]]:
    """The rules that can be compared, and the languages that have them all.

    Where no language has all of them, those that some have are left out.
    """
    rules = [rule for rule in rule_names(source, single) if any(rule in each.outcomes for each in targets)]
    whole = [each for each in targets if all(rule in each.outcomes for rule in rules)]
    if not whole:
        rules = [rule for rule in rules if all(rule in each.outcomes for each in targets)]
        whole = list(targets)
    return rules, whole


def rule_means(languages: Sequence[LanguageSelection], rule: str) -> FloatArray:
    """The mean test score over languages by a rule, one for each run."""
    means: FloatArray = np.mean([each.scores(rule) for each in languages], axis=0)
    return means


def mean_agreements(
    targets: Iterable[LanguageSelection],
) -> tuple[DirectionalAgreement | None, DirectionalAgreement | None]:
    """The mean agreement with source dev and with target dev, over the languages that have both."""
    both = [(each.by_source, each.by_target) for each in targets if each.by_source and each.by_target]
    return mean_agreement([one for one, _ in both]), mean_agreement([other for _, other in both])
