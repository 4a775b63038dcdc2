"""Checkpoint selection by English dev scores in other languages (Keung et al. 2020)."""

import dataclasses
import os
from collections.abc import Sequence
from pathlib import Path

import msgspec
import numpy as np

from isogloss.analysis import checkpoint_tables as tables
from isogloss.analysis import language_selection as rules
from isogloss.analysis.api import command_line
from isogloss.analysis.checkpoint_reading import reading
from isogloss.analysis.checkpoint_scores import MOST_EXAMPLES, CheckpointScores, read_checkpoint_scores
from isogloss.analysis.checkpoint_verdicts import language_verdicts
from isogloss.analysis.crossfit import with_test_halves
from isogloss.analysis.finding import AnalysisError, Finding
from isogloss.analysis.language_selection import FEWEST_SEEDS, LARGE_SPREAD, SMALLEST_MOVE, LanguageSelection
from isogloss.errors import unknown
from isogloss.predictions.columns import Tabular

# Folders of fits, CSV files, or a table of scores in memory.
Checkpoints = str | os.PathLike[str] | Sequence[str | os.PathLike[str]] | Tabular


def select(
    checkpoints: Checkpoints,
    *,
    task: str = "",
    metric: str = "",
    source: str = "en",
    single: str = "",
    test_size: int = 0,
    from_step: int = 0,
    data: str | os.PathLike[str] | None = None,
) -> Finding:
    """Compare checkpoint selection rules, using the scores of all checkpoints of several runs.

    Args:
        checkpoints: folders of fits written by `train`, folders above them, or CSV files with the columns step, seed,
            language, split (dev or test) and value (0..100), optionally metric and n (number of examples); or a table
            in memory with these columns: a pandas or polars data frame, an Arrow table, a dict of lists.
        task: task of the fits to include, also assumed for tables.
        metric: metric used as the score; by default the mean of the task's main metrics.
        source: training language.
        single: language of the dev set that selects for all languages; by default each in turn.
        test_size: number of test examples, if not recorded.
        from_step: first step to include.
        data: data folder with the gold of recorded predictions, which the cross-fitted best score needs; default
            ISOGLOSS_DATA or the user's cache.

    Returns:
        Test scores by rule, their spread over runs, agreement of dev and test, curves, and a summary.

    Raises:
        AnalysisError: too few languages or checkpoints, or missing scores.
        DataError: a file cannot be read.
        UnknownNameError: unknown task, metric or language.

    Example:
        isogloss.select("runs/encoder-xlm-r-base/zero-shot", task="xnli")
        isogloss.select(scores_of_checkpoints, metric="accuracy").plot()
    """
    sources = _sources(checkpoints)
    scores = read_checkpoint_scores(sources, task=task, metric=metric)
    scores, problems = with_test_halves(scores, metric, data)
    finding = checkpoint_selection(scores, source=source, single=single, test_size=test_size, from_step=from_step)
    options = {"task": task, "metric": metric, "source": "" if source == "en" else source, "single": single}
    names = [str(source) if isinstance(source, Path) else "<scores in memory>" for source in sources]
    command = command_line("select", names, {**options, "test_size": test_size, "from_step": from_step, "data": data})
    notes = [f"No cross-fitted best score: {problem}." for problem in problems]
    return msgspec.structs.replace(finding, command=command, notes=[*finding.notes, *notes])


def _sources(checkpoints: Checkpoints) -> list[Path | Tabular]:
    if isinstance(checkpoints, str | os.PathLike):
        return [Path(checkpoints)]
    if isinstance(checkpoints, Sequence):
        return [Path(path) for path in checkpoints]
    return [checkpoints]


def checkpoint_selection(
    scores: CheckpointScores, *, source: str = "en", single: str = "", test_size: int = 0, from_step: int = 0
) -> Finding:
    """Return the finding of `select` for the given scores."""
    if not 0 <= test_size <= MOST_EXAMPLES:
        fix = f"Pass 1 to {MOST_EXAMPLES}, or 0 to use the recorded size"
        raise AnalysisError(f"invalid test size {test_size}", fix=fix)
    scores = _checked(scores, source, single, from_step)
    selections = list(rules.language_selections(scores, source, single, test_size))
    left_out = sorted({*scores.languages("test")} - {selection.language for selection in selections})
    targets = [selection for selection in selections if selection.language != source]
    if not targets:
        raise AnalysisError(f"only {source} has test scores in every run", fix="Add languages")
    verdicts = language_verdicts(selections, source)
    what = " ".join(filter(None, (scores.task, scores.metric)))
    dev = [run.of(source, "dev") for run in scores.seeds]
    best_dev = [values[index] for values in dev if (index := rules.best_place(values, values)) is not None]
    return Finding(
        analysis="checkpoint-selection",
        title=f"Checkpoint selection{f': {what}' if what else ''}",
        reading=reading(targets, verdicts, scores, source, single),
        tables=[
            tables.rules_table(targets, source, single),
            *tables.sizes_tables(selections, scores),
            tables.languages_table(targets, verdicts, source),
            tables.variation_table(selections, verdicts, rules.run_spread(np.array(best_dev)), scores, source),
            tables.oracle_table(targets, source),
            tables.agreement_table(selections, source),
            tables.curves_table(targets, scores, source),
            tables.choices_table(selections, scores),
            tables.published_table(targets),
        ],
        figures=tables.figures(source),
        notes=_notes(scores, selections, left_out, from_step),
    )


def _checked(scores: CheckpointScores, source: str, single: str, from_step: int) -> CheckpointScores:
    runs = tuple(run.since(from_step) for run in scores.seeds)
    dev = scores.languages("dev")
    if source not in dev:
        raise AnalysisError(f"no dev scores of {source}", fix=f"Pass the training language: --source {dev[0]}")
    if single and single not in dev:
        raise unknown("language with dev scores", single, dev)
    short = [run.seed for run in runs if len(run.steps) < 2]
    if short:
        fix = "A run needs at least two" + ("; choose an earlier --from-step" if from_step else "")
        raise AnalysisError(f"seed {short[0]} has fewer than two checkpoints", fix=fix)
    return dataclasses.replace(scores, seeds=runs)


def _notes(
    scores: CheckpointScores, selections: Sequence[LanguageSelection], left_out: Sequence[str], from_step: int
) -> list[str]:
    interval = "Interval: jackknife over runs."
    if len(scores.seeds) < FEWEST_SEEDS:
        interval = (
            f"No interval: at least {FEWEST_SEEDS} runs are needed. Checkpoints of one run are not independent, and "
            "jackknife intervals over them covered the truth in only 40 to 50 % of simulated random walks."
        )
    without_dev = [each.language for each in selections if each.by_source is not None and each.by_target is None]
    unchanged = [selection.language for selection in selections if selection.by_source is None]
    notes = [
        "Ties in dev scores go to the earliest checkpoint.",
        f"Agreement: over all pairs of checkpoints of one run with test scores at least {SMALLEST_MOVE} points apart; "
        f"the paper samples pairs. Equal dev scores count half. {interval} "
        "Early in training all scores rise, which inflates agreement: exclude that phase with --from-step.",
        f"Spread: {LARGE_SPREAD} points is the paper's threshold, for test sets of 4,000 to 5,010 examples. p is "
        "Fisher's exact test of the smallest and the largest run as proportions of n examples. Like the paper's test "
        "of proportions, it ignores that these are the extremes of all runs (the corrected p-values do not) and that "
        "all runs answer the same questions. For scores other than accuracy p is approximate.",
        "mean dev: select by the mean over the dev sets of all languages. one other dev: select by the dev set of one "
        "other language, averaged over these languages.",
    ]
    notes += tables.weight_notes(selections, scores)
    if from_step:
        notes.append(f"Checkpoints before step {from_step} are excluded.")
    cases = {
        "Excluded, test scores missing in some runs": left_out,
        "No dev scores, so no oracle": without_dev,
        f"Test scores never changed by {SMALLEST_MOVE} points": unchanged,
    }
    return [*notes, *(f"{what}: {', '.join(codes)}." for what, codes in cases.items() if codes)]
