"""One cell at a time: read gold, read answers, judge. Texts are let go, statistics are kept."""

import gc
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import Literal

from isogloss.errors import DataError, PredictionError, unknown
from isogloss.metrics import qa
from isogloss.metrics.statistics import Statistics
from isogloss.predictions.align import align
from isogloss.predictions.check import check_answers
from isogloss.predictions.folder import PredictionFolder
from isogloss.predictions.formats import Answers
from isogloss.predictions.gold import GoldSource
from isogloss.predictions.memory import Predictions, PredictionSource, open_predictions
from isogloss.predictions.misnamed import misnamed_entries
from isogloss.predictions.problems import LeftOut, Problem, refuse
from isogloss.tasks.examples import Examples
from isogloss.tasks.kinds import Judgement, Values, judge
from isogloss.tasks.loading import data_folder
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
    """What is to be scored, and how; `dialect` is that of question answering, "" for each task's own."""

    suite: Suite
    tasks: tuple[str, ...]
    languages: tuple[str, ...] | None = None
    split: str = "test"
    data: Path | None = None
    gold: Path | None = None
    allow_partial: bool = False
    resample: Resample = "source"
    strict: bool = False
    dialect: str = ""

    @classmethod
    def of(  # noqa: PLR0913 - what the verbs can be told
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
        strict: bool = False,
        dialect: str = "",
    ) -> "Request":
        """A request in a user's words; every unknown name is an error with the nearest ones."""
        named = find_suite(suite)
        tasks = [tasks] if isinstance(tasks, str) else tasks
        languages = [languages] if isinstance(languages, str) else languages
        if split not in ("test", "dev", "best"):
            raise unknown("split", split, ("test", "dev", "best"))
        if resample not in RESAMPLES:
            raise unknown("unit to resample", resample, RESAMPLES)
        if dialect and dialect not in qa.DIALECTS:
            raise unknown("dialect of question answering", dialect, qa.DIALECTS)
        wanted = chosen_tasks(tasks, named.tasks)
        codes = None
        if languages is not None:
            codes = tuple(code for word in languages for code in word.split(",") if code)
            known = {code for name in wanted for code in find_task(name).every_language}
            for code in codes:
                if code not in known:
                    raise no_language(" or ".join(wanted) if len(wanted) < 4 else named.id, code, known)
        labels = None if gold is None else Path(gold)
        return cls(named, wanted, codes, split, data_folder(data), labels, allow_partial, resample, strict, dialect)

    def task(self, name: str) -> Task:
        """The task of that name; one of questions is judged in the dialect that was asked for."""
        found = find_task(name)
        in_dialect = self.dialect and found.dialect in qa.DIALECTS
        return replace(found, options={**found.options, "dialect": self.dialect}) if in_dialect else found

    @property
    def gold_source(self) -> GoldSource:
        """Where the gold is."""
        return GoldSource(self.data, self.gold, self.allow_partial)

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
    """A cell with what it was judged from: the task, the examples with their gold, and the aligned answers.

    `confidences` is how sure the system was of each answer, where its predictions say so.
    """

    task: Task
    examples: Examples
    values: Values
    cell: Cell
    confidences: list[float | None] | None = None


def judged_cells(
    predictions: Predictions,
    request: Request,
    progress: Callable[[str], None] | None = None,
    left_out: list[LeftOut] | None = None,
) -> Iterator[Cell]:
    """The cells that have answers and gold, one after the other; see `answered_cells` for the others."""
    # `map` lets go of the texts of a cell before it asks for the next.
    return map(_only_cell, answered_cells([predictions], request, progress, left_out))


def _only_cell(row: tuple[Answered | None, ...]) -> Cell:
    (found,) = (answered.cell for answered in row if answered is not None)
    return found


def answered_cells(
    systems: Sequence[Predictions],
    request: Request,
    progress: Callable[[str], None] | None = None,
    left_out: list[LeftOut] | None = None,
) -> Iterator[tuple[Answered | None, ...]]:
    """The cells that any of the folders has, texts and all: one entry a system, None where it has no answers.

    Answers that cannot be scored, for want of gold or of a right name, join `left_out`; where the request is strict
    they are an error. Without that list cells without gold are an error, and names are not looked at.

    One error is raised at the end for all problems of all answers, or where a system has nothing that can be scored.
    """
    folders = [open_predictions(predictions) for predictions in systems]
    found = Shortcomings.none(len(folders))
    for name, language in asked_cells(folders, request):
        if progress is not None:
            progress(f"{name}/{language}")
        row = answered_row(folders, name, language, request, found)
        if any(row):
            yield row
        del row  # or two cells' texts would be held at once
    found.settle(folders, request, left_out)


@dataclass
class Shortcomings:
    """What keeps answers of some systems out of the scores: collected cell by cell, settled when all cells are known.

    Attributes:
        problems: of all systems.
        without_gold: for each system its cells that nothing can be scored by.
        seen: for each system whether it has any cell that is scored.
    """

    problems: list[Problem]
    without_gold: list[list[LeftOut]]
    seen: list[bool]

    @classmethod
    def none(cls, systems: int) -> "Shortcomings":
        """Of so many systems none yet."""
        return cls([], [[] for _ in range(systems)], [False] * systems)

    def add(self, further: "Shortcomings") -> None:
        """Take in those of further cells of the same systems."""
        self.problems += further.problems
        for mine, theirs in zip(self.without_gold, further.without_gold, strict=True):
            mine.extend(theirs)
        self.seen = [one or other for one, other in zip(self.seen, further.seen, strict=True)]

    def settle(
        self, folders: Sequence[PredictionSource], request: Request, left_out: list[LeftOut] | None = None
    ) -> None:
        """Raise one error for all problems, or add what is left out to a list; as `answered_cells` says."""
        misnamed = [[] if left_out is None else _misnamed(folder, request) for folder in folders]
        problems = list(self.problems)
        cells = list(dict.fromkeys(chain.from_iterable(self.without_gold)))
        if request.strict or left_out is None:
            problems += [*chain.from_iterable(misnamed), *(cell.problem for cell in cells)]
        refuse(problems)
        for folder, any_cell, unusable, strange in zip(folders, self.seen, self.without_gold, misnamed, strict=True):
            if not any_cell:
                refuse([cell.problem for cell in unusable])
                raise PredictionError(
                    f"no {request.split} predictions for {', '.join(request.tasks)}",
                    where=str(folder.root),
                    fix=_where_to_put_them(folder, request, strange),
                )
        if left_out is not None:
            names = [LeftOut(each.what, each.fix, path=each.where) for each in chain.from_iterable(misnamed)]
            left_out += [each for each in (*names, *cells) if each not in left_out]


def asked_cells(folders: Sequence[PredictionSource], request: Request) -> Iterator[tuple[str, str]]:
    """Task and language of the cells of a request, but for tasks that none of the folders has anything for."""
    for task in map(request.task, request.tasks):
        if any(folder.has(task) for folder in folders):
            yield from ((task.id, language) for language in request.languages_of(task))


def answered_row(
    folders: Sequence[PredictionSource], name: str, language: str, request: Request, found: Shortcomings
) -> tuple[Answered | None, ...]:
    """One cell of some systems, None where one has no answers; what is wrong with them joins the shortcomings."""
    row = tuple(
        _answered(folder, request.task(name), language, request, found.problems, unusable)
        for folder, unusable in zip(folders, found.without_gold, strict=True)
    )
    found.seen = [before or answered is not None for before, answered in zip(found.seen, row, strict=True)]
    return row


def _misnamed(source: PredictionSource, request: Request) -> list[Problem]:
    if not isinstance(source, PredictionFolder):
        return []
    return misnamed_entries(source, [name for name in request.tasks if source.has(find_task(name))])


def _where_to_put_them(folder: PredictionSource, request: Request, misnamed: Sequence[Problem]) -> str:
    """What to do about an empty grid; languages that are in no average are read only when they are named."""
    outside = [
        f"{task.id}/{code}"
        for task in map(find_task, request.tasks)
        for code in task.also
        if any(folder.find(task, code, split) for split in request.splits)
    ]
    if outside and request.languages is None:
        return f"{', '.join(outside)} is in no average: name the language with --languages"
    if meant := [problem for problem in misnamed if not problem.warning]:
        return str(meant[0])
    test, dev = "<task>/<language>.jsonl or <task>/test-<language>.tsv", "<task>/dev-<language>.jsonl"
    expected = {"test": test, "dev": dev, "best": f"{test}, or for dev {dev}"}[request.split]
    return f"Expected {expected}; isogloss export shows the ids"


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
    folder: PredictionSource,
    task: Task,
    language: str,
    request: Request,
    problems: list[Problem],
    without_gold: list[LeftOut],
) -> Answered | None:
    """One system on one cell, None where there is nothing to judge; what is wrong joins one of the two lists."""
    if not folder.has(task):
        return None
    try:
        files = {split: file for split in request.splits if (file := folder.find(task, language, split)) is not None}
    except DataError as error:
        problems.append(Problem(error.where, error.what, error.fix))
        return None
    if not files:
        return None
    with _collector_paused():
        checked = check_answers(folder, task, language, files, request.gold_source)
    if checked.left_out is not None:
        without_gold.append(checked.left_out)
    if checked.examples is None or any(not problem.warning for problem in checked.problems):
        problems += checked.problems
        return None
    try:
        judged = _judged(task, checked.examples, checked.values, checked.problems)
        return judged if checked.confidences is None else replace(judged, confidences=checked.confidences)
    except DataError as error:
        without_gold.append(LeftOut(error.what, error.fix, task.id, language, checked.split, error.where))
        return None


def judge_answers(task: Task, examples: Examples, answers: Answers) -> tuple[Answered | None, list[Problem]]:
    """The judged cell and no problem; or None and what keeps the answers, as a prediction file has them, from it."""
    values, problems = align(task, examples, answers)
    if any(not problem.warning for problem in problems):
        return None, problems
    return _judged(task, examples, values, problems), []


def _judged(task: Task, examples: Examples, values: Values, warnings: Sequence[Problem]) -> Answered:
    with _collector_paused():
        judgement = judge(task, examples, values)
    cell = Cell(
        task.id,
        examples.language,
        examples.split,
        len(examples),
        judgement,
        examples.units,
        examples.checksum,
        examples.partial,
        [*examples.notes, *judgement.notes, *(f"{warning.what}. {warning.fix}" for warning in warnings)],
        examples.clusters,
    )
    return Answered(task, examples, values, cell)
