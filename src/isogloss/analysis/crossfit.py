"""Cross-fitted choice of the best checkpoint: choose by one half of the test examples, score on the other.

The highest of many test scores is too high as an estimate, because chance decides among checkpoints of similar quality:
identical checkpoints differ on any test set. A choice by half of the examples, judged by the other half, both ways, has
no such bias. It estimates a choice by half as many examples, so it is slightly low for a choice by all.
"""

import zlib
from collections.abc import Sequence
from dataclasses import replace
from os import PathLike

import numpy as np
import numpy.typing as npt

from isogloss.analysis.checkpoint_scores import CheckpointScores
from isogloss.errors import DataError, IsoglossError
from isogloss.metrics.statistics import FloatArray, Statistics
from isogloss.scoring.main_score import main_statistics
from isogloss.tasks.examples import Examples
from isogloss.tasks.kinds import judge, kind_of
from isogloss.tasks.loading import load
from isogloss.tasks.registry import task as find_task
from isogloss.tasks.task import Task
from isogloss.training.checkpoint_record import read_checkpoints

BoolArray = npt.NDArray[np.bool_]
# Random splits into halves: their average depends little on a single one, and more would cost time.
SPLITS = 10
NO_ANSWERS = "the scores come from a table; pass the folders of the runs, with their predictions"


def source_halves(sources: Sequence[str], splits: int = SPLITS) -> BoolArray:
    """Return a mask of the examples in the first half of each split (splits, examples).

    All examples of a source are in one half. The order of sources follows from their names, so that translations of an
    example are in the same half in every language and run.
    """
    names = sorted(set(sources))
    masks = []
    for split in range(splits):
        shuffled = sorted(names, key=lambda name: (zlib.crc32(f"{split}/{name}".encode(errors="surrogatepass")), name))
        first = set(shuffled[: len(shuffled) // 2])
        masks.append([source in first for source in sources])
    return np.array(masks, dtype=bool).reshape(splits, len(sources))


def half_scores(statistics: Statistics, halves: BoolArray) -> FloatArray:
    """Return the scores, 0..100, of both halves of every split (2, splits); `halves` are masks of units."""
    inside = (halves if statistics.units is None else halves[:, statistics.units]).astype(np.float64)
    both = np.stack([inside, 1 - inside])
    scores: FloatArray = 100 * statistics.value(both @ statistics.rows, both.sum(axis=-1))
    return scores


def crossfitted(halves: FloatArray) -> float | None:
    """Return the mean score of checkpoints chosen by one half and scored on the other, both ways.

    Args:
        halves: scores (checkpoints, 2, splits); NaN for a checkpoint without answers. The earliest wins a tie.
    """
    known = halves[np.isfinite(halves).all(axis=(1, 2))]
    if not len(known):
        return None
    chosen = known.argmax(axis=0)
    splits = np.arange(halves.shape[-1])
    return float(np.mean([known[chosen[half], 1 - half, splits] for half in (0, 1)]))


def with_test_halves(
    scores: CheckpointScores, metric: str = "", data: str | PathLike[str] | None = None
) -> tuple[CheckpointScores, list[str]]:
    """Add the scores of test halves to runs with recorded predictions; return also why some have none."""
    if not scores.folders:
        return scores, [NO_ANSWERS]
    problems: dict[str, None] = {}
    task, codes = find_task(scores.task), scores.languages("test")
    tests = _TestSets(task, metric, data)
    runs = []
    for run in scores.seeds:
        halves: dict[str, FloatArray] = {}
        for code in codes if run.seed in scores.folders else ():
            try:
                ids, answers = read_checkpoints(scores.folders[run.seed]).answers_by_step(code)
                if not answers:
                    raise DataError(f"no recorded predictions of seed {run.seed}")
                by_step = {step: tests.half_scores(code, ids, values) for step, values in answers.items()}
            except IsoglossError as error:
                problems[f"{code}: {error.what}"] = None
                continue
            missing = np.full((2, SPLITS), np.nan)
            halves[code] = np.stack([by_step.get(step, missing) for step in run.steps])
        runs.append(replace(run, halves=halves))
    return replace(scores, seeds=tuple(runs)), list(problems)


class _TestSets:
    """Gold of the test sets in the data folder, read once per language."""

    def __init__(self, task: Task, metric: str, data: str | PathLike[str] | None) -> None:
        self.task, self.metric, self.data = task, metric, data
        self._halves: dict[str, tuple[list[str], Examples, BoolArray]] = {}

    def half_scores(self, language: str, ids: list[str], values: Sequence[object]) -> FloatArray:
        """Return the scores of one checkpoint's predictions on the halves of the examples with these ids."""
        examples, halves = self._examples(language, ids)
        normalize = kind_of(self.task).normalize
        answers = [None if value is None else normalize(value) for value in values]
        metrics = judge(self.task, examples, answers).metrics
        if self.metric and self.metric not in metrics:
            raise DataError(f"no metric {self.metric}")
        statistics = metrics[self.metric] if self.metric else main_statistics(self.task.id, metrics)
        return half_scores(statistics, halves)

    def _examples(self, language: str, ids: list[str]) -> tuple[Examples, BoolArray]:
        known = self._halves.get(language)
        if known is None or known[0] != ids:
            whole = load(self.task, language, "test", self.data, allow_partial=True)
            rows = {name: row for row, name in enumerate(whole.ids)}
            if not whole.has_gold or not all(name in rows for name in ids):
                raise DataError("the data folder lacks gold labels of the predicted examples")
            examples = whole.keep([rows[name] for name in ids])
            sources = examples.clusters or examples.units or list(examples.ids)
            if len(set(sources)) < 2:
                raise DataError("the test examples share one source, which cannot be halved")
            halves = source_halves(sources)
            known = self._halves[language] = ids, examples, halves
        return known[1], known[2]
