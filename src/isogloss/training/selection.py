"""Which checkpoint answers: rules that look at dev scores, or at none.

The rule matters: checkpoints that English dev cannot tell apart differ by many points in other languages (Keung et
al., 2020). So scores and answers of all checkpoints are kept, and any rule can be applied to them afterwards.
"""

from collections.abc import Iterable, Sequence
from statistics import fmean
from typing import NamedTuple

from isogloss.errors import unknown
from isogloss.languages import language as find_language

RULES = ("training-dev", "english-dev", "target-dev", "single-target:<language>", "dev-loss", "last")
LOSS = "loss"  # the metric that `dev-loss` looks at: lower is better
ENGLISH = ("en",)


class CheckpointScore(NamedTuple):
    """A score, 0..100, or the mean loss of a checkpoint: one line of `checkpoints.csv`."""

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


def selecting_languages(rule: str, languages: Iterable[str], trained_on: Sequence[str] = ENGLISH) -> tuple[str, ...]:
    """The languages whose dev sets a rule looks at, to choose for some languages a model that was trained on others."""
    name, _, language = rule.partition(":")
    trained = tuple(trained_on)
    of_rule = {
        "training-dev": trained,
        "dev-loss": trained,
        "english-dev": ENGLISH,
        "single-target": (language,),
        "last": (),
    }
    return of_rule.get(name, tuple(dict.fromkeys(languages)))


def dev_scores(scores: Iterable[CheckpointScore], language: str, main: Sequence[str]) -> dict[int, float]:
    """The dev score of every checkpoint that predicted a language: the mean over the task's main metrics."""
    found: dict[int, dict[str, float]] = {}
    for score in scores:
        if score.language == language and score.split == "dev" and score.metric in main:
            found.setdefault(score.step, {})[score.metric] = score.value
    return {step: fmean(metrics[name] for name in main) for step, metrics in found.items()}


def choose(
    scores: Sequence[CheckpointScore],
    steps: Sequence[int],
    rule: str,
    language: str,
    main: Sequence[str],
    trained_on: Sequence[str] = ENGLISH,
) -> ChosenCheckpoint:
    """The checkpoint that answers in a language, by a rule of `RULES`; of equals, the earliest.

    Args:
        scores: those of all checkpoints; only those on dev sets count.
        steps: all checkpoints, in order.
        rule: the name of the rule.
        language: the language to answer in.
        main: the metrics whose mean is the task's score.
        trained_on: the languages of the training set, which `training-dev` and `dev-loss` look at: of several dev sets
            the mean, over those that there are.

    Raises:
        ValueError: there are no checkpoints.
    """
    if not steps:
        raise ValueError("there is no checkpoint to choose from")
    by_loss = rule == "dev-loss"
    found = {
        code: dev
        for code in selecting_languages(rule, [language], trained_on)
        if (dev := dev_scores(scores, code, [LOSS] if by_loss else main))
    }
    if not found:
        return ChosenCheckpoint(steps[-1], "last")
    sign = -1 if by_loss else 1
    means = {
        step: sign * fmean(dev[step] for dev in found.values()) for step in set.intersection(*map(set, found.values()))
    }
    best = max(means, key=lambda step: (means[step], -step))
    return ChosenCheckpoint(best, f"{'+'.join(found)} dev{' loss' if by_loss else ''}")
