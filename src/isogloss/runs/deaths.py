"""What a process was at when it died, and the records that say so."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path

from isogloss.runs.cells import write_outcome
from isogloss.runs.fit import CellOutcome
from isogloss.runs.locks import Owner, owners
from isogloss.runs.plan import CellKey, Plan
from isogloss.runs.records import Provenance


def held_cells(plan: Plan, is_dead: Callable[[Owner], bool]) -> list[CellKey]:
    """The cells that a dead owner of locks worked on: the one it filled, or all it was fitting for."""

    def had(lock: Path) -> bool:
        return any(is_dead(owner) for owner in owners(lock))

    filled = [cell for cell in plan.cells if had(plan.lock_path(cell))]
    fits = [] if filled else [group for group in plan.groups if had(plan.group_lock_path(group))]
    return filled or [cell for group in fits for cell in group.cells]


def fail_cells(plan: Plan, cells: Sequence[CellKey], reason: str, log: str = "") -> list[CellKey]:
    """Record those cells as failed that have no record; gives them.

    Args:
        plan: the grid.
        cells: that somebody died over.
        reason: of the death.
        log: the last that was heard of it.
    """
    missing = plan.missing(cells)
    for cell in missing:
        provenance = Provenance({}, datetime.now(UTC).isoformat(timespec="milliseconds"))
        write_outcome(plan, cell, CellOutcome("failed", reason, log), provenance)
    return missing
