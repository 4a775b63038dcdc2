"""The scores of checkpoints, read from the records of training runs and from CSV files of others."""

import csv
import io
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np

from isogloss.analysis.finding import AnalysisError
from isogloss.analysis.run_variation import MOST_EXAMPLES
from isogloss.data.files import read_text
from isogloss.data.tables import finite_number
from isogloss.errors import unknown
from isogloss.escaping import NAME_LENGTH, printable
from isogloss.metrics.statistics import FloatArray
from isogloss.systems.neural.fit_log import read_fit_log
from isogloss.tasks.registry import canonical
from isogloss.tasks.registry import task as find_task
from isogloss.training.checkpoint_record import SCORES
from isogloss.training.selection import LOSS, CheckpointScore

SPLITS = ("dev", "test")
MOST_STEPS = 2**63 - 1
NEEDED = ("step", "seed", "language", "split", "value")
# By split, the metrics whose mean is the score; none where a file has one score without a name.
MainMetrics = Mapping[str, Sequence[str]]


class _FoundRecord(NamedTuple):
    """A file of scores, with the task and the metrics of the fit that it belongs to, where they are known."""

    path: Path
    task: str = ""
    main: MainMetrics | None = None


@dataclass(frozen=True, eq=False)
class SeedScores:
    """One run: its checkpoints in order, and by language and split the score of each, NaN where it was not asked."""

    seed: int
    steps: tuple[int, ...]
    values: Mapping[tuple[str, str], FloatArray]

    def of(self, language: str, split: str) -> FloatArray:
        """The scores of a language, all of them NaN where there are none."""
        return self.values.get((language, split), np.full(len(self.steps), np.nan))

    def since(self, step: int) -> "SeedScores":
        """The run without the checkpoints before a step."""
        kept = [place for place, each in enumerate(self.steps) if each >= step]
        steps = tuple(self.steps[place] for place in kept)
        return SeedScores(self.seed, steps, {key: values[kept] for key, values in self.values.items()})


@dataclass(frozen=True, eq=False)
class CheckpointScores:
    """The scores of all checkpoints of several runs, 0..100.

    Attributes:
        seeds: the runs.
        sizes: how many examples a language's test set has, where the files say.
        task: what was learnt, where it is known.
        metric: what the scores are, where it is known.
    """

    seeds: tuple[SeedScores, ...]
    sizes: Mapping[str, int] = field(default_factory=dict)
    task: str = ""
    metric: str = ""

    def languages(self, split: str) -> list[str]:
        """The languages that have scores of a split, in alphabetical order."""
        return sorted({language for run in self.seeds for language, has in run.values if has == split})


def read_checkpoint_scores(paths: Iterable[Path], *, task: str = "", metric: str = "") -> CheckpointScores:
    """The scores in folders of fits, in folders above them, and in CSV files.

    A CSV has the columns step, seed, language, split (dev or test) and value, 0..100; it may have metric and n, the
    examples behind the score.

    Args:
        paths: the folders and files; all must be of one task.
        task: only fits of this task; CSV files are taken to be of it.
        metric: the metric that is the score; by default the mean of the task's main ones.

    Raises:
        AnalysisError: there are no scores, of one split only, of several tasks or metrics, or twice the same.
        DataError: a file cannot be read.
        UnknownNameError: no such task or metric.
    """
    wanted = canonical(task) if task else ""
    named = dict.fromkeys(SPLITS, find_task(wanted).main) if wanted else None
    records = [found for path in paths for found in _records_in(Path(path)) if wanted in ("", found.task or wanted)]
    tasks = sorted({found.task for found in records if found.task})
    if not records:
        what = f"there are no checkpoints of {wanted}" if wanted else "there are no checkpoints"
        raise AnalysisError(what, where=", ".join(map(str, paths)), fix="isogloss train records them")
    if len(tasks) > 1:
        fix = f"Choose one: --task {tasks[0]}"
        raise AnalysisError(f"these are checkpoints of several tasks: {', '.join(tasks)}", fix=fix)
    rows: dict[tuple[int, str, str], dict[int, float]] = {}
    sizes: dict[str, int] = {}
    metrics: set[str] = set()
    for record in records:
        scores = list(_scores_in(record.path))
        main = dict.fromkeys(SPLITS, (metric,)) if metric else record.main or named or _named_once(scores, record.path)
        metrics |= set(main["test"])
        _add_means(rows, scores, main, record.path)
        sizes |= {score.language: score.n for score in scores if score.split == "test" and score.n}
    _check(rows)
    return CheckpointScores(_by_seed(rows), sizes, wanted or "".join(tasks), "+".join(sorted(metrics)))


def _records_in(path: Path) -> list[_FoundRecord]:
    """The files of scores at a path: itself, or those of the fits below it."""
    if not path.is_dir():
        return [_FoundRecord(path)]
    found = []
    for file in sorted(path.rglob(SCORES)):
        log = read_fit_log(file.parent)
        if log is None:
            found.append(_FoundRecord(file))
        else:
            dev, test = find_task(str(log.learnt_from.get("task", log.task))), find_task(log.task)
            found.append(_FoundRecord(file, log.task, {"dev": dev.main, "test": test.main}))
    return found


def _scores_in(path: Path) -> Iterator[CheckpointScore]:
    """The lines of a CSV, checked one by one; losses are no scores and left out."""
    table = csv.DictReader(io.StringIO(read_text(path), newline=""))
    try:
        missing = [name for name in NEEDED if name not in (table.fieldnames or ())]
        if missing:
            fix = f"It must have {', '.join(NEEDED)}; metric and n may follow"
            raise AnalysisError(f"there is no column {', '.join(missing)}", where=str(path), fix=fix)
        for row in table:
            if row.get("metric") != LOSS:
                yield _score(row, f"{path}:{table.line_num}")
    except csv.Error as error:
        raise AnalysisError(f"it is no CSV ({error})", where=str(path)) from None


def _score(row: Mapping[str, str | None], where: str) -> CheckpointScore:
    texts = {name: (row.get(name) or "").strip() for name in (*NEEDED, "metric", "n")}
    if texts["split"] not in SPLITS:
        raise AnalysisError(f"split {printable(texts['split'], NAME_LENGTH)!r} is neither dev nor test", where=where)
    if not texts["language"]:
        raise AnalysisError("there is no language", where=where)
    step, seed = _whole("step", texts["step"], MOST_STEPS, where), _whole("seed", texts["seed"], MOST_STEPS, where)
    n = _whole("n", texts["n"] or "0", MOST_EXAMPLES, where)
    value = finite_number(texts["value"])
    if value is None:
        fix = "Leave out lines of checkpoints that were not asked"
        raise AnalysisError(f"value {printable(texts['value'], NAME_LENGTH)!r} is not a number", where=where, fix=fix)
    code, metric = (printable(texts[name], NAME_LENGTH) for name in ("language", "metric"))
    return CheckpointScore(step, seed, code, texts["split"], metric, value, n)


def _whole(name: str, text: str, most: int, where: str) -> int:
    try:
        number = int(text)
    except ValueError:
        number = -1
    if not 0 <= number <= most:
        what = f"{name} is {printable(text, NAME_LENGTH)!r}, and must be a whole number from 0 to {most}"
        raise AnalysisError(what, where=where)
    return number


def _named_once(scores: Iterable[CheckpointScore], path: Path) -> MainMetrics:
    """The one metric that a file without a task has."""
    names = sorted({score.metric for score in scores})
    if len(names) > 1:
        what = f"there are several metrics: {', '.join(names)}"
        raise AnalysisError(what, where=str(path), fix=f"Choose one: --metric {names[0]}")
    return dict.fromkeys(SPLITS, names)


def _add_means(
    rows: dict[tuple[int, str, str], dict[int, float]], scores: list[CheckpointScore], main: MainMetrics, path: Path
) -> None:
    """Put the mean over the main metrics of every checkpoint, language and split of a file to those of the others."""
    known = {score.metric for score in scores}
    if lacking := {*main["test"]} - known:
        raise unknown("metric", min(lacking), known)
    found: dict[tuple[int, str, str, int], dict[str, float]] = {}
    for score in scores:
        if score.metric in main[score.split]:
            same = found.setdefault((score.seed, score.language, score.split, score.step), {})
            if score.metric in same:
                raise _twice(score.seed, score.language, score.split, score.step, path)
            same[score.metric] = score.value
    for (seed, language, split, step), values in found.items():
        by_step = rows.setdefault((seed, language, split), {})
        if step in by_step:
            raise _twice(seed, language, split, step, path)
        if len(values) == len(main[split]):
            by_step[step] = math.fsum(values.values()) / len(values)


def _twice(seed: int, language: str, split: str, step: int, path: Path) -> AnalysisError:
    what = f"seed {seed}, step {step}, {language} {split} is there twice"
    return AnalysisError(what, where=str(path), fix="Give the runs of one system, each seed once")


def _check(rows: Mapping[tuple[int, str, str], Mapping[int, float]]) -> None:
    """That there are scores of both splits, and that they are on the scale on which half a point is little."""
    splits = {split for _, _, split in rows}
    if len(splits) < len(SPLITS):
        has = f"only {splits.pop()} scores" if splits else "no scores"
        fix = "Selection is by dev scores, and judged by test scores"
        raise AnalysisError(f"there are {has}", fix=fix)
    values = [value for by_step in rows.values() for value in by_step.values()]
    if not values:
        raise AnalysisError("no checkpoint has all main metrics", fix="Name one that all have with --metric")
    if max(values) > 100 or min(values) < 0:
        raise AnalysisError("scores must lie within 0..100", fix="Leave out what is no score")
    if max(values) <= 1:
        raise AnalysisError("all scores lie within 0..1", fix="Give them within 0..100, in points")


def _by_seed(rows: Mapping[tuple[int, str, str], Mapping[int, float]]) -> tuple[SeedScores, ...]:
    runs = []
    for seed in sorted({seed for seed, _, _ in rows}):
        mine = {(language, split): by_step for (run, language, split), by_step in rows.items() if run == seed}
        steps = tuple(sorted({step for by_step in mine.values() for step in by_step}))
        values = {key: np.array([by_step.get(step, np.nan) for step in steps]) for key, by_step in mine.items()}
        runs.append(SeedScores(seed, steps, values))
    return tuple(runs)
