"""Checkpoint selection: rules that choose a checkpoint by dev scores, or take the last.

The rule matters: checkpoints with equal English dev scores differ by many points in other languages (Keung et al.,
2020). Scores and predictions of all checkpoints are therefore kept, and any rule can be applied later.
"""

from collections.abc import Iterable, Sequence
from statistics import fmean
from typing import NamedTuple

from isogloss.errors import unknown
from isogloss.languages import language as find_language

RULES = ("training-dev", "english-dev", "target-dev", "single-target:<language>", "dev-loss", "last")
LOSS = "loss"  # metric of the `dev-loss` rule: lower is better
ENGLISH = ("en",)


class CheckpointScore(NamedTuple):
    """A score (0..100) or mean loss of a checkpoint: one line of `checkpoints.csv`."""

    step: int
    seed: int
    language: str
    split: str
    metric: str
    value: float
    n: int


class ChosenCheckpoint(NamedTuple):
    """A checkpoint and the reason for choosing it: `<language> dev`, or `last` (also if the dev set is missing)."""

    step: int
    by: str


def check_rule(rule: str) -> None:
    """Raise `UnknownNameError` if the rule or its language is unknown."""
    name, colon, language = rule.partition(":")
    if name == "single-target" and colon:
        find_language(language)
    elif rule not in RULES or name == "single-target":
        raise unknown("selection rule", rule, RULES)


def selecting_languages(rule: str, languages: Iterable[str], trained_on: Sequence[str] = ENGLISH) -> tuple[str, ...]:
    """Return the languages with dev sets that a rule uses to choose a model for `languages`."""
    name, _, code = rule.partition(":")
    own = tuple(trained_on)
    fixed = {"training-dev": own, "dev-loss": own, "english-dev": ENGLISH, "single-target": (code,), "last": ()}
    return fixed.get(name, tuple(dict.fromkeys(languages)))


def dev_scores(scores: Iterable[CheckpointScore], language: str, main: Sequence[str]) -> dict[int, float]:
    """Return each checkpoint's dev score in a language: the mean over the task's main metrics."""
    by_step: dict[int, dict[str, float]] = {}
    for score in scores:
        if score.language == language and score.split == "dev" and score.metric in main:
            by_step.setdefault(score.step, {})[score.metric] = score.value
    return {step: fmean(metrics[name] for name in main) for step, metrics in by_step.items()}


def choose(
    scores: Sequence[CheckpointScore],
    steps: Sequence[int],
    rule: str,
    language: str,
    main: Sequence[str],
    trained_on: Sequence[str] = ENGLISH,
) -> ChosenCheckpoint:
    """Choose the checkpoint for a language by a rule in `RULES`; the earliest wins a tie.

    Only dev scores count; `main` are the metrics averaged into the task's score. `training-dev` and `dev-loss` use the
    languages `trained_on`: several dev sets are averaged, and missing ones are skipped.
    """
    if not steps:
        raise ValueError("no checkpoint to choose from")
    by_loss = rule == "dev-loss"
    metrics, codes = [LOSS] if by_loss else main, selecting_languages(rule, [language], trained_on)
    available = {code: dev for code in codes if (dev := dev_scores(scores, code, metrics))}
    if not available:
        return ChosenCheckpoint(steps[-1], "last")
    sign = -1 if by_loss else 1
    common = set.intersection(*map(set, available.values()))
    means = {step: sign * fmean(dev[step] for dev in available.values()) for step in common}
    best = max(means, key=lambda step: (means[step], -step))
    return ChosenCheckpoint(best, f"{'+'.join(available)} dev{' loss' if by_loss else ''}")
