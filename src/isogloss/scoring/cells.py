"""Read and judge one cell at a time; texts are dropped, statistics are kept."""

import gc
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import chain

from msgspec import structs

from isogloss.errors import DataError, PredictionError
from isogloss.metrics.statistics import Statistics
from isogloss.notebooks import short_repr
from isogloss.predictions.check import CheckedAnswers, align, by_example, check_answers
from isogloss.predictions.folder import PredictionFolder, misnamed_entries
from isogloss.predictions.formats import Answers
from isogloss.predictions.memory import Predictions, PredictionSource, open_predictions
from isogloss.predictions.problems import LeftOut, Problem, ProblemCode, refuse
from isogloss.reply_outcomes import Outcome, ReplyCounts, ReplyFacts
from isogloss.scoring.request import Request
from isogloss.tasks.examples import Examples
from isogloss.tasks.kinds import Judgement, Values, judge, kind_of
from isogloss.tasks.registry import TASKS
from isogloss.tasks.registry import task as find_task
from isogloss.tasks.suites import SUITES
from isogloss.tasks.task import Task
from isogloss.version import __version__

# Called with each cell, `task/language`, before it is judged.
Progress = Callable[[str], None] | None
_UNANSWERED = (ProblemCode.UNANSWERED, ProblemCode.NULL_ANSWERS)


@dataclass(frozen=True, kw_only=True)
class DrawnAnswers:
    """Answers to a subset of the examples, from which the statistics of all were estimated."""

    count: int
    seed: int
    digest: str  # of the subset file
    guide: str = ""  # name of the system used as control variate
    guide_checksum: str = ""


@dataclass(kw_only=True)
class Cell:
    """The statistics of one system on one task in one language, with notes."""

    task: str
    language: str
    split: str
    n: int
    judgement: Judgement
    units: list[str] | None  # ids that the examples share with their translations in other languages
    checksum: str
    partial: bool = False
    notes: list[str] = field(default_factory=list)
    clusters: list[str] | None = None  # sources of the examples
    unanswered: float = 0.0  # share of examples without an answer, 0..1
    drawn: DrawnAnswers | None = None  # set if only a subset of the examples was to be answered
    replies: ReplyCounts | None = None  # totals of the replies, if the predictions state facts about them

    __repr__ = short_repr

    @property
    def metrics(self) -> dict[str, Statistics]:
        """Statistics by metric name."""
        return self.judgement.metrics

    @property
    def signature(self) -> str:
        """Signature that identifies the number, `key:value|…`."""
        parts = {
            "task": self.task,
            "lang": self.language,
            "metric": "+".join(self.metrics),
            "dialect": self.judgement.dialect,
            **self.judgement.settings,
            "split": self.split,
            "n": str(self.n),
            "data": self.checksum[:12],
            "subset": f"{self.drawn.count}@{self.drawn.digest}" if self.drawn else "",
            "guide": self.drawn.guide_checksum if self.drawn else "",
            "version": __version__,
        }
        return "|".join(f"{key}:{value}" for key, value in parts.items() if value)


@dataclass(frozen=True, kw_only=True)
class Answered:
    """A cell with its task, its examples with gold, and the aligned answers."""

    task: Task
    examples: Examples
    values: Values
    cell: Cell
    confidences: list[float | None] | None = None  # of each answer, if the predictions have them
    replies: list[ReplyFacts | None] | None = None  # facts about each reply, if the predictions have them

    __repr__ = short_repr


def judged_cells(
    predictions: Predictions, request: Request, progress: Progress = None, left_out: list[LeftOut] | None = None
) -> Iterator[Cell]:
    """Yield the cells of one system that have answers and gold; see `answered_cells`."""
    for row in answered_cells([predictions], request, progress, left_out):
        (cell,) = (answered.cell for answered in row if answered is not None)
        del row  # frees the texts before the next cell is read
        yield cell


def answered_cells(
    systems: Sequence[Predictions], request: Request, progress: Progress = None, left_out: list[LeftOut] | None = None
) -> Iterator[tuple[Answered | None, ...]]:
    """Yield the cells that any system has, with texts: one entry per system, None if it has no answers.

    Answers without gold or with a wrong file name are added to `left_out`; in a strict request they are errors.
    Without that list, cells without gold are errors and file names are not checked.

    Raises:
        PredictionError: at the end, for all problems of all answers, or if a system has nothing to score.
    """
    folders = [open_predictions(predictions, pseudo=bool(request.pseudo_split)) for predictions in systems]
    shortcomings = Shortcomings.none(len(folders))
    for name, language in asked_cells(folders, request):
        if progress is not None:
            progress(f"{name}/{language}")
        row = answered_row(folders, name, language, request, shortcomings)
        if any(row):
            yield row
        del row  # frees the texts before the next cell is read
    shortcomings.settle(folders, request, left_out)


@dataclass
class Shortcomings:
    """Reasons why answers are not scored, collected cell by cell and handled at the end."""

    problems: list[Problem]  # of all systems
    without_gold: list[list[LeftOut]]  # cells without usable gold, per system
    seen: list[bool]  # True for each system with at least one scored cell

    @classmethod
    def none(cls, systems: int) -> "Shortcomings":
        """Return an empty collection for a number of systems."""
        return cls([], [[] for _ in range(systems)], [False] * systems)

    def add(self, further: "Shortcomings") -> None:
        """Add the shortcomings of further cells of the same systems."""
        self.problems += further.problems
        for mine, theirs in zip(self.without_gold, further.without_gold, strict=True):
            mine.extend(theirs)
        self.seen = [one or other for one, other in zip(self.seen, further.seen, strict=True)]

    def settle(
        self, folders: Sequence[PredictionSource], request: Request, left_out: list[LeftOut] | None = None
    ) -> None:
        """Raise one error for all problems, or add what is left out to a list; see `answered_cells`."""
        misnamed = [
            misnamed_entries(folder, [name for name in request.tasks if folder.has(find_task(name))])
            if left_out is not None and isinstance(folder, PredictionFolder)
            else []
            for folder in folders
        ]
        problems = list(self.problems)
        cells = list(dict.fromkeys(chain.from_iterable(self.without_gold)))
        if request.strict or left_out is None:
            problems += [*chain.from_iterable(misnamed), *(cell.problem for cell in cells)]
        refuse(problems)
        for folder, has_cell, unusable, entries in zip(folders, self.seen, self.without_gold, misnamed, strict=True):
            if not has_cell:
                refuse([cell.problem for cell in unusable])
                what = f"no {request.split} predictions for {', '.join(request.tasks)}"
                raise PredictionError(what, where=str(folder.root), fix=_expected_files(folder, request, entries))
        if left_out is not None:
            names = map(LeftOut.misnamed, chain.from_iterable(misnamed))
            left_out += [entry for entry in (*names, *cells) if entry not in left_out]


def asked_cells(folders: Sequence[PredictionSource], request: Request) -> Iterator[tuple[str, str]]:
    """Yield task and language of the requested cells, without tasks that none of the folders has."""
    for task in map(request.task, request.tasks):
        if any(folder.has(task) for folder in folders):
            languages = list(request.languages_of(task))
            if request.pseudo_split:  # answers without a pseudo set are reported, not skipped
                answered = (code for folder in folders for code in folder.pseudo_languages(task, request.pseudo_split))
                wanted = task.every_language if request.pseudo else ()
                languages += [code for code in dict.fromkeys(answered) if code not in (*languages, *wanted)]
            yield from ((task.id, code) for code in languages if request.languages is None or code in request.languages)


def answered_row(
    folders: Sequence[PredictionSource], name: str, language: str, request: Request, shortcomings: Shortcomings
) -> tuple[Answered | None, ...]:
    """Return one cell of some systems, None where it has no answers; problems are added to the shortcomings."""
    row = tuple(
        _answered(folder, request.task(name), language, request, shortcomings.problems, unusable)
        for folder, unusable in zip(folders, shortcomings.without_gold, strict=True)
    )
    shortcomings.seen = [seen or answered is not None for seen, answered in zip(shortcomings.seen, row, strict=True)]
    return row


def _expected_files(folder: PredictionSource, request: Request, misnamed: Sequence[Problem]) -> str:
    """Suggest a fix if nothing was found; languages outside of averages are read only if requested."""
    outside = [
        f"{task.id}/{code}"
        for task in map(find_task, request.tasks)
        for code in task.also
        if any(folder.find(task, code, split) for split in request.splits_of(task, code))
    ]
    if outside and request.languages is None:
        return f"No average includes {', '.join(outside)}; select the language with --languages"
    if errors := [problem for problem in misnamed if not problem.warning]:
        return str(errors[0])
    if others := [each.id for each in TASKS.loadable().values() if each.id not in request.tasks and folder.has(each)]:
        suites = (each.id for each in SUITES.loadable().values() if set(others) <= set(each.tasks))
        selection = next((f"--suite {name}" for name in suites), f"--tasks {','.join(others)}")
        return f"It has predictions for {', '.join(others)}: select them with {selection}"
    test, dev = "<task>/<language>.jsonl or <task>/test-<language>.tsv", "<task>/dev-<language>.jsonl"
    pseudo = f"<task>/{request.split}-<language>.jsonl"
    expected = {"test": test, "dev": dev, "best": f"{test}, or for dev {dev}"}.get(request.split, pseudo)
    return f"Expected {expected}; isogloss export shows the ids"


@contextmanager
def _collector_paused() -> Iterator[None]:
    """Pause the garbage collector: a cell makes millions of objects without cycles."""
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
    """Judge one cell of one system, or return None; problems are added to one of the two lists."""
    if not folder.has(task):
        return None
    try:
        splits = request.splits_of(task, language)
        files = {split: file for split in splits if (file := folder.find(task, language, split)) is not None}
    except DataError as error:
        problems.append(Problem.of_error(error))
        return None
    if not files:
        return None
    with _collector_paused():
        checked = check_answers(folder, task, language, files, request.gold_source)
    if checked.left_out is not None:
        without_gold.append(checked.left_out)
    if not checked.can_be_judged:
        problems += checked.problems
        return None
    try:
        return judge_checked(task, checked)
    except DataError as error:
        without_gold.append(LeftOut.of_error(error, task.id, language, checked.split))
        return None


def judge_answers(task: Task, examples: Examples, answers: Answers) -> tuple[Answered | None, list[Problem]]:
    """Judge the answers of a prediction file; return the cell, or the problems that prevent scoring."""
    values, problems = align(task, examples, answers)
    checked = CheckedAnswers(split=examples.split, examples=examples, values=values, problems=problems)
    checked.replies = by_example(answers.replies, answers, examples)
    return (judge_checked(task, checked), []) if checked.can_be_judged else (None, problems)


def judge_checked(task: Task, checked: CheckedAnswers) -> Answered:
    """Judge checked answers for which `can_be_judged` holds; raise a `DataError` if the gold is unusable."""
    examples, warnings = checked.examples, checked.problems
    assert examples is not None  # noqa: S101 - by `can_be_judged`
    replies = _replies(task, checked)
    # The counts of replies say more than a note on null answers.
    noted = [warning for warning in warnings if replies is None or warning.code is not ProblemCode.NULL_ANSWERS]
    with _collector_paused():
        judgement = judge(task, examples, checked.values)
    cell = Cell(
        task=task.id,
        language=examples.language,
        split=examples.split,
        n=len(examples),
        judgement=judgement,
        units=examples.units,
        checksum=examples.checksum,
        partial=examples.partial,
        notes=[*examples.notes, *judgement.notes, *(f"{warning.what}. {warning.fix}" for warning in noted)],
        clusters=examples.clusters,
        unanswered=sum(warning.count for warning in warnings if warning.code in _UNANSWERED) / max(len(examples), 1),
        replies=None if replies is None else ReplyCounts.of(facts for facts in replies if facts is not None),
    )
    return Answered(
        task=task,
        examples=examples,
        values=checked.values,
        cell=cell,
        confidences=checked.confidences,
        replies=replies,
    )


def _replies(task: Task, checked: CheckedAnswers) -> list[ReplyFacts | None] | None:
    """Return the facts about the reply to each example, None where they are unknown; None if all of them are.

    The reply to an example without an answer was not read, even if its facts are missing or say otherwise. In mining,
    where gold decides what the examples are, counts of replies would tell it.
    """
    if checked.replies is None or kind_of(task).silence_is_answer:
        return None
    return [
        facts if value is not None else _without_answer(facts)
        for facts, value in zip(checked.replies, checked.values, strict=True)
    ]


def _without_answer(facts: ReplyFacts | None) -> ReplyFacts:
    if facts is None:
        return ReplyFacts(outcome=Outcome.UNPARSED)
    return structs.replace(facts, outcome=Outcome.UNPARSED) if facts.outcome.is_answer else facts
