"""Rules for selecting a checkpoint, and their outcomes in one language over several runs."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from isogloss.analysis.checkpoint_scores import CheckpointScores, SeedScores
from isogloss.analysis.run_statistics import (
    DirectionalAgreement,
    RunSpread,
    agreement,
    count_pairs,
    difference_interval,
    interval_over_runs,
    mean_agreement,
    run_spread,
)
from isogloss.metrics.estimate import Interval
from isogloss.metrics.statistics import FloatArray
from isogloss.scoring.names import language_name

TARGET, OTHER, MEAN, LAST, BEST = "target dev", "one other dev", "mean dev", "last", "best test"


@dataclass(frozen=True)
class RuleOutcome:
    """Outcome of a rule in one run and language.

    Attributes:
        step: selected checkpoint; None for a mean over several choices.
        test: test score of the choice.
        lost: points below the best checkpoint.
    """

    step: int | None
    test: float
    lost: float


def best_place(guide: FloatArray, test: FloatArray) -> int | None:
    """Return the index of the highest guide score among checkpoints with both scores (earliest if tied), or None."""
    usable = np.where(np.isfinite(guide) & np.isfinite(test), guide, -np.inf)
    best = int(np.argmax(usable)) if len(usable) else 0
    return best if len(usable) and np.isfinite(usable[best]) else None


def rule_outcomes(run: SeedScores, language: str, source: str, single: str = "") -> dict[str, RuleOutcome]:
    """Return the outcome of every rule with available dev sets, in one run and language.

    Args:
        run: scores of the run.
        language: test language.
        source: training language; its dev set selects in the zero-shot setting.
        single: language of the dev set that selects for all. By default each other language selects in turn, and the
            outcomes are averaged.
    """
    test = run.of(language, "test")
    if not np.isfinite(test).any():
        return {}
    outcomes = {}
    for rule, guides in _guides(run, language, source, single).items():
        choices = [index for guide in guides if (index := best_place(guide, test)) is not None]
        if choices:
            step = run.steps[choices[0]] if len(guides) == 1 else None
            score = float(np.mean(test[choices]))
            outcomes[rule] = RuleOutcome(step, score, max(0.0, float(np.nanmax(test)) - score))
    return outcomes


def dev_of(code: str) -> str:
    """Return the name of a language's dev set and of the rule that uses it."""
    return f"{language_name(code)} dev"


def rule_names(source: str, single: str = "") -> list[str]:
    """Return the rules in display order."""
    return [dev_of(source), TARGET, _single_name(single), MEAN, LAST, BEST]


def _single_name(single: str) -> str:
    # Without "only", two rules would share a name if the language is also the source.
    return f"only {dev_of(single)}" if single else OTHER


def _guides(run: SeedScores, language: str, source: str, single: str) -> dict[str, Sequence[FloatArray]]:
    """Return the guide scores of each rule, one per checkpoint; higher is better."""
    dev: Mapping[str, FloatArray] = {code: values for (code, split), values in run.values.items() if split == "dev"}
    others = [single] if single else [code for code in dev if code not in (language, source)]
    return {
        dev_of(source): [dev[source]] if source in dev else [],
        TARGET: [dev[language]] if language in dev else [],
        _single_name(single): [dev[code] for code in others if code in dev],
        MEAN: [np.mean([*dev.values()], axis=0)] if dev else [],
        LAST: [np.arange(len(run.steps), dtype=np.float64)],
        BEST: [run.of(language, "test")],
    }


@dataclass(frozen=True, eq=False, kw_only=True)
class LanguageSelection:
    """Outcomes of selection by different dev sets in one language.

    Attributes:
        outcomes: outcome in each run by rule, for rules that every run has.
        spread: spread of the runs' test scores, each at its best source dev.
        by_source: directional agreement of source dev and test; None if test scores never changed enough.
        by_target: the same for the language's own dev set; None without dev scores.
        gain: interval of `by_target` minus `by_source`.
    """

    language: str
    n: int
    outcomes: Mapping[str, Sequence[RuleOutcome]]
    spread: RunSpread
    by_source: DirectionalAgreement | None
    by_target: DirectionalAgreement | None
    gain: Interval | None

    def scores(self, rule: str) -> FloatArray:
        """Return the test scores of the runs by a rule."""
        return np.array([outcome.test for outcome in self.outcomes[rule]])

    def oracle_gain(self, source: str) -> Interval | None:
        """Return the interval over runs of the gain of target dev over source dev, if known."""
        has_both = TARGET in self.outcomes and dev_of(source) in self.outcomes
        return interval_over_runs(self.scores(TARGET) - self.scores(dev_of(source))) if has_both else None


def language_selections(
    scores: CheckpointScores, source: str, single: str = "", test_size: int = 0
) -> list[LanguageSelection]:
    """Return the languages with test scores and source dev in every run, the source first."""
    selections = []
    for code in sorted(scores.languages("test"), key=lambda code: (code != source, code)):
        runs = [rule_outcomes(run, code, source, single) for run in scores.seeds]
        shared = [rule for rule in runs[0] if all(rule in run for run in runs)]
        if dev_of(source) not in shared:
            continue
        outcomes = {rule: [run[rule] for run in runs] for rule in shared}
        n = test_size or scores.sizes.get(code, 0)
        spread = run_spread(np.array([outcome.test for outcome in outcomes[dev_of(source)]]), n)
        one, two = (
            agreement([count_pairs(run.of(dev, "dev"), run.of(code, "test")) for run in scores.seeds])
            for dev in (source, code)
        )
        gain = difference_interval(two, one) if one and two and code != source else None
        selections.append(
            LanguageSelection(
                language=code, n=n, outcomes=outcomes, spread=spread, by_source=one, by_target=two, gain=gain
            )
        )
    return selections


def compared(
    targets: Sequence[LanguageSelection], source: str, single: str
) -> tuple[list[str], list[LanguageSelection]]:
    """Return the comparable rules, and the languages that have all of them.

    If no language has all rules, rules that some languages lack are left out.
    """
    rules = [rule for rule in rule_names(source, single) if any(rule in target.outcomes for target in targets)]
    whole = [target for target in targets if all(rule in target.outcomes for rule in rules)]
    if not whole:
        rules = [rule for rule in rules if all(rule in target.outcomes for target in targets)]
        whole = list(targets)
    return rules, whole


def rule_means(languages: Sequence[LanguageSelection], rule: str) -> FloatArray:
    """Return the mean test score over languages by a rule, one per run."""
    means: FloatArray = np.mean([language.scores(rule) for language in languages], axis=0)
    return means


def mean_agreements(
    targets: Iterable[LanguageSelection],
) -> tuple[DirectionalAgreement | None, DirectionalAgreement | None]:
    """Return the mean agreement with source dev and with target dev, over languages with both."""
    both = [(target.by_source, target.by_target) for target in targets if target.by_source and target.by_target]
    return mean_agreement([one for one, _ in both]), mean_agreement([other for _, other in both])
