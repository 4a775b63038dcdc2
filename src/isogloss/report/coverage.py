"""How much of its suite each system was scored on."""

from collections.abc import Iterable
from dataclasses import dataclass

from isogloss.errors import UnknownNameError
from isogloss.report.flat_rows import Systems
from isogloss.report.tables import Table
from isogloss.scoring.results import Results
from isogloss.tasks.registry import task
from isogloss.tasks.suites import SUITES

# A task in a language.
Place = tuple[str, str]


@dataclass(frozen=True)
class Coverage:
    """The cells of its suite that a system has a full score in, and all there are."""

    scored: frozenset[Place]
    asked: frozenset[Place]

    @property
    def complete(self) -> bool:
        """Whether nothing is missing."""
        return self.scored == self.asked

    @property
    def cells(self) -> str:
        """How many cells, such as "18 of 367"."""
        return f"{len(self.scored)} of {len(self.asked)}"

    @property
    def tasks(self) -> str:
        """In how many tasks there are any."""
        return _of({name for name, _ in self.scored}, {name for name, _ in self.asked})

    @property
    def languages(self) -> str:
        """In how many languages there are any."""
        return _of({code for _, code in self.scored}, {code for _, code in self.asked if code})


def _of(part: set[str], whole: set[str]) -> str:
    return f"{len(part)} of {len(whole)}"


def coverage(results: Results) -> Coverage:
    """What a record has of its suite, and what the suite asks for."""
    scored = {(average.name, code) for average in results.tasks for code in average.members}
    missing: set[Place] = set()
    for name in results.overall.missing:
        of, _, code = name.partition("/")
        missing |= {(of, code)} if code else {(of, each) for each in _languages_of(results.suite, of)}
    return Coverage(frozenset(scored), frozenset(scored | missing))


def _languages_of(suite_name: str, task_name: str) -> Iterable[str]:
    """The languages of a task in its suite; the task's own where the suite is not known, and a blank if neither is."""
    try:
        return SUITES[suite_name.lower()].languages_of(task_name)
    except UnknownNameError:
        pass
    try:
        return task(task_name).languages
    except UnknownNameError:
        return ("",)


def coverage_table(systems: Systems) -> Table:
    """How many cells, tasks and languages of its suite each system has."""
    table = Table("Coverage", ("system", "cells", "tasks", "languages", "overall"))
    for name, results in systems.items():
        found = coverage(results)
        overall = "complete" if found.complete else "not ranked"
        table.add(name, found.cells, found.tasks, found.languages, overall)
    table.notes = ["a cell is a task in a language of the suite; cells with partial gold are not counted"]
    return table
