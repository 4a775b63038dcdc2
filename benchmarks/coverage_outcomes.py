"""A case of the coverage simulation, and the names of its counts."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

# Name of a count (or measurement) -> one or more values per data set, None if the package gives none.
Outcome = Mapping[str, Sequence[float | None]]

COVERAGE = "interval holds the true value"
FALSE_ALARM = "false difference at p < 0.05"
WIDTH = "mean width of the interval, in points"
DIFFERENCE = "interval of the difference holds 0"


@dataclass(frozen=True)
class Case:
    """One line and column of the tables: a repeated simulation."""

    what: str
    level: str
    clusters: str
    n: int
    simulate: Callable[[np.random.Generator], Outcome]
    heavy: bool = False
    sets: int = 0  # number of data sets; 0 for the usual one

    @property
    def name(self) -> str:
        """Unique name, which seeds its random numbers."""
        return f"{self.what}|{self.level}|{self.clusters}|{self.n}"
