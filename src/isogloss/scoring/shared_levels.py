"""Restrict systems to the prompts and translators that all of them have, so that these are compared in pairs."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from isogloss.metrics.crossed import OWN_FACTORS
from isogloss.predictions.problems import LeftOut

if TYPE_CHECKING:
    from isogloss.scoring.compare import SystemRuns

# With fewer levels in common, each system keeps its own.
_FEWEST = 2


def with_shared_levels(systems: "Sequence[SystemRuns]") -> "list[SystemRuns]":
    """Return the systems without the runs of prompts or translators that only some of them have.

    Systems that do not vary a factor stay as they are. If fewer than two levels are common to all systems, all keep
    theirs: prompts of different names are compared as independent samples.
    """
    shared = list(systems)
    for factor in dict.fromkeys(
        name for system in systems for name in system.design.factors if name not in OWN_FACTORS
    ):
        levels = [set(system.design.factors[factor]) for system in shared if factor in system.design.factors]
        common = set.intersection(*levels)
        if len(common) >= _FEWEST:
            shared = [_restricted(system, factor, common) for system in shared]
    return shared


def _restricted(system: "SystemRuns", factor: str, levels: Collection[str]) -> "SystemRuns":
    names = system.design.factors.get(factor, ())
    dropped = [name for name in dict.fromkeys(names) if name not in levels]
    if not dropped:
        return system
    kept = [run for run, name in enumerate(names) if name in levels]
    fix = f"Run every system with the same {factor}s"
    reasons = [
        LeftOut(reason="only some of the systems have it", fix=fix, path=f"{system.name}/{factor}-{name}")
        for name in dropped
    ]
    return replace(
        system,
        cells={key: [cells[run] for run in kept] for key, cells in system.cells.items()},
        left_out=[*system.left_out, *reasons],
        design=system.design.of_runs(kept),
    )
