"""Scores of systems by task and language: what most analyses are functions of."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from isogloss.analysis.finding import AnalysisError
from isogloss.scoring.results import Number

# A 95 % interval is so many standard errors wide.
_INTERVAL_ERRORS = 2 * 1.96


@dataclass(frozen=True)
class LanguageScore:
    """One system on one task in one language, 0..100.

    Attributes:
        system: the name it is shown under, unique with its regime.
        regime: what it learnt from; only scores of one regime may be ranked.
        low: the lower end of the 95 % interval, where examples were scored here; `high` the upper.
        n: the examples of the test, 0 where that is not known.
        source: where the figure is from.
    """

    system: str
    regime: str
    task: str
    language: str
    value: float
    low: float | None = None
    high: float | None = None
    n: int = 0
    source: str = ""

    @property
    def error(self) -> float | None:
        """Its standard error in points, as its interval has it; None where there is none."""
        return None if self.low is None or self.high is None else (self.high - self.low) / _INTERVAL_ERRORS


@dataclass(frozen=True)
class ScoreTable:
    """Scores of systems by task and language, in one metric a task.

    Attributes:
        scores: one for each system, task and language.
        metrics: the metric of each task; "score" is the mean of several.
        gaps: the transfer gap of a system and task with its interval, where examples were scored here.
        parameters: millions of parameters of a system, where they are known.
        base_names: the name of a system without what tells its runs apart.
        notes: which metric was chosen where there was a choice, and what was left out for that.
        in_metrics: of a system and task, every metric that all its cells have, by language; not only the chosen one.
    """

    scores: tuple[LanguageScore, ...]
    metrics: Mapping[str, str]
    gaps: Mapping[tuple[str, str], Number] = field(default_factory=dict)
    parameters: Mapping[str, float] = field(default_factory=dict)
    base_names: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    in_metrics: Mapping[tuple[str, str], Mapping[str, Mapping[str, float]]] = field(default_factory=dict)

    @cached_property
    def by_cell(self) -> Mapping[str, Mapping[str, Mapping[str, LanguageScore]]]:
        """The scores by system, task and language."""
        found: dict[str, dict[str, dict[str, LanguageScore]]] = {}
        for score in self.scores:
            found.setdefault(score.system, {}).setdefault(score.task, {})[score.language] = score
        return found

    @property
    def systems(self) -> list[str]:
        """The systems, as they were given."""
        return list(self.by_cell)

    @property
    def tasks(self) -> list[str]:
        """The tasks of any system."""
        return list(self.metrics)

    def regime(self, system: str) -> str:
        """The regime of a system."""
        return next(score.regime for of in self.by_cell[system].values() for score in of.values())

    def values(self, system: str, task: str) -> dict[str, float]:
        """The scores of a system on a task by language; empty where it has none."""
        return {code: score.value for code, score in self.by_cell[system].get(task, {}).items()}

    def need(self, *, systems: int = 1, languages: int = 1, what: str) -> None:
        """Refuse a table that has too little for an analysis.

        Raises:
            AnalysisError: there are fewer systems, or in no task so many languages.
        """
        if len(self.by_cell) < systems:
            have = ", ".join(self.by_cell) or "none"
            raise AnalysisError(f"{what} needs {systems} systems, and there is {have}", fix="Give more results")
        most = max((len(of) for tasks in self.by_cell.values() for of in tasks.values()), default=0)
        if most < languages:
            raise AnalysisError(f"{what} needs {languages} languages in a task, and there are at most {most}")
