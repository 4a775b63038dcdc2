"""One cell at a time: read gold, read answers, judge. Texts are let go, statistics are kept."""

import gc
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from isogloss.errors import DataError, PredictionError, unknown
from isogloss.metrics.statistics import Statistics
from isogloss.predictions.align import align
from isogloss.predictions.formats import Answers
from isogloss.predictions.gold import gold_examples
from isogloss.predictions.memory import Predictions, PredictionSource, open_predictions
from isogloss.predictions.problems import Problem, refuse
from isogloss.tasks.examples import Examples
from isogloss.tasks.kinds import Judgement, Values, judge, kind_of
from isogloss.tasks.loading import data_folder, load_gold
from isogloss.tasks.registry import chosen_tasks, no_language
from isogloss.tasks.registry import task as find_task
from isogloss.tasks.suites import Suite
from isogloss.tasks.suites import suite as find_suite
from isogloss.tasks.task import Task
from isogloss.version import __version__

# What is thought of as drawn anew: sources with all their examples, or single examples and their translations.
Resample = Literal["source", "example"]
RESAMPLES: tuple[Resample, ...] = ("source", "example")


@dataclass(frozen=True)
class Request:
    """What is to be scored, and how."""

    suite: Suite
    tasks: tuple[str, ...]
    languages: tuple[str, ...] | None = None
    split: str = "test"
    data: Path | None = None
    gold: Path | None = None
    allow_partial: bool = False
    resample: Resample = "source"

    @classmethod
    def of(
        cls,
        suite: str = "xtreme-r",
        *,
        tasks: Sequence[str] | None = None,
        languages: Sequence[str] | None = None,
        split: str = "test",
        data: str | os.PathLike[str] | None = None,
        gold: str | os.PathLike[str] | None = None,
        allow_partial: bool = False,
        resample: Resample = "source",
    ) -> "Request":
        """A request in a user's words; every unknown name is an error with the nearest ones."""
        named = find_suite(suite)
        tasks = [tasks] if isinstance(tasks, str) else tasks
        languages = [languages] if isinstance(languages, str) else languages
        if split not in ("test", "dev", "best"):
            raise unknown("split", split, ("test", "dev", "best"))
        if resample not in RESAMPLES:
            raise unknown("unit to resample", resample, RESAMPLES)
        wanted = chosen_tasks(tasks, named.tasks)
        codes = None
        if languages is not None:
            codes = tuple(code for word in languages for code in word.split(",") if code)
            known = {code for name in wanted for code in find_task(name).every_language}
            for code in codes:
                if code not in known:
                    raise no_language(" or ".join(wanted) if len(wanted) < 4 else named.id, code, known)
        labels = None if gold is None else Path(gold)
        return cls(named, wanted, codes, split, data_folder(data), labels, allow_partial, resample)

    @property
    def splits(self) -> tuple[str, ...]:
        """The splits to look for, the first that has gold to be taken."""
        return ("test", "dev") if self.split == "best" else (self.split,)

    def languages_of(self, task: Task) -> tuple[str, ...]:
        """The languages to look for."""
        if self.languages is None:
            return self.suite.languages_of(task.id)
        return tuple(code for code in self.languages if code in task.every_language)


@dataclass
class Cell:
    """The statistics of one system on one task in one language, and what must be said with them.

    `units` are the ids that the examples share with their translations in other languages, if they do; `clusters` are
    their sources, as in `Examples`.
    """

    task: str
    language: str
    split: str
    n: int
    judgement: Judgement
    units: list[str] | None
    checksum: str
    partial: bool = False
    notes: list[str] = field(default_factory=list)
    clusters: list[str] | None = None

    @property
    def metrics(self) -> dict[str, Statistics]:
        """Statistics by metric name."""
        return self.judgement.metrics

    @property
    def signature(self) -> str:
        """Everything needed to know what a number means, in the form `key:value|…`."""
        parts = {
            "task": self.task,
            "lang": self.language,
            "metric": "+".join(self.metrics),
            "dialect": self.judgement.dialect,
            "split": self.split,
            "n": str(self.n),
            "data": self.checksum[:12],
            "version": __version__,
        }
        return "|".join(f"{key}:{value}" for key, value in parts.items() if value)


@dataclass(frozen=True)
class Answered:
    """A cell with what it was judged from: the task, the examples with their gold, and the aligned answers."""

    task: Task
    examples: Examples
    values: Values
    cell: Cell


def judged_cells(
    predictions: Predictions, request: Request, progress: Callable[[str], None] | None = None
) -> Iterator[Cell]:
    """The cells that have answers, one after the other; raises one error for all problems of the answers."""
    # `map` lets go of the texts of a cell before it asks for the next.
    return map(_only_cell, answered_cells([predictions], request, progress))


def _only_cell(row: tuple[Answered | None, ...]) -> Cell:
    (found,) = (answered.cell for answered in row if answered is not None)
    return found


def answered_cells(
    systems: Sequence[Predictions], request: Request, progress: Callable[[str], None] | None = None
) -> Iterator[tuple[Answered | None, ...]]:
    """The cells that any of the folders has, texts and all: one entry a system, None where it has no answers.

    One error is raised at the end for all problems of all answers, or where a system has no answer at all.
    """
    folders = [open_predictions(predictions) for predictions in systems]
    problems: list[Problem] = []
    seen = [False] * len(folders)
    for task in map(find_task, request.tasks):
        for language in request.languages_of(task) if any(folder.has(task) for folder in folders) else ():
            if progress is not None:
                progress(f"{task.id}/{language}")
            row = tuple(_answered(folder, task, language, request, problems) for folder in folders)
            seen = [before or answered is not None for before, answered in zip(seen, row, strict=True)]
            if any(row):
                yield row
            del row  # or two cells' texts would be held at once
    refuse(problems)
    for folder, any_cell in zip(folders, seen, strict=True):
        if not any_cell:
            raise PredictionError(
                f"no {request.split} predictions for {', '.join(request.tasks)}",
                where=str(folder.root),
                fix=_where_to_put_them(folder, request),
            )


def _where_to_put_them(folder: PredictionSource, request: Request) -> str:
    """What to do about an empty grid; languages that are in no average are read only when they are named."""
    outside = [
        f"{task.id}/{code}"
        for task in map(find_task, request.tasks)
        for code in task.also
        if any(folder.find(task, code, split) for split in request.splits)
    ]
    if outside and request.languages is None:
        return f"{', '.join(outside)} is in no average: name the language with --languages"
    return "Expected <task>/<language>.jsonl or <task>/test-<language>.tsv; isogloss export shows the ids"


@contextmanager
def _collector_paused() -> Iterator[None]:
    """No search for cyclic garbage: a cell makes millions of objects and no cycles, and walking them takes long."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _answered(
    folder: PredictionSource, task: Task, language: str, request: Request, problems: list[Problem]
) -> Answered | None:
    """One system on one cell; None where there is nothing to judge, or too much is wrong, which joins the problems."""
    if not folder.has(task):
        return None
    try:
        with _collector_paused():
            answered, found = _judged(folder, task, language, request)
    except DataError as error:
        # Everything that is missing or damaged is reported at once, not the first alone.
        answered, found = None, [Problem(error.where or f"{task.id}/{language}", error.what, error.fix)]
    problems += found
    return answered


def _judged(
    folder: PredictionSource, task: Task, language: str, request: Request
) -> tuple[Answered | None, list[Problem]]:
    files = {split: file for split in request.splits if (file := folder.find(task, language, split)) is not None}
    for split, file in files.items():
        examples = _gold(task, language, split, request, last=split == list(files)[-1])
        if examples is None:
            continue
        try:
            answers = folder.read(task, file, examples)
        except (DataError, PredictionError) as error:
            return None, [Problem(error.where or str(file.path), error.what, error.fix)]
        return judge_answers(task, examples, answers)
    return None, []


def judge_answers(task: Task, examples: Examples, answers: Answers) -> tuple[Answered | None, list[Problem]]:
    """The judged cell and no problem; or None and what keeps the answers, as a prediction file has them, from it."""
    values, problems = align(task, examples, answers)
    if any(not problem.warning for problem in problems):
        return None, problems
    with _collector_paused():
        judgement = judge(task, examples, values)
    warnings = [f"{problem.what}. {problem.fix}" for problem in problems]
    cell = Cell(
        task.id,
        examples.language,
        examples.split,
        len(examples),
        judgement,
        examples.units,
        examples.checksum,
        examples.partial,
        [*examples.notes, *judgement.notes, *warnings],
        examples.clusters,
    )
    return Answered(task, examples, values, cell), []


def _gold(task: Task, language: str, split: str, request: Request, *, last: bool) -> Examples | None:
    """Gold of the split; None if it has none and another answered split remains to be tried."""
    if request.gold is not None:
        examples = gold_examples(task, language, split, request.gold)
        if examples is None:
            raise DataError(f"no labels for {task.id}/{language} {split}", where=str(request.gold))
        placeholder = kind_of(task).placeholder(examples)
        if placeholder:
            raise DataError(placeholder, where=examples.sources[0], fix="Give a folder with the real labels")
        return examples
    try:
        return load_gold(task, language, split, request.data, allow_partial=request.allow_partial)
    except DataError:
        if last:
            raise
        return None
