"""Which checkpoint answers: rules that look at dev scores, or at none.

The rule matters: checkpoints that English dev cannot tell apart differ by many points in other languages (Keung et
al., 2020). So scores and answers of all checkpoints are kept, and any rule can be applied to them afterwards.
"""

from collections.abc import Iterable, Sequence
from statistics import fmean
from typing import NamedTuple

from isogloss.errors import unknown
from isogloss.languages import language as find_language

RULES = ("english-dev", "target-dev", "single-target:<language>", "last")


class CheckpointScore(NamedTuple):
    """A score, 0..100, of a checkpoint: one line of `checkpoints.csv`."""

    step: int
    seed: int
    language: str
    split: str
    metric: str
    value: float
    n: int


class ChosenCheckpoint(NamedTuple):
    """A checkpoint, and what chose it: `<language> dev`, or `last`, also where there is no such dev set."""

    step: int
    by: str


def check_rule(rule: str) -> None:
    """Raise an UnknownNameError where there is no such rule, or no such language."""
    name, colon, language = rule.partition(":")
    if name == "single-target" and colon:
        find_language(language)
    elif rule not in RULES or name == "single-target":
        raise unknown("selection rule", rule, RULES)


def selecting_languages(rule: str, languages: Iterable[str]) -> tuple[str, ...]:
    """The languages whose dev sets a rule looks at, to choose for some languages."""
    name, _, language = rule.partition(":")
    of_rule = {"english-dev": ("en",), "single-target": (language,), "last": ()}
    return of_rule.get(name, tuple(dict.fromkeys(languages)))


def dev_scores(scores: Iterable[CheckpointScore], language: str, main: Sequence[str]) -> dict[int, float]:
    """The dev score of every checkpoint that predicted a language: the mean over the task's main metrics."""
    found: dict[int, dict[str, float]] = {}
    for score in scores:
        if score.language == language and score.split == "dev":
            found.setdefault(score.step, {})[score.metric] = score.value
    return {step: fmean(metrics[name] for name in main) for step, metrics in found.items()}


def choose(
    scores: Sequence[CheckpointScore], steps: Sequence[int], rule: str, language: str, main: Sequence[str]
) -> ChosenCheckpoint:
    """The checkpoint that answers in a language, by a rule of `RULES`; of equals, the earliest.

    Args:
        scores: those of all checkpoints; only dev scores count.
        steps: all checkpoints, in order.
        rule: the name of the rule.
        language: the language to answer in.
        main: the metrics whose mean is the task's score.

    Raises:
        ValueError: there are no checkpoints.
    """
    if not steps:
        raise ValueError("there is no checkpoint to choose from")
    for code in selecting_languages(rule, [language]):
        dev = dev_scores(scores, code, main)
        if dev:
            return ChosenCheckpoint(max(dev, key=lambda step: (dev[step], -step)), f"{code} dev")
    return ChosenCheckpoint(steps[-1], "last")
