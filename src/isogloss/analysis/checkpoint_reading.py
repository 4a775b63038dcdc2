"""Summary of checkpoint selection: sizes, agreement of dev and test, and tested advice."""

from collections.abc import Sequence
from statistics import fmean

from isogloss.analysis import language_selection as rules
from isogloss.analysis.checkpoint_scores import CheckpointScores
from isogloss.analysis.checkpoint_verdicts import LanguageVerdicts
from isogloss.analysis.language_selection import (
    BEST,
    BOUNDS,
    CROSSFITTED,
    FEWEST_SEEDS,
    LARGE_SPREAD,
    TARGET,
    LanguageSelection,
    dev_of,
)
from isogloss.figures import counted, difference_interval_text, difference_text, p_equation, score_text
from isogloss.metrics.student import ALPHA
from isogloss.scoring.names import language_name

# Maximum number of languages listed in a sentence.
NAMED = 15


def reading(
    targets: Sequence[LanguageSelection],
    verdicts: LanguageVerdicts,
    scores: CheckpointScores,
    source: str,
    single: str,
) -> str:
    """Summarise the tables, their limits, and the advice."""
    runs = len(scores.seeds)
    sentences = [
        f"{counted(runs, 'run')}, {counted(len(targets), 'language')} besides {language_name(source)}.",
        *_sizes_sentences(targets, scores, source),
        *_agreement_sentences(targets, verdicts, source),
        *_advice(targets, source, single),
    ]
    sentences += [_runs_sentence(targets, verdicts)] if runs > 1 else []
    sentences.append(
        "The results may not hold for another model, task or learning rate. Zero-shot transfer excludes labelled data "
        "in the target language, even a dev set: report scores selected by it separately."
    )
    return " ".join(sentences)


def _runs_sentence(targets: Sequence[LanguageSelection], verdicts: LanguageVerdicts) -> str:
    """Say in which languages runs differ, by a test if the numbers of examples are known."""
    large = _listed([target.language for target in targets if target.spread.large], targets)
    apart = f"Runs are {LARGE_SPREAD} points or more apart in {large}"
    tested = [target.language for target in targets if target.language in verdicts.runs_p]
    if not tested:
        return f"{apart}, which is not tested without the numbers of test examples (--test-size)."
    differing = [code for code in tested if verdicts.runs_differ(code)]
    test = "Fisher's test, corrected for all pairs of runs and for the languages"
    if not differing:
        return f"{apart}. No two runs are significantly different in any language ({test})."
    significant = f"Runs are significantly different in {_listed(differing, targets)} ({test})"
    return f"{apart}. {significant}: report several seeds, not one."


def _agreement_sentences(targets: Sequence[LanguageSelection], verdicts: LanguageVerdicts, source: str) -> list[str]:
    by_source, by_target = rules.mean_agreements(targets)
    sentences, dev = [], dev_of(source)
    agreements = [target.by_source for target in targets if target.by_source]
    if by_source is not None and by_target is not None:
        gain = rules.agreement_gain(by_target, by_source)
        apart = f" (difference {by_target.share - by_source.share:+.2f}{_within(gain and (gain.low, gain.high))})"
        shares = [f"{score_text(mean.share, 2)}{_within(mean.interval)}" for mean in (by_source, by_target)]
        sentences.append(
            f"Between two checkpoints, test scores change in the same direction as {dev} in {shares[0]} of pairs, and "
            f"as the language's own dev set in {shares[1]}{apart}."
        )
    elif agreements:
        share = f"{score_text(fmean(agreement.share for agreement in agreements), 2)} of pairs"
        sentences.append(f"Between two checkpoints, test scores change in the same direction as {dev} in {share}.")
    if agreements and not any(agreement.interval for agreement in agreements):
        return [*sentences, f"More runs are needed to test whether {dev} is better than chance in a language."]
    below = f", and significantly worse in {_listed(verdicts.below_chance, targets)}" if verdicts.below_chance else ""
    sentences.append(
        f"{dev} is significantly better than chance in {_listed(verdicts.above_chance, targets)}{below}. The "
        "language's own dev set tracks test scores significantly better in "
        f"{_listed(verdicts.better_tracking, targets)}, and selects a checkpoint with a significantly higher test "
        f"score in {_listed(verdicts.better_choice, targets)} (Holm-corrected for the number of languages)."
    )
    return sentences


def _advice(targets: Sequence[LanguageSelection], source: str, single: str) -> list[str]:
    """Recommend a rule only if its gain over source dev is significant among all rules, and qualify the best score."""
    dev = dev_of(source)
    names, languages = rules.compared(targets, source, single)
    gains = rules.rule_gains(languages, names, source)
    for_all = {rule: gain for rule, gain in gains.items() if rule not in (TARGET, *BOUNDS)}
    better = {rule: gain for rule, gain in for_all.items() if gain.gain > 0 and (gain.p or 1.0) < ALPHA}
    if not any(gain.p is not None for gain in for_all.values()):
        sentences = [f"No advice: testing other rules against {dev} needs {FEWEST_SEEDS} runs that differ."]
    elif not better:
        what = "No rule that selects one checkpoint for all languages is significantly better than"
        sentences = [f"{what} {dev} on average (corrected for {counted(len(for_all), 'rule')})."]
    else:
        best = max(better, key=lambda rule: better[rule].gain)
        gained, p = difference_text(better[best].gain), p_equation(better[best].p or 0.0)
        sentences = [f"Select one checkpoint for all languages by {best}: {gained} points over {dev}, {p}."]
    if TARGET in gains:
        oracle = gains[TARGET]
        verdict = "not tested" if oracle.p is None else p_equation(oracle.p)
        sentences.append(f"Target dev, the oracle, gains {difference_text(oracle.gain)} ({verdict}).")
    if BEST in gains:
        sentences.append(_best_sentence(gains))
    return sentences


def _best_sentence(gains: dict[str, rules.RuleGain]) -> str:
    high = f"The highest test score of each run is {difference_text(gains[BEST].gain)}, which chance alone raises"
    fitted = gains.get(CROSSFITTED)
    if fitted is None:
        return f"{high}; without answers it cannot be corrected by cross-fitting."
    interval = "" if fitted.interval is None else f" ({difference_interval_text(*fitted.interval)})"
    return f"{high}; cross-fitted it is {difference_text(fitted.gain)}{interval}."


def _sizes_sentences(targets: Sequence[LanguageSelection], scores: CheckpointScores, source: str) -> list[str]:
    """State the sizes of source dev, target dev and test, and warn if the dev sets cannot be compared."""
    codes = [target.language for target in targets]
    english, target, test = (
        _range(scores, keys) for keys in ([(source, "dev")], [(c, "dev") for c in codes], [(c, "test") for c in codes])
    )
    if not (english and test):
        return []
    stated = f"{dev_of(source)} has {english} examples, {f'target dev {target}, ' if target else ''}test {test}."
    smallest = min((n for code in codes if (n := scores.sizes.get((code, "dev")))), default=0)
    sampled = [key for key, n in scores.sizes.items() if n < scores.whole.get(key, 0)]
    if not (sampled or 0 < smallest < scores.sizes.get((source, "dev"), 0) / 2):
        return [stated]
    advice = "Target dev is smaller, which alone makes it choose worse" if smallest else "Test sets are samples"
    return [f'{stated} {advice}: for whole sets, train with dev_examples = "all" and test_examples = "all".']


def _range(scores: CheckpointScores, keys: Sequence[tuple[str, str]]) -> str:
    """Describe the sizes of sets: `300 of 2,490`, or the smallest to the largest."""
    sizes = sorted({scores.sizes[key] for key in keys if key in scores.sizes})
    whole = sorted({scores.whole[key] for key in keys if key in scores.whole and key in scores.sizes})
    texts = [f"{some[0]:,}" + (f" to {some[-1]:,}" if len(some) > 1 else "") for some in (sizes, whole) if some]
    return " of ".join(texts[:1] if sizes == whole else texts)


def _within(interval: tuple[float, float] | None) -> str:
    return "" if interval is None else f", {interval[0]:.2f} to {interval[1]:.2f}"


def _listed(codes: Sequence[str], targets: Sequence[LanguageSelection]) -> str:
    """List languages by code, unless all or too many."""
    if not codes or len(codes) == len(targets):
        return "all of them" if codes else "none of them"
    return f"{len(codes)} of them" + (f" ({' '.join(codes)})" if len(codes) <= NAMED else "")
