"""Draw the examples that an expensive system should answer, before it answers any."""

import hashlib
from collections.abc import Sequence

import numpy as np

from isogloss.errors import IsoglossError, NoGoldError, check_count
from isogloss.metrics.control import Draw
from isogloss.metrics.statistics import FloatArray, IntArray, distinct, sums_by_place
from isogloss.metrics.strata import drawing_order, expected_movements, rates_of, strata_of
from isogloss.metrics.student import ENOUGH
from isogloss.predictions.guide import Guide, judge_guide, without_answers
from isogloss.predictions.memory import PredictionSource
from isogloss.predictions.subset import CellSubset, digits, unit_numbers
from isogloss.tasks.examples import Examples
from isogloss.tasks.kinds import kind_of
from isogloss.tasks.loading import unusable_gold
from isogloss.tasks.task import Task

# Maximum number of gold labels that become strata.
_MOST_LABELS = 8


def check_drawable(task: Task, size: int) -> None:
    """Raise an error unless a task can be scored from subsets of this size."""
    check_count("subset", size, 0)
    if size < ENOUGH:
        raise IsoglossError(f"a subset of {size} examples; expected at least {ENOUGH}")
    if kind_of(task).silence_is_answer:
        what = f"{task.id} has no subsets: sentences without an answer count as well"
        raise IsoglossError(what, fix="Answer the whole task")


def draw_examples(
    task: Task, examples: Examples, size: int, seed: int = 0, guides: Sequence[PredictionSource] = ()
) -> CellSubset:
    """Draw examples of one language; those of other languages are drawn independently.

    Raises:
        IsoglossError: the size is too small, or examples of the task cannot be drawn.
        NoGoldError: there are no gold labels to score the guides with.
        PredictionError: a guide has no answers or invalid ones.
    """
    check_drawable(task, size)
    reason = unusable_gold(task, examples)
    if reason and guides:
        raise NoGoldError(
            reason, where=", ".join(examples.sources), fix="Draw without a guide, which needs gold labels"
        )
    skipped = None if reason else without_answers(task, examples)
    guide = judge_guide(guides, task, examples) if guides else skipped
    whole_sources = skipped is not None and _rows_span_examples(task, skipped, len(examples))
    units = unit_numbers(examples, whole_sources=whole_sources)
    strata, rates = _strata(task, examples, guide, skipped, units)
    order = drawing_order(strata, rates, _numbers(task, examples, seed, units))
    sizes = np.bincount(units)[order]
    chosen = np.zeros(len(order), bool)
    chosen[order[sizes.cumsum() <= size]] = True
    if not Draw(strata, chosen).possible:
        what = f"a subset of {size} examples is too small for {task.id}/{examples.language}"
        raise IsoglossError(what, fix=f"Draw at least {int(sizes[: 2 * (int(strata.max()) + 1)].sum())}")
    position = np.empty(len(order), np.int64)
    position[order] = np.arange(len(order))
    rows = [row for row in np.argsort(position[units], kind="stable").tolist() if chosen[units[row]]]
    return CellSubset(
        checksum=examples.checksum,
        ids=[examples.ids[row] for row in rows],
        strata=digits(strata[units].tolist()),
        guide=guide.checksum if guide is not None else "",
        whole_sources=whole_sources,
    )


def _rows_span_examples(task: Task, guide: Guide, examples: int) -> bool:
    """Return True if a row of the main metric needs the answers to several examples, such as those of a case."""
    units = guide.metrics[task.main[0]].units
    return units is not None and len(distinct(units)) < examples


def _strata(
    task: Task, examples: Examples, guide: Guide | None, skipped: Guide | None, units: IntArray
) -> tuple[IntArray, FloatArray]:
    """Return stratum and rate of every unit: by the guide, else by gold label, else by the weight of an example."""
    if guide is None or skipped is None:  # no gold
        alike = np.zeros(int(units.max()) + 1)
        return alike.astype(np.int64), alike + 1
    if guide is skipped and kind_of(task).form in ("label", "option") and len(examples) == int(units.max()) + 1:
        labels, strata = np.unique(list(map(str, examples[examples.gold])), return_inverse=True)
        if len(labels) <= _MOST_LABELS:
            return strata.astype(np.int64), np.ones(len(examples))
    movement = np.zeros(len(examples))
    for name in task.main:
        movement += expected_movements(guide.metrics[name], skipped.metrics[name], len(examples))
    rates = rates_of(sums_by_place(movement[:, None], units, int(units.max()) + 1)[:, 0])
    return strata_of(rates), rates


def _numbers(task: Task, examples: Examples, seed: int, units: IntArray) -> FloatArray:
    """Return the permanent random number of every unit, 0..1: other languages and seeds have others."""
    prefix = f"{seed}/{task.id}/{examples.split}/{examples.language}/"
    first = np.unique(units, return_index=True)[1]
    hashes = (
        hashlib.sha256(f"{prefix}{examples.ids[row]}".encode(errors="surrogatepass")).digest() for row in first.tolist()
    )
    return np.array([int.from_bytes(digest[:8], "big") / 2**64 for digest in hashes])
