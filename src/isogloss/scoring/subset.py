"""Cells of which only a subset of the examples is answered: estimate what all answers would give."""

from dataclasses import replace

from msgspec import UNSET, UnsetType, structs

from isogloss.errors import PredictionError
from isogloss.metrics.control import draw_estimate, extrapolated
from isogloss.metrics.estimate import ROUNDING, Estimate
from isogloss.metrics.statistics import Statistics
from isogloss.predictions.guide import judge_guide, without_answers
from isogloss.scoring.cells import Answered, Cell, DrawnAnswers
from isogloss.scoring.request import Request
from isogloss.scoring.results import AverageScore, Number, SubsetUse
from isogloss.scoring.sources import Sources
from isogloss.tasks.examples import Examples


def whole_cell(answered: Answered, request: Request, examples: Examples | None = None) -> Cell:
    """Return the cell of all examples, if only those of a subset are answered; otherwise the cell itself.

    Args:
        answered: the cell of the examples that were to be answered.
        request: what to score, with the subset.
        examples: all examples that the subset was drawn from; those of the data folder by default.

    Raises:
        PredictionError: a guide has no answers to all examples, invalid ones, or ones of another kind.
        SubsetError: the subset does not fit the data.
    """
    cell, task = answered.cell, answered.task
    drawn = None if request.subset is None else request.subset.find(task, cell.language, cell.split)
    if drawn is None or len(drawn.subset.ids) == len(drawn.subset.strata):
        return cell
    if examples is None:
        examples = request.gold_source.all_examples(task, cell.language, cell.split)
    units, draw = drawn.draw(examples)
    skipped = without_answers(task, examples)
    guide = judge_guide(request.guides, task, examples) if request.guides else skipped
    if request.guides and guide.judgement.dialect != cell.judgement.dialect:
        what = f"the guide's answers to {task.id}/{cell.language} are of another kind than the system's"
        raise PredictionError(what, where=", ".join(str(system.root) for system in request.guides))
    metrics: dict[str, Statistics] = {}
    for name, statistics in cell.metrics.items():
        reference = guide.metrics.get(name) or skipped.metrics.get(name)
        whole = None if reference is None else extrapolated(statistics, reference, units, draw)
        if whole is not None:
            metrics[name] = whole
    if lacking := [name for name in cell.metrics if name not in metrics]:
        if set(lacking) & set(task.main):
            raise PredictionError(f"{task.id}/{cell.language}: the subset cannot be scored by {', '.join(lacking)}")
        cell.notes.append(f"not estimated from the subset: {', '.join(lacking)}")
    answers = DrawnAnswers(
        count=len(drawn.subset.ids),
        seed=drawn.file.seed,
        digest=drawn.file.digest[:12],
        guide=guide.name,
        guide_checksum=guide.checksum,
    )
    return replace(
        cell,
        n=len(examples),
        judgement=replace(cell.judgement, metrics=metrics, pairs=None, row_example=None),
        units=examples.units,
        clusters=examples.clusters,
        drawn=answers,
    )


class DrawErrors(Sources):
    """The draw of examples as the only source of error: for scores on all examples instead of on new ones."""

    def estimate(self, cell: Cell, statistics: Statistics) -> Estimate:
        """Estimate a metric of a cell; cells answered completely have no error."""
        return draw_estimate(statistics, f"draw from {cell.task}/{cell.language}")


def subset_use(cell: Cell, by_example: Estimate, by_draw: Estimate) -> SubsetUse | UnsetType:
    """Return how a subset was used, given the main score's estimates for new examples and for new draws.

    A plain random subset of m of n examples has a sampling variance of (1/m - 1/n) s², where s²/n is the variance due
    to the n examples themselves.
    """
    if cell.drawn is None:
        return UNSET
    answered, total = cell.drawn.count, by_example.variance
    seen = any(part.drawn is not None and part.drawn.errors.any() for part in cell.metrics.values())
    # If the guide predicts all answers, the subset says no more than a plain one.
    equivalent = round(cell.n * (1 - by_draw.variance / total)) if seen and total > ROUNDING**2 else answered
    return SubsetUse(
        answered=answered,
        examples=cell.n,
        equivalent=min(cell.n, max(1, equivalent)),
        seed=cell.drawn.seed,
        guide=cell.drawn.guide,
    )


def stated(number: Number, on_all: Number | None) -> Number:
    """Return a number that states the interval of the score on all examples, too."""
    if on_all is None or on_all.low is None or on_all.high is None:
        return number
    return structs.replace(number, on_all=(on_all.low, on_all.high))


def stated_average(average: AverageScore, on_all: AverageScore) -> AverageScore:
    """Return an average that states the intervals of the scores on all examples, too."""
    return structs.replace(
        average,
        score=stated(average.score, on_all.score),
        metrics={name: stated(number, on_all.metrics.get(name)) for name, number in average.metrics.items()},
        gap=average.gap and stated(average.gap, on_all.gap),
    )
