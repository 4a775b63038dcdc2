"""Tables, figures and summary of checkpoint selection."""

from collections.abc import Sequence
from statistics import fmean

import numpy as np

from isogloss.analysis import language_selection as rules
from isogloss.analysis.checkpoint_scores import CheckpointScores
from isogloss.analysis.finding import MEAN_ROW, Figure, TidyTable, Value, columns, figure
from isogloss.analysis.language_selection import BEST, CHANCE, LARGE_SPREAD, LAST, TARGET, LanguageSelection, dev_of
from isogloss.figures import counted, difference_text, score_text
from isogloss.languages.published import table as published
from isogloss.scoring.names import language_name
from isogloss.systems.neural.fit_log import kept_weights

# Number of languages with the least, and with the most, agreement to draw curves for.
CURVES = 2
# Maximum number of languages listed in a sentence.
NAMED = 15
# Bounds of a missing interval.
NO_ENDS = (None, None)
# Figures of the paper shown for comparison, by table row.
PUBLISHED_TABLES = tuple(f"Keung et al. Table {number}" for number in (2, 3, 4))
PUBLISHED_ROWS = {
    "English": "agreement, English dev",
    "Target": "agreement, target dev",
    "Δ": "spread of the runs",
    "Target dev (oracle)": "gain of the oracle, largest of the runs",
}


def rules_table(targets: Sequence[LanguageSelection], source: str, single: str) -> TidyTable:
    """Return the mean outcome of each rule."""
    names, languages = rules.compared(targets, source, single)
    usual = rules.rule_means(languages, dev_of(source))
    heads = "rule; test:score; lost:score = below the best checkpoint; gain(low high):difference = against {dev}"
    title = f"Test score by selection rule, mean over {len(languages)} languages, {_runs(len(usual))}"
    notes = [
        f"Languages with all rules, without {language_name(source)}; intervals over runs.",
        f"{BEST} is an upper bound, not a rule.",
    ]
    table = TidyTable("rules", title, columns(heads, dev=dev_of(source)), notes=notes)
    for rule in names:
        means = rules.rule_means(languages, rule)
        lost = fmean(outcome.lost for language in languages for outcome in language.outcomes[rule])
        gain = None if rule == dev_of(source) else float((means - usual).mean())
        table.add(rule, float(means.mean()), lost, gain, *(rules.interval_over_runs(means - usual) or NO_ENDS))
    return table


def sizes_tables(selections: Sequence[LanguageSelection], scores: CheckpointScores) -> list[TidyTable]:
    """Return the numbers of examples behind the scores, unless they are unknown."""
    if not scores.sizes:
        return []
    heads = (
        "language; dev:count = dev examples; dev_whole:count = of; test:count = test examples; test_whole:count = of"
    )
    notes = ["Compare rules only if their dev sets are of similar size: a smaller set chooses worse by chance alone."]
    table = TidyTable("sizes", "Examples predicted at every checkpoint", columns(heads), notes=notes, shown=60)
    for code in (selection.language for selection in selections):
        keys = (code, "dev"), (code, "test")
        table.add(code, *(size.get(key) for key in keys for size in (scores.sizes, scores.whole)))
    return [table]


def sizes_sentences(targets: Sequence[LanguageSelection], scores: CheckpointScores, source: str) -> list[str]:
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


def weight_notes(selections: Sequence[LanguageSelection], scores: CheckpointScores) -> list[str]:
    """Say whether the weights of the oracle's checkpoints were kept, and how to keep them."""
    weights = {seed: kept_weights(folder) for seed, folder in scores.folders.items()}
    chosen = [
        outcome.step in weights[run.seed]
        for selection in selections
        for run, outcome in zip(scores.seeds, selection.outcomes.get(TARGET, ()), strict=False)
        if run.seed in weights
    ]
    if not chosen:
        return []
    fix = "see the table choices" if all(chosen) else 'keep them with keep_weights = "oracle"'
    return [f"The weights of {sum(chosen)} of {len(chosen)} checkpoints that target dev selects were kept: {fix}."]


def languages_table(targets: Sequence[LanguageSelection], source: str) -> TidyTable:
    """Return the conclusion per language, lowest agreement with source dev first."""
    heads = columns(
        "language guide runs; source_agreement:share = {dev} agrees; target_agreement:share = target dev agrees; "
        "gain(low high):correlation = minus {dev}",
        dev=dev_of(source),
    )
    notes = [
        "Better tracking need not select a better checkpoint: see the table of the best target dev for the gain in "
        "points.",
        f"unstable: runs differ by at least {LARGE_SPREAD} points at their best {dev_of(source)}.",
    ]
    title = f"Does {dev_of(source)} track test scores, and is one run enough?"
    table = TidyTable("languages", title, heads, notes=notes, shown=60)
    for target in sorted(targets, key=_share_by_source):
        by_source, by_target = _share(target.by_source), _share(target.by_target)
        gain = None if by_source is None or by_target is None else by_target - by_source
        runs = None if len(target.outcomes[LAST]) < 2 else "unstable" if target.spread.large else "stable"
        table.add(target.language, guide(target, source), runs, by_source, by_target, gain, *(target.gain or NO_ENDS))
    return table


def variation_table(
    selections: Sequence[LanguageSelection], dev: rules.RunSpread, scores: CheckpointScores, source: str
) -> TidyTable:
    """Return the smallest and largest test score of the runs at the best source dev (Keung et al., Table 2)."""
    heads = columns(
        f"language split; n:count; smallest largest spread:score; large = at least {LARGE_SPREAD}; p:p; "
        "p_any:p = p, any two runs; significant = p < 0.05"
    )
    title = f"Scores at the best {dev_of(source)} over {_runs(len(scores.seeds))}"
    table = TidyTable("variation", title, heads, shown=60)
    tests = ((selection.language, "test", selection.n, selection.spread) for selection in selections)
    for language, split, n, spread in ((source, "dev", scores.sizes.get((source, "dev"), 0), dev), *tests):
        ends = spread.smallest, spread.largest, spread.spread, spread.large
        table.add(language, split, n or None, *ends, spread.p, spread.p_any, spread.significant)
    return table


def oracle_table(targets: Sequence[LanguageSelection], source: str) -> TidyTable:
    """Return test scores at the best source dev and target dev (Keung et al., Table 4)."""
    dev = dev_of(source)
    heads = columns(
        "language; source_dev:score = {dev}; target_dev:score = target dev; gain(low high):difference = difference; "
        "source_largest:score = {dev}, largest; target_largest:score = target dev, largest",
        dev=dev,
    )
    notes = ["Means over runs; the paper prints the largest of its ten runs."]
    title = f"Test score at the best {dev} and at the best target dev"
    table = TidyTable("oracle", title, heads, notes=notes, shown=60)
    for target in targets:
        if TARGET in target.outcomes:
            usual, oracle = target.scores(dev), target.scores(TARGET)
            means = [float(usual.mean()), float(oracle.mean()), float((oracle - usual).mean())]
            largest = [float(usual.max()), float(oracle.max())]
            table.add(target.language, *means, *(target.oracle_gain(source) or NO_ENDS), *largest)
    return table


def agreement_table(selections: Sequence[LanguageSelection], source: str) -> TidyTable:
    """Return the directional agreement of dev and test (Keung et al., Table 3)."""
    by_source, by_target = rules.mean_agreements(selection for selection in selections if selection.language != source)
    heads = columns("language dev; agreement(low high):share = agreement; pairs:count; equal:share = dev equal")
    notes = [f"{MEAN_ROW}: languages with both, without {language_name(source)}."]
    title = "Directional agreement of dev and test between two checkpoints"
    table = TidyTable("agreement", title, heads, notes=notes, shown=120)
    agreements = [(MEAN_ROW, dev_of(source), by_source), (MEAN_ROW, TARGET, by_target)]
    for selection in selections:
        agreements.append((selection.language, dev_of(source), selection.by_source))
        if selection.language != source:
            agreements.append((selection.language, TARGET, selection.by_target))
    for *key, agreed in agreements:
        if agreed is not None:
            ends = agreed.interval or NO_ENDS
            table.add(*key, agreed.share, *ends, agreed.pairs, agreed.equal / agreed.pairs)
    return table


def curves_table(targets: Sequence[LanguageSelection], scores: CheckpointScores, source: str) -> TidyTable:
    """Return the scores along one run (Keung et al., Figure 1), in the languages with least and most agreement."""
    run = scores.seeds[0]
    moved = sorted((target for target in targets if target.by_source is not None), key=_share_by_source)
    drawn = dict.fromkeys(target.language for target in (*moved[:CURVES], *moved[-CURVES:]))
    series = {dev_of(source): run.of(source, "dev"), **{f"{code} test": run.of(code, "test") for code in drawn}}
    notes = [f"Languages with the least and the most agreement of {dev_of(source)} and test."]
    heads = columns("step:count; series; score:score")
    table = TidyTable("curves", f"Scores during training, seed {run.seed}", heads, notes=notes, shown=0)
    for name, values in series.items():
        for step, value in zip(run.steps, values.tolist(), strict=True):
            if np.isfinite(value):
                table.add(step, name, float(value))
    return table


def choices_table(selections: Sequence[LanguageSelection], scores: CheckpointScores) -> TidyTable:
    """Return the checkpoint selected by every rule in every run."""
    heads = columns("language rule; seed step:count; test:score; lost:score = below the best checkpoint; weights")
    weights = {seed: kept_weights(folder) for seed, folder in scores.folders.items()}
    table = TidyTable("choices", "Checkpoint selected by each rule", heads, shown=0)
    for selection in selections:
        for rule, outcomes in selection.outcomes.items():
            for run, outcome in zip(scores.seeds, outcomes, strict=True):
                kept = weights.get(run.seed, {}).get(outcome.step or 0)
                values = run.seed, outcome.step, outcome.test, outcome.lost, str(kept) if kept else None
                table.add(selection.language, rule, *values)
    return table


def published_table(targets: Sequence[LanguageSelection]) -> TidyTable:
    """Return Keung et al.'s figures for mBERT next to ours, in shared languages."""
    printed: dict[tuple[str, str, str], float] = {
        (row["row"], row["task"], row["language"]): float(row["value"])
        for row in published("keung")
        if row["source_table"].startswith(PUBLISHED_TABLES) and row["split"] == "test"
    }
    rows: list[list[Value]] = []
    for target in targets:
        oracle = target.scores(TARGET).max() if TARGET in target.outcomes else None
        ours: dict[str, Value] = {
            "Δ": target.spread.spread,
            "English": _share(target.by_source),
            "Target": _share(target.by_target),
            "Target dev (oracle)": None if oracle is None else float(oracle - target.spread.largest),
        }
        for task in ("mldoc", "xnli"):
            for row, name in PUBLISHED_ROWS.items():
                value = printed.get((row, task, target.language))
                if value is not None and row == "Target dev (oracle)":
                    value -= printed["Best En dev", task, target.language]
                if value is not None:
                    rows.append([name, task, target.language, round(value, 2), ours[row]])
    rows.sort(key=lambda row: [*map(str, row[:3])])
    heads = columns("figure task language; published here:share")
    notes = ["The model and most tasks differ: compare the pattern, not the values."]
    return TidyTable("published", "Comparison with Keung et al. (2020) for mBERT", heads, rows, notes, shown=80)


def figures(source: str) -> list[Figure]:
    """Return figures of the curves along a run and the agreement by language."""
    return [
        figure(
            "lines",
            "curves: step, score, series",
            f"{dev_of(source)} and test scores during a run",
            f"The {dev_of(source)} score at every checkpoint of a run, and test scores in other languages.",
        ),
        figure(
            "bars",
            "agreement: agreement, language, dev",
            "Directional agreement of dev and test",
            "Share of checkpoint pairs by language with test scores changing in the same direction as "
            f"{dev_of(source)} and as the language's own dev set; 0.5 is chance.",
            marks=[("chance", CHANCE)],
        ),
    ]


def _share(agreement: rules.DirectionalAgreement | None) -> float | None:
    return None if agreement is None else agreement.share


def _share_by_source(selection: LanguageSelection) -> float:
    return 1.0 if selection.by_source is None else selection.by_source.share


def _runs(count: int) -> str:
    return "one run" if count == 1 else f"{count} runs"


def guide(selection: LanguageSelection, source: str) -> str:
    """Describe how well source dev tracks test scores, by the interval of the agreement, regardless of cost."""
    agreement = selection.by_source
    if agreement is None:
        return "test scores do not change"
    if agreement.interval is None:
        return "unknown"
    low, high = agreement.interval
    if high < CHANCE:
        return f"{dev_of(source)} misleads"
    if low <= CHANCE:
        return f"{dev_of(source)} is not significantly better than chance"
    better = selection.gain and selection.gain[0] > 0
    return "target dev tracks test better" if better else f"{dev_of(source)} tracks test"


def reading(targets: Sequence[LanguageSelection], scores: CheckpointScores, source: str, single: str) -> str:
    """Summarise the tables, their limits, and the advice."""
    runs = len(scores.seeds)
    unstable = [target.language for target in targets if target.spread.large]
    sentences = [
        f"{counted(runs, 'run')}, {counted(len(targets), 'language')} besides {language_name(source)}.",
        *sizes_sentences(targets, scores, source),
        *_agreement_sentences(targets, source),
        _advice(targets, source, single),
    ]
    if runs > 1:
        where = _listed(unstable, targets)
        sentences.append(f"Runs differ by {LARGE_SPREAD} points or more in {where}: report several seeds, not one.")
    sentences.append(
        "The results may not hold for another model, task or learning rate. Zero-shot transfer excludes labelled data "
        "in the target language, even a dev set: report scores selected by it separately."
    )
    return " ".join(sentences)


def _agreement_sentences(targets: Sequence[LanguageSelection], source: str) -> list[str]:
    by_source, by_target = rules.mean_agreements(targets)
    sentences, dev = [], dev_of(source)
    agreements = [target.by_source for target in targets if target.by_source]
    if by_source is not None and by_target is not None:
        gain = rules.difference_interval(by_target, by_source)
        apart = f" (difference {by_target.share - by_source.share:+.2f}{_within(gain)})"
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
    intervals = {target.language: target.by_source.interval for target in targets if target.by_source}
    poor = [code for code, interval in intervals.items() if interval and interval[0] <= CHANCE]
    closer = [target.language for target in targets if target.gain and target.gain[0] > 0]
    raised = [target.language for target in targets if (agreement := target.oracle_gain(source)) and agreement[0] > 0]
    sentences.append(
        f"{dev} is not significantly better than chance in {_listed(poor, targets)}. The language's own dev set tracks "
        f"test scores significantly better in {_listed(closer, targets)}, and selects a checkpoint with a "
        f"significantly higher test score in {_listed(raised, targets)} (95 % intervals: expect one false positive in "
        "40)."
    )
    return sentences


def _advice(targets: Sequence[LanguageSelection], source: str, single: str) -> str:
    """Recommend the rule with the largest significant gain over source dev."""
    dev = dev_of(source)
    names, languages = rules.compared(targets, source, single)
    usual = rules.rule_means(languages, dev)
    gains = {rule: rules.rule_means(languages, rule) - usual for rule in names if rule not in (dev, BEST)}
    oracle = f"; the oracle gains {difference_text(float(gains[TARGET].mean()))}" if TARGET in gains else ""
    intervals = {rule: rules.interval_over_runs(gain) for rule, gain in gains.items() if rule != TARGET}
    better = [rule for rule, interval in intervals.items() if interval and interval[0] > 0]
    if not better:
        what = "No rule that selects one checkpoint for all languages is significantly better than"
        return f"{what} {dev} on average{oracle}."
    best = max(better, key=lambda rule: float(gains[rule].mean()))
    gained = difference_text(float(gains[best].mean()))
    return f"The best rule for one checkpoint for all languages is {best}: {gained} points over {dev}{oracle}."


def _within(interval: tuple[float, float] | None) -> str:
    return "" if interval is None else f", {interval[0]:.2f} to {interval[1]:.2f}"


def _listed(codes: Sequence[str], targets: Sequence[LanguageSelection]) -> str:
    """List languages by code, unless all or too many."""
    if not codes or len(codes) == len(targets):
        return "all of them" if codes else "none of them"
    return f"{len(codes)} of them" + (f" ({' '.join(codes)})" if len(codes) <= NAMED else "")
