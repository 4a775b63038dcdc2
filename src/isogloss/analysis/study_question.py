"""Input of `isogloss.plan`: the difference to see, the budgets, and figures in place of a pilot."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from isogloss.analysis.finding import AnalysisError
from isogloss.errors import check_count, check_number, unknown
from isogloss.metrics.estimate import POWER
from isogloss.metrics.student import ALPHA, ENOUGH
from isogloss.predictions.run_folders import FACTORS
from isogloss.scoring.pilots import PilotAssumptions, PlannedScore
from isogloss.scoring.planning import EXAMPLE, LANGUAGE, StudyGoal, assumed_pilot

# Populations of languages: these languages, or languages like these.
FIXED, SAMPLE = "fixed", "sample"
# Numbers that a budget may give, by their plural.
_BUDGETED = {f"{factor}s": factor for factor in (EXAMPLE, LANGUAGE, *FACTORS)}
_MOST = 10**9
# Seeds and prompts of a study that is planned without a pilot; its budgets and designs have others.
_FEW_RUNS = 3


@dataclass(frozen=True, kw_only=True)
class StudyQuestion:
    """Goal of a plan: a difference in points, its power, and the assumptions; `isogloss.plan` documents them."""

    difference: float = 1.0
    power: float = POWER
    comparisons: int = 1
    languages_as: str = FIXED
    correlation: float = 0.0
    budgets: Sequence[Mapping[str, int]] = ()

    def __post_init__(self) -> None:
        """Refuse what cannot be planned for."""
        for name in ("difference", "power", "comparisons", "correlation"):
            check_number(name, getattr(self, name))
        limits = {
            "difference": (self.difference, 0 < self.difference <= 100, "above 0 and at most 100 points"),
            "power": (self.power, 0.5 <= self.power <= 0.999, "at least 0.5 and at most 0.999"),
            "number of comparisons": (self.comparisons, 1 <= self.comparisons <= 10**6, "1 to 1,000,000"),
            "correlation": (self.correlation, 0 <= self.correlation < 1, "at least 0 and below 1"),
        }
        for name, (value, valid, expected) in limits.items():
            if not valid:
                raise AnalysisError(f"the {name} must be {expected}, got {value:g}")
        if self.languages_as not in (FIXED, SAMPLE):
            raise unknown("population of languages", self.languages_as, (FIXED, SAMPLE))
        for budget in self.budgets:
            if not isinstance(budget, Mapping):
                raise AnalysisError(f"a budget is a table of numbers, got {budget!r}", fix='Pass [{"seeds": 5}]')
            for name, count in budget.items():
                least = ENOUGH if _BUDGETED.get(name) == EXAMPLE else 1
                if name not in _BUDGETED:
                    raise unknown("number of a budget", name, _BUDGETED)
                check_count(f"{name} of a budget", count, 0)
                if not least <= count <= _MOST:
                    raise AnalysisError(f"a budget needs {least} to {_MOST:,} {name}, got {count:,}")

    @property
    def goal(self) -> StudyGoal:
        """The difference, the power and the level of the test."""
        return StudyGoal(difference=self.difference / 100, power=self.power, alpha=ALPHA / self.comparisons)

    @property
    def assumptions(self) -> PilotAssumptions:
        """The assumptions about languages and systems."""
        return PilotAssumptions(sampled=self.languages_as == SAMPLE, correlation=self.correlation)

    @property
    def numbers(self) -> list[dict[str, int]]:
        """The numbers of each budget by factor."""
        return [{_BUDGETED[name]: count for name, count in budget.items()} for budget in self.budgets]


@dataclass(frozen=True, kw_only=True)
class AssumedSpread:
    """Figures in place of a pilot: a score and standard deviations in points, and the number of examples."""

    score: float
    examples: int
    seed_sd: float = 0.0
    prompt_sd: float = 0.0

    @classmethod
    def of(cls, score: float | None, examples: int | None, seed_sd: float, prompt_sd: float) -> "AssumedSpread | None":
        """Return the figures, or None if there are none."""
        if score is None and examples is None and not seed_sd and not prompt_sd:
            return None
        if score is None or examples is None:
            lacking = "score" if score is None else "number of examples"
            raise AnalysisError(f"missing {lacking}", fix="Give both a score and a number of examples, or a pilot")
        return cls(score=score, examples=examples, seed_sd=seed_sd, prompt_sd=prompt_sd)

    def planned(self, correlation: float) -> PlannedScore:
        """Return the score to plan for.

        Raises:
            AnalysisError: a figure is out of range.
            IsoglossError: a figure is not a number.
        """
        for name in ("score", "examples", "seed_sd", "prompt_sd"):
            check_number(name, getattr(self, name))
        if not 0 < self.score < 100:
            raise AnalysisError(f"the score must be above 0 and below 100, got {self.score:g}")
        if not ENOUGH <= self.examples <= _MOST:
            raise AnalysisError(f"expected {ENOUGH} to {_MOST:,} examples, got {self.examples:,}")
        given = {"seed": self.seed_sd, "prompt": self.prompt_sd}
        for name, value in given.items():
            if not 0 <= value < 100:
                raise AnalysisError(f"the standard deviation between {name}s must be 0 to 100 points, got {value:g}")
        deviations = {name: value / 100 for name, value in given.items() if value}
        pilot = assumed_pilot(
            [self.score / 100],
            self.examples,
            deviations={frozenset({name}): value for name, value in deviations.items()},
            runs=dict.fromkeys(deviations, _FEW_RUNS),
            correlation=correlation,
        )
        name = f"a score of {self.score:g}"
        return PlannedScore(level="task", name=name, pilot=replace(pilot, measured=False), sources=self.examples)
