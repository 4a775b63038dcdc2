"""What each rule of choosing a checkpoint is worth: the test score in a language at the checkpoint it chooses."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from isogloss.analysis.checkpoint_scores import SeedScores
from isogloss.metrics.statistics import FloatArray
from isogloss.scoring.names import language_name

TARGET, OTHER, MEAN, LAST, BEST = "target dev", "one other dev", "mean dev", "last", "best test"


@dataclass(frozen=True)
class RuleOutcome:
    """What a rule chose in a run for a language.

    Attributes:
        step: the checkpoint; None where it is the mean over several choices.
        test: the test score there.
        lost: how many points the best checkpoint has more.
    """

    step: int | None
    test: float
    lost: float


def best_place(guide: FloatArray, test: FloatArray) -> int | None:
    """Where the guide is highest among the checkpoints that have both scores, of equals the earliest; None for none."""
    usable = np.where(np.isfinite(guide) & np.isfinite(test), guide, -np.inf)
    place = int(np.argmax(usable)) if len(usable) else 0
    return place if len(usable) and np.isfinite(usable[place]) else None


def rule_outcomes(run: SeedScores, language: str, source: str, single: str = "") -> dict[str, RuleOutcome]:
    """What every rule chooses in a run for a language; rules whose dev sets are not there are left out.

    Args:
        run: the scores of the run.
        language: the language that is tested.
        source: the language that was learnt from, whose dev set chooses in the zero-shot setting.
        single: the language whose dev set chooses for all; by default each of the others does in turn, and their
            outcomes are averaged.
    """
    test = run.of(language, "test")
    if not np.isfinite(test).any():
        return {}
    found = {}
    for rule, guides in _guides(run, language, source, single).items():
        places = [place for guide in guides if (place := best_place(guide, test)) is not None]
        if places:
            step = run.steps[places[0]] if len(guides) == 1 else None
            score = float(np.mean(test[places]))
            found[rule] = RuleOutcome(step, score, max(0.0, float(np.nanmax(test)) - score))
    return found


def dev_of(code: str) -> str:
    """What the dev set of a language is called, and the rule that looks at it."""
    return f"{language_name(code)} dev"


def rule_names(source: str, single: str = "") -> list[str]:
    """The rules, in the order in which they are shown."""
    return [dev_of(source), TARGET, _single_name(single), MEAN, LAST, BEST]


def _single_name(single: str) -> str:
    # Where it is also the source, two rules would have one name.
    return f"only {dev_of(single)}" if single else OTHER


def _guides(run: SeedScores, language: str, source: str, single: str) -> dict[str, Sequence[FloatArray]]:
    """By rule, what it looks at: a number for each checkpoint, higher for better."""
    dev: Mapping[str, FloatArray] = {code: values for (code, split), values in run.values.items() if split == "dev"}
    others = [single] if single else [code for code in dev if code not in (language, source)]
    return {
        dev_of(source): [dev[source]] if source in dev else [],
        TARGET: [dev[language]] if language in dev else [],
        _single_name(single): [dev[code] for code in others if code in dev],
        MEAN: [np.mean([*dev.values()], axis=0)] if dev else [],
        LAST: [np.arange(len(run.steps), dtype=np.float64)],
        BEST: [run.of(language, "test")],
    }
