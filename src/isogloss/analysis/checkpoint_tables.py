"""Tables and figures of checkpoint selection."""

from collections.abc import Sequence
from statistics import fmean

import numpy as np

from isogloss.analysis import language_selection as rules
from isogloss.analysis.checkpoint_scores import CheckpointScores
from isogloss.analysis.checkpoint_verdicts import CORRECTION, LanguageVerdicts
from isogloss.analysis.crossfit import SPLITS
from isogloss.analysis.finding import MEAN_ROW, Figure, TidyTable, Value, columns, figure
from isogloss.analysis.language_selection import (
    BEST,
    CHANCE,
    CROSSFITTED,
    LARGE_SPREAD,
    LAST,
    TARGET,
    LanguageSelection,
    dev_of,
)
from isogloss.languages.published import table as published
from isogloss.scoring.names import language_name
from isogloss.systems.neural.fit_log import kept_weights

# Number of languages with the least, and with the most, agreement to draw curves for.
CURVES = 2
# Words for a test of the runs.
RUNS = {True: "differ significantly", False: "not significantly different", None: "not tested"}
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
    gains = rules.rule_gains(languages, names, source)
    heads = (
        "rule; test:score; lost:score = below {best}; gain(low high):difference = against {dev}; "
        "p:p = p, corrected for all rules"
    )
    runs = _runs(len(targets[0].outcomes[LAST]))
    title = f"Test score by selection rule, mean over {len(languages)} languages, {runs}"
    notes = [
        f"Languages with all rules, without {language_name(source)}; intervals and tests over runs, for these test "
        "sets.",
        f"{BEST} is an upper bound, not a rule: the highest of many test scores is too high by chance, even if all "
        "checkpoints are equal, and so is what other rules lose against it.",
        f"{CROSSFITTED}: chosen by one half of the test sources and scored on the other, both ways, mean of {SPLITS} "
        "splits; free of that bias, and slightly low, since it chooses by half of the examples.",
    ]
    table = TidyTable("rules", title, columns(heads, dev=dev_of(source), best=BEST), notes=notes)
    for rule in names:
        lost = fmean(outcome.lost for language in languages for outcome in language.outcomes[rule])
        gain = gains.get(rule, rules.RuleGain(0.0, None, None))
        value = None if rule not in gains else gain.gain
        mean = float(rules.rule_means(languages, rule).mean())
        table.add(rule, mean, lost, value, *(gain.interval or NO_ENDS), gain.p)
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


def languages_table(targets: Sequence[LanguageSelection], verdicts: LanguageVerdicts, source: str) -> TidyTable:
    """Return the conclusion per language, lowest agreement with source dev first."""
    heads = columns(
        "language guide runs; source_agreement:share = {dev} agrees; target_agreement:share = target dev agrees; "
        "gain(low high):correlation = minus {dev}",
        dev=dev_of(source),
    )
    notes = [
        "Better tracking need not select a better checkpoint: see the table of the best target dev for the gain in "
        "points.",
        f"runs: test of the scores at the best {dev_of(source)}, see the table of scores over runs.",
        CORRECTION,
    ]
    title = f"Does {dev_of(source)} track test scores, and do runs differ?"
    table = TidyTable("languages", title, heads, notes=notes, shown=60)
    for target in sorted(targets, key=_share_by_source):
        by_source, by_target = _share(target.by_source), _share(target.by_target)
        gain = None if by_source is None or by_target is None else by_target - by_source
        runs = None if len(target.outcomes[LAST]) < 2 else RUNS[verdicts.runs_differ(target.language)]
        ends = NO_ENDS if target.gain is None else (target.gain.low, target.gain.high)
        table.add(target.language, verdicts.guide(target, source), runs, by_source, by_target, gain, *ends)
    return table


def variation_table(
    selections: Sequence[LanguageSelection],
    verdicts: LanguageVerdicts,
    dev: rules.RunSpread,
    scores: CheckpointScores,
    source: str,
) -> TidyTable:
    """Return the smallest and largest test score of the runs at the best source dev (Keung et al., Table 2)."""
    heads = columns(
        f"language split; n:count; smallest largest spread:score; large = at least {LARGE_SPREAD}; p:p; "
        "p_any:p = any two runs; p_corrected:p = all languages; significant"
    )
    title = f"Scores at the best {dev_of(source)} over {_runs(len(scores.seeds))}"
    notes = [
        "any two runs: corrected for the number of pairs of runs (Bonferroni). all languages: corrected for the number "
        "of languages, too (Holm); significant if below 0.05.",
    ]
    table = TidyTable("variation", title, heads, notes=notes, shown=60)
    tests = ((selection.language, "test", selection.n, selection.spread) for selection in selections)
    for language, split, n, spread in ((source, "dev", scores.sizes.get((source, "dev"), 0), dev), *tests):
        ends = spread.smallest, spread.largest, spread.spread, spread.large
        # Dev scores of the source are not tested, and its test scores have the same code.
        test = split == "test" and language in verdicts.runs_p
        verdict = (verdicts.runs_p[language], verdicts.runs_differ(language)) if test else (None, None)
        table.add(language, split, n or None, *ends, spread.p, spread.p_any, *verdict)
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
            interval = rules.interval_over_runs(oracle - usual)
            table.add(target.language, *means, *(interval or NO_ENDS), *largest)
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
