"""Figures that a board may show: few, coarse and independent of single labels.

A board stores only these. Scores are rounded at random to a multiple of a step, as statistical offices do with counts:
the nearer multiple is the more likely one, so that means stay right, but a score just below a multiple differs little
from one just above. The random numbers depend on the board's secret and the answers, so the same answers always get the
same figures. All other figures, such as intervals and averages over tasks, follow from the rounded ones.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from dataclasses import replace as replace_fields
from math import ceil, floor, log10, sqrt
from typing import Any

import msgspec

from isogloss.board.server.board import BoardSettings, OpenBoard
from isogloss.board.server.database import ScoreRecord
from isogloss.figures import rounded
from isogloss.metrics.aggregate import combined, weighted_mean
from isogloss.metrics.student import ENOUGH
from isogloss.scoring.cells import Cell
from isogloss.scoring.results import AverageScore, CellScore, Number, Overall, Results
from isogloss.tasks.kinds import kind_of
from isogloss.tasks.registry import category_of, task
from isogloss.tasks.suites import Suite

# Decimals of all figures, including those that are not rounded to a step.
DECIMALS = 2
_NICE = (1.0, 2.0, 3.0, 5.0, 10.0)
_COARSEST = 50.0
_NORMAL = 1.96
_HALF = 0.5


class BoardRecord(Results, frozen=True, kw_only=True):
    """A result record with figures that may be shown, and sketches of the answers by cell, which are not shown.

    `rounding` is `AVERAGE/CELL`, the steps in examples; it is empty in records of earlier versions.
    """

    rounding: str = ""
    sketches: dict[str, str] = msgspec.field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class CellSize:
    """Size of a cell: examples as published (0 if that would tell the gold), examples and sources in the score."""

    published: int
    examples: int
    sources: int
    is_share: bool

    @classmethod
    def of_cell(cls, cell: Cell) -> "CellSize":
        """Return the size of a judged cell."""
        return cls(
            published=_published_size(cell.task, cell.language, cell.split, cell.n),
            examples=cell.n,
            sources=cell.n if cell.clusters is None else len(set(cell.clusters)),
            is_share=all(statistics.value.is_share for statistics in cell.metrics.values()),
        )


@dataclass(frozen=True, kw_only=True)
class Disclosure:
    """Rule that turns a result record into the figures that may be shown.

    Attributes:
        average_step: examples that a step of a task average is worth; 0 for two decimals.
        cell_step: examples that a step of a cell is worth if its task has parallel languages.
        sizes: size of each cell by task and language.
        uniform: function from the name of a figure to a number in 0..1, which decides the direction of rounding.
        weights: weights of tasks in averages.
    """

    average_step: float
    cell_step: float
    sizes: Mapping[tuple[str, str], CellSize]
    uniform: Callable[[str], float]
    weights: Mapping[str, float]

    def shown(self, results: Results, sketches: Mapping[str, str]) -> BoardRecord:
        """Return the record to store."""
        tasks = [self._average(average) for average in results.tasks]
        scores = {average.name: average.score for average in tasks}
        same = ("suite", "system", "split", "isogloss", "resample", "left_out", "clustered")
        return BoardRecord(
            **{name: getattr(results, name) for name in same},
            cells=[self._cell(cell) for cell in results.cells],
            tasks=tasks,
            categories=[self._category(category, scores) for category in results.categories],
            overall=self._overall(results.overall, scores),
            pairs=[],
            rounding=f"{self.average_step:g}/{self.cell_step:g}",
            sketches=dict(sketches),
        )

    def _cell(self, cell: CellScore) -> CellScore:
        entry, size = task(cell.task), self.sizes[cell.task, cell.language]
        main = {name: cell.metrics[name] for name in entry.main if name in cell.metrics}
        # Cells of parallel languages have the same labels. Metrics of the same answers tell more than one of them.
        examples = (self.cell_step if entry.parallel else self.average_step) * sqrt(len(main))
        step = nice_step(100 * examples / size.examples)
        metrics = {
            name: self._number(number, step, f"{cell.task}/{cell.language}/{name}", size)
            for name, number in main.items()
        }
        where: dict[str, Any] = {name: getattr(cell, name) for name in ("task", "language", "split", "partial")}
        # The facts about replies are the team's own, but their number is that of the labels.
        where["replies"] = msgspec.UNSET if kind_of(entry).ids_tell_gold else cell.replies
        signature = cell.signature if size.published == size.examples else _without(cell.signature, "n")
        return CellScore(**where, metrics=metrics, signature=signature)

    def _average(self, average: AverageScore) -> AverageScore:
        sizes = [self.sizes[average.name, code] for code in average.members]
        fewest = min(size.examples for size in sizes)
        if not task(average.name).parallel:  # an example counts in one of the languages only
            fewest *= len(sizes)
        whole = CellSize(
            published=sum(size.published for size in sizes),
            examples=fewest,
            sources=min(size.sources for size in sizes) * (1 if task(average.name).parallel else len(sizes)),
            is_share=all(size.is_share for size in sizes),
        )
        score = self._number(average.score, nice_step(100 * self.average_step / fewest), average.name, whole)
        return AverageScore(
            name=average.name, score=score, metrics={}, members=average.members, missing=average.missing
        )

    def _number(self, number: Number, step: float, name: str, size: CellSize) -> Number:
        if not step:
            low, high = (None if end is None else rounded(end, DECIMALS) for end in (number.low, number.high))
            return Number(rounded(number.value, DECIMALS), low, high, size.published)
        value = random_rounding(number.value, step, self.uniform(name))
        low, high = _interval(value, step, size.sources) if size.is_share else (None, None)
        return Number(value, low, high, size.published)

    def _category(self, category: AverageScore, scores: Mapping[str, Number]) -> AverageScore:
        members = {name: scores[name] for name in category.members}
        weights = [self.weights.get(name, 1.0) for name in members]
        mean = weighted_mean([number.value for number in members.values()], weights)
        return msgspec.structs.replace(category, score=_derived(mean, members), metrics={}, gap=None)

    def _overall(self, overall: Overall, scores: Mapping[str, Number]) -> Overall:
        if overall.score is None:
            return overall
        values = {name: number.value for name, number in scores.items()}
        value = combined(values, overall.rule, category_of, weighted_mean, self.weights)
        return msgspec.structs.replace(overall, score=_derived(value, scores))


def _derived(value: float, parts: Mapping[str, Number]) -> Number:
    return Number(rounded(value, DECIMALS), None, None, sum(number.n for number in parts.values()))


def random_rounding(value: float, step: float, uniform: float) -> float:
    """Return one of the two multiples of the step next to a score; `uniform`, in 0..1, decides."""
    multiple = step * floor(round(value / step, 9) + uniform)
    return rounded(min(100.0, max(-100.0, multiple)), DECIMALS)


def nice_step(step: float) -> float:
    """Return the nearest of 1, 2, 3 and 5 times a power of ten, at most 50 points; 0 stays 0."""
    if not step:
        return 0.0
    power = 10.0 ** floor(log10(step))
    nearest = min(_NICE, key=lambda nice: abs(log10(nice * power / step)))
    return min(_COARSEST, max(10.0**-DECIMALS, round(nearest * power, 9)))


def _interval(value: float, step: float, sources: int) -> tuple[float | None, float | None]:
    """Return a 95 % interval (Wilson's), extended to multiples of the step, from the shown score alone.

    The score of a source lies in 0..1, so its variance is at most that of a source that is right or wrong as a whole.
    """
    if sources < ENOUGH:
        return None, None
    share, squared = value / 100, _NORMAL**2 / sources
    centre = share + squared / 2
    half = sqrt(max(0.0, squared * share * (1 - share)) + squared**2 / 4)
    low, high = ((centre + sign * half) / (1 + squared) * 100 for sign in (-1, 1))
    low, high = step * floor(low / step), step * ceil(high / step)
    return rounded(max(0.0, low), DECIMALS), rounded(min(100.0, high), DECIMALS)


def _published_size(name: str, language: str, split: str, n: int) -> int:
    entry = task(name)
    return (entry.expected(language, split) or 0) if kind_of(entry).ids_tell_gold else n


def _without(signature: str, key: str) -> str:
    return "|".join(part for part in signature.split("|") if part.partition(":")[0] != key)


def sealed_cells(board: OpenBoard, cells: Mapping[tuple[str, str], Cell]) -> dict[tuple[str, str], Cell]:
    """Return cells with a keyed checksum of their data: equal for equal data, but no test of guessed labels."""
    return {
        name: replace_fields(cell, checksum=cell.checksum and board.keyed_digest("data", cell.checksum).hex())
        for name, cell in cells.items()
    }


def disclosure(
    board: OpenBoard, suite: Suite, cells: Mapping[tuple[str, str], Cell], answers: Mapping[str, str]
) -> Disclosure:
    """Return the board's rule for the figures of some cells.

    Args:
        board: open board.
        suite: suite with the weights of tasks.
        cells: scored cells by task and language.
        answers: digest of the answers by cell, `task/language`.
    """

    def uniform(name: str) -> float:
        cell = "/".join(name.split("/")[:2])
        digests = [digest for other, digest in sorted(answers.items()) if f"{other}/".startswith(f"{cell}/")]
        return int.from_bytes(board.keyed_digest("rounding", name, *digests)[:8], "big") / 2**64

    return Disclosure(
        average_step=board.settings.average_step,
        cell_step=board.settings.cell_step,
        sizes={name: CellSize.of_cell(cell) for name, cell in cells.items()},
        uniform=uniform,
        weights=suite.weights,
    )


def precision_note(settings: BoardSettings) -> str:
    """Return the note on the precision of scores for the pages, or "" if they have two decimals."""
    if not settings.average_step and not settings.cell_step:
        return ""
    return (
        "Scores on hidden labels are rounded at random, so that they reveal little about single labels: a step is "
        f"worth about {settings.average_step:g} examples in task averages and {settings.cell_step:g} in cells of "
        "parallel languages. Intervals allow for it."
    )


def stored_record(scored: ScoreRecord, *, closed: bool = False) -> BoardRecord:
    """Return the figures of a stored record; of the private examples if the board is closed and has some.

    Records of earlier versions have exact scores and checksums of the labels: they are rounded, and the checksums left
    out.
    """
    text = scored.private_record if closed and scored.private_record else scored.record
    record: BoardRecord = msgspec.json.decode(text, type=BoardRecord)
    if record.rounding:
        return record
    sizes = {}
    for cell in record.cells:
        n = max((number.n for number in cell.metrics.values()), default=1)
        published = _published_size(cell.task, cell.language, cell.split, n)
        size = CellSize(published=published, examples=max(1, n), sources=n, is_share=False)
        sizes[cell.task, cell.language] = size
    rule = Disclosure(
        average_step=BoardSettings.average_step,
        cell_step=BoardSettings.cell_step,
        sizes=sizes,
        uniform=lambda _: _HALF,
        weights={},
    )
    shown = rule.shown(record, {})
    cells = [msgspec.structs.replace(cell, signature=_without(cell.signature, "data")) for cell in shown.cells]
    return msgspec.structs.replace(shown, cells=cells)
