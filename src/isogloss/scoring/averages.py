"""From cells to task averages, categories and the overall figure, each with its uncertainty."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from isogloss.errors import PredictionError
from isogloss.metrics import aggregate
from isogloss.metrics.estimate import ROUNDING, Estimate, Interval, difference, mean
from isogloss.scoring.cells import Cell, Request
from isogloss.scoring.contrast import scaled
from isogloss.scoring.main_score import mixed_directions
from isogloss.scoring.results import AverageScore, Number, Overall
from isogloss.scoring.seeds import Estimates, seed_spread
from isogloss.tasks.registry import task
from isogloss.tasks.suites import Suite

# Systems are trained in English, and transferred from there.
PIVOT = "en"
# Why some tasks have no average.
MIXED = "no overall: of some tasks more is better, of others less"


def number(estimate: Estimate) -> Number:
    """A score on the 0..100 scale with its 95 % interval."""
    return _number(estimate, estimate.score_interval())


def _number(estimate: Estimate, interval: Interval | None) -> Number:
    return Number(100 * estimate.value, *scaled(interval), estimate.n, seed_spread(estimate))


def averaged(cells: Sequence[Cell], name: str, request: Request) -> list[Cell]:
    """The cells that enter a task's average: languages of the suite, with the task's full gold."""
    inside = request.suite.languages_of(name)
    return [cell for cell in cells if cell.task == name and not cell.partial and cell.language in inside]


def task_averages(
    cells: Sequence[Cell], estimates: Estimates, request: Request
) -> dict[str, tuple[Estimate, AverageScore]]:
    """The average over languages of every task that has any, as an estimate and as it is recorded."""
    averages: dict[str, tuple[Estimate, AverageScore]] = {}
    for name in request.tasks:
        inside = averaged(cells, name, request)
        if not inside:
            continue
        _refuse_mixture(inside)
        shared = [
            metric for metric in inside[0].metrics if all((name, cell.language, metric) in estimates for cell in inside)
        ]
        metrics = {metric: mean([estimates[name, cell.language, metric] for cell in inside]) for metric in shared}
        score = mean([metrics[metric] for metric in task(name).main], n=sum(cell.n for cell in inside), of_same=True)
        members = [cell.language for cell in inside]
        missing = [code for code in request.suite.languages_of(name) if code not in members]
        numbers = {metric: number(found) for metric, found in metrics.items()}
        gap = _transfer_gap(inside, estimates)
        averages[name] = (score, AverageScore(name, number(score), numbers, members, missing, gap))
    return averages


def _transfer_gap(cells: Sequence[Cell], estimates: Estimates) -> Number | None:
    """English minus the mean of the other languages, source by source where they share them."""
    scores = {
        cell.language: mean(
            [estimates[cell.task, cell.language, metric] for metric in task(cell.task).main], n=cell.n, of_same=True
        )
        for cell in cells
    }
    english = scores.pop(PIVOT, None)
    if english is None or not scores:
        return None
    others = mean(list(scores.values()))
    gap = difference(english, others)
    if gap.variance < ROUNDING**2:
        return None
    return _number(replace(gap, n=english.n + others.n), gap.difference_interval())


def _refuse_mixture(cells: Sequence[Cell]) -> None:
    """Tags in one language and character spans in another are two metrics, and have no average."""
    by_dialect: dict[str, str] = {}
    for cell in cells:
        by_dialect.setdefault(cell.judgement.dialect, cell.language)
    if len(by_dialect) > 1:
        kinds = ", ".join(f"{dialect or 'plain'} in {code}" for dialect, code in by_dialect.items())
        raise PredictionError(
            f"the answers of {cells[0].task} are of two kinds: {kinds}", fix="Give one kind everywhere"
        )


def overall(estimates: Mapping[str, Estimate], suite: Suite) -> Estimate:
    """One estimate for all tasks, by the suite's rule."""
    return aggregate.combined(estimates, suite.rule, _category, mean, suite.weights)


def _category(name: str) -> str:
    return task(name).category


def suite_averages(
    averages: Mapping[str, tuple[Estimate, AverageScore]], request: Request
) -> tuple[list[AverageScore], Overall]:
    """Categories and the overall figure, with everything of the suite that is missing."""
    suite = request.suite
    estimates = {name: averages[name][0] for name in suite.tasks if name in averages}
    members = {category: [name for name in names if name in estimates] for category, names in suite.categories.items()}
    categories = [
        AverageScore(name, number(group), {}, members[name], _missing(suite.categories[name], averages))
        for name, group in aggregate.groups(estimates, _category, mean, suite.weights).items()
        if not mixed_directions(members[name])
    ]
    if request.split == "best":
        note = "no overall: the cells are of different splits"
    elif not estimates:
        note = f"no task of {suite.id} was scored in full"
    else:
        note = MIXED if mixed_directions(estimates) else ""
    top = None if note else number(overall(estimates, suite))
    return categories, Overall(suite.rule, top, _missing(suite.tasks, averages), note)


def _missing(tasks: Sequence[str], averages: Mapping[str, tuple[Estimate, AverageScore]]) -> list[str]:
    cells = [f"{name}/{code}" for name in tasks if name in averages for code in averages[name][1].missing]
    return [*cells, *(name for name in tasks if name not in averages)]
