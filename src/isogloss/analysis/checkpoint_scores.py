"""Read the scores of checkpoints from records of training runs, CSV files and tables in memory."""

import csv
import io
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from isogloss.analysis.finding import AnalysisError
from isogloss.data.files import read_text
from isogloss.data.tables import finite_number
from isogloss.errors import unknown
from isogloss.escaping import NAME_LENGTH, printable
from isogloss.metrics.statistics import FloatArray
from isogloss.predictions.columns import Tabular, columns_of
from isogloss.systems.neural.fit_log import read_fit_log
from isogloss.tasks.registry import canonical
from isogloss.tasks.registry import task as find_task
from isogloss.training.checkpoint_record import SCORES
from isogloss.training.selection import LOSS, CheckpointScore

SPLITS = ("dev", "test")
MOST_STEPS = 2**63 - 1
# Maximum test set size for the exact test of two runs.
MOST_EXAMPLES = 10**6
NEEDED = ("step", "seed", "language", "split", "value")
OPTIONAL = ("metric", "n")
_IN_MEMORY = "table of checkpoint scores"
# Metrics by split; their mean is the score. Empty if a file has one unnamed score.
MainMetrics = Mapping[str, Sequence[str]]
_UNNAMED: MainMetrics = dict.fromkeys(SPLITS, ("",))


@dataclass(frozen=True, eq=False)
class SeedScores:
    """Checkpoints of one run in order, with scores by language and split; NaN if not evaluated.

    `halves` are scores of halves of the test sets by language (checkpoints, 2, splits), if predictions were judged.
    """

    seed: int
    steps: tuple[int, ...]
    values: Mapping[tuple[str, str], FloatArray]
    halves: Mapping[str, FloatArray] = field(default_factory=dict)

    def of(self, language: str, split: str) -> FloatArray:
        """Return the scores of a language, all NaN if it has none."""
        return self.values.get((language, split), np.full(len(self.steps), np.nan))

    def since(self, step: int) -> "SeedScores":
        """Return the run without checkpoints before a step."""
        indices = [index for index, number in enumerate(self.steps) if number >= step]
        steps = tuple(self.steps[index] for index in indices)
        values = {key: scores[indices] for key, scores in self.values.items()}
        return SeedScores(self.seed, steps, values, {code: scores[indices] for code, scores in self.halves.items()})


@dataclass(frozen=True, eq=False)
class CheckpointScores:
    """Scores of all checkpoints of several runs, 0..100.

    `sizes` are the recorded numbers of examples and `whole` those of the whole sets, if known, by language and split;
    `folders` are the folders of fits, by seed.
    """

    seeds: tuple[SeedScores, ...]
    sizes: Mapping[tuple[str, str], int] = field(default_factory=dict)
    task: str = ""
    metric: str = ""
    whole: Mapping[tuple[str, str], int] = field(default_factory=dict)
    folders: Mapping[int, Path] = field(default_factory=dict)

    def languages(self, split: str) -> list[str]:
        """Return the languages with scores of a split, sorted."""
        return sorted({language for run in self.seeds for language, has in run.values if has == split})


def read_checkpoint_scores(sources: Sequence[Path | Tabular], *, task: str = "", metric: str = "") -> CheckpointScores:
    """Read scores from folders of fits, folders above them, CSV files, and tables in memory.

    A CSV or a table has the columns step, seed, language, split (dev or test) and value, 0..100, and optionally metric
    and n, the number of examples. All belong to one task; a given task is also assumed for tables. The score is a
    metric, by default the mean of the task's main metrics; values without a metric are that score.
    """
    task_id = canonical(task) if task else ""
    named = dict.fromkeys(SPLITS, find_task(task_id).main) if task_id else None
    files = [file for source in sources for file in _parts_of(source) if task_id in ("", file[1] or task_id)]
    tasks = sorted({own for _, own, _ in files if own})
    if not files:
        what = f"no checkpoints of {task_id}" if task_id else "no checkpoints"
        raise AnalysisError(what, where=", ".join(map(str, sources)), fix="Record them with isogloss train")
    if len(tasks) > 1:
        fix = f"Choose one: --task {tasks[0]}"
        raise AnalysisError(f"checkpoints of several tasks: {', '.join(tasks)}", fix=fix)
    rows: dict[tuple[int, str, str], dict[int, float]] = {}
    sizes: dict[tuple[str, str], int] = {}
    whole: dict[tuple[str, str], int] = {}
    folders: dict[int, Path] = {}
    metrics: set[str] = set()
    for source, _, of_fit in files:
        scores = [_score(row, where) for where, row in _rows_of(source) if row.get("metric") != LOSS]
        where, folder = (str(source), source.parent) if isinstance(source, Path) else (_IN_MEMORY, None)
        main = dict.fromkeys(SPLITS, (metric,)) if metric else of_fit or named or _named_once(scores, where)
        metrics |= set(main["test"])
        is_named = any(score.metric for score in scores)
        if metric and scores and not is_named:
            fix = "Leave out --metric, or add a column metric"
            raise AnalysisError(f"cannot select {metric}: the scores have no metric", where=where, fix=fix)
        _add_means(rows, scores, main if is_named else _UNNAMED, where)
        sizes |= {(score.language, score.split): score.n for score in scores if score.n}
        whole |= _whole_sizes(folder, task_id, sizes)
        folders |= {score.seed: folder for score in scores} if of_fit and folder else {}
    _check(rows)
    named_metric = "+".join(sorted(metrics))
    return CheckpointScores(_by_seed(rows), sizes, task_id or "".join(tasks), named_metric, whole, folders)


def _parts_of(path: Path | Tabular) -> Iterator[tuple[Path | Tabular, str, MainMetrics | None]]:
    """Yield a file or table, or the files of the fits below a folder, with the task and metrics of the fit if known."""
    if not isinstance(path, Path):
        yield path, "", None
        return
    for file in sorted(path.rglob(SCORES)) if path.is_dir() else [path]:
        log = read_fit_log(file.parent) if path.is_dir() else None
        if log is None:
            yield file, "", None
        else:
            dev, test = find_task(str(log.learnt_from.get("task", log.task))), find_task(log.task)
            yield file, log.task, {"dev": dev.main, "test": test.main}


def _whole_sizes(folder: Path | None, task: str, sets: Iterable[tuple[str, str]]) -> dict[tuple[str, str], int]:
    """Return the published number of examples of sets, by language and split, as far as known."""
    log = read_fit_log(folder) if folder else None
    names = {"dev": task, "test": task}
    if log is not None:
        names = {"dev": str(log.learnt_from.get("task", log.task)), "test": log.task}
    expected = {key: find_task(names[key[1]]).expected(*key) for key in sets if names[key[1]]}
    return {key: n for key, n in expected.items() if n}


def _rows_of(source: Path | Tabular) -> Iterator[tuple[str, Mapping[str, str | None]]]:
    """Yield the rows of a CSV or a table as texts, with their places."""
    if not isinstance(source, Path):
        columns = columns_of(source, NEEDED, OPTIONAL, what="checkpoint scores", error=AnalysisError)
        for number, values in enumerate(zip(*columns.values(), strict=True)):
            texts = ("" if value is None else str(value) for value in values)
            yield f"row {number} of the table", dict(zip(columns, texts, strict=True))
        return
    table = csv.DictReader(io.StringIO(read_text(source), newline=""))
    try:
        missing = [name for name in NEEDED if name not in (table.fieldnames or ())]
        if missing:
            fix = f"Required columns: {', '.join(NEEDED)}; optional: {', '.join(OPTIONAL)}"
            raise AnalysisError(f"missing column {', '.join(missing)}", where=str(source), fix=fix)
        for row in table:
            yield f"{source}:{table.line_num}", row
    except csv.Error as error:
        raise AnalysisError(f"invalid CSV ({error})", where=str(source)) from None


def _score(row: Mapping[str, str | None], where: str) -> CheckpointScore:
    texts = {name: (row.get(name) or "").strip() for name in (*NEEDED, *OPTIONAL)}
    if texts["split"] not in SPLITS:
        raise AnalysisError(f"split {printable(texts['split'], NAME_LENGTH)!r} is neither dev nor test", where=where)
    if not texts["language"]:
        raise AnalysisError("missing language", where=where)
    step, seed = _whole("step", texts["step"], MOST_STEPS, where), _whole("seed", texts["seed"], MOST_STEPS, where)
    n = _whole("n", texts["n"] or "0", MOST_EXAMPLES, where)
    value = finite_number(texts["value"])
    if value is None:
        fix = "Leave out rows of checkpoints that were not evaluated"
        raise AnalysisError(f"value {printable(texts['value'], NAME_LENGTH)!r} is not a number", where=where, fix=fix)
    code, metric = (printable(texts[name], NAME_LENGTH) for name in ("language", "metric"))
    return CheckpointScore(step, seed, code, texts["split"], metric, value, n)


def _whole(name: str, text: str, most: int, where: str) -> int:
    try:
        number = int(text)
    except ValueError:
        number = -1
    if not 0 <= number <= most:
        what = f"{name} must be a whole number from 0 to {most}, got {printable(text, NAME_LENGTH)!r}"
        raise AnalysisError(what, where=where)
    return number


def _named_once(scores: Iterable[CheckpointScore], where: str) -> MainMetrics:
    """Return the only metric of a file without a task."""
    names = sorted({score.metric for score in scores})
    if len(names) > 1:
        fix = f"Choose one: --metric {names[0]}"
        raise AnalysisError(f"several metrics: {', '.join(names)}", where=where, fix=fix)
    return dict.fromkeys(SPLITS, names)


def _add_means(
    rows: dict[tuple[int, str, str], dict[int, float]], scores: list[CheckpointScore], main: MainMetrics, where: str
) -> None:
    """Add a file's means over the main metrics, by checkpoint, language and split, to `rows`."""
    metrics = {score.metric for score in scores}
    if scores and (missing := {*main["test"]} - metrics):
        raise unknown("metric", min(missing), metrics)
    values_by_checkpoint: dict[tuple[int, str, str, int], dict[str, float]] = {}
    for score in scores:
        if score.metric in main[score.split]:
            same = values_by_checkpoint.setdefault((score.seed, score.language, score.split, score.step), {})
            if score.metric in same or score.step in rows.get((score.seed, score.language, score.split), ()):
                what = f"seed {score.seed}, step {score.step}, {score.language} {score.split} occurs twice"
                raise AnalysisError(what, where=where, fix="Pass the runs of one system, each seed once")
            same[score.metric] = score.value
    for (seed, language, split, step), values in values_by_checkpoint.items():
        by_step = rows.setdefault((seed, language, split), {})
        if len(values) == len(main[split]):
            by_step[step] = math.fsum(values.values()) / len(values)


def _check(rows: Mapping[tuple[int, str, str], Mapping[int, float]]) -> None:
    """Check that both splits have scores and that these are in 0..100, not 0..1."""
    splits = {split for _, _, split in rows}
    if len(splits) < len(SPLITS):
        has = f"only {splits.pop()} scores" if splits else "no scores"
        raise AnalysisError(has, fix="Provide dev scores for selection and test scores for evaluation")
    values = [value for by_step in rows.values() for value in by_step.values()]
    if not values:
        fix = "Choose a metric that all checkpoints have with --metric"
        raise AnalysisError("no checkpoint has all main metrics", fix=fix)
    if max(values) > 100 or min(values) < 0:
        raise AnalysisError("scores must be within 0..100", fix="Leave out other values")
    if max(values) <= 1:
        raise AnalysisError("all scores are within 0..1", fix="Provide scores within 0..100")


def _by_seed(rows: Mapping[tuple[int, str, str], Mapping[int, float]]) -> tuple[SeedScores, ...]:
    runs = []
    for seed in sorted({seed for seed, _, _ in rows}):
        mine = {(language, split): by_step for (run, language, split), by_step in rows.items() if run == seed}
        steps = tuple(sorted({step for by_step in mine.values() for step in by_step}))
        values = {key: np.array([by_step.get(step, np.nan) for step in steps]) for key, by_step in mine.items()}
        runs.append(SeedScores(seed, steps, values))
    return tuple(runs)
