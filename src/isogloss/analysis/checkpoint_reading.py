"""What the tables of checkpoint selection come to, in words."""

from collections.abc import Sequence
from statistics import fmean

from isogloss.analysis.checkpoint_scores import CheckpointScores
from isogloss.analysis.directional_agreement import CHANCE, DirectionalAgreement, difference_interval
from isogloss.analysis.language_selection import LanguageSelection, compared, mean_agreements, rule_means
from isogloss.analysis.run_variation import LARGE_SPREAD, interval_over_runs
from isogloss.analysis.selection_rules import BEST, TARGET, dev_of
from isogloss.figures import difference_text, score_text
from isogloss.scoring.names import language_name

# Languages that a sentence names.
NAMED = 15


def guide(selection: LanguageSelection, source: str) -> str:
    """In words, how well source dev follows test scores, by the interval of the agreement: nothing of what it costs."""
    found = selection.by_source
    if found is None:
        return "test does not move"
    if found.interval is None:
        return "not known"
    low, high = found.interval
    if high < CHANCE:
        return f"{dev_of(source)} misleads"
    if low <= CHANCE:
        return f"{dev_of(source)} cannot be told from chance"
    return "target dev follows better" if selection.gain and selection.gain[0] > 0 else f"{dev_of(source)} follows"


def reading(targets: Sequence[LanguageSelection], scores: CheckpointScores, source: str, single: str) -> str:
    """What the tables show, what they do not, and what to do."""
    runs = len(scores.seeds)
    unstable = [each.language for each in targets if each.spread.large]
    sentences = [
        f"{_counted(runs, 'run')}, {_counted(len(targets), 'language')} beside {language_name(source)}.",
        *_agreement_sentences(targets, source),
        _advice(targets, source, single),
    ]
    if runs > 1:
        where = _listed(unstable, targets)
        sentences.append(f"Runs lie {LARGE_SPREAD} points or more apart in {where}: report several seeds, never one.")
    sentences.append(
        "Nothing here says how another model, task or learning rate would do; a dev set in the target language is "
        "labelled data that zero-shot transfer is not supposed to have, so its score belongs beside, not in place."
    )
    return " ".join(sentences)


def _agreement_sentences(targets: Sequence[LanguageSelection], source: str) -> list[str]:
    by_source, by_target = mean_agreements(targets)
    said, dev = [], dev_of(source)
    known = [each.by_source for each in targets if each.by_source]
    if by_source is not None and by_target is not None:
        gain = difference_interval(by_target, by_source)
        apart = f" (difference {by_target.share - by_source.share:+.2f}{_within(gain)})"
        said.append(
            f"Test scores move as {dev} does in {_share(by_source)} of the pairs of checkpoints, and as the language's "
            f"own dev set does in {_share(by_target)}{apart}."
        )
    elif known:
        share = score_text(fmean(found.share for found in known), 2)
        said.append(f"Test scores move as {dev} does in {share} of the pairs of checkpoints.")
    if known and not any(found.interval for found in known):
        return [*said, f"Whether {dev} is better than chance in a language is not known: that takes more runs."]
    intervals = {each.language: each.by_source.interval for each in targets if each.by_source}
    poor = [code for code, interval in intervals.items() if interval and interval[0] <= CHANCE]
    closer = [each.language for each in targets if each.gain and each.gain[0] > 0]
    raised = [each.language for each in targets if (found := each.oracle_gain(source)) and found[0] > 0]
    said.append(
        f"{dev} cannot be told from chance, or misleads, in {_listed(poor, targets)}; the language's own dev set "
        f"follows test scores closer in {_listed(closer, targets)}, and the checkpoint that it chooses has a higher "
        f"test score in {_listed(raised, targets)} (each at 95 %, so that one in forty may be so by chance)."
    )
    return said


def _advice(targets: Sequence[LanguageSelection], source: str, single: str) -> str:
    """Which rule to use: the best that gains over source dev beyond the doubt of the runs."""
    rules, languages = compared(targets, source, single)
    usual = rule_means(languages, dev_of(source))
    gains = {rule: rule_means(languages, rule) - usual for rule in rules if rule not in (dev_of(source), BEST)}
    sure = {rule: gain for rule, gain in gains.items() if (found := interval_over_runs(gain)) and found[0] > 0}
    oracle = f"; the oracle gains {difference_text(float(gains[TARGET].mean()))}" if TARGET in gains else ""
    shared = {rule: gain for rule, gain in sure.items() if rule != TARGET}
    if not shared:
        return (
            f"No rule that takes one checkpoint for all is known to be better than {dev_of(source)} on average{oracle}."
        )
    best = max(shared, key=lambda rule: float(shared[rule].mean()))
    gained = difference_text(float(shared[best].mean()))
    return f"One checkpoint for all is best chosen by {best}: {gained} points against {dev_of(source)}{oracle}."


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


def _share(found: DirectionalAgreement) -> str:
    return f"{score_text(found.share, 2)}{_within(found.interval)}"


def _within(interval: tuple[float, float] | None) -> str:
    return "" if interval is None else f", {interval[0]:.2f} to {interval[1]:.2f}"


def _listed(codes: Sequence[str], targets: Sequence[LanguageSelection]) -> str:
    """Which languages: by their codes, unless they are all or too many for a sentence."""
    if not codes or len(codes) == len(targets):
        return "all of them" if codes else "none of them"
    return f"{len(codes)} of them" + (f" ({' '.join(codes)})" if len(codes) <= NAMED else "")
