"""Tests of pairs of systems on the examples that both answered: what tells close systems apart."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path

from isogloss.board.entries import BoardEntry
from isogloss.board.model import OVERALL, PairedTest
from isogloss.errors import IsoglossError
from isogloss.predictions.problems import LeftOut
from isogloss.scoring.cells import Request, judged_cells
from isogloss.scoring.compare import SystemRuns, compare_runs
from isogloss.scoring.comparison import Comparison, ScoreContrast
from isogloss.tasks.suites import Suite

# Pairs are tested among so many systems with answers, those that are given first.
MOST_TESTED = 16

# The places of two systems -> the tests of all columns and cells that both have.
TestsOfPairs = Mapping[tuple[int, int], Sequence[PairedTest]]


@dataclass(frozen=True)
class PairedTests:
    """The tests of pairs of systems; and why there are none, where one expects them."""

    tests: TestsOfPairs = field(default_factory=dict)
    why_none: str = ""


def paired_tests(
    entries: Sequence[BoardEntry], suite: Suite, data: Path | None, progress: Callable[[str], None]
) -> PairedTests:
    """Every pair of systems whose answers are here, in both directions.

    Args:
        entries: all systems of a board, scored on one split.
        suite: decides the averages.
        data: the data folder with gold.
        progress: told each cell before it is judged.
    """
    places = [place for place, entry in enumerate(entries) if entry.predictions]
    if len(places) < 2:
        return PairedTests()
    request = Request(suite, suite.tasks, None, entries[places[0]].scorer[1] or "test", data)
    try:
        judged = {place: _judged(entries[place], request, progress) for place in places[:MOST_TESTED]}
        return PairedTests(dict(_tested(judged, request)))
    except IsoglossError as error:
        return PairedTests(why_none=str(error))


def _judged(entry: BoardEntry, request: Request, progress: Callable[[str], None]) -> SystemRuns:
    left_out: list[LeftOut] = []
    runs = [list(judged_cells(run, request, progress, left_out)) for run in entry.predictions]
    return SystemRuns.of(entry.name, runs, left_out)


def _tested(judged: Mapping[int, SystemRuns], request: Request) -> Iterator[tuple[tuple[int, int], list[PairedTest]]]:
    for one, other in combinations(judged, 2):
        if judged[one].cells.keys() & judged[other].cells.keys():
            found = compare_runs(judged[one], judged[other], request)
            yield (one, other), [_test(column, contrast, 1) for column, contrast in _columns(found)]
            yield (other, one), [_test(column, contrast, -1) for column, contrast in _columns(found)]


def _columns(found: Comparison) -> Iterator[tuple[str, ScoreContrast]]:
    """Averages over a part of what they should be over are no column."""
    if found.overall is not None and not found.overall.partial:
        yield OVERALL, found.overall
    yield from ((each.name, each) for each in found.tasks if not each.partial)
    yield from ((each.name, each) for each in found.cells)


def _test(column: str, contrast: ScoreContrast, sign: int) -> PairedTest:
    ends = [None if end is None else sign * end for end in (contrast.low, contrast.high)]
    low, high = ends[::sign]
    return PairedTest(column, sign * contrast.difference, low, high, contrast.p)
