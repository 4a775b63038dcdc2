"""What a process was at when it died, and the records that say so."""

from collections import Counter
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path

from isogloss.runs.cells import write_outcome
from isogloss.runs.fit import CellOutcome
from isogloss.runs.locks import Owner, acquire, owners
from isogloss.runs.plan import CellKey, FitGroup, Plan
from isogloss.runs.records import Provenance
from isogloss.workers import MOST_DEATHS


def held_cells(plan: Plan, is_dead: Callable[[Owner], bool], groups: Sequence[FitGroup] | None = None) -> list[CellKey]:
    """The cells that a dead owner of locks worked on: the one it filled, or all it was fitting for.

    Args:
        plan: the grid.
        is_dead: whether an owner is the dead one.
        groups: where to look, all by default.
    """
    asked = plan.groups if groups is None else groups

    def had(lock: Path) -> bool:
        return any(is_dead(owner) for owner in owners(lock))

    filled = [cell for group in asked for cell in group.cells if had(plan.lock_path(cell))]
    fits = [] if filled else [group for group in asked if had(plan.group_lock_path(group))]
    return filled or [cell for group in fits for cell in group.cells]


def fail_cells(plan: Plan, cells: Sequence[CellKey], reason: str, log: str = "") -> list[CellKey]:
    """Record those cells as failed that have no record and that nobody else works on by now; gives them.

    Args:
        plan: the grid.
        cells: that somebody died over, whose locks are free or a dead process's.
        reason: of the death.
        log: the last that was heard of it.
    """
    failed = []
    for cell in cells:
        lock = acquire(plan.lock_path(cell))
        if lock is None:
            continue  # another fills it, or dies of it too
        with lock:
            if plan.missing([cell]):
                provenance = Provenance({}, datetime.now(UTC).isoformat(timespec="milliseconds"))
                write_outcome(plan, cell, CellOutcome("failed", reason, log), provenance)
                failed.append(cell)
    return failed


class DeathCounts:
    """How often workers of a cluster have died over each cell: it may have been the worker's fault, but not always."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self._deaths: Counter[CellKey] = Counter()

    def add(self, cells: Sequence[CellKey], reason: str, log: str = "") -> list[CellKey]:
        """Count a death over cells; gives those that have failed by it, for it was one too many."""
        self._deaths.update(cells)
        hopeless = [cell for cell in cells if self._deaths[cell] >= MOST_DEATHS]
        return fail_cells(self.plan, hopeless, f"the worker died {MOST_DEATHS} times, at last: {reason}", log)
