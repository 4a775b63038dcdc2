"""Rules for selecting a checkpoint, their outcomes in one language, and agreement and spread over several runs.

Spread and directional agreement of dev and test scores are those of Keung et al. (2020, Tables 2 and 3). All pairs of
checkpoints of a run with test scores at least half a point apart are counted; the paper samples from them. Pairs with
equal dev scores count half, so that unrelated scores agree in half of the pairs, however coarse they are.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import NamedTuple

import numpy as np

from isogloss.analysis.checkpoint_scores import CheckpointScores, SeedScores
from isogloss.analysis.crossfit import crossfitted
from isogloss.metrics.estimate import ROUNDING, Interval, wilson_interval
from isogloss.metrics.significance import holm
from isogloss.metrics.statistics import FloatArray
from isogloss.metrics.student import LEVEL, t_quantile, t_tail
from isogloss.metrics.unpaired import two_proportions
from isogloss.scoring.names import language_name

TARGET, OTHER, MEAN, LAST, BEST = "target dev", "one other dev", "mean dev", "last", "best test"
# The best checkpoint chosen and scored by different halves of the test set.
CROSSFITTED = "best test, cross-fitted"
# Figures to compare rules with; users cannot select by test scores.
BOUNDS = (BEST, CROSSFITTED)
# Agreement of unrelated scores.
CHANCE = 0.5
# Minimum change of a test score, in points.
SMALLEST_MOVE = 0.5
# Fewer runs do not show how runs differ. A jackknife over the dependent checkpoints of a run cannot replace runs: its
# intervals covered the truth in only 40 to 50 % of simulated random walks.
FEWEST_SEEDS = 3
# The paper's rule of thumb for test sets of 4,000 (MLDoc) and 5,010 (XNLI) examples.
LARGE_SPREAD = 2.5


@dataclass(frozen=True)
class RunSpread:
    """Smallest and largest score of several runs.

    `p` is that of their difference as shares of n examples, None if n is unknown; `p_any` is Bonferroni-corrected for
    all pairs of runs.
    """

    smallest: float
    largest: float
    p: float | None = None
    p_any: float | None = None

    @property
    def spread(self) -> float:
        """Largest minus smallest score."""
        return self.largest - self.smallest

    @property
    def large(self) -> bool:
        """True if the spread is at least the paper's 2.5 points."""
        return self.spread >= LARGE_SPREAD - ROUNDING * 100


def run_spread(scores: FloatArray, n: int = 0) -> RunSpread:
    """Return the spread of the scores of runs, 0..100, on the same n examples (0 if unknown)."""
    low, high = float(scores.min()), float(scores.max())
    if not n or len(scores) < 2:
        return RunSpread(low, high)
    p = two_proportions(round(low / 100 * n), n, round(high / 100 * n), n)
    return RunSpread(low, high, p, min(1.0, p * len(scores) * (len(scores) - 1) / 2))


def interval_over_runs(values: FloatArray) -> Interval | None:
    """Return Student's 95 % interval of the mean over runs, or None for fewer than three or equal runs."""
    count = len(values)
    if count < FEWEST_SEEDS or not (error := float(values.std(ddof=1)) / sqrt(count)) > ROUNDING:
        return None
    margin = t_quantile((1 + LEVEL) / 2, count - 1) * error
    return float(values.mean()) - margin, float(values.mean()) + margin


def p_over_runs(values: FloatArray) -> float | None:
    """Return the p-value of a mean of 0 by Student's test over runs, or None for fewer than three or equal runs."""
    count = len(values)
    if count < FEWEST_SEEDS:
        return None
    if not values.any():  # two rules that select the same checkpoint in every run
        return 1.0
    error = float(values.std(ddof=1)) / sqrt(count)
    return 2 * t_tail(abs(float(values.mean())) / error, count - 1) if error > ROUNDING else None


class PairCounts(NamedTuple):
    """Checkpoint pairs of one run with a sufficient change of the test score.

    In `agreeing` pairs, dev and test move the same way; pairs with equal dev scores count half.
    """

    pairs: int
    agreeing: float
    equal: int


@dataclass(frozen=True, eq=False, kw_only=True)
class DirectionalAgreement:
    """Share of pairs in which dev and test move the same way, 0..1, and `without` each run, NaN if no pair is left."""

    share: float
    pairs: int
    equal: int
    without: FloatArray

    @property
    def interval(self) -> Interval | None:
        """95 % interval, Wilson's with Student's quantile; None for fewer than three runs."""
        if self._effective is None:
            return None
        return wilson_interval(self.share, self._effective, t_quantile((1 + LEVEL) / 2, len(self.without) - 1))

    @property
    def p_chance(self) -> float | None:
        """p-value of an agreement by chance, below 0.05 if the interval excludes it; None for fewer than three runs."""
        if self._effective is None:
            return None
        error = sqrt(CHANCE * (1 - CHANCE) / self._effective)
        return 2 * t_tail(abs(self.share - CHANCE) / error, len(self.without) - 1)

    @property
    def _effective(self) -> float | None:
        """Effective number of pairs, by the jackknife over runs: pairs share checkpoints, so they are dependent."""
        runs = len(self.without)
        if runs < FEWEST_SEEDS or not np.isfinite(self.without).all():
            return None
        variance, between = jackknife_variance(self.without), 0 < self.share < 1
        return self.share * (1 - self.share) / variance if variance > ROUNDING**2 and between else float(runs)


def count_pairs(dev: FloatArray, test: FloatArray, smallest_move: float = SMALLEST_MOVE) -> PairCounts:
    """Count the checkpoint pairs of one run; scores are in order, NaN where a checkpoint was not evaluated."""
    evaluated = np.isfinite(dev) & np.isfinite(test)
    dev, test = dev[evaluated], test[evaluated]
    # Allow for rounding in scores exactly half a point apart.
    moves = np.subtract.outer(test, test)
    enough = np.abs(moves) >= smallest_move - ROUNDING * 100
    dev_moves = np.subtract.outer(dev, dev)
    equal = enough & (np.abs(dev_moves) < ROUNDING * 100)
    same = enough & ~equal & (np.sign(dev_moves) == np.sign(moves))
    # Every pair is counted twice.
    return PairCounts(int(enough.sum()) // 2, float(same.sum() + equal.sum() / 2) / 2, int(equal.sum()) // 2)


def agreement(counts: Sequence[PairCounts]) -> DirectionalAgreement | None:
    """Return the agreement over the pairs of all runs, or None if no test score moved enough."""
    by_run = np.array(counts, dtype=np.float64).reshape(-1, 3)
    pairs, agreeing, equal = by_run.sum(axis=0)
    if not pairs:
        return None
    left = by_run.sum(axis=0) - by_run
    without = np.divide(left[:, 1], left[:, 0], out=np.full(len(left), np.nan), where=left[:, 0] > 0)
    return DirectionalAgreement(share=float(agreeing / pairs), pairs=int(pairs), equal=int(equal), without=without)


def mean_agreement(agreements: Sequence[DirectionalAgreement]) -> DirectionalAgreement | None:
    """Return the mean over languages of the same runs, with a jackknife interval; None without languages."""
    if not agreements:
        return None
    return DirectionalAgreement(
        share=float(np.mean([each.share for each in agreements])),
        pairs=sum(each.pairs for each in agreements),
        equal=sum(each.equal for each in agreements),
        without=np.mean([each.without for each in agreements], axis=0),
    )


class AgreementGain(NamedTuple):
    """A share of agreeing pairs minus another, its 95 % interval and the p-value of no difference."""

    low: float
    high: float
    p: float


def agreement_gain(first: DirectionalAgreement, second: DirectionalAgreement) -> AgreementGain | None:
    """Return the first share minus the second, by the jackknife over the same runs; None for too few runs."""
    without = first.without - second.without
    if len(without) < FEWEST_SEEDS or not np.isfinite(without).all():
        return None
    error, freedom = sqrt(jackknife_variance(without)), len(without) - 1
    difference = first.share - second.share
    margin = t_quantile((1 + LEVEL) / 2, freedom) * error
    p = 2 * t_tail(abs(difference) / error, freedom) if error > ROUNDING else float(abs(difference) <= ROUNDING)
    return AgreementGain(max(-1.0, difference - margin), min(1.0, difference + margin), p)


def jackknife_variance(without: FloatArray) -> float:
    """Return the jackknife variance from the leave-one-out values."""
    runs = len(without)
    return float(((without - without.mean()) ** 2).sum()) * (runs - 1) / runs


@dataclass(frozen=True)
class RuleOutcome:
    """Outcome of a rule in one run and language: the test score, and the points lost against the best checkpoint.

    `step` is the selected checkpoint, None for a mean over several choices.
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
    """Return the outcome of every rule with available dev sets, in one run and test language.

    The dev set of the training language, `source`, selects in the zero-shot setting. The dev set of `single` selects
    for all languages; by default each other language selects in turn, and the outcomes are averaged.
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
    if language in run.halves and (score_of_best := crossfitted(run.halves[language])) is not None:
        outcomes[CROSSFITTED] = RuleOutcome(None, score_of_best, max(0.0, float(np.nanmax(test)) - score_of_best))
    return outcomes


def dev_of(code: str) -> str:
    """Return the name of a language's dev set and of the rule that uses it."""
    return f"{language_name(code)} dev"


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
        gain: `by_target` minus `by_source`.
    """

    language: str
    n: int
    outcomes: Mapping[str, Sequence[RuleOutcome]]
    spread: RunSpread
    by_source: DirectionalAgreement | None
    by_target: DirectionalAgreement | None
    gain: AgreementGain | None

    def scores(self, rule: str) -> FloatArray:
        """Return the test scores of the runs by a rule."""
        return np.array([outcome.test for outcome in self.outcomes[rule]])

    def oracle_gains(self, source: str) -> FloatArray | None:
        """Return the gain of target dev over source dev in each run, if known."""
        has_both = TARGET in self.outcomes and dev_of(source) in self.outcomes
        return self.scores(TARGET) - self.scores(dev_of(source)) if has_both else None


def language_selections(
    scores: CheckpointScores, source: str, single: str = "", test_size: int = 0
) -> Iterator[LanguageSelection]:
    """Yield the languages with test scores and source dev in every run, the source first."""
    for code in sorted(scores.languages("test"), key=lambda code: (code != source, code)):
        runs = [rule_outcomes(run, code, source, single) for run in scores.seeds]
        shared = [rule for rule in runs[0] if all(rule in run for run in runs)]
        if dev_of(source) not in shared:
            continue
        outcomes = {rule: [run[rule] for run in runs] for rule in shared}
        n = test_size or scores.sizes.get((code, "test"), 0)
        spread = run_spread(np.array([outcome.test for outcome in outcomes[dev_of(source)]]), n)
        one, two = (
            agreement([count_pairs(run.of(dev, "dev"), run.of(code, "test")) for run in scores.seeds])
            for dev in (source, code)
        )
        gain = agreement_gain(two, one) if one and two and code != source else None
        yield LanguageSelection(
            language=code, n=n, outcomes=outcomes, spread=spread, by_source=one, by_target=two, gain=gain
        )


def compared(
    targets: Sequence[LanguageSelection], source: str, single: str
) -> tuple[list[str], list[LanguageSelection]]:
    """Return the comparable rules, and the languages that have all of them.

    If no language has all rules, rules that some languages lack are left out.
    """
    rules = [dev_of(source), TARGET, _single_name(single), MEAN, LAST, *BOUNDS]
    rules = [rule for rule in rules if any(rule in target.outcomes for target in targets)]
    whole = [target for target in targets if all(rule in target.outcomes for rule in rules)]
    if not whole:
        rules = [rule for rule in rules if all(rule in target.outcomes for target in targets)]
        whole = list(targets)
    return rules, whole


def rule_means(languages: Sequence[LanguageSelection], rule: str) -> FloatArray:
    """Return the mean test score over languages by a rule, one per run."""
    means: FloatArray = np.mean([language.scores(rule) for language in languages], axis=0)
    return means


class RuleGain(NamedTuple):
    """Mean test score of a rule minus that of source dev, over languages and runs.

    `p` is Holm-corrected over all rules; it and the interval are None for bounds, source dev itself and too few runs.
    """

    gain: float
    interval: Interval | None
    p: float | None


def rule_gains(languages: Sequence[LanguageSelection], names: Sequence[str], source: str) -> dict[str, RuleGain]:
    """Return the gain of every rule over source dev, tested over runs with a correction for the number of rules."""
    usual = rule_means(languages, dev_of(source))
    gains = {rule: rule_means(languages, rule) - usual for rule in names if rule != dev_of(source)}
    tested = corrected({rule: p_over_runs(values) for rule, values in gains.items() if rule not in BOUNDS})
    # The best of many test scores is higher by chance: neither an interval nor a test of it would mean anything.
    intervals = {rule: None if rule == BEST else interval_over_runs(values) for rule, values in gains.items()}
    return {rule: RuleGain(float(values.mean()), intervals[rule], tested.get(rule)) for rule, values in gains.items()}


def corrected(p_values: Mapping[str, float | None]) -> dict[str, float]:
    """Return the known p-values, corrected for their number by Holm's method."""
    known = {name: p for name, p in p_values.items() if p is not None}
    return dict(zip(known, holm(list(known.values())).tolist(), strict=True))


def mean_agreements(targets: Iterable[LanguageSelection]) -> list[DirectionalAgreement | None]:
    """Return the mean agreement with source dev and with target dev, over languages with both."""
    both = [(target.by_source, target.by_target) for target in targets if target.by_source and target.by_target]
    return [mean_agreement([one for one, _ in both]), mean_agreement([other for _, other in both])]
