"""Which checkpoint to take: whether English dev is a good guide in other languages (Keung et al. 2020)."""

import os
from collections.abc import Sequence
from pathlib import Path

import msgspec
import numpy as np

from isogloss.analysis import checkpoint_tables as tables
from isogloss.analysis.checkpoint_reading import reading
from isogloss.analysis.checkpoint_scores import CheckpointScores, read_checkpoint_scores
from isogloss.analysis.command_line import command_line
from isogloss.analysis.directional_agreement import FEWEST_SEEDS, SMALLEST_MOVE
from isogloss.analysis.finding import AnalysisError, Finding
from isogloss.analysis.language_selection import LanguageSelection, language_selections
from isogloss.analysis.run_variation import LARGE_SPREAD, MOST_EXAMPLES, RunSpread, run_spread
from isogloss.analysis.selection_rules import best_place
from isogloss.errors import unknown


def select(
    checkpoints: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    *,
    task: str = "",
    metric: str = "",
    source: str = "en",
    single: str = "",
    test_size: int = 0,
    from_step: int = 0,
) -> Finding:
    """Compare the ways of choosing a checkpoint, by the scores of all checkpoints of several runs.

    Args:
        checkpoints: folders of fits or above them, as `train` writes them, or CSV files with the columns step, seed,
            language, split and value.
        task: only fits of this task; CSV files are taken to be of it.
        metric: the metric that is the score; by default the mean of the task's main ones.
        source: the language that the runs learnt from.
        single: the language whose dev set should choose for all; by default each does in turn.
        test_size: examples of a test set, where the files do not say.
        from_step: leave out the checkpoints before this step.

    Returns:
        Test scores by rule, their spread over runs, how often dev and test agree, curves, and what follows.

    Raises:
        AnalysisError: there are too few languages or checkpoints, or scores are missing.
        DataError: a file cannot be read.
        UnknownNameError: no such task, metric or language.
    """
    given = [checkpoints] if isinstance(checkpoints, str | os.PathLike) else checkpoints
    scores = read_checkpoint_scores([Path(path) for path in given], task=task, metric=metric)
    found = checkpoint_selection(scores, source=source, single=single, test_size=test_size, from_step=from_step)
    of_scores = {"task": task, "metric": metric, "source": "" if source == "en" else source, "single": single}
    asked = command_line("select", given, {**of_scores, "test_size": test_size, "from_step": from_step})
    return msgspec.structs.replace(found, asked=asked)


def checkpoint_selection(
    scores: CheckpointScores, *, source: str = "en", single: str = "", test_size: int = 0, from_step: int = 0
) -> Finding:
    """The finding of `select`, from scores."""
    if not 0 <= test_size <= MOST_EXAMPLES:
        raise AnalysisError(
            f"a test set of {test_size} examples", fix=f"Give 1 to {MOST_EXAMPLES}, or 0 for as recorded"
        )
    scores = _checked(scores, source, single, from_step)
    found = language_selections(scores, source, single, test_size)
    left_out = sorted({*scores.languages("test")} - {each.language for each in found})
    targets = [each for each in found if each.language != source]
    if not targets:
        raise AnalysisError(
            f"there is no language but {source} with test scores in every run", fix="Give more languages"
        )
    what = " ".join(filter(None, (scores.task, scores.metric)))
    return Finding(
        analysis="checkpoint-selection",
        title=f"Which checkpoint to take{f': {what}' if what else ''}",
        reading=reading(targets, scores, source, single),
        tables=[
            tables.rules_table(targets, source, single),
            tables.languages_table(targets, source),
            tables.variation_table(found, _source_dev_spread(scores, source), scores, source),
            tables.oracle_table(targets, source),
            tables.agreement_table(found, source),
            tables.curves_table(targets, scores, source),
            tables.choices_table(found, scores),
            tables.published_table(targets),
        ],
        figures=tables.figures(source),
        notes=_notes(scores, found, left_out, from_step),
    )


def _checked(scores: CheckpointScores, source: str, single: str, from_step: int) -> CheckpointScores:
    kept = tuple(run.since(from_step) for run in scores.seeds)
    dev = scores.languages("dev")
    if source not in dev:
        fix = f"Name the language that was learnt from: --source {dev[0]}"
        raise AnalysisError(f"there are no dev scores of {source}", fix=fix)
    if single and single not in dev:
        raise unknown("language with dev scores", single, dev)
    short = [run.seed for run in kept if len(run.steps) < 2]
    if short:
        fix = "A run needs two at least" + (", so give an earlier --from-step" if from_step else "")
        raise AnalysisError(f"seed {short[0]} has fewer than two checkpoints", fix=fix)
    return CheckpointScores(kept, scores.sizes, scores.task, scores.metric)


def _source_dev_spread(scores: CheckpointScores, source: str) -> RunSpread:
    """The spread of the best source dev scores themselves."""
    dev = [run.of(source, "dev") for run in scores.seeds]
    places = [best_place(values, values) for values in dev]
    return run_spread(np.array([values[place] for values, place in zip(dev, places, strict=True) if place is not None]))


def _notes(
    scores: CheckpointScores, found: Sequence[LanguageSelection], left_out: Sequence[str], from_step: int
) -> list[str]:
    seeds = len(scores.seeds)
    interval = (
        "Interval: jackknife over runs."
        if seeds >= FEWEST_SEEDS
        else f"No interval: it takes {FEWEST_SEEDS} runs, since checkpoints of one run are not independent, and "
        "intervals that leave them out one by one held the truth of wandering scores in 40 to 50 % of simulated cases."
    )
    without_dev = [each.language for each in found if each.by_target is None and each.by_source is not None]
    still = [each.language for each in found if each.by_source is None]
    notes = [
        "Of equal dev scores the earliest checkpoint is taken.",
        f"Agreement: all pairs of checkpoints of one run whose test scores lie at least {SMALLEST_MOVE} points apart; "
        f"the paper samples from them. Equal dev scores count half. {interval} "
        "Scores that all rise as training goes on agree for that alone: --from-step leaves the rise out.",
        f"Spread: {LARGE_SPREAD} points is the paper's threshold, for test sets of 4,000 to 5,010 examples. p is "
        "Fisher's exact test of the smallest and the largest run as shares of n examples; as the paper's test of "
        "proportions it ignores that these are the extremes of all runs (p_any does not) and that all answer the same "
        "questions. A score that is no accuracy is no share of examples: p is then a rough guide.",
        "mean dev is the mean over the dev sets of all languages; one other dev the mean outcome of choosing by one "
        "further language's, each in turn.",
    ]
    if from_step:
        notes.append(f"Checkpoints before step {from_step} are left out.")
    if left_out:
        notes.append(f"No test scores in every run: {', '.join(left_out)}.")
    if without_dev:
        notes.append(f"No dev scores, so no oracle: {', '.join(without_dev)}.")
    if still:
        notes.append(f"Test scores never moved by {SMALLEST_MOVE} points: {', '.join(still)}.")
    return notes
