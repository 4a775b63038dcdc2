"""The whole analysis in one pass: every system by itself, and every pair of them, cell after cell."""

from collections.abc import Callable, Sequence
from itertools import combinations
from pathlib import Path

import msgspec

from isogloss.errors import PredictionError
from isogloss.explain.bias import shared_cuts
from isogloss.explain.cell_table import CellTable, sheets
from isogloss.explain.examples import Case, Cases
from isogloss.explain.measure import Slice, measured, slices
from isogloss.explain.model import Explanation
from isogloss.explain.pairwise import PairwiseExplanation, contrasts, disagreement
from isogloss.explain.selection import AttributeSelection, Edges, choose
from isogloss.explain.single import answer_slices, confusion, facets
from isogloss.predictions.folder import PredictionFolder
from isogloss.scoring.cells import Request
from isogloss.tasks.registry import task


class Analysis(msgspec.Struct, frozen=True):
    """What was found out about some systems, and the examples that were asked for.

    Attributes:
        explanations: one a system, in the order they were given.
        pairs: one a pair of systems, over the cells that both have.
        edges: how numbers are cut into buckets (see `AttributeSelection`), "fixed" at given edges, or "mixed".
        cases: `task/language` -> example id -> the example.
    """

    explanations: list[Explanation]
    pairs: list[PairwiseExplanation]
    edges: Edges = "language"
    cases: dict[str, dict[str, Case]] = {}


def wanted(words: Sequence[str] | None, request: Request) -> AttributeSelection:
    """The attributes in a user's words, checked against the kinds of the request's tasks."""
    return choose(words, sorted({task(name).kind for name in request.tasks}))


def analyse(
    systems: Sequence[Path],
    request: Request,
    chosen: AttributeSelection | None = None,
    *,
    examples: int = 0,
    seed: int = 0,
    progress: Callable[[str], None] | None = None,
) -> Analysis:
    """Single analysis of every system and pairwise analysis of every two.

    Args:
        systems: prediction folders.
        request: tasks, languages, split and data.
        chosen: the attributes, and how they are cut; all if None, into equal counts in every language.
        examples: how many examples of every bucket are listed with their texts.
        seed: the same seed gives the same intervals.
        progress: called with every cell.
    """
    attributes = chosen or AttributeSelection()
    names = _names(systems)
    cuts = shared_cuts(request, attributes, progress)
    cases = Cases(examples, names) if examples > 0 else None
    singles = [Explanation(PredictionFolder(path).system, request.suite.id, request.split, [], {}) for path in systems]
    pairs = {(a, b): PairwiseExplanation(names[a], names[b], [], []) for a, b in combinations(range(len(systems)), 2)}
    for sheet in sheets(systems, request, progress):
        along = slices(sheet, attributes, cuts)
        for place, system in enumerate(sheet.systems):
            of_answers = answer_slices(sheet, attributes, place)
            singles[system].facets.extend(facets(sheet, along, place, cases, seed))
            singles[system].facets.extend(facets(sheet, of_answers, place, cases, seed, sentences=False))
            table = confusion(sheet, place)
            if table:
                singles[system].confusion[sheet.name] = table
        if len(sheet.systems) > 1:
            _compare(sheet, along, pairs, cases, seed)
    if pairs and not any(pair.cells for pair in pairs.values()):
        raise PredictionError("the systems have no cell in common", where=", ".join(map(str, systems)))
    return Analysis(singles, list(pairs.values()), attributes.edges, {} if cases is None else cases.found)


def _names(systems: Sequence[Path]) -> list[str]:
    """What the systems are called, told apart where two have one name."""
    names = [str(PredictionFolder(path).system["name"]) for path in systems]
    if len(names) == 1:
        return names
    from isogloss.scoring.compare import distinct_names

    return distinct_names(names)


def _compare(
    sheet: CellTable,
    along: Sequence[Slice],
    pairs: dict[tuple[int, int], PairwiseExplanation],
    cases: Cases | None,
    seed: int,
) -> None:
    measures = measured(sheet, [metrics[sheet.main] for metrics in sheet.metrics], along, seed)
    for a, b in combinations(range(len(sheet.systems)), 2):
        pair = pairs[sheet.systems[a], sheet.systems[b]]
        pair.facets.extend(contrasts(sheet, along, measures, (a, b), cases))
        pair.cells.append(disagreement(sheet, (a, b), cases))
