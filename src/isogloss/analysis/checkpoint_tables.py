"""The tables and figures of checkpoint selection."""

from collections.abc import Sequence
from statistics import fmean

import numpy as np

from isogloss.analysis.checkpoint_reading import guide
from isogloss.analysis.checkpoint_scores import CheckpointScores
from isogloss.analysis.directional_agreement import CHANCE, DirectionalAgreement
from isogloss.analysis.finding import MEAN_ROW, Column, Figure, TidyTable, Value
from isogloss.analysis.language_selection import LanguageSelection, compared, mean_agreements, rule_means
from isogloss.analysis.run_variation import LARGE_SPREAD, RunSpread, interval_over_runs
from isogloss.analysis.selection_rules import BEST, LAST, TARGET, dev_of
from isogloss.analysis.table_columns import interval_columns, text_columns
from isogloss.languages.published import table as published
from isogloss.metrics.estimate import Interval
from isogloss.scoring.names import language_name

# Languages whose curves are drawn: those that source dev follows least and most.
CURVES = 2
# What of the paper is shown beside, by the row that it stands in.
PUBLISHED_TABLES = tuple(f"Keung et al. Table {number}" for number in (2, 3, 4))
PUBLISHED_ROWS = {
    "English": "agreement, English dev",
    "Target": "agreement, target dev",
    "Δ": "spread of the runs",
    "Target dev (oracle)": "gain of the oracle, largest of the runs",
}


def rules_table(targets: Sequence[LanguageSelection], source: str, single: str) -> TidyTable:
    """What each rule is worth on average."""
    rules, languages = compared(targets, source, single)
    usual, rows = rule_means(languages, dev_of(source)), []
    for rule in rules:
        means = rule_means(languages, rule)
        lost = fmean(outcome.lost for each in languages for outcome in each.outcomes[rule])
        gain = None if rule == dev_of(source) else float((means - usual).mean())
        rows.append([rule, float(means.mean()), lost, gain, *_ends(interval_over_runs(means - usual))])
    return TidyTable(
        "rules",
        f"Test score by the rule that chooses the checkpoint, mean of {len(languages)} languages, {_runs(len(usual))}",
        [
            Column("rule"),
            Column("test", "score"),
            Column("lost", "score", "below the best checkpoint"),
            *interval_columns("gain", "difference", f"against {dev_of(source)}", low="low", high="high"),
        ],
        rows,
        [
            f"Languages that have all rules, without {language_name(source)}; intervals over runs.",
            f"{BEST} is a bound, not a rule.",
        ],
    )


def languages_table(targets: Sequence[LanguageSelection], source: str) -> TidyTable:
    """What follows for each language: those first that source dev follows least."""
    rows: list[list[Value]] = []
    for each in sorted(targets, key=_share_by_source):
        by_source, by_target = (None if found is None else found.share for found in (each.by_source, each.by_target))
        gain = None if by_source is None or by_target is None else by_target - by_source
        runs = None if len(each.outcomes[LAST]) < 2 else "unstable" if each.spread.large else "stable"
        rows.append([each.language, guide(each, source), runs, by_source, by_target, gain, *_ends(each.gain)])
    return TidyTable(
        "languages",
        f"Whether {dev_of(source)} follows test scores, and whether one run is enough",
        [
            *text_columns("language", "guide", "runs"),
            Column("source_agreement", "share", f"{dev_of(source)} agrees"),
            Column("target_agreement", "share", "target dev agrees"),
            *interval_columns("gain", "correlation", f"minus {dev_of(source)}", low="low", high="high"),
        ],
        rows,
        [
            "A guide that follows better need not choose a better checkpoint: what it is worth in points is in the "
            "table of the best target dev.",
            f"unstable: runs lie at least {LARGE_SPREAD} points apart at their best {dev_of(source)}.",
        ],
        shown=60,
    )


def variation_table(
    found: Sequence[LanguageSelection], dev: RunSpread, scores: CheckpointScores, source: str
) -> TidyTable:
    """Smallest and largest test score of the runs, each at its best source dev (Keung et al., Table 2)."""

    def row(language: str, split: str, n: int, spread: RunSpread) -> list[Value]:
        ends: list[Value] = [spread.smallest, spread.largest, spread.spread]
        return [language, split, n or None, *ends, spread.large, spread.p, spread.p_any, spread.significant]

    return TidyTable(
        "variation",
        f"Scores at the best {dev_of(source)} over {_runs(len(scores.seeds))}",
        [
            *text_columns("language", "split"),
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
            usual, oracle = each.scores(dev_of(source)), each.scores(TARGET)
            means = [float(usual.mean()), float(oracle.mean()), float((oracle - usual).mean())]
            largest = [float(usual.max()), float(oracle.max())]
            rows.append([each.language, *means, *_ends(each.oracle_gain(source)), *largest])
    return TidyTable(
        "oracle",
        f"Test score at the best {dev_of(source)} and at the best target dev",
        [
            Column("language"),
            Column("source_dev", "score", dev_of(source)),
            Column("target_dev", "score", "target dev"),
            *interval_columns("gain", "difference", "difference", low="low", high="high"),
            Column("source_largest", "score", f"{dev_of(source)}, largest"),
            Column("target_largest", "score", "target dev, largest"),
        ],
        rows,
        ["Means over runs; the paper prints the largest of its ten runs."],
        shown=60,
    )


def agreement_table(found: Sequence[LanguageSelection], source: str) -> TidyTable:
    """How often dev and test move the same way (Keung et al., Table 3)."""
    by_source, by_target = mean_agreements(each for each in found if each.language != source)
    counted: list[tuple[str, str, DirectionalAgreement | None]] = [
        (MEAN_ROW, dev_of(source), by_source),
        (MEAN_ROW, TARGET, by_target),
    ]
    for each in found:
        counted.append((each.language, dev_of(source), each.by_source))
        if each.language != source:
            counted.append((each.language, TARGET, each.by_target))
    rows: list[list[Value]] = [
        [language, dev, agreed.share, *_ends(agreed.interval), agreed.pairs, agreed.equal / agreed.pairs]
        for language, dev, agreed in counted
        if agreed is not None
    ]
    return TidyTable(
        "agreement",
        "How often dev and test move the same way between two checkpoints",
        [
            *text_columns("language", "dev"),
            *interval_columns("agreement", "share", "agreement", low="low", high="high"),
            Column("pairs", "count"),
            Column("equal", "share", "dev equal"),
        ],
        rows,
        [f"{MEAN_ROW}: those with both, without {language_name(source)}."],
        shown=120,
    )


def curves_table(targets: Sequence[LanguageSelection], scores: CheckpointScores, source: str) -> TidyTable:
    """One run from checkpoint to checkpoint (Keung et al., Figure 1), in the languages at both ends of agreement."""
    run = scores.seeds[0]
    moved = sorted((each for each in targets if each.by_source is not None), key=_share_by_source)
    drawn = dict.fromkeys(each.language for each in (*moved[:CURVES], *moved[-CURVES:]))
    series = [(source, "dev"), *((code, "test") for code in drawn)]
    rows: list[list[Value]] = [
        [step, dev_of(code) if split == "dev" else f"{code} test", float(value)]
        for code, split in series
        for step, value in zip(run.steps, run.of(code, split).tolist(), strict=True)
        if np.isfinite(value)
    ]
    return TidyTable(
        "curves",
        f"Scores along seed {run.seed}",
        [Column("step", "count"), Column("series"), Column("score", "score")],
        rows,
        [f"The languages in which {dev_of(source)} and test agree least and most."],
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
    columns = [*text_columns("language", "rule"), Column("seed", "count"), Column("step", "count")]
    return TidyTable(
        "choices",
        "The checkpoint that each rule chose",
        [*columns, Column("test", "score"), Column("lost", "score", "below the best checkpoint")],
        rows,
        shown=0,
    )


def published_table(targets: Sequence[LanguageSelection]) -> TidyTable:
    """Keung et al.'s figures for mBERT beside these, in the languages of both."""
    printed: dict[tuple[str, str, str], float] = {
        (row["row"], row["task"], row["language"]): float(row["value"])
        for row in published("keung")
        if row["source_table"].startswith(PUBLISHED_TABLES) and row["split"] == "test"
    }
    rows: list[list[Value]] = []
    for each in targets:
        oracle = each.scores(TARGET).max() if TARGET in each.outcomes else None
        ours: dict[str, Value] = {
            "Δ": each.spread.spread,
            "English": None if each.by_source is None else each.by_source.share,
            "Target": None if each.by_target is None else each.by_target.share,
            "Target dev (oracle)": None if oracle is None else float(oracle - each.spread.largest),
        }
        for task in ("mldoc", "xnli"):
            for row, figure in PUBLISHED_ROWS.items():
                value = printed.get((row, task, each.language))
                if value is not None and row == "Target dev (oracle)":
                    value -= printed["Best En dev", task, each.language]
                if value is not None:
                    rows.append([figure, task, each.language, round(value, 2), ours[row]])
    columns = text_columns("figure", "task", "language")
    return TidyTable(
        "published",
        "Beside the figures of Keung et al. (2020) for mBERT",
        [*columns, Column("published", "share"), Column("here", "share")],
        sorted(rows, key=lambda row: [*map(str, row[:3])]),
        ["Another model, and mostly another task: only the pattern can be compared."],
        shown=80,
    )


def figures(source: str) -> list[Figure]:
    """Curves along a run, and agreement by language."""
    return [
        Figure(
            "curves",
            "lines",
            f"{dev_of(source)} and test scores along a run",
            f"The {dev_of(source)} score at every checkpoint of a run, and test scores in other languages.",
            x="step",
            y="score",
            colour="series",
        ),
        Figure(
            "agreement",
            "bars",
            "How often dev and test move the same way",
            f"By language, the share of pairs of checkpoints in which test scores moved as {dev_of(source)} did, and "
            "as the language's own dev set did; a half is chance.",
            x="agreement",
            y="language",
            colour="dev",
            marks=[("chance", CHANCE)],
        ),
    ]


def _share_by_source(each: LanguageSelection) -> float:
    return 1.0 if each.by_source is None else each.by_source.share


def _runs(count: int) -> str:
    return "one run" if count == 1 else f"{count} runs"


def _ends(interval: Interval | None) -> list[Value]:
    return [None, None] if interval is None else [*interval]
