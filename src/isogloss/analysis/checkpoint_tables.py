"""The tables and figures of checkpoint selection, and the paragraph that reads them."""

from collections.abc import Sequence
from statistics import fmean

import numpy as np

from isogloss.analysis.checkpoint_scores import CheckpointScores
from isogloss.analysis.directional_agreement import Agreement
from isogloss.analysis.finding import Column, Figure, TidyTable, Value
from isogloss.analysis.language_selection import LanguageSelection
from isogloss.analysis.run_variation import LARGE_SPREAD, RunSpread, mean_interval
from isogloss.analysis.selection_rules import BEST, TARGET, rule_names
from isogloss.figures import difference_text, score_text
from isogloss.languages.published import table as published
from isogloss.metrics.estimate import Interval
from isogloss.metrics.statistics import FloatArray

# Languages whose curves are drawn: those that source dev follows least and most.
CURVES = 2


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


def rules_table(targets: Sequence[LanguageSelection], source: str, single: str) -> TidyTable:
    """What each rule is worth on average."""
    rules, languages = compared(targets, source, single)
    usual, rows = rule_means(languages, f"{source} dev"), []
    for rule in rules:
        means = rule_means(languages, rule)
        lost = fmean(outcome.lost for each in languages for outcome in each.outcomes[rule])
        gain = None if rule == f"{source} dev" else float((means - usual).mean())
        rows.append([rule, float(means.mean()), lost, gain, *_ends(mean_interval(means - usual))])
    return TidyTable(
        "rules",
        f"Test score by the rule that chooses the checkpoint, mean of {len(languages)} languages and {len(usual)} runs",
        [
            Column("rule"),
            Column("test", "score"),
            Column("lost", "score", "below the best checkpoint"),
            Column("gain", "difference", f"against {source} dev", "low", "high"),
            Column("low", "difference"),
            Column("high", "difference"),
        ],
        rows,
        [f"Languages that have all rules, without {source}; intervals over runs.", f"{BEST} is a bound, not a rule."],
    )


def languages_table(targets: Sequence[LanguageSelection], source: str) -> TidyTable:
    """What follows for each language: those first that source dev follows least."""
    rows: list[list[Value]] = []
    for each in sorted(targets, key=_share_by_source):
        by_source, by_target = (None if found is None else found.share for found in (each.by_source, each.by_target))
        gain = None if by_source is None or by_target is None else by_target - by_source
        runs = "unstable" if each.spread.large else "stable"
        rows.append([each.language, guide(each, source), runs, by_source, by_target, gain, *_ends(each.gain)])
    return TidyTable(
        "languages",
        "What to choose by, and whether one run is enough",
        [
            Column("language"),
            Column("guide"),
            Column("runs"),
            Column("source_agreement", "share", f"{source} dev agrees"),
            Column("target_agreement", "share", "target dev agrees"),
            Column("gain", "correlation", "target minus source", "low", "high"),
            Column("low", "correlation"),
            Column("high", "correlation"),
        ],
        rows,
        [f"unstable: runs lie at least {LARGE_SPREAD} points apart at their best {source} dev."],
        shown=60,
    )


def guide(selection: LanguageSelection, source: str) -> str:
    """In words, how well source dev says where test scores go, by the interval of the agreement."""
    found = selection.by_source
    if found is None:
        return "test does not move"
    if found.interval is None:
        return "not known"
    low, high = found.interval
    if high < 0.5:
        return f"{source} dev misleads"
    if low <= 0.5:
        return f"{source} dev says nothing"
    return "target dev is better" if selection.gain and selection.gain[0] > 0 else f"{source} dev will do"


def variation_table(
    found: Sequence[LanguageSelection], dev: RunSpread, scores: CheckpointScores, source: str
) -> TidyTable:
    """Smallest and largest test score of the runs, each at its best source dev (Keung et al., Table 2)."""

    def row(language: str, split: str, n: int, spread: RunSpread) -> list[Value]:
        ends: list[Value] = [spread.smallest, spread.largest, spread.spread]
        return [language, split, n or None, *ends, spread.large, spread.p, spread.p_any, spread.significant]

    return TidyTable(
        "variation",
        f"Scores at the best {source} dev over {len(scores.seeds)} runs",
        [
            Column("language"),
            Column("split"),
            Column("n", "count"),
            Column("smallest", "score"),
            Column("largest", "score"),
            Column("spread", "score"),
            Column("large", label=f"at least {LARGE_SPREAD}"),
            Column("p", "p"),
            Column("p_any", "p", "p of any two runs"),
            Column("significant", label="p < 0.05"),
        ],
        [row(source, "dev", 0, dev), *(row(each.language, "test", each.n, each.spread) for each in found)],
        shown=60,
    )


def oracle_table(targets: Sequence[LanguageSelection], source: str) -> TidyTable:
    """Test scores at the best source dev and at the best target dev (Keung et al., Table 4)."""
    rows: list[list[Value]] = []
    for each in targets:
        if TARGET in each.outcomes:
            usual, oracle = each.scores(f"{source} dev"), each.scores(TARGET)
            means = [float(usual.mean()), float(oracle.mean()), float((oracle - usual).mean())]
            largest = [float(usual.max()), float(oracle.max())]
            rows.append([each.language, *means, *_ends(mean_interval(oracle - usual)), *largest])
    return TidyTable(
        "oracle",
        f"Test score at the best {source} dev and at the best target dev",
        [
            Column("language"),
            Column("source_dev", "score", f"{source} dev"),
            Column("target_dev", "score", "target dev"),
            Column("gain", "difference", "difference", "low", "high"),
            Column("low", "difference"),
            Column("high", "difference"),
            Column("source_largest", "score", f"{source} dev, largest"),
            Column("target_largest", "score", "target dev, largest"),
        ],
        rows,
        ["Means over runs; the paper prints the largest of its ten runs."],
        shown=60,
    )


def agreement_table(found: Sequence[LanguageSelection], source: str) -> TidyTable:
    """How often dev and test move the same way (Keung et al., Table 3)."""
    rows: list[list[Value]] = []
    for each in found:
        by_dev: list[tuple[str, Agreement | None]] = [(source, each.by_source)]
        if each.language != source:
            by_dev.append(("target", each.by_target))
        for dev, counted in by_dev:
            if counted is not None:
                share: list[Value] = [counted.share, *_ends(counted.interval)]
                rows.append([each.language, dev, *share, counted.pairs, counted.equal / counted.pairs])
    return TidyTable(
        "agreement",
        "How often dev and test move the same way between two checkpoints",
        [
            Column("language"),
            Column("dev"),
            Column("agreement", "share", "agreement", "low", "high"),
            Column("low", "share"),
            Column("high", "share"),
            Column("pairs", "count"),
            Column("equal", "share", "dev equal"),
        ],
        rows,
        shown=100,
    )


def curves_table(targets: Sequence[LanguageSelection], scores: CheckpointScores, source: str) -> TidyTable:
    """One run from checkpoint to checkpoint (Keung et al., Figure 1), in the languages at both ends of agreement."""
    run = scores.seeds[0]
    moved = sorted((each for each in targets if each.by_source is not None), key=_share_by_source)
    drawn = dict.fromkeys(each.language for each in (*moved[:CURVES], *moved[-CURVES:]))
    series = [(source, "dev"), *((code, "test") for code in drawn)]
    rows: list[list[Value]] = [
        [step, f"{code} {split}", float(value)]
        for code, split in series
        for step, value in zip(run.steps, run.of(code, split).tolist(), strict=True)
        if np.isfinite(value)
    ]
    return TidyTable(
        "curves",
        f"Scores along seed {run.seed}",
        [Column("step", "count"), Column("series"), Column("score", "score")],
        rows,
        [f"The languages in which {source} dev and test agree least and most."],
        shown=0,
    )


def choices_table(found: Sequence[LanguageSelection], scores: CheckpointScores) -> TidyTable:
    """What every rule chose in every run."""
    rows: list[list[Value]] = [
        [each.language, rule, run.seed, outcome.step, outcome.test, outcome.lost]
        for each in found
        for rule, outcomes in each.outcomes.items()
        for run, outcome in zip(scores.seeds, outcomes, strict=True)
    ]
    columns = [Column("language"), Column("rule"), Column("seed", "count"), Column("step", "count")]
    return TidyTable(
        "choices",
        "The checkpoint that each rule chose",
        [*columns, Column("test", "score"), Column("lost", "score", "below the best checkpoint")],
        rows,
        shown=0,
    )


def published_table(targets: Sequence[LanguageSelection]) -> TidyTable:
    """Keung et al.'s figures for mBERT beside these, in the languages of both; their tasks are others."""
    ours: dict[tuple[str, str], Value] = {}
    for each in targets:
        ours[each.language, "Δ"] = each.spread.spread
        for row, counted in (("English", each.by_source), ("Target", each.by_target)):
            ours[each.language, row] = None if counted is None else counted.share
    names = {"Δ": "spread", "English": "agreement, English dev", "Target": "agreement, target dev"}
    rows: list[list[Value]] = [
        [names[row["row"]], row["language"], row["task"], float(row["value"]), ours[row["language"], row["row"]]]
        for row in published("keung")
        if row["source_table"].startswith(("Keung et al. Table 2", "Keung et al. Table 3"))
        and row["split"] == "test"
        and (row["language"], row["row"]) in ours
    ]
    return TidyTable(
        "published",
        "Beside the figures of Keung et al. (2020) for mBERT",
        [
            Column("figure"),
            Column("language"),
            Column("task"),
            Column("published", "number"),
            Column("here", "number"),
        ],
        sorted(rows, key=lambda row: (str(row[0]), str(row[2]), str(row[1]))),
        ["Another model, and mostly another task: only the pattern can be compared."],
    )


def figures(source: str) -> list[Figure]:
    """Curves along a run, and agreement by language."""
    return [
        Figure(
            "curves",
            "lines",
            f"{source} dev and test scores along a run",
            f"The {source} dev score at every checkpoint of a run, and test scores in other languages.",
            x="step",
            y="score",
            colour="series",
        ),
        Figure(
            "agreement",
            "bars",
            "How often dev and test move the same way",
            f"By language, the share of pairs of checkpoints in which test scores moved as {source} dev, and as the "
            "language's own dev did; a half is chance.",
            x="language",
            y="agreement",
            colour="dev",
            marks=[("chance", 0.5)],
        ),
    ]


def reading(targets: Sequence[LanguageSelection], scores: CheckpointScores, source: str, single: str) -> str:
    """What the tables show, what they do not, and what to do."""
    runs, total = len(scores.seeds), len(targets)
    words = [guide(each, source) for each in targets]
    poor = [each.language for each, word in zip(targets, words, strict=True) if word.endswith(("misleads", "nothing"))]
    better = [each.language for each in targets if each.gain and each.gain[0] > 0]
    unstable = [each.language for each in targets if each.spread.large]
    shares = [each.by_source.share for each in targets if each.by_source]
    own = [each.by_target.share for each in targets if each.by_target]
    sentences = [f"{runs} runs, {total} languages beside {source}."]
    if shares:
        target = f", {score_text(fmean(own), 2)} by the language's own dev set" if own else ""
        sentences.append(
            f"Test scores move as {source} dev does in {score_text(fmean(shares), 2)} of the pairs{target}."
        )
        sentences.append(
            f"{source} dev cannot be told from chance, or misleads, in {_listed(poor)}; the language's own dev set is "
            f"the better guide in {_listed(better)} (each at 95 %, so that one in forty may be so by chance)."
        )
    sentences.append(_advice(targets, source, single))
    if runs > 1:
        sentences.append(
            f"Runs lie {LARGE_SPREAD} points or more apart in {_listed(unstable)}: report several seeds, never one."
        )
    sentences.append(
        "Nothing here says how another model, task or learning rate would do; a dev set in the target language is "
        "labelled data that zero-shot transfer is not supposed to have, so its score belongs beside, not in place."
    )
    return " ".join(sentences)


def _advice(targets: Sequence[LanguageSelection], source: str, single: str) -> str:
    """Which rule to use: the best that gains over source dev beyond the doubt of the runs."""
    rules, languages = compared(targets, source, single)
    usual = rule_means(languages, f"{source} dev")
    gains = {rule: rule_means(languages, rule) - usual for rule in rules if rule not in (f"{source} dev", BEST)}
    sure = {rule: gain for rule, gain in gains.items() if (found := mean_interval(gain)) and found[0] > 0}
    oracle = f"; the oracle gains {difference_text(float(gains[TARGET].mean()))}" if TARGET in gains else ""
    shared = {rule: gain for rule, gain in sure.items() if rule != TARGET}
    if not shared:
        return f"No rule that takes one checkpoint for all is known to be better than {source} dev on average{oracle}."
    best = max(shared, key=lambda rule: float(shared[rule].mean()))
    gained = difference_text(float(shared[best].mean()))
    return f"One checkpoint for all is best chosen by {best}: {gained} points against {source} dev{oracle}."


def _share_by_source(each: LanguageSelection) -> float:
    return 1.0 if each.by_source is None else each.by_source.share


def _ends(interval: Interval | None) -> list[Value]:
    return [None, None] if interval is None else [*interval]


def _listed(codes: Sequence[str]) -> str:
    return f"{len(codes)} of them ({' '.join(codes)})" if codes else "none of them"
